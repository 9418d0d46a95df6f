// Short messages at the edge of the window, for what has no place of its own on the screen.

import { notifications } from "@mantine/notifications";
import { asHostError } from "../host/index.ts";
import { shownError } from "../state/errors.ts";
import { text } from "../text/index.ts";
import { Mark } from "./Mark.tsx";

/** Says that something worked. */
export function tell(message: string): void {
  notifications.show({ message, icon: <Mark kind="done" size={20} />, color: "transparent", autoClose: 3500 });
}

/** Says what did not work. */
export function tellError(thrown: unknown): void {
  const shown = shownError(asHostError(thrown), text);
  notifications.show({
    message: shown.sentence,
    icon: <Mark kind={shown.severity === "error" ? "failed" : "uncertain"} size={20} />,
    color: "transparent",
    autoClose: 9000,
  });
}
