// Text in which a search found something. It is text and nothing else, whatever it looks like.

import type { Found } from "../contract/index.ts";
import { foundPieces } from "../state/found.ts";
import classes from "./FoundText.module.css";

/** The text with what was found marked in it. */
export function FoundText({ found }: { found: Pick<Found, "text" | "marks"> }) {
  return foundPieces(found).map(({ text, marked }, index) =>
    marked ? (
      <mark key={index} className={classes.mark}>
        {text}
      </mark>
    ) : (
      <span key={index}>{text}</span>
    ),
  );
}
