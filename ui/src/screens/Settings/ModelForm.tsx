// What a person knows better of one model: which model, the fields about it, and taking back what was entered.

import { Button, Select } from "@mantine/core";
import type { ReactNode } from "react";
import type { useSaveSettings } from "../../api/settings.ts";
import { accepts } from "../../components/NumberField.tsx";
import { useText } from "../../text/index.ts";
import { FormError } from "./FormError.tsx";
import classes from "./Settings.module.css";

interface ModelFormProps {
  label: string;
  models: readonly string[];
  model: string;
  choose: (model: string) => void;
  complete: boolean;
  save: ReturnType<typeof useSaveSettings>;
  keep: () => void;
  close: () => void;
  /** Takes back what was entered for the model; null where nothing was. */
  forget: { label: string; run: () => void } | null;
  /** The fields, in rows of two after the model's. */
  children: ReactNode;
}

/** The form. */
export function ModelForm({ label, models, model, choose, complete, save, keep, close, forget, children }: ModelFormProps) {
  const t = useText();
  return (
    <form
      className={classes.form}
      aria-label={label}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (accepts(event.currentTarget) && complete) keep();
      }}
    >
      <div className={classes.two}>
        <Select label={t("settings.prices.model")} allowDeselect={false} data={models} value={model} onChange={(value) => choose(value ?? model)} />
        {children}
      </div>
      <FormError error={save.error} />
      <div className={classes.buttons}>
        <Button type="submit" disabled={!complete} loading={save.isPending}>
          {t("common.save")}
        </Button>
        <Button variant="default" onClick={close}>
          {t("common.cancel")}
        </Button>
        {forget && (
          <Button variant="subtle" color="gray" className={classes.away ?? ""} onClick={forget.run}>
            {forget.label}
          </Button>
        )}
      </div>
    </form>
  );
}
