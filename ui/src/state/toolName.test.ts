import { expect, test } from "vitest";
import { text } from "../text/index.ts";
import { toolChoices, toolName } from "./toolName.ts";

test("a tool of the app is called by what it does", () => {
  expect(toolName("file_write", text)).toBe("Write a file");
});

test("a tool of a server is called as the server calls it, also where its name is one of JavaScript's", () => {
  expect(toolName("calendar__add", text)).toBe("calendar__add");
  expect(toolName("constructor", text)).toBe("constructor");
});

test("each tool is offered once", () => {
  expect(toolChoices(["file_read", "x__y", "file_read"], text)).toEqual([
    { value: "file_read", label: "Read a file" },
    { value: "x__y", label: "x__y" },
  ]);
});
