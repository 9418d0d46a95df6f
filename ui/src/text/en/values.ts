// What files and data are shown with, and the forms of checks.

export const diff = {
  title: "Changes",
  label: "What changed in {{path}}",
  none: "Nothing is different.",
  tooMuch: "The two have so little in common that they are better read one after the other.",
  noText: "This file has no text that could be compared.",
  added: "added",
  removed: "removed",
} as const;

export const json = {
  items_one: "{{shown}} item",
  items_other: "{{shown}} items",
  fields_one: "{{shown}} field",
  fields_other: "{{shown}} fields",
  more_one: "Show {{shown}} more",
  more_other: "Show {{shown}} more",
} as const;

export const checks = {
  quoted: "“{{text}}”",
  any: "Any",
  addEntry: "Add",
  removeEntry: "Remove {{name}}",
  entryName: "Name",
  namesPlaceholder: "Type a name, then Enter",
  computed: "Another query",
  either: "{{title}}: what it is compared with",
  raw: "This detail is written in the Source tab.",
} as const;
