// A table of plain cells, with only the rows in sight drawn.

import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef } from "react";
import { numericColumns } from "../state/csv.ts";
import classes from "./DataTable.module.css";

const rowHeight = 32;

interface DataTableProps {
  /** The first row is the heading. */
  rows: readonly string[][];
  label: string;
  maxHeight?: number;
  /** Rows to look at; the heading is row 1. */
  marked?: readonly number[];
}

const noRows: readonly number[] = [];

/** Draws rows and columns; numbers stand at the right. */
export function DataTable({ rows, label, maxHeight = 480, marked = noRows }: DataTableProps) {
  const [heading = [], ...body] = rows;
  const scroller = useRef<HTMLDivElement>(null);
  const numeric = useMemo(() => numericColumns(rows), [rows]);
  const virtual = useVirtualizer({
    count: body.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 10,
  });
  const first = marked[0];
  useEffect(() => {
    if (first === undefined) return;
    virtual.scrollToIndex(Math.max(0, first - 2), { align: "center" });
    scroller.current?.scrollIntoView({ block: "center" });
  }, [first, virtual]);
  const items = virtual.getVirtualItems();
  const above = items[0]?.start ?? 0;
  const below = virtual.getTotalSize() - (items.at(-1)?.end ?? 0);
  return (
    // A scrolling region is reached by keyboard, so it can be scrolled with the arrow keys.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className={classes.scroller} ref={scroller} style={{ maxHeight }} role="region" aria-label={label} tabIndex={0}>
      <table className={classes.table} aria-rowcount={rows.length}>
        <thead>
          <tr>
            {heading.map((cell, column) => (
              <th key={column} scope="col" data-number={numeric[column] || undefined}>
                {cell}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {above > 0 && <tr style={{ height: above }} aria-hidden />}
          {items.map((item) => (
            <tr key={item.index} aria-rowindex={item.index + 2} data-marked={marked.includes(item.index + 2) || undefined}>
              {heading.map((_, column) => (
                <td key={column} data-number={numeric[column] || undefined} title={body[item.index]?.[column]}>
                  {body[item.index]?.[column] ?? ""}
                </td>
              ))}
            </tr>
          ))}
          {below > 0 && <tr style={{ height: below }} aria-hidden />}
        </tbody>
      </table>
    </div>
  );
}
