// Where in the app we are, kept in the address after `#` so that going back works and a link can be shared between windows.

import { useSyncExternalStore } from "react";

/** Every place in the app. */
export type Route =
  | { screen: "home" }
  | { screen: "compose" }
  | { screen: "runs"; status: RunFilter }
  | { screen: "run"; runId: string; view: RunView }
  | { screen: "settings" };

/** Which runs the list shows. */
export type RunFilter = "all" | "active" | "waiting" | "interrupted" | "passed" | "failed" | "stopped";
/** The two faces of a run; `auto` is the steps while it runs and the verdict once it has ended. */
export type RunView = "auto" | "steps" | "verdict";

const filters: readonly RunFilter[] = ["all", "active", "waiting", "interrupted", "passed", "failed", "stopped"];

/** Reads an address; anything unknown is Home. */
export function parseRoute(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [first, second, third] = path.split("/").map(readable);
  switch (first) {
    case "task":
      return { screen: "compose" };
    case "runs": {
      if (second) {
        const view = third === "steps" || third === "verdict" ? third : "auto";
        return { screen: "run", runId: second, view };
      }
      const wanted = new URLSearchParams(query).get("status");
      return { screen: "runs", status: filters.find((filter) => filter === wanted) ?? "all" };
    }
    case "settings":
      return { screen: "settings" };
    default:
      return { screen: "home" };
  }
}

/** A part of an address as it was meant; one that is not well-formed leads nowhere. */
function readable(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}

/** The address of a place. */
export function href(route: Route): string {
  switch (route.screen) {
    case "home":
      return "#/";
    case "compose":
      return "#/task";
    case "runs":
      return route.status === "all" ? "#/runs" : `#/runs?status=${route.status}`;
    case "run":
      return `#/runs/${encodeURIComponent(route.runId)}${route.view === "auto" ? "" : `/${route.view}`}`;
    case "settings":
      return "#/settings";
  }
}

/** Goes to a place. */
export function go(route: Route): void {
  window.location.hash = href(route);
}

/** Goes to a place without leaving the present one in the history. */
export function replace(route: Route): void {
  window.history.replaceState(null, "", href(route));
  window.dispatchEvent(new HashChangeEvent("hashchange"));
}

function subscribe(listener: () => void): () => void {
  window.addEventListener("hashchange", listener);
  return () => window.removeEventListener("hashchange", listener);
}

/** The address we are at. */
export function useHash(): string {
  return useSyncExternalStore(subscribe, () => window.location.hash);
}
