import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { mockServer } from "./dev/mock-server.ts";

// `npm run dev` talks to the development server of tests/devserver (TEPA_DEVSERVER, its address);
// `vite --mode mock` answers from dev/mock-server.ts instead. Neither is part of the built bundle.
export default defineConfig(({ mode }) => {
  const target = process.env["TEPA_DEVSERVER"] ?? "http://127.0.0.1:4817";
  return {
    plugins: [react(), ...(mode === "mock" ? [mockServer()] : [])],
    server: {
      port: 5173,
      strictPort: true,
      host: "127.0.0.1",
      ...(mode === "mock" ? {} : { proxy: { "/ipc": target, "/signals": target, "/pick": target } }),
    },
    build: {
      target: "es2022",
      chunkSizeWarningLimit: 900,
    },
  };
});
