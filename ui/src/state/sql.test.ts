import { expect, test } from "vitest";
import { prettySql } from "./sql.ts";

test("each main word starts a line", () => {
  expect(prettySql("SELECT category, sum(amount) FROM e LEFT JOIN f ON e.id = f.id WHERE amount > 0 GROUP BY category ORDER BY 2 DESC")).toBe(
    "SELECT category, sum(amount)\nFROM e\nLEFT JOIN f ON e.id = f.id\nWHERE amount > 0\nGROUP BY category\nORDER BY 2 DESC",
  );
});

test("text in quotes and queries in brackets stay on their line", () => {
  expect(prettySql("SELECT ' from here ', (SELECT 1 FROM x) FROM y")).toBe("SELECT ' from here ', (SELECT 1 FROM x)\nFROM y");
});

test("a query with lines of its own is left as it is", () => {
  expect(prettySql("SELECT 1\n  FROM x WHERE y")).toBe("SELECT 1\n  FROM x WHERE y");
});
