// Markdown that somebody else wrote: drawn as text and structure only. No raw HTML, no pictures from elsewhere, and
// links say where they lead instead of leading there.

import { useEffect, useRef } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import { folded } from "../state/evidence.ts";
import classes from "./Markdown.module.css";

const components: Components = {
  a: ({ children, href }) => (
    <span className={classes.link} title={href}>
      {children}
    </span>
  ),
  img: ({ alt }) => <span className={classes.image}>{alt}</span>,
  input: ({ checked }) => <input type="checkbox" checked={checked ?? false} disabled readOnly aria-label={checked ? "✓" : "–"} />,
  table: ({ children }) => (
    <div className={classes.table}>
      <table>{children}</table>
    </div>
  ),
  h1: ({ children }) => <h3 className={classes.h1}>{children}</h3>,
  h2: ({ children }) => <h4 className={classes.h2}>{children}</h4>,
  h3: ({ children }) => <h5 className={classes.h3}>{children}</h5>,
  h4: ({ children }) => <h6 className={classes.h3}>{children}</h6>,
  h5: ({ children }) => <h6 className={classes.h3}>{children}</h6>,
};

/** Draws Markdown safely; a part that has the words `marked` in it is brought into sight. */
export function Markdown({ text, marked = null }: { text: string; marked?: string | null }) {
  const page = useRef<HTMLDivElement>(null);
  useEffect(() => (marked === null ? undefined : markBlock(page.current, marked)), [text, marked]);
  return (
    <div className={classes.markdown} ref={page}>
      <ReactMarkdown remarkPlugins={[remarkGfm]} components={components} skipHtml>
        {text}
      </ReactMarkdown>
    </div>
  );
}

/** Marks the smallest part of the page that has these words, and gives back what takes the mark away. */
function markBlock(page: HTMLElement | null, words: string): (() => void) | undefined {
  const wanted = folded(words);
  if (!page || wanted === "") return undefined;
  const blocks = [...page.querySelectorAll<HTMLElement>("p, li, td, th, tr, h3, h4, h5, h6, blockquote, pre, table, ul, ol")];
  const having = blocks.filter((block) => folded(block.textContent ?? "").includes(wanted));
  const smallest = having.find((block) => !having.some((other) => other !== block && block.contains(other)));
  if (!smallest) return undefined;
  smallest.dataset["marked"] = "";
  smallest.scrollIntoView({ block: "center" });
  return () => delete smallest.dataset["marked"];
}
