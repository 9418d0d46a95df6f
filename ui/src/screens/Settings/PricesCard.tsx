// What the models that are used cost: as the provider or the catalog has it, or as a person knows better.

import { Button, TextInput } from "@mantine/core";
import { useState } from "react";
import { useModels, useRefreshModels, useSaveSettings } from "../../api/settings.ts";
import { Time } from "../../components/Time.tsx";
import { NumberField } from "../../components/NumberField.tsx";
import type { Price, Settings } from "../../contract/index.ts";
import { isLocal } from "../../state/connection.ts";
import { dayWords } from "../../state/format.ts";
import { allModels, priceWords } from "../../state/modelFacts.ts";
import { useText } from "../../text/index.ts";
import { ModelForm } from "./ModelForm.tsx";
import { ModelList } from "./ModelList.tsx";
import classes from "./Settings.module.css";
import { useTold } from "./Told.tsx";

/** The prices of the models in use, and a form for those that a person knows. */
export function PricesCard({ settings }: { settings: Settings }) {
  const t = useText();
  const published = new Map(allModels(useModels().data ?? []).map((model) => [model.id, model.info.price]));
  const typed = settings.prices.models;
  const words = (id: string) => {
    const own = typed[id];
    if (own) return { words: priceWords(own, settings.prices.currency, t), note: t("settings.prices.typed") };
    const listed = published.get(id);
    if (!listed) return { words: t(isLocal(id, settings) ? "settings.prices.local" : "settings.prices.unknown"), note: "" };
    return { words: priceWords(listed, listed.currency, t), note: listed.asOf ? t("settings.prices.asOf", { day: dayWords(listed.asOf) }) : t("settings.prices.listed") };
  };
  return (
    <>
      <ModelList
        settings={settings}
        name="prices"
        typed={Object.keys(typed)}
        words={words}
        none={t("settings.prices.none")}
        edit={t("settings.prices.edit")}
        renderForm={(models, done) => <PriceForm settings={settings} models={models} done={done} />}
      />
      <Refresh />
    </>
  );
}

/** Asks the services again, and says when that was and who did not answer. */
function Refresh() {
  const t = useText();
  const { tellError } = useTold();
  const refresh = useRefreshModels();
  const silent = refresh.data?.accounts.filter(({ problem, key, models }) => problem !== null && (key !== null || models.length > 0)) ?? [];
  return (
    <div className={classes.refresh}>
      <Button variant="default" size="xs" loading={refresh.isPending} onClick={() => refresh.mutate(undefined, { onError: tellError })}>
        {t("settings.prices.refresh")}
      </Button>
      <p role="status">
        {refresh.data ? (
          <>
            {t("settings.prices.refreshed")} <Time at={refresh.data.atMs} />.{" "}
            {silent.length > 0 && t("settings.prices.silent", { names: silent.map(({ provider, title }) => (provider === "openai_compatible" ? title : provider)).join(", ") })}
          </>
        ) : (
          t("settings.prices.refreshHint")
        )}
      </p>
    </div>
  );
}

type Amounts = { [name in "input" | "output" | "cacheRead" | "cacheWrite"]: number | null };

const amountsOf = (price: Price | undefined): Amounts => ({
  input: price?.input ?? null,
  output: price?.output ?? null,
  cacheRead: price?.cacheRead ?? null,
  cacheWrite: price?.cacheWrite ?? null,
});

function PriceForm({ settings, models, done }: { settings: Settings; models: string[]; done: () => void }) {
  const t = useText();
  const { tell } = useTold();
  const save = useSaveSettings();
  const { prices } = settings;
  const [model, setModel] = useState(models[0] ?? "");
  const [currency, setCurrency] = useState(prices.currency || "USD");
  const [amounts, setAmounts] = useState(amountsOf(prices.models[model]));
  const { input, output } = amounts;
  const keep = (kept: { [model: string]: Price }) =>
    save.mutate(
      { prices: { currency: currency.trim(), models: kept } },
      {
        onSuccess: () => {
          done();
          tell(t("settings.model.saved"));
        },
      },
    );
  const amount = (name: keyof Amounts) => (
    <NumberField
      // What was typed for one model is not shown for another.
      key={model}
      label={t(`settings.prices.${name}`)}
      placeholder={name.startsWith("cache") ? t("settings.prices.asPublished") : ""}
      min={0}
      step={0.1}
      value={amounts[name]}
      onChange={(entered) => setAmounts({ ...amounts, [name]: entered })}
    />
  );
  const { [model]: typed, ...others } = prices.models;
  return (
    <ModelForm
      label={t("settings.prices.edit")}
      models={models}
      model={model}
      choose={(chosen) => {
        setModel(chosen);
        setAmounts(amountsOf(prices.models[chosen]));
      }}
      complete={input !== null && output !== null && currency.trim() !== ""}
      save={save}
      keep={() => input !== null && output !== null && keep({ ...prices.models, [model]: { ...typed, ...amounts, input, output } })}
      close={done}
      forget={typed ? { label: t("settings.prices.forget"), run: () => keep(others) } : null}
    >
      <TextInput label={t("settings.prices.currency")} maxLength={8} value={currency} onChange={(event) => setCurrency(event.currentTarget.value)} />
      {amount("input")}
      {amount("output")}
      {amount("cacheRead")}
      {amount("cacheWrite")}
    </ModelForm>
  );
}
