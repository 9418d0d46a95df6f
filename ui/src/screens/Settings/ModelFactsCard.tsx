// What a person knows of a model that nobody says: how much it can do, and how much it reads and writes at once.

import { Select } from "@mantine/core";
import { useState } from "react";
import { useModels, useSaveSettings } from "../../api/settings.ts";
import { NumberField } from "../../components/NumberField.tsx";
import type { ModelInfo, ModelOverride, ModelTier, Settings } from "../../contract/index.ts";
import { allModels, modelFacts } from "../../state/modelFacts.ts";
import { useText } from "../../text/index.ts";
import { ModelForm } from "./ModelForm.tsx";
import { ModelList } from "./ModelList.tsx";
import { useTold } from "./Told.tsx";

const tiers: readonly ModelTier[] = ["fast", "balanced", "advanced"];

/** The models in use with what is known of them, and a form for what a person knows better. */
export function ModelFactsCard({ settings }: { settings: Settings }) {
  const t = useText();
  const known = new Map(allModels(useModels().data ?? []).map((model) => [model.id, model.info]));
  const own = settings.overrides ?? {};
  const words = (id: string) => {
    const info = known.get(id);
    const facts = info ? modelFacts(withoutPrice(info), t) : "";
    const typed = own[id] ? [own[id].tools === true && t("settings.facts.callsTools"), t("settings.facts.typed")].filter(Boolean).join(". ") : "";
    return { words: facts || (typed === "" ? t("settings.facts.unknown") : ""), note: typed };
  };
  return (
    <ModelList
      settings={settings}
      name="facts"
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
  const { tell } = useTold();
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
    <NumberField
      key={model}
      label={t(`settings.facts.${name}`)}
      placeholder={t("settings.facts.asKnown")}
      whole
      min={1}
      step={1000}
      value={facts[name] ?? null}
      onChange={(entered) => setFacts({ ...facts, [name]: entered })}
    />
  );
  const yesOrNo = facts.tools === true ? "yes" : facts.tools === false ? "no" : null;
  const { [model]: typed, ...others } = own;
  return (
    <ModelForm
      label={t("settings.facts.edit")}
      models={models}
      model={model}
      choose={(chosen) => {
        setModel(chosen);
        setFacts(own[chosen] ?? {});
      }}
      complete
      save={save}
      keep={() => keep({ ...own, [model]: facts })}
      close={done}
      forget={typed ? { label: t("settings.facts.forget"), run: () => keep(others) } : null}
    >
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
    </ModelForm>
  );
}
