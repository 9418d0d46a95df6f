// What the models that are used cost: as the provider or the catalog has it, or as a person knows better.

import { Button, NumberInput, Select, TextInput } from "@mantine/core";
import { useState } from "react";
import { useModels, useSaveSettings } from "../../api/settings.ts";
import { tell } from "../../components/toast.tsx";
import type { Price, Settings } from "../../contract/index.ts";
import { allModels, priceWords } from "../../state/modelFacts.ts";
import { useText } from "../../text/index.ts";
import { FormError } from "./FormError.tsx";
import { ModelList } from "./ModelList.tsx";
import classes from "./Settings.module.css";

/** The prices of the models in use, and a form for those that a person knows. */
export function PricesCard({ settings }: { settings: Settings }) {
  const t = useText();
  const published = new Map(allModels(useModels().data ?? []).map((model) => [model.id, model.info.price]));
  const typed = settings.prices.models;
  const words = (id: string) => {
    const own = typed[id];
    if (own) return `${priceWords(own, settings.prices.currency, t)}. ${t("settings.prices.typed")}`;
    const listed = published.get(id);
    if (!listed) return t("settings.prices.unknown");
    const of = listed.asOf ? t("settings.prices.asOf", { day: listed.asOf }) : t("settings.prices.listed");
    return `${priceWords(listed, listed.currency, t)}. ${of}`;
  };
  return (
    <ModelList
      settings={settings}
      typed={Object.keys(typed)}
      words={words}
      none={t("settings.prices.none")}
      edit={t("settings.prices.edit")}
      renderForm={(models, done) => <PriceForm settings={settings} models={models} done={done} />}
    />
  );
}

function PriceForm({ settings, models, done }: { settings: Settings; models: string[]; done: () => void }) {
  const t = useText();
  const save = useSaveSettings();
  const { prices } = settings;
  const [model, setModel] = useState(models[0] ?? "");
  const [currency, setCurrency] = useState(prices.currency || "USD");
  const [input, setInput] = useState<number | "">(prices.models[model]?.input ?? "");
  const [output, setOutput] = useState<number | "">(prices.models[model]?.output ?? "");
  const [cacheRead, setCacheRead] = useState<number | "">(prices.models[model]?.cacheRead ?? "");
  const [cacheWrite, setCacheWrite] = useState<number | "">(prices.models[model]?.cacheWrite ?? "");
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
  const amount = (name: "input" | "output" | "cacheRead" | "cacheWrite", value: number | "", set: (value: number | "") => void) => (
    <NumberInput
      label={t(`settings.prices.${name}`)}
      placeholder={name.startsWith("cache") ? t("settings.prices.asPublished") : ""}
      min={0}
      decimalScale={4}
      value={value}
      onChange={(entered) => set(typeof entered === "number" ? entered : "")}
    />
  );
  return (
    <form
      className={classes.form}
      aria-label={t("settings.prices.edit")}
      onSubmit={(event) => {
        event.preventDefault();
        if (input !== "" && output !== "") keep({ ...prices.models, [model]: { ...prices.models[model], input, output, cacheRead: cacheRead === "" ? null : cacheRead, cacheWrite: cacheWrite === "" ? null : cacheWrite } });
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
            setInput(prices.models[value ?? model]?.input ?? "");
            setOutput(prices.models[value ?? model]?.output ?? "");
            setCacheRead(prices.models[value ?? model]?.cacheRead ?? "");
            setCacheWrite(prices.models[value ?? model]?.cacheWrite ?? "");
          }}
        />
        <TextInput label={t("settings.prices.currency")} maxLength={8} value={currency} onChange={(event) => setCurrency(event.currentTarget.value)} />
        {amount("input", input, setInput)}
        {amount("output", output, setOutput)}
        {amount("cacheRead", cacheRead, setCacheRead)}
        {amount("cacheWrite", cacheWrite, setCacheWrite)}
      </div>
      <FormError error={save.error} />
      <div className={classes.buttons}>
        <Button type="submit" disabled={input === "" || output === "" || currency.trim() === ""} loading={save.isPending}>
          {t("common.save")}
        </Button>
        <Button variant="default" onClick={done}>
          {t("common.cancel")}
        </Button>
        {prices.models[model] && (
          <Button
            variant="subtle"
            color="gray"
            className={classes.away ?? ""}
            onClick={() => {
              const { [model]: _, ...others } = prices.models;
              keep(others);
            }}
          >
            {t("settings.prices.forget")}
          </Button>
        )}
      </div>
    </form>
  );
}
