// Values, queries and texts in the fixed-width face, with a button to copy them.

import { ActionIcon, CopyButton, Tooltip } from "@mantine/core";
import { IconCheck, IconCopy } from "@tabler/icons-react";
import { useText } from "../text/index.ts";
import classes from "./Code.module.css";

interface CodeProps {
  text: string;
  label: string;
  maxHeight?: number;
  /** A part of the text to look at, from and to. */
  marked?: readonly [number, number] | null;
}

function intoSight(element: HTMLElement | null): void {
  element?.scrollIntoView({ block: "center" });
}

/** A block of code. */
export function Code({ text, label, maxHeight = 320, marked = null }: CodeProps) {
  const t = useText();
  return (
    <div className={classes.block}>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <pre className={classes.pre} style={{ maxHeight }} role="region" aria-label={label} tabIndex={0}>
        {marked ? (
          <>
            {text.slice(0, marked[0])}
            <mark className={classes.marked} ref={intoSight}>
              {text.slice(marked[0], marked[1])}
            </mark>
            {text.slice(marked[1])}
          </>
        ) : (
          text
        )}
      </pre>
      <CopyButton value={text}>
        {({ copied, copy }) => (
          <Tooltip label={copied ? t("common.copied") : t("common.copy")}>
            <ActionIcon className={classes.copy ?? ""} onClick={copy} aria-label={t("common.copy")} size={26}>
              {copied ? <IconCheck size={14} stroke={1.6} /> : <IconCopy size={14} stroke={1.6} />}
            </ActionIcon>
          </Tooltip>
        )}
      </CopyButton>
    </div>
  );
}
