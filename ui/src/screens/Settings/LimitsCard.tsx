// Where a run stops when its task does not say.

import { type InputWrapperProps, NumberInput } from "@mantine/core";
import { useState } from "react";
import { useSaveSettings } from "../../api/settings.ts";
import type { Limits } from "../../contract/index.ts";
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
  const [form, setForm] = useState(limits);
  const changed = JSON.stringify(form) !== JSON.stringify(limits);
  const number = (name: "maxCycles" | "maxTokens" | "maxParallel" | "retryAttempts", min: number, max: number, step: number) => (
    <NumberInput
      label={t(`settings.limits.${name}`)}
      description={t(`settings.limits.${name}Hint`)}
      inputWrapperOrder={order}
      min={min}
      max={max}
      step={step}
      clampBehavior="blur"
      allowDecimal={false}
      thousandSeparator=","
      value={form[name]}
      onChange={(value) => typeof value === "number" && setForm({ ...form, [name]: value })}
    />
  );
  return (
    <form
      className={classes.form}
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate({ limits: form }, { onSuccess: () => tell(t("settings.model.saved")) });
      }}
    >
      <div className={classes.two}>
        {number("maxCycles", 1, 100, 1)}
        {number("maxTokens", 1000, 100_000_000, 1000)}
        <NumberInput
          label={t("settings.limits.maxCost")}
          description={t("settings.limits.maxCostHint")}
          inputWrapperOrder={order}
          min={0}
          decimalScale={2}
          placeholder={t("settings.limits.noCost")}
          value={form.maxCost ?? ""}
          onChange={(value) => {
            const { maxCost: _, ...others } = form;
            setForm(typeof value === "number" ? { ...form, maxCost: value } : others);
          }}
        />
        <NumberInput
          label={t("settings.limits.maxMinutes")}
          description={t("settings.limits.maxMinutesHint")}
          inputWrapperOrder={order}
          min={1}
          allowDecimal={false}
          placeholder={t("settings.limits.noCost")}
          value={form.maxMinutes ?? ""}
          onChange={(value) => {
            const { maxMinutes: _, ...others } = form;
            setForm(typeof value === "number" ? { ...form, maxMinutes: value } : others);
          }}
        />
        {number("maxParallel", 1, 32, 1)}
        {number("retryAttempts", 0, 10, 1)}
        <NumberInput
          label={t("settings.limits.toolTimeout")}
          description={t("settings.limits.toolTimeoutHint")}
          inputWrapperOrder={order}
          min={1}
          max={3600}
          clampBehavior="blur"
          allowDecimal={false}
          value={Math.round(form.toolTimeout / 1000)}
          onChange={(value) => typeof value === "number" && setForm({ ...form, toolTimeout: value * 1000 })}
        />
      </div>
      <FormError error={save.error} />
      <SaveChanges changed={changed} saving={save.isPending} onCancel={() => setForm(limits)} />
    </form>
  );
}
