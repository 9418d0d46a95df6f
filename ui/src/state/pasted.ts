// What a person pastes into a list.

const bullet = /^\s*(?:[-*•–‣◦]|\d{1,5}[.)])\s+/;

/** The lines of a pasted list without its bullets and numbers; null for words that stand in one line. */
export function pastedLines(text: string): string[] | null {
  const lines = text
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .map((line) => line.replace(bullet, "").trim())
    .filter((line) => line !== "");
  return lines.length > 1 ? lines : null;
}
