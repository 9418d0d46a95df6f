import { describe, expect, it } from "vitest";
import type { Language } from "./preferences.ts";
import { readNumber, type Wanted, writeNumber } from "./number.ts";

const both: readonly Language[] = ["en", "de"];
const read = (typed: string, wanted: Wanted = {}, language: Language = "en") => {
  const reading = readNumber(typed, wanted, language);
  return "value" in reading ? reading.value : reading.refused.why;
};

/** What the field made of it after every key. */
const typing = (typed: string, language: Language) => [...typed].map((_, at) => read(typed.slice(0, at + 1), { min: 0 }, language));

describe("a sum", () => {
  it("is read with a dot and with a comma, in both languages", () => {
    for (const language of both) {
      for (const [typed, value] of [["1.5", 1.5], ["1,5", 1.5], ["0.75", 0.75], ["0,75", 0.75], ["0.50", 0.5], ["12,50", 12.5], ["0.005", 0.005], ["0,005", 0.005], [".5", 0.5], ["5.", 5], ["0", 0], ["1500", 1500]] as const) {
        expect(read(typed, {}, language), `${typed} in ${language}`).toBe(value);
      }
    }
  });

  it("never becomes larger than what was typed, nor nothing, on the way", () => {
    for (const language of both) {
      expect(typing("1.5", language)).toEqual([1, 1, 1.5]);
      expect(typing("0,75", language)).toEqual([0, 0, 0.7, 0.75]);
      expect(typing("0.005", language)).toEqual([0, 0, 0, 0, 0.005]);
    }
  });

  it("may have marks between thousands", () => {
    expect(read("1,234,567.50")).toBe(1_234_567.5);
    expect(read("1.234.567,50", {}, "de")).toBe(1_234_567.5);
    expect(read("1'234.50")).toBe(1234.5);
    expect(read("1 234,50", {}, "de")).toBe(1234.5);
  });

  it("is not guessed where it could be two", () => {
    expect(readNumber("1,500", {}, "en")).toEqual({ refused: { why: "twoWays", small: 1.5, large: 1500 } });
    expect(readNumber("1.500", {}, "de")).toEqual({ refused: { why: "twoWays", small: 1.5, large: 1500 } });
    expect(read("1.500", {}, "en")).toBe(1.5);
    expect(read("1,500", {}, "de")).toBe(1.5);
  });

  it("is refused, and not left out, where it is none", () => {
    for (const typed of ["abc", "1.2.3", "1,2.3.4", "0.5 $", "-", ".", "1e5", "Infinity", "٣", "12,34.5"]) expect(read(typed), typed).toBe("notNumber");
    expect(read("-1", { min: 0 })).toBe("below");
    expect(read("101", { max: 100 })).toBe("above");
    expect(read("")).toBe(null);
    expect(read(" ", { needed: true })).toBe("needed");
  });
});

describe("a whole number", () => {
  it("may have marks between thousands, whichever the language", () => {
    for (const language of both) {
      for (const typed of ["64000", "64,000", "64.000", "64 000", "64'000"]) expect(read(typed, { whole: true }, language), typed).toBe(64_000);
    }
  });

  it("is refused when it is not whole", () => {
    for (const typed of ["1.5", "0,5", "64,00", "1,000.000"]) expect(read(typed, { whole: true }), typed).toBe("notWhole");
  });
});

it("what a field shows is read as the same number", () => {
  for (const language of both) {
    for (const value of [0, 0.000_001, 0.005, 0.5, 1.5, 12.25, 1500, 1_234_567.891]) {
      expect(read(writeNumber(value, {}, language), {}, language), `${value} in ${language}`).toBe(value);
    }
    for (const value of [0, 7, 64_000, 100_000_000]) expect(read(writeNumber(value, { whole: true }, language), { whole: true }, language)).toBe(value);
  }
});
