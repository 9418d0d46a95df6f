// What kind of thing a value is, for drawing it.

/** Whether a value has named fields. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The value as rows of cells, heading first, when it is a list of flat records or `{ columns, rows }`; else null. */
export function asTable(value: unknown): string[][] | null {
  if (isRecord(value)) {
    const { columns, rows } = value;
    if (!Array.isArray(columns) || !Array.isArray(rows) || rows.length === 0) return null;
    const names = columns.map((column: unknown) => (isRecord(column) ? cell(column["name"]) : cell(column)));
    const body = rows.map((row: unknown) => {
      if (Array.isArray(row)) return row.map(cell);
      return isRecord(row) ? names.map((name) => cell(row[name])) : [cell(row)];
    });
    return [names, ...body];
  }
  if (!Array.isArray(value) || value.length === 0 || !value.every(isRecord)) return null;
  const names = [...new Set(value.slice(0, 50).flatMap((row) => Object.keys(row)))];
  if (names.length === 0 || names.length > 24) return null;
  return [names, ...value.map((row) => names.map((name) => cell(row[name])))];
}

/** JSON that somebody wrote; undefined while it cannot be read. */
export function readJson(typed: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(typed) };
  } catch {
    return undefined;
  }
}
