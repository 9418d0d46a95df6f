// A small form, drawn from a JSON Schema: the details of a check, the answer that a flow asks for. Every field says what
// it means in its own words.

import { ActionIcon, Button, SegmentedControl, Select, Switch, TagsInput, Textarea, TextInput } from "@mantine/core";
import { IconPlus, IconX } from "@tabler/icons-react";
import { useState } from "react";
import { type Field, type FieldKind, formFields, groupValue, readValue } from "../state/schemaForm.ts";
import { isRecord } from "../state/value.ts";
import { useText } from "../text/index.ts";
import { NumberField } from "./NumberField.tsx";
import classes from "./SchemaForm.module.css";

interface SchemaFormProps {
  label: string;
  schema: unknown;
  args: Record<string, unknown>;
  change: (args: Record<string, unknown>) => void;
}

/** The form. */
export function SchemaForm({ label, schema, args, change }: SchemaFormProps) {
  // What is half filled in lives here; only what is complete enough to be written goes out.
  const [filled, setFilled] = useState(args);
  const fill = (value: Record<string, unknown>) => {
    setFilled(value);
    change(value);
  };
  return (
    <div className={classes.form} role="group" aria-label={label}>
      <Fields fields={formFields(schema)} value={filled} change={fill} />
    </div>
  );
}

interface FieldsProps {
  fields: readonly Field[];
  value: Record<string, unknown>;
  change: (value: Record<string, unknown>) => void;
}

function Fields({ fields, value, change }: FieldsProps) {
  return (
    <div className={classes.fields}>
      {fields.map((field) => (
        <div key={field.name} className={classes.field} data-kind={field.kind} data-long={(field.kind === "text" && field.long) || undefined}>
          <Input
            kind={field}
            title={field.title}
            hint={field.hint}
            value={value[field.name]}
            change={(inner) => change({ ...value, [field.name]: inner })}
          />
        </div>
      ))}
    </div>
  );
}

interface InputProps {
  kind: FieldKind;
  title: string;
  hint: string;
  value: unknown;
  change: (value: unknown) => void;
  /** The title stands elsewhere already; it is only said aloud. */
  bare?: boolean;
}

function Input({ kind, title, hint, value, change, bare = false }: InputProps) {
  const t = useText();
  const named = bare ? { "aria-label": title } : { label: title };
  switch (kind.kind) {
    case "text": {
      const text = Array.isArray(value) ? value.join("\n") : typeof value === "string" ? value : "";
      const onText = (typed: string) => change(Array.isArray(value) ? typed.split("\n") : typed);
      return kind.long || Array.isArray(value) ? (
        <Textarea
          {...named}
          title={hint}
          classNames={{ input: classes.code ?? "" }}
          autosize
          minRows={2}
          maxRows={12}
          spellCheck={false}
          value={text}
          onChange={(event) => onText(event.currentTarget.value)}
        />
      ) : (
        <TextInput {...named} title={hint} value={text} onChange={(event) => onText(event.currentTarget.value)} />
      );
    }
    case "number":
      return (
        <NumberField
          {...named}
          title={hint}
          placeholder={t("checks.any")}
          min={kind.min ?? undefined}
          whole={kind.whole}
          value={typeof value === "number" ? value : null}
          onChange={(typed) => change(typed ?? undefined)}
          onRefused={change}
        />
      );
    case "yesNo":
      return <Switch {...named} title={hint} checked={value === true} onChange={(event) => change(event.currentTarget.checked || undefined)} />;
    case "choice":
      return <Select {...named} title={hint} data={kind.options} value={typeof value === "string" ? value : null} onChange={(chosen) => change(chosen ?? undefined)} />;
    case "names": {
      const names = Array.isArray(value) ? value.map(String) : typeof value === "string" ? [value] : [];
      return (
        <TagsInput
          {...named}
          title={hint}
          placeholder={names.length === 0 ? t("checks.namesPlaceholder") : ""}
          value={names}
          splitChars={[",", ";"]}
          acceptValueOnBlur
          onChange={(chosen) => change(chosen.length === 0 ? undefined : chosen)}
        />
      );
    }
    case "value":
      return (
        <TextInput
          {...named}
          title={hint}
          value={value === undefined || value === null ? "" : String(value)}
          onChange={(event) => change(event.currentTarget.value === "" ? undefined : readValue(event.currentTarget.value))}
        />
      );
    case "group":
      return (
        <fieldset className={classes.group} title={hint} data-bare={bare || undefined}>
          <legend>{title}</legend>
          <Fields fields={kind.fields} value={groupValue(kind.fields, value)} change={change} />
        </fieldset>
      );
    case "map":
      return <MapInput kind={kind.value} title={title} hint={hint} value={isRecord(value) ? value : {}} change={change} />;
    case "either":
      return <EitherInput options={kind.options} title={title} hint={hint} value={value} change={change} />;
    case "raw":
      return (
        <div>
          <p className={classes.rawTitle}>{title}</p>
          <p className={classes.raw}>{t("checks.raw")}</p>
        </div>
      );
  }
}

interface MapInputProps {
  kind: FieldKind;
  title: string;
  hint: string;
  value: Record<string, unknown>;
  change: (value: unknown) => void;
}

function MapInput({ kind, title, hint, value, change }: MapInputProps) {
  const t = useText();
  const entries = Object.entries(value);
  const rename = (from: string, to: string) => {
    if (to === from || Object.hasOwn(value, to)) return;
    change(Object.fromEntries(entries.map(([name, inner]) => [name === from ? to : name, inner])));
  };
  return (
    <fieldset className={classes.group} title={hint}>
      <legend>{title}</legend>
      {entries.map(([name, inner], index) => (
        <div key={index} className={classes.entry}>
          <TextInput
            aria-label={`${title}: ${t("checks.entryName")}`}
            placeholder={t("checks.entryName")}
            value={name}
            onChange={(event) => rename(name, event.currentTarget.value)}
          />
          <div className={classes.entryValue}>
            <Input
              kind={kind}
              title={`${title}: ${name}`}
              hint={hint}
              bare
              value={inner}
              change={(changed) => change({ ...value, [name]: changed ?? (kind.kind === "group" ? {} : "") })}
            />
          </div>
          <ActionIcon
            size={28}
            aria-label={t("checks.removeEntry", { name })}
            onClick={() => {
              const rest = Object.fromEntries(entries.filter(([other]) => other !== name));
              change(Object.keys(rest).length === 0 ? undefined : rest);
            }}
          >
            <IconX size={14} stroke={1.6} />
          </ActionIcon>
        </div>
      ))}
      <Button
        size="compact-xs"
        variant="subtle"
        color="gray"
        leftSection={<IconPlus size={13} stroke={1.8} />}
        disabled={Object.hasOwn(value, "")}
        onClick={() => change({ ...value, "": kind.kind === "group" ? {} : "" })}
      >
        {t("checks.addEntry")}
      </Button>
    </fieldset>
  );
}

interface EitherInputProps {
  options: Extract<FieldKind, { kind: "either" }>["options"];
  title: string;
  hint: string;
  value: unknown;
  change: (value: unknown) => void;
}

function EitherInput({ options, title, hint, value, change }: EitherInputProps) {
  const t = useText();
  const found = options.findIndex((option) => value !== undefined && option.accepts(value));
  const [chosen, setChosen] = useState(Math.max(0, found));
  const shown = found === -1 ? chosen : found;
  const option = options[shown];
  return (
    <fieldset className={classes.group} title={hint}>
      <legend>{title}</legend>
      <SegmentedControl
        size="xs"
        mb={8}
        aria-label={t("checks.either", { title })}
        value={String(shown)}
        onChange={(index) => {
          setChosen(Number(index));
          change(undefined);
        }}
        data={options.map((one, index) => ({ value: String(index), label: one.title || t("checks.computed") }))}
      />
      {option && option.value.kind === "group" ? (
        <Fields fields={option.value.fields} value={isRecord(value) ? value : {}} change={change} />
      ) : (
        option && <Input kind={option.value} title={title} hint={hint} bare value={value} change={change} />
      )}
    </fieldset>
  );
}
