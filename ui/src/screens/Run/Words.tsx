// A person's words for a run: a field that grows, sent by its button or with Ctrl+Enter.

import { Textarea } from "@mantine/core";

interface WordsProps {
  label: string;
  hint?: string;
  value: string;
  change: (value: string) => void;
  send: () => void;
  autoFocus?: boolean;
}

/** The field. */
export function Words({ label, hint, value, change, send, autoFocus = false }: WordsProps) {
  return (
    <Textarea
      label={label}
      description={hint}
      autosize
      minRows={3}
      maxRows={10}
      {...(autoFocus ? { "data-autofocus": true, autoFocus: true } : {})}
      value={value}
      onChange={(event) => change(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && value.trim() !== "") send();
      }}
    />
  );
}
