import { describe, expect, test } from "vitest";
import { dark, light, type Token } from "./tokens.ts";

function luminance(hex: string): number {
  const channel = (at: number) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
}

function contrast(a: string, b: string): number {
  const [high, low] = [luminance(a), luminance(b)].toSorted((x, y) => y - x);
  return ((high ?? 0) + 0.05) / ((low ?? 0) + 0.05);
}

const surfaces: Token[] = ["page", "rail", "card", "sunken", "hover", "float"];
const text: [Token, Token[]][] = [
  ["text", surfaces],
  ["text2", surfaces],
  ["text3", surfaces],
  ["accentText", [...surfaces, "accentSoft"]],
  ["onAccent", ["accent", "accentHover", "danger", "dangerHover"]],
  ["passed", ["card", "page", "passedSoft"]],
  ["failed", ["card", "page", "failedSoft"]],
  ["waiting", ["card", "page", "waitingSoft"]],
  ["running", ["card", "page", "runningSoft"]],
  ["idle", ["card", "idleSoft"]],
  ["text", ["waitingSoft", "runningSoft", "accentSoft", "failedSoft", "passedSoft"]],
  ["text2", ["found"]],
  ["text", ["found"]],
  ["text2", ["waitingSoft", "accentSoft", "failedSoft", "idleSoft"]],
];
const marks: [Token, Token[]][] = [
  ["mark", ["card", "page"]],
  ["accent", ["card", "page"]],
  ["onMark", ["passed", "failed", "waiting", "running", "idle"]],
];

describe.each([
  ["light", light as Record<Token, string>],
  ["dark", dark],
])("the %s palette", (_name, palette) => {
  test.each(text.flatMap(([on, under]) => under.map((surface) => [on, surface] as const)))(
    "%s can be read on %s",
    (on, surface) => {
      expect(contrast(palette[on], palette[surface])).toBeGreaterThanOrEqual(4.5);
    },
  );
  test.each(marks.flatMap(([on, under]) => under.map((surface) => [on, surface] as const)))(
    "%s can be told apart from %s",
    (on, surface) => {
      expect(contrast(palette[on], palette[surface])).toBeGreaterThanOrEqual(3);
    },
  );
});
