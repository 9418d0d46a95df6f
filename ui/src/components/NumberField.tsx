// A field for a number. What is typed stays as it is typed while the cursor is in the field; what is not taken is refused
// beside it, and never becomes another number or none.

import { TextInput, type TextInputProps } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { count } from "../state/format.ts";
import type { Language } from "../state/preferences.ts";
import { readNumber, type Refusal, type Wanted, writeNumber } from "../state/number.ts";
import { type Text, useLanguage, useText } from "../text/index.ts";

interface NumberFieldProps extends Omit<TextInputProps, "value" | "onChange" | "min" | "max" | "type" | "error">, Wanted {
  value: number | null;
  /** A number that is taken, or null where the field is empty. */
  onChange: (value: number | null) => void;
  /** What is not taken, as it was typed; without it the number before stays, and a form is not sent. */
  onRefused?: (typed: string) => void;
  /** How far the up and down keys go. */
  step?: number;
}

/** The field. A form holds it to what it takes with `accepts`. */
export function NumberField({ value, onChange, onRefused, whole = false, needed = false, min, max, step = 1, onBlur, ...field }: NumberFieldProps) {
  const t = useText();
  const language = useLanguage();
  const input = useRef<HTMLInputElement>(null);
  const wanted = { whole, needed, min, max };
  const [typed, setTyped] = useState<string | null>(null);
  const [shows, setShows] = useState(false);
  const reading = typed === null ? null : readNumber(typed, wanted, language);
  const refused = reading && "refused" in reading ? refusalWords(reading.refused, t, language) : "";
  useEffect(() => input.current?.setCustomValidity(refused), [refused]);
  const take = (words: string) => {
    setTyped(words);
    setShows(false);
    const read = readNumber(words, wanted, language);
    if ("value" in read) onChange(read.value);
    else onRefused?.(words);
  };
  const move = (by: number) => {
    const next = Math.min(max ?? Number.MAX_SAFE_INTEGER, Math.max(min ?? Number.MIN_SAFE_INTEGER, Number(((value ?? 0) + by).toFixed(10))));
    take(writeNumber(next, wanted, language));
  };
  return (
    <TextInput
      {...field}
      ref={input}
      inputMode={whole ? "numeric" : "decimal"}
      autoComplete="off"
      required={false}
      error={shows && refused !== "" ? refused : null}
      value={typed ?? (value === null ? "" : writeNumber(value, wanted, language))}
      onChange={(event) => take(event.currentTarget.value)}
      onInvalid={() => setShows(true)}
      onKeyDown={(event) => {
        if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return;
        event.preventDefault();
        if (refused === "") move(event.key === "ArrowUp" ? step : -step);
      }}
      onBlur={(event) => {
        if (refused === "") setTyped(null);
        else setShows(true);
        onBlur?.(event);
      }}
    />
  );
}

/** Whether every field of a form is as it must be; if not, the cursor is put where it is not. The form has `noValidate`. */
export function accepts(form: HTMLElement | null): boolean {
  const wrong = [...(form?.querySelectorAll("input") ?? [])].filter((input) => !input.checkValidity());
  wrong[0]?.focus();
  return wrong.length === 0;
}

function refusalWords(refusal: Refusal, t: Text, language: Language): string {
  const plain = (value: number) => writeNumber(value, {}, language);
  switch (refusal.why) {
    case "twoWays":
      return t("common.number.twoWays", { small: plain(refusal.small), large: plain(refusal.large) });
    case "below":
      return t("common.number.below", { least: count(refusal.least) });
    case "above":
      return t("common.number.above", { most: count(refusal.most) });
    case "needed":
    case "notNumber":
    case "notWhole":
      return t(`common.number.${refusal.why}`, { example: plain(0.5) });
  }
}
