// A model server of one's own: its address, the model's name, and whether it answers.

import { Autocomplete, Button, Chip, TextInput } from "@mantine/core";
import { useState } from "react";
import { useSaveSettings, useTestProvider } from "../../api/settings.ts";
import { Mark } from "../../components/Mark.tsx";
import { tell, tellError } from "../../components/toast.tsx";
import type { Endpoint } from "../../contract/index.ts";
import { sentence, shownError } from "../../state/errors.ts";
import { usingModel } from "../../state/connection.ts";
import { useText } from "../../text/index.ts";
import classes from "./Settings.module.css";

const usual = [
  { name: "Ollama", baseUrl: "http://localhost:11434/v1" },
  { name: "LM Studio", baseUrl: "http://localhost:1234/v1" },
  { name: "llama.cpp", baseUrl: "http://localhost:8080/v1" },
  { name: "vLLM", baseUrl: "http://localhost:8000/v1" },
] as const;

/** The form for the endpoint; `elsewhere` is whether the model of an account is asked in its place. */
export function ModelCard({ endpoint, elsewhere }: { endpoint: Endpoint | null; elsewhere: boolean }) {
  const t = useText();
  const [baseUrl, setBaseUrl] = useState(endpoint?.baseUrl ?? "");
  const [model, setModel] = useState(endpoint?.model ?? "");
  const save = useSaveSettings();
  const test = useTestProvider();
  const complete = baseUrl.trim() !== "" && model.trim() !== "";
  const changed = baseUrl.trim() !== (endpoint?.baseUrl ?? "") || model.trim() !== (endpoint?.model ?? "");
  const now = { baseUrl: baseUrl.trim(), model: model.trim() };
  // What a test found is about the address and the model that were tested; the names it brought stay to choose from.
  const [names, setNames] = useState<string[]>([]);
  const edit = (set: (value: string) => void) => (value: string) => {
    set(value);
    if (!test.isIdle && !test.isPending) test.reset();
  };
  return (
    <form
      className={classes.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (complete && (changed || elsewhere)) save.mutate({ endpoint: now, models: usingModel(null) }, { onSuccess: () => tell(t("settings.model.saved")), onError: tellError });
      }}
    >
      <div>
        <TextInput
          label={t("settings.model.baseUrl")}
          placeholder={t("settings.model.baseUrlPlaceholder")}
          type="url"
          inputMode="url"
          spellCheck={false}
          classNames={{ input: "mono" }}
          value={baseUrl}
          onChange={(event) => edit(setBaseUrl)(event.currentTarget.value)}
        />
        <Chip.Group value={usual.find((one) => one.baseUrl === baseUrl)?.baseUrl ?? ""} onChange={(value) => edit(setBaseUrl)(String(value))}>
          <div className={classes.usual} role="group" aria-label={t("settings.model.presets")}>
            {usual.map((one) => (
              <Chip key={one.name} value={one.baseUrl} size="xs" variant="outline">
                {one.name}
              </Chip>
            ))}
          </div>
        </Chip.Group>
      </div>
      <Autocomplete
        label={t("settings.model.name")}
        description={t("settings.model.nameHint")}
        placeholder={t("settings.model.namePlaceholder")}
        spellCheck={false}
        classNames={{ input: "mono" }}
        data={names}
        limit={40}
        value={model}
        onChange={edit(setModel)}
      />
      <TestResult test={test} />
      <div className={classes.buttons}>
        <Button type="submit" disabled={!complete || (!changed && !elsewhere)} loading={save.isPending}>
          {t("common.save")}
        </Button>
        <Button
          variant="default"
          disabled={baseUrl.trim() === ""}
          loading={test.isPending}
          onClick={() => test.mutate({ ...now, useStoredKey: true }, { onSuccess: (found) => setNames(found.models) })}
        >
          {t("settings.model.test")}
        </Button>
        {endpoint && (
          <Button
            variant="subtle"
            color="gray"
            className={classes.away ?? ""}
            onClick={() =>
              save.mutate(
                { endpoint: null },
                {
                  onSuccess: () => {
                    setBaseUrl("");
                    setModel("");
                    test.reset();
                  },
                  onError: tellError,
                },
              )
            }
          >
            {t("settings.model.remove")}
          </Button>
        )}
        {!endpoint && !changed && !elsewhere && <p className={classes.note}>{t("settings.model.none")}</p>}
      </div>
    </form>
  );
}

/** What came of asking a server. */
export function TestResult({ test }: { test: ReturnType<typeof useTestProvider> }) {
  const t = useText();
  if (test.isPending) {
    return (
      <p className={classes.result} role="status">
        <Mark kind="running" />
        {t("settings.model.testing")}
      </p>
    );
  }
  if (test.error) {
    return (
      <p className={classes.result} data-bad role="alert">
        <Mark kind="failed" />
        {shownError(test.error, t).sentence}
      </p>
    );
  }
  if (!test.data) return null;
  return (
    <p className={classes.result} data-bad={!test.data.ok || undefined} role="status">
      <Mark kind={test.data.ok ? "done" : "failed"} />
      {sentence(test.data.message, null)}
    </p>
  );
}
