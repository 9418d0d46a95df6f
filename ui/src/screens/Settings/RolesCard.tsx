// Which model does what, when a task does not say.

import { useState } from "react";
import { useModels, useSaveSettings } from "../../api/settings.ts";
import { tell, tellError } from "../../components/toast.tsx";
import type { Settings } from "../../contract/index.ts";
import { usedModel } from "../../state/connection.ts";
import { allModels } from "../../state/modelFacts.ts";
import { type RoleForm, modelsOf, rolesOf } from "../../state/roles.ts";
import { useText } from "../../text/index.ts";
import { ModelField } from "./ModelField.tsx";
import { SaveChanges } from "./SaveChanges.tsx";
import classes from "./Settings.module.css";

const roles = ["planner", "judge", "low", "high"] as const;

/** The form for the roles. */
export function RolesCard({ settings }: { settings: Settings }) {
  const t = useText();
  const save = useSaveSettings();
  const models = allModels(useModels().data ?? []);
  const kept = rolesOf(settings.models);
  const [form, setForm] = useState<RoleForm>(kept);
  const problem = (role: (typeof roles)[number]) => {
    const path = role === "low" || role === "high" ? `models.executor.${role}` : `models.${role}`;
    return save.error?.problems.find((one) => one.path === path)?.message ?? null;
  };
  const changed = roles.some((role) => form[role].trim() !== kept[role]);
  const usual = usedModel({ ...settings, models: { planner: form.planner.trim() || undefined } as Settings["models"] });
  return (
    <form
      className={classes.form}
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate({ models: modelsOf(form) }, { onSuccess: () => tell(t("settings.model.saved")), onError: tellError });
      }}
    >
      <div className={classes.two}>
        {roles.map((role) => (
          <ModelField
            key={role}
            label={t(`settings.roles.${role}`)}
            description={t(`settings.roles.${role}Hint`)}
            placeholder={usual ?? t("settings.roles.none")}
            models={models}
            value={form[role]}
            error={problem(role)}
            onChange={(value) => {
              setForm({ ...form, [role]: value });
              if (save.isError) save.reset();
            }}
          />
        ))}
      </div>
      <SaveChanges changed={changed} saving={save.isPending} onCancel={() => setForm(kept)} />
    </form>
  );
}
