// Was viele Ansichten sagen.

import type { Words } from "../words.ts";

export const common: Words["common"] = {
  cancel: "Abbrechen",
  close: "Schließen",
  save: "Speichern",
  copy: "Kopieren",
  copied: "Kopiert",
  more: "Alles zeigen",
  loading: "Wird geladen",
  openFolder: "Ordner öffnen",
  openFile: "Im Ordner zeigen",
  recorded: "Aufzeichnung",
  recordedHint: "Die Antworten des Modells stammen aus einer Aufzeichnung, die mit der App kommt. Dateien, Werkzeuge und Prüfungen sind echt.",
  nothing: "nichts",
  tokens_one: "{{shown}} Token",
  tokens_other: "{{shown}} Token",
  cycles_one: "{{count}} Zyklus",
  cycles_other: "{{count}} Zyklen",
  atLeast: "mindestens {{money}}",
  number: {
    needed: "Hier gehört eine Zahl hin.",
    notNumber: "Schreiben Sie eine Zahl, etwa {{example}}.",
    notWhole: "Schreiben Sie eine ganze Zahl.",
    twoWays: "Das könnte {{small}} oder {{large}} sein. Schreiben Sie die, die Sie meinen.",
    below: "Mindestens {{least}}.",
    above: "Höchstens {{most}}.",
  },
  rows_one: "{{shown}} Zeile",
  rows_other: "{{shown}} Zeilen",
};
