// A model server of one's own: its address, its key where it wants one, the model's name, and whether it answers.

import { Button, Chip, TextInput } from "@mantine/core";
import { useRef, useState } from "react";
import { endpointAccount, useFoundServers, useModels, useProviders, useSaveSettings, useTestProvider, useWidenModel } from "../../api/settings.ts";
import { Mark } from "../../components/Mark.tsx";
import type { FoundServer, Settings } from "../../contract/index.ts";
import { useAsked } from "../../state/asked.ts";
import { usedModel, usingModel } from "../../state/connection.ts";
import { useDraft } from "../../state/drafts.ts";
import { useText } from "../../text/index.ts";
import { KeyCard } from "./KeyCard.tsx";
import { ModelField } from "./ModelField.tsx";
import { FormError } from "./FormError.tsx";
import classes from "./Settings.module.css";
import { TestResult } from "./TestResult.tsx";
import { useTold } from "./Told.tsx";
import { useArrival } from "./useArrival.ts";

/** The form for the settings' server; `elsewhere` is whether the model of an account is asked in its place. */
export function ModelCard({ settings, elsewhere }: { settings: Settings; elsewhere: boolean }) {
  const { endpoint } = settings;
  const t = useText();
  const { tell, tellError } = useTold();
  const result = useRef<HTMLDivElement>(null);
  const ask = useAsked((state) => state.ask);
  const addressField = useArrival(endpointAccount, "address");
  const modelField = useArrival(endpointAccount, "model");
  const [form, setForm] = useDraft("model", { baseUrl: endpoint?.baseUrl ?? "", model: endpoint?.model ?? "" });
  const { baseUrl, model } = form;
  const usual = useProviders().data?.find((provider) => provider.name === endpointAccount)?.usualAddresses.map(({ title, url }) => ({ title, url: `${url}/v1` })) ?? [];
  const save = useSaveSettings();
  const test = useTestProvider();
  const widen = useWidenModel();
  const [taking, setTaking] = useState<string | null>(null);
  const listed = useModels().data?.find((account) => account.provider === endpointAccount);
  const complete = baseUrl.trim() !== "" && model.trim() !== "";
  const changed = baseUrl.trim() !== (endpoint?.baseUrl ?? "") || model.trim() !== (endpoint?.model ?? "");
  const now = { baseUrl: baseUrl.trim(), model: model.trim() };
  // What a test found is about the address and the model that were tested; the names it brought stay to choose from.
  const [names, setNames] = useState<string[]>([]);
  const edit = (fields: Partial<typeof form>) => {
    setForm({ ...form, ...fields });
    if (!test.isIdle && !test.isPending) test.reset();
  };
  const tryOut = (asked = now, then?: () => void) =>
    test.mutate(
      { ...asked, useStoredKey: true },
      {
        onSuccess: (found) => {
          if (found.models.length > 0) setNames(found.models);
          if (found.ok) then?.();
          result.current?.scrollIntoView({ block: "nearest" });
        },
        onError: tellError,
        onSettled: () => setTaking(null),
      },
    );
  const keep = (wanted: typeof now, words: string) => save.mutate({ endpoint: wanted, models: usingModel(null, settings) }, { onSuccess: () => tell(words) });
  const take = (server: FoundServer) => {
    const found = { baseUrl: `${server.url}/v1`, model: server.models[0]?.id ?? "" };
    setForm(found);
    setNames(server.models.map(({ id }) => id));
    setTaking(server.url);
    tryOut(found, () => found.model !== "" && keep(found, t("settings.model.connected", { title: server.title, model: found.model })));
  };
  const widenIt = () =>
    widen.mutate(now, {
      onSuccess: (wide) => {
        const wider = { ...now, model: wide.model };
        setForm(wider);
        tryOut(wider, () => keep(wider, t("settings.model.widened", { before: now.model, model: wide.model })));
      },
      onError: tellError,
    });
  const known = (id: string) => listed?.models.find((info) => info.id === id) ?? null;
  const choices = names.length > 0 ? names : (listed?.models.map((info) => info.id) ?? []);
  const offers = test.data && now.model === "" && (test.data.ok || test.data.remedy === "model") && choices.length > 0 ? choices.length : null;
  return (
    <div className={classes.form}>
      <Found
        taking={taking}
        stands={(server) => endpoint !== null && !elsewhere && endpoint.baseUrl === `${server.url}/v1` && endpoint.model}
        take={take}
      />
      {endpoint && elsewhere && <p className={classes.plain}>{t("settings.model.elsewhere", { model: usedModel(settings) ?? "" })}</p>}
      <div>
        <TextInput
          label={t("settings.model.baseUrl")}
          placeholder={t("settings.model.baseUrlPlaceholder")}
          type="url"
          inputMode="url"
          spellCheck={false}
          classNames={{ input: "mono" }}
          ref={addressField}
          value={baseUrl}
          onChange={(event) => edit({ baseUrl: event.currentTarget.value })}
        />
        <Chip.Group value={usual.find(({ url }) => url === baseUrl)?.url ?? ""} onChange={(value) => edit({ baseUrl: String(value) })}>
          <div className={classes.usual} role="group" aria-label={t("settings.model.presets")}>
            {usual.map((one) => (
              <Chip key={one.url} value={one.url} size="xs" variant="outline">
                {one.title}
              </Chip>
            ))}
          </div>
        </Chip.Group>
      </div>
      <section className={classes.inner} aria-label={t("settings.key.title")}>
        <KeyCard account={endpointAccount} baseUrl={now.baseUrl === "" ? null : now.baseUrl} hint={t("settings.key.body")} />
      </section>
      <form
        className={classes.form}
        onSubmit={(event) => {
          event.preventDefault();
          if (complete && (changed || elsewhere)) keep(now, t("settings.model.saved"));
        }}
      >
        <ModelField
          label={t("settings.model.name")}
          description={t("settings.model.nameHint")}
          placeholder={t("settings.model.namePlaceholder")}
          models={choices.map((id) => ({ id, info: known(id) }))}
          ref={modelField}
          value={model}
          onChange={(wanted) => edit({ model: wanted })}
        />
        <div ref={result} className={classes.tested}>
          <TestResult
            test={test}
            who={usual.find(({ url }) => url === now.baseUrl)?.title ?? now.baseUrl}
            offers={offers}
            remedies={{
              key: () => ask(endpointAccount, "key"),
              address: () => ask(endpointAccount, "address"),
              model: () => ask(endpointAccount, "model"),
              server: () => tryOut(),
              network: () => tryOut(),
              clock: () => tryOut(),
              wait: () => tryOut(),
              less: () => ask(endpointAccount, "model"),
              provider: () => document.querySelector<HTMLElement>("[data-field=add-account]")?.focus(),
              credit: () => document.querySelector<HTMLElement>("[data-field=add-account]")?.focus(),
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
            widen={{ busy: widen.isPending, run: widenIt }}
          />
        </div>
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
                      setNames([]);
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

interface FoundProps {
  /** The server that is tried now. */
  taking: string | null;
  /** The model of a server that is the one every task asks. */
  stands: (server: FoundServer) => string | false;
  take: (server: FoundServer) => void;
}

/** The servers that answer on this computer, each to be taken with one press: it is tried, and kept when it answers. */
function Found({ taking, stands, take }: FoundProps) {
  const t = useText();
  const found = useFoundServers().data ?? [];
  if (found.length === 0) return null;
  return (
    <ul className={classes.found}>
      {found.map((server) => {
        const model = stands(server);
        return (
          <li key={server.url}>
            {model !== false && <Mark kind="done" size={16} />}
            <span>{model === false ? t("settings.model.found", { title: server.title, count: server.models.length }) : t("settings.model.connected", { title: server.title, model })}</span>
            {model === false && (
              <Button size="xs" variant="default" loading={taking === server.url} disabled={server.models.length === 0} onClick={() => take(server)}>
                {t("settings.model.take", { title: server.title })}
              </Button>
            )}
          </li>
        );
      })}
    </ul>
  );
}
