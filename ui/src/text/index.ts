// The words of the interface. `en/` is the typed resource: a key that is not there does not compile.

import i18next, { type TFunction } from "i18next";
import { initReactI18next, useTranslation } from "react-i18next";
import { speak } from "../state/format.ts";
import { type Language, usePreferences } from "../state/preferences.ts";
import { de } from "./de/index.ts";
import { en } from "./en/index.ts";

/** The languages, by their own names. */
export const languages: Record<Language, string> = { en: "English", de: "Deutsch" };

/** The language that is spoken when a person has chosen this one, or none. */
export function spoken(chosen: Language | null, system: readonly string[]): Language {
  if (chosen) return chosen;
  for (const tag of system) {
    const [first] = tag.toLowerCase().split("-");
    if (first === "en" || first === "de") return first;
  }
  return "en";
}

const now = () => spoken(usePreferences.getState().language, typeof navigator === "undefined" ? [] : navigator.languages);

void i18next.use(initReactI18next).init({
  lng: now(),
  fallbackLng: "en",
  resources: { en: { translation: en }, de: { translation: de } },
  interpolation: { escapeValue: false },
  returnNull: false,
  initAsync: false,
});

const tell = () => {
  speak(i18next.language === "de" ? "de" : "en");
  if (typeof document !== "undefined") document.documentElement.lang = i18next.language;
};
tell();
usePreferences.subscribe(() => {
  const language = now();
  if (language === i18next.language) return;
  // Numbers first: what is drawn anew in the other language shows them too.
  speak(language);
  void i18next.changeLanguage(language).then(tell);
});

/** Looks words up; plain functions take it as an argument. */
export type Text = TFunction;

/** The words, inside a component. */
export function useText(): Text {
  return useTranslation().t;
}

/** The words, where there is no component. */
export const text: Text = i18next.t;

/** The language that is spoken, inside a component. */
export function useLanguage(): Language {
  return useTranslation().i18n.language === "de" ? "de" : "en";
}
