// Numbers, sizes and times in words. The present moment comes in as an argument; the language is the interface's own.

import type { Language } from "./preferences.ts";

const made = (language: Language) => ({
  language,
  whole: new Intl.NumberFormat(language),
  tenths: new Intl.NumberFormat(language, { maximumFractionDigits: 1, useGrouping: false }),
  tenth: new Intl.NumberFormat(language, { minimumFractionDigits: 1, maximumFractionDigits: 1, useGrouping: false }),
  relative: new Intl.RelativeTimeFormat(language, { numeric: "auto" }),
  day: new Intl.DateTimeFormat(language, { day: "numeric", month: "short" }),
  dayAndYear: new Intl.DateTimeFormat(language, { day: "numeric", month: "short", year: "numeric" }),
  exact: new Intl.DateTimeFormat(language, { dateStyle: "full", timeStyle: "medium" }),
});

const justNow: Record<Language, string> = { en: "just now", de: "gerade eben" };
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
let formats = made("en");

/** The language that is spoken now. */
export function spokenNow(): Language {
  return formats.language;
}

/** Writes numbers and times as this language does from now on. */
export function speak(language: Language): void {
  if (language !== formats.language) formats = made(language);
}

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** `64,000`. */
export function count(value: number): string {
  return formats.whole.format(value);
}

/** `812`, `12.4k`, `1.2M`: for places where the last digits say nothing. */
export function short(value: number): string {
  if (value < 1000) return String(value);
  if (value < 999_950) return `${trim(value / 1000)}k`;
  return `${trim(value / 1_000_000)}M`;
}

function trim(value: number): string {
  return formats.tenths.format(value);
}

/** `$0.06`, `$12.50`, `0.06 XYZ` for a currency that nobody knows; small sums keep two digits that say something. */
export function money(amount: number, currency: string): string {
  const small = amount > 0 && amount < 0.01;
  const digits = small ? { maximumSignificantDigits: 2 } : { minimumFractionDigits: 2, maximumFractionDigits: 2 };
  try {
    return new Intl.NumberFormat(formats.language, { style: "currency", currency, ...digits }).format(amount);
  } catch {
    return `${new Intl.NumberFormat(formats.language, digits).format(amount)} ${currency}`.trim();
  }
}

/** `0.06`, `12.50`: a sum without its currency, which stands beside it. */
export function sum(amount: number): string {
  return new Intl.NumberFormat(formats.language, { minimumFractionDigits: 2, maximumFractionDigits: 4 }).format(amount);
}

/** A day that is written as a date is, such as `2026-10-27`, as this language writes it; other words stay as they are. */
export function dayWords(written: string): string {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(written);
  return parts ? formats.dayAndYear.format(new Date(Number(parts[1]), Number(parts[2]) - 1, Number(parts[3]))) : written;
}

/** `<0.1 s`, `0.1 s`, `12 s`, `1 min 20 s`, `2 h 5 min`. */
export function duration(ms: number): string {
  if (ms < 50) return `<${formats.tenth.format(0.1)} s`;
  if (ms < 10 * second) return `${formats.tenth.format(Math.max(0, ms) / second)} s`;
  if (ms < minute) return `${Math.round(ms / second)} s`;
  if (ms < hour) {
    const minutes = Math.floor(ms / minute);
    const seconds = Math.floor((ms % minute) / second);
    return seconds === 0 ? `${minutes} min` : `${minutes} min ${seconds} s`;
  }
  const hours = Math.floor(ms / hour);
  const minutes = Math.floor((ms % hour) / minute);
  return minutes === 0 ? `${hours} h` : `${hours} h ${minutes} min`;
}

/** `412 B`, `2.1 kB`, `3.4 MB`. */
export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 999_950) return `${trim(bytes / 1000)} kB`;
  return `${trim(bytes / 1_000_000)} MB`;
}

/** `just now`, `2 minutes ago`, `yesterday`, `12 Mar`, `12 Mar 2024`. */
export function ago(now: number, at: number): string {
  const past = now - at;
  if (past < 45 * second) return justNow[formats.language];
  if (past < hour) return formats.relative.format(-Math.max(1, Math.round(past / minute)), "minute");
  const days = calendarDays(now, at);
  if (days === 0) return formats.relative.format(-Math.max(1, Math.round(past / hour)), "hour");
  if (days < 7) return formats.relative.format(-days, "day");
  const sameYear = new Date(now).getFullYear() === new Date(at).getFullYear();
  return (sameYear ? formats.day : formats.dayAndYear).format(at);
}

function calendarDays(now: number, at: number): number {
  const midnight = (ms: number) => new Date(ms).setHours(0, 0, 0, 0);
  return Math.round((midnight(now) - midnight(at)) / (24 * hour));
}

/** `12 Mar`. */
export function dayOf(at: number): string {
  return formats.day.format(at);
}

/** The full date and time, for a tooltip. */
export function moment(at: number): string {
  return formats.exact.format(at);
}

/** `10:41:08`. */
export function timeOfDay(at: number): string {
  return clock.format(at);
}

/** The last part of a path, on any system. */
export function fileName(path: string): string {
  return path.split(/[\\/]/).filter(Boolean).at(-1) ?? path;
}

/** The last two parts of a folder's path: `Expenses / 2026 Q2`. */
export function folderName(path: string): string {
  const parts = path.split(/[\\/]/).filter(Boolean);
  return parts.length === 0 ? path : parts.slice(-2).join(" / ");
}

/** A title as the name of a file: small letters and digits, the rest as hyphens. */
export function fileWords(title: string): string {
  const words = title.trim().toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "");
  return words.slice(0, 80) || "tepa";
}
