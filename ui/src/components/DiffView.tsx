// Two versions of a text, line by line. A sign stands beside the colour, for those who cannot tell the colours apart.

import { Fragment, useMemo } from "react";
import { compareTexts } from "../state/diff.ts";
import { useText } from "../text/index.ts";
import classes from "./DiffView.module.css";
import { Notice } from "./Notice.tsx";

const signs = { added: "+", removed: "−", same: " " } as const;

/** What changed from one text to the other. */
export function DiffView({ before, after, label }: { before: string; after: string; label: string }) {
  const t = useText();
  const hunks = useMemo(() => compareTexts(before, after), [before, after]);
  if (hunks === null) return <Notice compact title={t("diff.tooMuch")} />;
  if (hunks.length === 0) return <Notice compact title={t("diff.none")} />;
  return (
    // A scrolling region is reached by keyboard, so it can be scrolled with the arrow keys.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className={classes.diff} role="region" aria-label={label} tabIndex={0}>
      <table>
        <caption className={classes.hidden}>{label}</caption>
        <tbody>
          {hunks.map((hunk, index) => (
            <Fragment key={index}>
              {index > 0 && (
                <tr className={classes.gap}>
                  <td colSpan={3}>⋯</td>
                </tr>
              )}
              {hunk.map((line, at) => (
                <tr key={at} data-kind={line.kind}>
                  <td className={classes.number}>{line.number}</td>
                  <td className={classes.sign}>
                    <span aria-hidden>{signs[line.kind]}</span>
                    {line.kind !== "same" && <span className={classes.hidden}>{t(`diff.${line.kind}`)}</span>}
                  </td>
                  <td className={classes.text}>{line.text || " "}</td>
                </tr>
              ))}
            </Fragment>
          ))}
        </tbody>
      </table>
    </div>
  );
}
