// Reads a CSV for showing: quotes, doubled quotes, line breaks in fields, and the separator found from the first line.

/** A table's rows of cells; the first row is the heading. */
export function parseCsv(text: string, maxRows = 5000): string[][] {
  const source = text.startsWith("\uFEFF") ? text.slice(1) : text;
  const separator = findSeparator(source);
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = "";
  let quoted = false;
  const endCell = () => {
    row.push(cell);
    cell = "";
  };
  const endRow = () => {
    endCell();
    if (row.length > 1 || row[0] !== "") rows.push(row);
    row = [];
  };
  for (let index = 0; index < source.length && rows.length <= maxRows; index += 1) {
    const char = source.charAt(index);
    if (quoted) {
      if (char !== '"') cell += char;
      else if (source.charAt(index + 1) === '"') {
        cell += '"';
        index += 1;
      } else quoted = false;
    } else if (char === '"' && cell === "") quoted = true;
    else if (char === separator) endCell();
    else if (char === "\n") endRow();
    else if (char !== "\r") cell += char;
  }
  if (cell !== "" || row.length > 0) endRow();
  return rows;
}

function findSeparator(text: string): string {
  const end = text.indexOf("\n");
  const line = (end === -1 ? text : text.slice(0, end)).replace(/"[^"]*"/g, "");
  const counts = [",", ";", "\t"].map((separator) => ({ separator, count: line.split(separator).length }));
  return counts.toSorted((a, b) => b.count - a.count)[0]?.separator ?? ",";
}

/** Whether every filled cell of a column is a number, so that it is set to the right. */
export function numericColumns(rows: readonly string[][]): boolean[] {
  const [heading = [], ...body] = rows;
  return heading.map((_, column) => {
    const cells = body.map((row) => row[column] ?? "").filter((value) => value !== "");
    return cells.length > 0 && cells.every((value) => /^-?[\d., ]+%?$/.test(value));
  });
}
