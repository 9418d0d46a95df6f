import { describe, expect, test } from "vitest";
import { ago, count, duration, fileName, folderName, money, short, size } from "./format.ts";

const noon = new Date(2026, 4, 20, 12, 0, 0).getTime();
const minutes = (n: number) => n * 60_000;
const days = (n: number) => n * 24 * 60 * 60_000;

test.each([
  [0, "just now"],
  [44_000, "just now"],
  [50_000, "1 minute ago"],
  [minutes(2), "2 minutes ago"],
  [minutes(59), "59 minutes ago"],
  [minutes(61), "1 hour ago"],
  [minutes(60 * 11), "11 hours ago"],
  [minutes(60 * 13), "yesterday"],
  [days(3), "3 days ago"],
  [days(8), "May 12"],
  [days(300), "Jul 24, 2025"],
])("%i ms before noon is %s", (past, expected) => {
  expect(ago(noon, noon - past)).toBe(expected);
});

test("a clock that runs ahead is just now", () => {
  expect(ago(noon, noon + 5000)).toBe("just now");
});

test.each([
  [0, "<0.1 s"],
  [140, "0.1 s"],
  [3100, "3.1 s"],
  [12_400, "12 s"],
  [80_000, "1 min 20 s"],
  [minutes(4), "4 min"],
  [minutes(125), "2 h 5 min"],
])("%i ms is %s", (ms, expected) => {
  expect(duration(ms)).toBe(expected);
});

describe("numbers", () => {
  test.each([
    [812, "812"],
    [12_440, "12.4k"],
    [64_000, "64k"],
    [999_960, "1M"],
  ])("%i is short for %s", (value, expected) => {
    expect(short(value)).toBe(expected);
  });
  test("thousands are grouped", () => expect(count(64_000)).toBe("64,000"));
  test("sizes have units", () => expect([size(412), size(2100), size(3_400_000)]).toEqual(["412 B", "2.1 kB", "3.4 MB"]));
});

test("paths of both kinds are shortened", () => {
  expect(folderName("/home/ada/Expenses/2026 Q2")).toBe("Expenses / 2026 Q2");
  expect(folderName("C:\\Users\\Ada\\Expenses")).toBe("Ada / Expenses");
  expect(fileName("report/flagged.csv")).toBe("flagged.csv");
});

test.each([
  [0, "USD", "$0.00"],
  [0.0612, "USD", "$0.06"],
  [0.00123, "USD", "$0.0012"],
  [12.5, "EUR", "€12.50"],
  [3, "coins", "3.00 coins"],
])("%d %s is shown as %s", (amount, currency, shown) => {
  expect(money(amount, currency)).toBe(shown);
});
