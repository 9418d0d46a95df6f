// The two palettes, by what a colour is for. Contrast is measured in tokens.test.ts: text 4.5:1, meaningful marks 3:1.
// Dark is its own palette, not the light one turned round.

/** Every colour the screens may use, for the light scheme. */
export const light = {
  page: "#f7f9fc",
  rail: "#ffffff",
  card: "#ffffff",
  sunken: "#f4f6fa",
  hover: "#f1f4f9",
  float: "#ffffff",
  border: "#e3e8f0",
  borderStrong: "#cdd5e1",
  mark: "#7b899e",
  text: "#0f172a",
  text2: "#475569",
  text3: "#5d6b80",
  accent: "#3b5bdb",
  accentHover: "#3451c7",
  onAccent: "#ffffff",
  accentText: "#364fc7",
  accentSoft: "#edf1ff",
  passed: "#1f7a37",
  passedSoft: "#e8f6ec",
  failed: "#c32a2a",
  failedSoft: "#fdeeee",
  danger: "#c32a2a",
  dangerHover: "#ad2323",
  waiting: "#9a5200",
  waitingSoft: "#fff4e0",
  running: "#1764ab",
  runningSoft: "#e6f2fd",
  idle: "#5d6b80",
  idleSoft: "#eff2f7",
  found: "#ffe7a3",
  onMark: "#ffffff",
  edge: "#c3ccda",
  dots: "#d5dce7",
  shadow: "0 12px 32px -8px rgb(15 23 42 / 0.18), 0 2px 6px rgb(15 23 42 / 0.06)",
} as const;

/** The name of a colour by its purpose. */
export type Token = keyof typeof light;

/** The same purposes, for the dark scheme. */
export const dark: Record<Token, string> = {
  page: "#0b111d",
  rail: "#0e1523",
  card: "#121a2b",
  sunken: "#0c1320",
  hover: "#182236",
  float: "#172136",
  border: "#222d42",
  borderStrong: "#33415b",
  mark: "#65768f",
  text: "#e7ecf5",
  text2: "#aab7ca",
  text3: "#8b9ab1",
  accent: "#4c62dc",
  accentHover: "#5167e0",
  onAccent: "#ffffff",
  accentText: "#9db0ff",
  accentSoft: "#1a2447",
  passed: "#5ccb74",
  passedSoft: "#12291c",
  failed: "#ff8a8a",
  failedSoft: "#331a20",
  danger: "#c23a40",
  dangerHover: "#cc4247",
  waiting: "#ffbf69",
  waitingSoft: "#302313",
  running: "#74bdfb",
  runningSoft: "#112a44",
  idle: "#8595ad",
  idleSoft: "#1a2437",
  found: "#4a390c",
  onMark: "#0b111d",
  edge: "#3a4963",
  dots: "#1e283b",
  shadow: "0 16px 40px -8px rgb(0 0 0 / 0.6), 0 0 0 1px rgb(255 255 255 / 0.04)",
};

/** The CSS variables of a palette: `text2` becomes `--t-text2`, `borderStrong` becomes `--t-border-strong`. */
export function cssVariables(palette: Record<Token, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(palette).map(([name, value]) => [
      `--t-${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
      value,
    ]),
  );
}
