// An error in the place where its result would have been, with the button that helps.

import { Button } from "@mantine/core";
import type { HostError } from "../host/index.ts";
import { go } from "../shell/route.ts";
import { shownError } from "../state/errors.ts";
import { useText } from "../text/index.ts";
import { Notice } from "./Notice.tsx";

interface FailureProps {
  error: HostError;
  retry?: (() => void) | undefined;
  compact?: boolean;
}

/** What went wrong, what it means, and what to do. */
export function Failure({ error, retry, compact = false }: FailureProps) {
  const t = useText();
  const shown = shownError(error, t);
  const button =
    shown.remedy === "settings" ? (
      <Button onClick={() => go({ screen: "settings" })}>{t("errors.toSettings")}</Button>
    ) : retry ? (
      <Button variant="default" onClick={retry}>
        {t(shown.remedy === "keychain" ? "errors.unlock" : "errors.again")}
      </Button>
    ) : null;
  return (
    <Notice
      tone="failed"
      compact={compact}
      title={compact ? shown.sentence : t("errors.title")}
      body={compact ? undefined : shown.sentence}
      action={button}
      details={shown.original === shown.sentence ? undefined : shown.original}
    />
  );
}
