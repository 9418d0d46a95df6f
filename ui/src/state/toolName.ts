// What a tool is called for people. Tasks, plans and models know it by its own name.

import { en } from "../text/en/index.ts";
import type { Text } from "../text/index.ts";

/** In the language of the window; by its own name when it is a server's. */
export function toolName(tool: string, t: Text): string {
  return isOurs(tool) ? t(`tools.${tool}`) : tool;
}

/** Several of them, to choose from. */
export function toolChoices(tools: readonly string[], t: Text): { value: string; label: string }[] {
  return [...new Set(tools)].map((tool) => ({ value: tool, label: toolName(tool, t) }));
}

/** Whether it is one of the app's own, which have words here. */
export function isOurs(tool: string): tool is keyof typeof en.tools {
  return Object.hasOwn(en.tools, tool);
}
