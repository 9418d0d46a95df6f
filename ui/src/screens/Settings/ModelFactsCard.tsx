// What a person knows of a model that nobody says: how much it can do, and how much it reads and writes at once.

import { Button, NumberInput, Select } from "@mantine/core";
import { useState } from "react";
import { useModels, useSaveSettings } from "../../api/settings.ts";
import { tell } from "../../components/toast.tsx";
import type { ModelInfo, ModelOverride, ModelTier, Settings } from "../../contract/index.ts";
import { allModels, modelFacts } from "../../state/modelFacts.ts";
import { useText } from "../../text/index.ts";
import { FormError } from "./FormError.tsx";
import { ModelList } from "./ModelList.tsx";
import classes from "./Settings.module.css";

const tiers: readonly ModelTier[] = ["fast", "balanced", "advanced"];

/** The models in use with what is known of them, and a form for what a person knows better. */
export function ModelFactsCard({ settings }: { settings: Settings }) {
  const t = useText();
  const known = new Map(allModels(useModels().data ?? []).map((model) => [model.id, model.info]));
  const own = settings.overrides ?? {};
  const words = (id: string) => {
    const info = known.get(id);
    const facts = info ? modelFacts(withoutPrice(info), t) : "";
    const typed = own[id] ? t("settings.facts.typed") : "";
    return [facts || t("settings.facts.unknown"), typed].filter(Boolean).join(". ");
  };
  return (
    <ModelList
      settings={settings}
      typed={Object.keys(own)}
      words={words}
      none={t("settings.facts.none")}
      edit={t("settings.facts.edit")}
      renderForm={(models, done) => <FactsForm settings={settings} models={models} done={done} />}
    />
  );
}

/** What it costs stands elsewhere. */
function withoutPrice(model: ModelInfo): ModelInfo {
  const info = { ...model };
  delete info.price;
  return info;
}

function FactsForm({ settings, models, done }: { settings: Settings; models: string[]; done: () => void }) {
  const t = useText();
  const save = useSaveSettings();
  const own = settings.overrides ?? {};
  const [model, setModel] = useState(models[0] ?? "");
  const [facts, setFacts] = useState<ModelOverride>(own[model] ?? {});
  const keep = (overrides: { [model: string]: ModelOverride }) =>
    save.mutate(
      { overrides },
      {
        onSuccess: () => {
          done();
          tell(t("settings.model.saved"));
        },
      },
    );
  const tokens = (name: "contextWindow" | "maxOutput") => (
    <NumberInput
      label={t(`settings.facts.${name}`)}
      placeholder={t("settings.facts.asKnown")}
      min={1}
      allowDecimal={false}
      thousandSeparator=","
      value={facts[name] ?? ""}
      onChange={(entered) => setFacts({ ...facts, [name]: typeof entered === "number" ? entered : null })}
    />
  );
  const yesOrNo = facts.tools === true ? "yes" : facts.tools === false ? "no" : null;
  return (
    <form
      className={classes.form}
      aria-label={t("settings.facts.edit")}
      onSubmit={(event) => {
        event.preventDefault();
        keep({ ...own, [model]: facts });
      }}
    >
      <div className={classes.two}>
        <Select
          label={t("settings.prices.model")}
          allowDeselect={false}
          data={models}
          value={model}
          onChange={(value) => {
            setModel(value ?? model);
            setFacts(own[value ?? model] ?? {});
          }}
        />
        <Select
          label={t("settings.facts.tier")}
          placeholder={t("settings.facts.asKnown")}
          clearable
          data={tiers.map((value) => ({ value, label: t(`settings.model.tier.${value}`) }))}
          value={facts.tier ?? null}
          onChange={(value) => setFacts({ ...facts, tier: tiers.find((tier) => tier === value) ?? null })}
        />
        {tokens("contextWindow")}
        {tokens("maxOutput")}
        <Select
          label={t("settings.facts.tools")}
          placeholder={t("settings.facts.asKnown")}
          clearable
          data={[
            { value: "yes", label: t("settings.facts.yes") },
            { value: "no", label: t("settings.facts.no") },
          ]}
          value={yesOrNo}
          onChange={(value) => setFacts({ ...facts, tools: value === null ? null : value === "yes" })}
        />
      </div>
      <FormError error={save.error} />
      <div className={classes.buttons}>
        <Button type="submit" loading={save.isPending}>
          {t("common.save")}
        </Button>
        <Button variant="default" onClick={done}>
          {t("common.cancel")}
        </Button>
        {own[model] && (
          <Button
            variant="subtle"
            color="gray"
            className={classes.away ?? ""}
            onClick={() => {
              const { [model]: _, ...others } = own;
              keep(others);
            }}
          >
            {t("settings.facts.forget")}
          </Button>
        )}
      </div>
    </form>
  );
}
