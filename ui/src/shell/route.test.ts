import { expect, test } from "vitest";
import { href, parseRoute, type Route } from "./route.ts";

const places: Route[] = [
  { screen: "home" },
  { screen: "compose" },
  { screen: "runs", status: "all" },
  { screen: "runs", status: "waiting" },
  { screen: "run", runId: "0199-a/b", view: "auto" },
  { screen: "run", runId: "0199", view: "verdict" },
  { screen: "settings" },
];

test.each(places)("an address leads back to its place: %o", (route) => {
  expect(parseRoute(href(route))).toEqual(route);
});

test.each(["#/nowhere/at/all", "#/%", "#javascript:alert(1)"])("an unknown address is Home: %s", (address) => {
  expect(parseRoute(address)).toEqual({ screen: "home" });
});

test("half an address leads to the list it began with", () => {
  expect(parseRoute("#/runs/%E0%A4%A")).toEqual({ screen: "runs", status: "all" });
});
