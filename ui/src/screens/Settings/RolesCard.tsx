// Which model does what, how much it thinks, and which one is asked when it does not answer. The model that every task asks,
// which makes plans too, is chosen at its account or server and nowhere else.

import { Select } from "@mantine/core";
import { useModels, useSaveSettings } from "../../api/settings.ts";
import type { Effort, ModelInfo, Settings } from "../../contract/index.ts";
import { usedModel } from "../../state/connection.ts";
import { useDraft } from "../../state/drafts.ts";
import { choosable } from "../../state/modelFacts.ts";
import { placeOfField, type Role, type RoleFields, type RoleForm, roles, rolesOf, sameRoles, settingsOf } from "../../state/roles.ts";
import { settingsSentence } from "../../state/settingsProblem.ts";
import { useText } from "../../text/index.ts";
import { ModelField } from "./ModelField.tsx";
import { FormError } from "./FormError.tsx";
import { SaveChanges } from "./SaveChanges.tsx";
import classes from "./Settings.module.css";
import { useTold } from "./Told.tsx";

const efforts: readonly Effort[] = ["low", "medium", "high"];

/** The form for the roles. */
export function RolesCard({ settings }: { settings: Settings }) {
  const t = useText();
  const { tell } = useTold();
  const save = useSaveSettings();
  const models = choosable(settings, useModels().data ?? []);
  const kept = rolesOf(settings);
  const [form, setForm, forget] = useDraft<RoleForm>("roles", kept);
  const usual = usedModel(settings);
  const change = (role: Role, fields: Partial<RoleFields>) => {
    setForm({ ...form, [role]: { ...form[role], ...fields } });
    if (save.isError) save.reset();
  };
  const places = roles.flatMap((role) => [placeOfField(role, "model"), placeOfField(role, "fallback")]);
  const wrong = save.error?.problems ?? [];
  const isAtFields = wrong.length > 0 && wrong.every(({ path }) => places.includes(path));
  return (
    <form
      className={classes.form}
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate(settingsOf(form, settings), { onSuccess: () => tell(t("settings.model.saved")) });
      }}
    >
      {roles.map((role) => (
        <RoleRow
          key={role}
          role={role}
          fields={form[role]}
          change={(fields) => change(role, fields)}
          usual={usual}
          models={models}
          problem={(field) => {
            const found = save.error?.problems.find((one) => one.path === placeOfField(role, field));
            return found ? settingsSentence(found, t) : null;
          }}
        />
      ))}
      {!isAtFields && <FormError error={save.error} />}
      <SaveChanges changed={!sameRoles(form, kept)} saving={save.isPending} onCancel={forget} />
    </form>
  );
}

interface RoleRowProps {
  role: Role;
  fields: RoleFields;
  change: (fields: Partial<RoleFields>) => void;
  usual: string | null;
  models: readonly { id: string; info: ModelInfo | null }[];
  problem: (field: "model" | "fallback") => string | null;
}

function RoleRow({ role, fields, change, usual, models, problem }: RoleRowProps) {
  const t = useText();
  const title = t(`settings.roles.${role}`);
  return (
    <fieldset className={classes.role}>
      <legend>{title}</legend>
      <p className={classes.roleHint}>{t(`settings.roles.${role}Hint`)}</p>
      <div className={classes.roleFields}>
        {role === "planner" ? (
          <div>
            <p className={classes.label}>{t("settings.roles.model")}</p>
            <p className={classes.usualModel} data-none={usual === null || undefined}>
              {usual ?? t("settings.roles.none")}
            </p>
          </div>
        ) : (
          <ModelField
            below
            label={t("settings.roles.model")}
            placeholder={usual ?? t("settings.roles.none")}
            models={models}
            value={fields.model}
            error={problem("model")}
            onChange={(model) => change({ model })}
          />
        )}
        <Select
          label={t("settings.roles.effort")}
          placeholder={t("settings.roles.effortUsual")}
          clearable
          value={fields.effort === "" ? null : fields.effort}
          data={efforts.map((effort) => ({ value: effort, label: t(`settings.roles.efforts.${effort}`) }))}
          onChange={(value) => change({ effort: efforts.find((effort) => effort === value) ?? "" })}
        />
        <ModelField
          below
          label={t("settings.roles.fallback")}
          placeholder={t("settings.roles.fallbackNone")}
          models={models}
          value={fields.fallback}
          error={problem("fallback")}
          onChange={(fallback) => change({ fallback })}
        />
      </div>
    </fieldset>
  );
}
