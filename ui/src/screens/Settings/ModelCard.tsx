// A model server of one's own: its address, its key where it wants one, the model's name, and whether it answers.

import { Button, Chip, TextInput } from "@mantine/core";
import { useRef, useState } from "react";
import { endpointAccount, useFoundServers, useModels, useSaveSettings, useTestProvider, useWidenModel } from "../../api/settings.ts";
import type { FoundServer, Settings } from "../../contract/index.ts";
import { usingModel } from "../../state/connection.ts";
import { useText } from "../../text/index.ts";
import { KeyCard } from "./KeyCard.tsx";
import { ModelField } from "./ModelField.tsx";
import { FormError } from "./FormError.tsx";
import classes from "./Settings.module.css";
import { TestResult } from "./TestResult.tsx";
import { useTold } from "./Told.tsx";

const usual = [
  { name: "Ollama", baseUrl: "http://localhost:11434/v1" },
  { name: "LM Studio", baseUrl: "http://localhost:1234/v1" },
  { name: "llama.cpp", baseUrl: "http://localhost:8080/v1" },
  { name: "vLLM", baseUrl: "http://localhost:8000/v1" },
] as const;

/** The form for the settings' server; `elsewhere` is whether the model of an account is asked in its place. */
export function ModelCard({ settings, elsewhere }: { settings: Settings; elsewhere: boolean }) {
  const { endpoint } = settings;
  const t = useText();
  const { tell, tellError } = useTold();
  const card = useRef<HTMLDivElement>(null);
  const [baseUrl, setBaseUrl] = useState(endpoint?.baseUrl ?? "");
  const [model, setModel] = useState(endpoint?.model ?? "");
  const save = useSaveSettings();
  const test = useTestProvider();
  const widen = useWidenModel();
  const listed = useModels().data?.find((account) => account.provider === endpointAccount);
  const complete = baseUrl.trim() !== "" && model.trim() !== "";
  const changed = baseUrl.trim() !== (endpoint?.baseUrl ?? "") || model.trim() !== (endpoint?.model ?? "");
  const now = { baseUrl: baseUrl.trim(), model: model.trim() };
  // What a test found is about the address and the model that were tested; the names it brought stay to choose from.
  const [names, setNames] = useState<string[]>([]);
  const edit = (set: (value: string) => void) => (value: string) => {
    set(value);
    if (!test.isIdle && !test.isPending) test.reset();
  };
  const tryOut = (asked = now.model) =>
    test.mutate({ baseUrl: now.baseUrl, model: asked, useStoredKey: true }, { onSuccess: (found) => found.models.length > 0 && setNames(found.models) });
  const focus = (input: string) => () => card.current?.querySelector<HTMLInputElement>(input)?.focus();
  const known = (id: string) => listed?.models.find((info) => info.id === id) ?? null;
  return (
    <div className={classes.form} ref={card}>
      <div>
        <TextInput
          label={t("settings.model.baseUrl")}
          placeholder={t("settings.model.baseUrlPlaceholder")}
          type="url"
          inputMode="url"
          spellCheck={false}
          classNames={{ input: "mono" }}
          data-field="address"
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
        <Found
          take={(server) => {
            edit(setBaseUrl)(`${server.url}/v1`);
            setNames(server.models.map((found) => found.id));
            setModel(server.models[0]?.id ?? "");
          }}
        />
      </div>
      <section className={classes.inner} aria-label={t("settings.key.title")}>
        <KeyCard account={endpointAccount} baseUrl={now.baseUrl === "" ? null : now.baseUrl} hint={t("settings.key.body")} />
      </section>
      <form
        className={classes.form}
        onSubmit={(event) => {
          event.preventDefault();
          if (complete && (changed || elsewhere)) {
            save.mutate({ endpoint: now, models: usingModel(null, settings) }, { onSuccess: () => tell(t("settings.model.saved")) });
          }
        }}
      >
        <ModelField
          label={t("settings.model.name")}
          description={t("settings.model.nameHint")}
          placeholder={t("settings.model.namePlaceholder")}
          models={(names.length > 0 ? names : (listed?.models.map((info) => info.id) ?? [])).map((id) => ({ id, info: known(id) }))}
          value={model}
          onChange={edit(setModel)}
        />
        <TestResult
          test={test}
          remedies={{
            key: focus("input[type=password]"),
            address: focus("[data-field=address]"),
            model: focus("form input[role=combobox], form input[type=text]"),
            server: () => tryOut(),
            network: () => tryOut(),
            clock: () => tryOut(),
            wait: () => tryOut(),
            less: focus("form input[role=combobox], form input[type=text]"),
            provider: () => document.querySelector<HTMLElement>("[data-field=add-account]")?.focus(),
          }}
          trust={() => {
            const overrides = { ...settings.overrides, [`${endpointAccount}:${now.model}`]: { tools: true } };
            save.mutate(
              { overrides },
              {
                onSuccess: () => {
                  test.reset();
                  tell(t("settings.model.saved"));
                },
              },
            );
          }}
          widen={{
            busy: widen.isPending,
            run: () =>
              widen.mutate(now, {
                onSuccess: (wide) => {
                  setModel(wide.model);
                  tryOut(wide.model);
                },
                onError: tellError,
              }),
          }}
        />
        <FormError error={save.error} />
        <div className={classes.buttons}>
          <Button type="submit" disabled={!complete || (!changed && !elsewhere)} loading={save.isPending}>
            {t("common.save")}
          </Button>
          <Button variant="default" disabled={baseUrl.trim() === ""} loading={test.isPending} onClick={() => tryOut()}>
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
    </div>
  );
}

/** The servers that answer on this computer, each to be taken with one press. */
function Found({ take }: { take: (server: FoundServer) => void }) {
  const t = useText();
  const found = useFoundServers().data ?? [];
  if (found.length === 0) return null;
  return (
    <ul className={classes.found}>
      {found.map((server) => (
        <li key={server.url}>
          <span>{t("settings.model.found", { title: server.title, count: server.models.length })}</span>
          <Button size="xs" variant="default" onClick={() => take(server)}>
            {t("settings.model.take", { title: server.title })}
          </Button>
        </li>
      ))}
    </ul>
  );
}
