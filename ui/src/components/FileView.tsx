// A file as a person wants to see it: Markdown as a page, CSV as a table, JSON as a tree, an image as itself, text as it is.

import { useMemo } from "react";
import type { FilePreview, Image } from "../contract/index.ts";
import { parseCsv } from "../state/csv.ts";
import { type Place, rangeInText } from "../state/evidence.ts";
import { count, size } from "../state/format.ts";
import { readJson } from "../state/value.ts";
import { useText } from "../text/index.ts";
import { Code } from "./Code.tsx";
import { DataTable } from "./DataTable.tsx";
import classes from "./FileView.module.css";
import { JsonTree } from "./JsonTree.tsx";
import { Markdown } from "./Markdown.tsx";
import { Notice } from "./Notice.tsx";

interface FileViewProps {
  path: string;
  preview: FilePreview;
  /** Shows the text itself instead of the page or table made of it. */
  asSource?: boolean;
  /** A place in it to look at. */
  place?: Place | null;
}

/** Whether there are two ways to look at this file. */
export function hasTwoFaces(path: string, preview: FilePreview): boolean {
  return preview.kind === "csv" || (preview.kind === "json" && !preview.truncated) || (preview.kind === "text" && isMarkdown(path));
}

function isMarkdown(path: string): boolean {
  return /\.(md|markdown)$/i.test(path);
}

/** Draws a file's content. */
export function FileView({ path, preview, asSource = false, place = null }: FileViewProps) {
  const t = useText();
  const text = preview.text ?? "";
  const marked = useMemo(() => (place ? rangeInText(text, place) : null), [text, place]);
  switch (preview.kind) {
    case "missing":
      return <Notice compact title={t("verdict.file.missing")} body={t("verdict.file.missingBody")} />;
    case "binary":
      return <Notice compact title={t("verdict.file.binary", { size: size(preview.size) })} />;
    case "image":
      return preview.image ? <Picture path={path} preview={preview} image={preview.image} /> : null;
    case "csv":
      return (
        <>
          {asSource ? <Code text={text} label={path} maxHeight={560} marked={marked} /> : <Csv path={path} text={text} rows={place?.kind === "rows" ? place.rows : []} />}
          <Truncated preview={preview} />
        </>
      );
    case "json":
      return (
        <>
          <Json path={path} text={text} tree={!asSource && !preview.truncated && place === null} marked={marked} />
          <Truncated preview={preview} />
        </>
      );
    case "text":
      return (
        <>
          {isMarkdown(path) && !asSource ? (
            <Markdown text={text} marked={place?.kind === "quote" ? place.text : marked ? text.slice(...marked) : null} />
          ) : (
            <Code text={text} label={path} maxHeight={560} marked={marked} />
          )}
          <Truncated preview={preview} />
        </>
      );
  }
}

/** An image, drawn from its own bytes; it asks for nothing. */
function Picture({ path, preview, image }: { path: string; preview: FilePreview; image: Image }) {
  const t = useText();
  return (
    <figure className={classes.picture}>
      <img src={`data:${image.mediaType};base64,${image.base64}`} alt={path} width={image.width} height={image.height} />
      <figcaption className={classes.note}>{t("verdict.file.image", { width: count(image.width), height: count(image.height), size: size(preview.size) })}</figcaption>
    </figure>
  );
}

function Csv({ path, text, rows: marked }: { path: string; text: string; rows: readonly number[] }) {
  const t = useText();
  const rows = useMemo(() => parseCsv(text), [text]);
  const body = Math.max(0, rows.length - 1);
  return (
    <>
      <DataTable rows={rows} label={path} marked={marked} />
      <p className={classes.note}>{t("common.rows", { count: body, shown: count(body) })}</p>
    </>
  );
}

function Truncated({ preview }: { preview: FilePreview }) {
  const t = useText();
  return preview.truncated ? <p className={classes.note}>{t("verdict.file.truncated")}</p> : null;
}

/** JSON as a tree; as text where it is wanted so, where a place in it is looked at, or where it is broken. */
function Json({ path, text, tree, marked }: { path: string; text: string; tree: boolean; marked: [number, number] | null }) {
  const read = useMemo(() => readJson(text), [text]);
  if (tree && read) return <JsonTree value={read.value} label={path} />;
  return <Code text={marked || !read ? text : JSON.stringify(read.value, null, 2)} label={path} maxHeight={560} marked={marked} />;
}
