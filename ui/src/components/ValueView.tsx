// Any value that a step was given or gave back, drawn by what it is: words, a number, a table, a list of fields.

import { Anchor, Skeleton } from "@mantine/core";
import { useState } from "react";
import { useValue } from "../api/values.ts";
import type { ValueRef } from "../contract/index.ts";
import { size } from "../state/format.ts";
import { prettySql } from "../state/sql.ts";
import { asTable, isRecord } from "../state/value.ts";
import { useText } from "../text/index.ts";
import { Code } from "./Code.tsx";
import { DataTable } from "./DataTable.tsx";
import { Late } from "./Late.tsx";
import classes from "./ValueView.module.css";

/** A recorded value: its beginning at once, the whole of it when asked for; one without a beginning as a whole. */
export function RecordedValue({ reference, label }: { reference: ValueRef; label: string }) {
  const t = useText();
  const [wanted, setWanted] = useState(reference.excerpt === "");
  const { value, isPending, error } = useValue(reference, wanted);
  if (value !== undefined) return <ValueView value={value} label={label} />;
  if (wanted && isPending) {
    return (
      <Late>
        <Skeleton height={80} radius={8} />
      </Late>
    );
  }
  return (
    <div>
      <Code text={`${reference.excerpt ?? ""}…`} label={label} maxHeight={140} />
      {error ? (
        <p className={classes.note}>{error.message}</p>
      ) : (
        <Anchor component="button" type="button" className={classes.more ?? ""} onClick={() => setWanted(true)}>
          {t("common.more")} ({size(reference.bytes)})
        </Anchor>
      )}
    </div>
  );
}

/** A value that is at hand. */
export function ValueView({ value, label }: { value: unknown; label: string }) {
  const t = useText();
  if (value === null || value === undefined || value === "") return <p className={classes.note}>{t("common.nothing")}</p>;
  if (typeof value === "string") return <Code text={value} label={label} />;
  if (typeof value === "number" || typeof value === "boolean") return <Code text={String(value)} label={label} />;
  const table = asTable(value);
  if (table) {
    return (
      <div className={classes.table}>
        <DataTable rows={table} label={label} maxHeight={280} />
      </div>
    );
  }
  if (isRecord(value)) return <Fields value={value} label={label} />;
  return <Code text={JSON.stringify(value, null, 2)} label={label} />;
}

const longText = 60;

function Fields({ value, label }: { value: Record<string, unknown>; label: string }) {
  return (
    <dl className={classes.fields}>
      {Object.entries(value).map(([name, field]) => {
        const wide =
          (typeof field === "string" && (field.length > longText || field.includes("\n"))) ||
          (typeof field === "object" && field !== null && JSON.stringify(field).length > longText);
        return (
          <div key={name} data-wide={wide || undefined}>
            <dt>{name}</dt>
            <dd>{wide ? <Wide name={name} field={field} label={label} /> : <Short field={field} />}</dd>
          </div>
        );
      })}
    </dl>
  );
}

function Wide({ name, field, label }: { name: string; field: unknown; label: string }) {
  const inner = `${label}: ${name}`;
  if (typeof field === "string") return <Code text={name === "sql" ? prettySql(field) : field} label={inner} />;
  const table = asTable(field);
  if (table) {
    return (
      <div className={classes.table}>
        <DataTable rows={table} label={inner} maxHeight={280} />
      </div>
    );
  }
  if (isPlain(field)) {
    return (
      <div className={classes.inner}>
        <Fields value={field} label={inner} />
      </div>
    );
  }
  return <Code text={JSON.stringify(field, null, 2)} label={inner} />;
}

/** Names with words or numbers: nothing that needs brackets to be read. */
function isPlain(field: unknown): field is Record<string, string | number> {
  return isRecord(field) && Object.values(field).every((inner) => typeof inner === "string" || typeof inner === "number");
}

/** A list of words or numbers, which says as much without brackets. */
function isWords(field: unknown): field is (string | number)[] {
  return Array.isArray(field) && field.length > 0 && field.every((one) => typeof one === "string" || typeof one === "number");
}

function Short({ field }: { field: unknown }) {
  if (isPlain(field)) {
    return (
      <span className={classes.short}>
        {Object.entries(field)
          .map(([name, inner]) => `${name}: ${String(inner)}`)
          .join(", ")}
      </span>
    );
  }
  const text = typeof field === "string" ? field : isWords(field) ? field.join(", ") : JSON.stringify(field);
  return <span className={classes.short}>{text}</span>;
}
