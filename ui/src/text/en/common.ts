// What many screens say.

export const common = {
  cancel: "Cancel",
  close: "Close",
  save: "Save",
  copy: "Copy",
  copied: "Copied",
  more: "Show all of it",
  loading: "Loading",
  openFolder: "Open folder",
  openFile: "Show in folder",
  recorded: "Recorded replies",
  recordedHint: "The model's replies come from a recording that ships with the app. Files, tools and checks are real.",
  nothing: "nothing",
  tokens_one: "{{shown}} token",
  tokens_other: "{{shown}} tokens",
  cycles_one: "{{count}} cycle",
  cycles_other: "{{count}} cycles",
  rows_one: "{{shown}} row",
  rows_other: "{{shown}} rows",
} as const;
