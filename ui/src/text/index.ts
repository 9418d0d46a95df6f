// The words of the interface. `en.ts` is the typed resource: a key that is not there does not compile.

import i18next, { type TFunction } from "i18next";
import { initReactI18next, useTranslation } from "react-i18next";
import { en } from "./en.ts";

void i18next.use(initReactI18next).init({
  lng: "en",
  fallbackLng: "en",
  resources: { en: { translation: en } },
  interpolation: { escapeValue: false },
  returnNull: false,
  initAsync: false,
});

/** Looks words up; plain functions take it as an argument. */
export type Text = TFunction;

/** The words, inside a component. */
export function useText(): Text {
  return useTranslation().t;
}

/** The words, where there is no component. */
export const text: Text = i18next.t;
