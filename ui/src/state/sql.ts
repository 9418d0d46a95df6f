// Breaks a query over lines at its main words, for reading. Text in quotes is left alone; a query that already has
// several lines is shown as it was written.

const words =
  /^(SELECT|FROM|WHERE|GROUP BY|HAVING|ORDER BY|LIMIT|UNION ALL|UNION|EXCEPT|INTERSECT|(?:LEFT|INNER|CROSS|FULL|RIGHT)(?: OUTER)? JOIN|JOIN|WITH)\b/i;

/** The query with each of its main words at the beginning of a line. */
export function prettySql(sql: string): string {
  const trimmed = sql.trim();
  if (trimmed.includes("\n")) return trimmed;
  let out = "";
  let depth = 0;
  let quote: string | null = null;
  for (let index = 0; index < trimmed.length; index += 1) {
    const char = trimmed.charAt(index);
    if (quote) {
      if (char === quote) quote = null;
    } else if (char === "'" || char === '"') {
      quote = char;
    } else if (char === "(") {
      depth += 1;
    } else if (char === ")") {
      depth -= 1;
    } else if (depth === 0 && startsWord(trimmed, index)) {
      const found = words.exec(trimmed.slice(index).replace(/\s+/g, " "));
      if (found?.[1] && out.trim() !== "") out = `${out.trimEnd()}\n`;
    }
    out += char;
  }
  return out;
}

function startsWord(text: string, index: number): boolean {
  if (index === 0) return true;
  if (!/\s/.test(text.charAt(index - 1))) return false;
  // The second half of LEFT JOIN or UNION ALL does not start a line of its own.
  const before = text.slice(0, index).trimEnd();
  return !/\b(LEFT|INNER|CROSS|FULL|RIGHT|OUTER)$/i.test(before);
}
