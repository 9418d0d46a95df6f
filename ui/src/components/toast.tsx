// Short messages at the edge of the window, for what has no place of its own on the screen.

import { Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { asHostError } from "../host/index.ts";
import { go } from "../shell/route.ts";
import { type Remedy, shownError } from "../state/errors.ts";
import { text } from "../text/index.ts";
import { Mark } from "./Mark.tsx";

/** Says that something worked. */
export function tell(message: string): void {
  notifications.show({ message, icon: <Mark kind="done" size={20} />, color: "transparent", autoClose: 3500 });
}

/** Says what did not work, with the button that helps. */
export function tellError(thrown: unknown): void {
  say(thrown, undefined);
}

/** The same where it can be done once more: `retry` does so. */
export function tellErrorOr(retry: () => void): (thrown: unknown) => void {
  return (thrown) => say(thrown, retry);
}

function say(thrown: unknown, retry: (() => void) | undefined): void {
  const shown = shownError(asHostError(thrown), text);
  const id = notifications.show({
    message: <Said sentence={shown.sentence} remedy={shown.remedy} retry={retry} close={() => notifications.hide(id)} />,
    icon: <Mark kind={shown.severity === "error" ? "failed" : "uncertain"} size={20} />,
    color: "transparent",
    autoClose: 9000,
  });
}

interface SaidProps {
  sentence: string;
  remedy: Remedy;
  retry: (() => void) | undefined;
  close: () => void;
}

function Said({ sentence, remedy, retry, close }: SaidProps) {
  const acts: Partial<Record<Remedy, { label: string; act: () => void }>> = {
    settings: { label: text("errors.toSettings"), act: () => go({ screen: "settings" }) },
    ...(retry && { keychain: { label: text("errors.unlock"), act: retry } }),
  };
  const helps = acts[remedy];
  return (
    <>
      {sentence}
      {helps && (
        <Button
          size="xs"
          variant="default"
          mt={8}
          display="block"
          onClick={() => {
            close();
            helps.act();
          }}
        >
          {helps.label}
        </Button>
      )}
    </>
  );
}
