// JSON as a tree that opens branch by branch; a branch that nobody opened costs nothing.

import { useState } from "react";
import { isRecord } from "../state/value.ts";
import { count } from "../state/format.ts";
import { useText } from "../text/index.ts";
import classes from "./JsonTree.module.css";

const openDepth = 2;
const openLength = 30;
const atOnce = 200;

/** The tree. */
export function JsonTree({ value, label }: { value: unknown; label: string }) {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className={classes.tree} role="region" aria-label={label} tabIndex={0}>
      <ul>
        <Entry name={null} value={value} depth={0} />
      </ul>
    </div>
  );
}

function Entry({ name, value, depth }: { name: string | null; value: unknown; depth: number }) {
  const branches = Array.isArray(value) ? value.map((one, index) => [String(index), one] as const) : isRecord(value) ? Object.entries(value) : null;
  if (branches === null || branches.length === 0) {
    return (
      <li className={classes.leaf}>
        {name !== null && <span className={classes.name}>{name}</span>}
        <Leaf value={value} />
      </li>
    );
  }
  return <Branch name={name} branches={branches} list={Array.isArray(value)} depth={depth} />;
}

function Branch({ name, branches, list, depth }: { name: string | null; branches: readonly (readonly [string, unknown])[]; list: boolean; depth: number }) {
  const t = useText();
  const [open, setOpen] = useState(depth === 0 || (depth < openDepth && branches.length <= openLength));
  const [most, setMost] = useState(atOnce);
  const size = list ? t("json.items", { count: branches.length, shown: count(branches.length) }) : t("json.fields", { count: branches.length, shown: count(branches.length) });
  return (
    <li>
      <button type="button" className={classes.branch} aria-expanded={open} onClick={() => setOpen(!open)}>
        {name !== null && <span className={classes.name}>{name}</span>}
        <span className={classes.size}>{size}</span>
      </button>
      {open && (
        <ul>
          {branches.slice(0, most).map(([key, inner]) => (
            <Entry key={key} name={key} value={inner} depth={depth + 1} />
          ))}
          {branches.length > most && (
            <li>
              <button type="button" className={classes.more} onClick={() => setMost(most + 5 * atOnce)}>
                {t("json.more", { count: branches.length - most, shown: count(branches.length - most) })}
              </button>
            </li>
          )}
        </ul>
      )}
    </li>
  );
}

function Leaf({ value }: { value: unknown }) {
  const kind = value === null ? "null" : typeof value;
  return (
    <span className={classes.value} data-kind={kind}>
      {typeof value === "string" ? value : JSON.stringify(value)}
    </span>
  );
}
