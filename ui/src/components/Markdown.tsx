// Markdown that somebody else wrote: drawn as text and structure only. No raw HTML, no pictures from elsewhere, and
// links say where they lead instead of leading there.

import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
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

/** Draws Markdown safely. */
export function Markdown({ text }: { text: string }) {
  return (
    <div className={classes.markdown}>
      <ReactMarkdown remarkPlugins={[remarkGfm]} components={components} skipHtml>
        {text}
      </ReactMarkdown>
    </div>
  );
}
