// Womit Dateien und Daten gezeigt werden, und die Formulare der Prüfungen.

import type { Words } from "../words.ts";

export const diff: Words["diff"] = {
  title: "Änderungen",
  label: "Was sich in {{path}} geändert hat",
  none: "Nichts ist anders.",
  tooMuch: "Die beiden haben so wenig gemeinsam, dass man sie besser nacheinander liest.",
  noText: "Diese Datei hat keinen Text, der sich vergleichen ließe.",
  added: "hinzugefügt",
  removed: "entfernt",
};

export const json: Words["json"] = {
  items_one: "{{shown}} Eintrag",
  items_other: "{{shown}} Einträge",
  fields_one: "{{shown}} Feld",
  fields_other: "{{shown}} Felder",
  more_one: "{{shown}} mehr zeigen",
  more_other: "{{shown}} mehr zeigen",
};

export const checks: Words["checks"] = {
  quoted: "„{{text}}“",
  any: "Beliebig",
  addEntry: "Hinzufügen",
  removeEntry: "{{name}} entfernen",
  entryName: "Name",
  namesPlaceholder: "Name eingeben, dann Enter",
  computed: "Eine andere Abfrage",
  either: "{{title}}: womit verglichen wird",
  raw: "Diese Einzelheit wird im Quelltext geschrieben.",
};
