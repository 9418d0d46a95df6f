// Where a run stops when its task does not say.

import type { InputWrapperProps } from "@mantine/core";
import { useState } from "react";
import { useSaveSettings } from "../../api/settings.ts";
import { accepts, NumberField } from "../../components/NumberField.tsx";
import type { Limits } from "../../contract/index.ts";
import { useDraft } from "../../state/drafts.ts";
import { useText } from "../../text/index.ts";
import { FormError } from "./FormError.tsx";
import { SaveChanges } from "./SaveChanges.tsx";
import classes from "./Settings.module.css";
import { useTold } from "./Told.tsx";

// They stand in rows of two: their explanations, of different length, below them.
const order: InputWrapperProps["inputWrapperOrder"] = ["label", "input", "description", "error"];

/** The form for the limits. */
export function LimitsCard({ limits }: { limits: Limits }) {
  const t = useText();
  const { tell } = useTold();
  const save = useSaveSettings();
  const [form, setForm, forget] = useDraft("limits", limits);
  // Fields laid anew forget what was typed and not taken.
  const [round, setRound] = useState(0);
  const changed = JSON.stringify(form) !== JSON.stringify(limits);
  const field = (name: "maxCycles" | "maxTokens" | "maxParallel" | "retryAttempts" | "toolTimeout" | "maxMinutes" | "maxCost") => ({
    label: t(`settings.limits.${name}`),
    description: t(`settings.limits.${name}Hint`),
    inputWrapperOrder: order,
  });
  const number = (name: "maxCycles" | "maxTokens" | "maxParallel" | "retryAttempts", min: number, max: number, step: number) => (
    <NumberField {...field(name)} whole needed min={min} max={max} step={step} value={form[name]} onChange={(value) => value !== null && setForm({ ...form, [name]: value })} />
  );
  const optional = (name: "maxCost" | "maxMinutes") => ({
    placeholder: t("settings.limits.noCost"),
    value: form[name] ?? null,
    onChange: (value: number | null) => {
      const { [name]: _, ...others } = form;
      setForm(value === null ? others : { ...form, [name]: value });
    },
  });
  return (
    <form
      className={classes.form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (accepts(event.currentTarget)) save.mutate({ limits: form }, { onSuccess: () => tell(t("settings.model.saved")) });
      }}
    >
      <div className={classes.two} key={round}>
        {number("maxCycles", 1, 100, 1)}
        {number("maxTokens", 1000, 100_000_000, 1000)}
        <NumberField {...field("maxCost")} {...optional("maxCost")} min={0} step={0.5} />
        <NumberField {...field("maxMinutes")} {...optional("maxMinutes")} whole min={1} />
        {number("maxParallel", 1, 32, 1)}
        {number("retryAttempts", 0, 10, 1)}
        <NumberField
          {...field("toolTimeout")}
          whole
          needed
          min={1}
          max={3600}
          value={Math.round(form.toolTimeout / 1000)}
          onChange={(value) => value !== null && setForm({ ...form, toolTimeout: value * 1000 })}
        />
      </div>
      <FormError error={save.error} />
      <SaveChanges
        changed={changed}
        saving={save.isPending}
        onCancel={() => {
          forget();
          setRound(round + 1);
        }}
      />
    </form>
  );
}
