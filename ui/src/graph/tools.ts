// The picture of each tool.

import {
  type Icon,
  IconBrain,
  IconFileText,
  IconFolder,
  IconMessageQuestion,
  IconNotebook,
  IconNotes,
  IconPencil,
  IconPlug,
  IconTable,
  IconTableSpark,
  IconTool,
  IconWorldSearch,
} from "@tabler/icons-react";
import { createElement } from "react";

const icons: Record<string, Icon> = {
  file_read: IconFileText,
  file_write: IconPencil,
  file_edit: IconPencil,
  directory_list: IconFolder,
  data_parse: IconTable,
  data_query: IconTableSpark,
  scratchpad: IconNotebook,
  log_observe: IconNotes,
  ask_person: IconMessageQuestion,
  web_search: IconWorldSearch,
};

/** The icon of a tool; a step without tools thinks. */
export function ToolIcon({ tool }: { tool: string | undefined }) {
  const known = tool === undefined ? IconBrain : Object.hasOwn(icons, tool) ? icons[tool] : tool.includes("__") ? IconPlug : IconTool;
  return createElement(known ?? IconTool, { size: 14, stroke: 1.6, "aria-hidden": true });
}
