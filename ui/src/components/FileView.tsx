// A file as a person wants to see it: Markdown as a page, CSV as a table, JSON and text as they are.

import { useMemo } from "react";
import type { FilePreview } from "../contract/index.ts";
import { parseCsv } from "../state/csv.ts";
import { count, size } from "../state/format.ts";
import { useText } from "../text/index.ts";
import { Code } from "./Code.tsx";
import { DataTable } from "./DataTable.tsx";
import classes from "./FileView.module.css";
import { Markdown } from "./Markdown.tsx";
import { Notice } from "./Notice.tsx";

interface FileViewProps {
  path: string;
  preview: FilePreview;
  /** Shows the text itself instead of the page or table made of it. */
  asSource?: boolean;
}

/** Whether there are two ways to look at this file. */
export function hasTwoFaces(path: string, preview: FilePreview): boolean {
  return preview.kind === "csv" || (preview.kind === "text" && isMarkdown(path));
}

function isMarkdown(path: string): boolean {
  return /\.(md|markdown)$/i.test(path);
}

/** Draws a file's content. */
export function FileView({ path, preview, asSource = false }: FileViewProps) {
  const t = useText();
  const text = preview.text ?? "";
  switch (preview.kind) {
    case "missing":
      return <Notice compact title={t("verdict.file.missing")} body={t("verdict.file.missingBody")} />;
    case "binary":
      return <Notice compact title={t("verdict.file.binary", { size: size(preview.size) })} />;
    case "csv":
      return (
        <>
          {asSource ? <Code text={text} label={path} maxHeight={560} /> : <Csv path={path} text={text} />}
          <Truncated preview={preview} />
        </>
      );
    case "json":
      return (
        <>
          <Code text={preview.truncated ? text : prettyJson(text)} label={path} maxHeight={560} />
          <Truncated preview={preview} />
        </>
      );
    case "text":
      return (
        <>
          {isMarkdown(path) && !asSource ? <Markdown text={text} /> : <Code text={text} label={path} maxHeight={560} />}
          <Truncated preview={preview} />
        </>
      );
  }
}

function Csv({ path, text }: { path: string; text: string }) {
  const t = useText();
  const rows = useMemo(() => parseCsv(text), [text]);
  const body = Math.max(0, rows.length - 1);
  return (
    <>
      <DataTable rows={rows} label={path} />
      <p className={classes.note}>{t("common.rows", { count: body, shown: count(body) })}</p>
    </>
  );
}

function Truncated({ preview }: { preview: FilePreview }) {
  const t = useText();
  return preview.truncated ? <p className={classes.note}>{t("verdict.file.truncated")}</p> : null;
}

function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
