// Builds the window for tests/browser/bench as the shipped one is built: `npx vite build --config dev/bench.vite.ts`.

import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

const here = fileURLToPath(new URL(".", import.meta.url));

export default defineConfig({
  root: here,
  publicDir: false,
  plugins: [react()],
  build: { target: "es2022", minify: !process.env["TEPA_PLAIN"], chunkSizeWarningLimit: 900, outDir: "../node_modules/.bench", emptyOutDir: true, rollupOptions: { input: `${here}bench.html` } },
});
