// Where the page begins.

import "@mantine/core/styles.css";
import "@mantine/notifications/styles.css";
import "@mantine/spotlight/styles.css";
import "@fontsource-variable/inter";
import "@fontsource-variable/jetbrains-mono";
import "./theme/base.css";
import { MantineProvider } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { focusManager, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./shell/App.tsx";
import { theme, variablesResolver } from "./theme/index.ts";
import "./text/index.ts";

// The app answers from this computer and says itself when something changed: nothing is fetched again out of habit,
// and a refusal is shown at once instead of being tried again silently.
const client = new QueryClient({
  defaultOptions: { queries: { retry: false, refetchOnWindowFocus: false, staleTime: 5000, networkMode: "always" }, mutations: { networkMode: "always" } },
});

// One comes back from another window without this one having been hidden.
focusManager.setEventListener((comeBack) => {
  const listener = () => comeBack();
  window.addEventListener("focus", listener);
  document.addEventListener("visibilitychange", listener);
  return () => {
    window.removeEventListener("focus", listener);
    document.removeEventListener("visibilitychange", listener);
  };
});

const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <MantineProvider theme={theme} cssVariablesResolver={variablesResolver} defaultColorScheme="auto">
        <Notifications position="bottom-center" />
        <QueryClientProvider client={client}>
          <App />
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  );
}
