// A card for each provider that a person can have an account at: its key, a trial, and the model to ask.

import { Autocomplete, Button } from "@mantine/core";
import { useId, useState } from "react";
import { useKeyInfo, useProviders, useSaveSettings, useTestProvider } from "../../api/settings.ts";
import { Failure } from "../../components/Failure.tsx";
import { ListSkeleton } from "../../components/Late.tsx";
import { tell, tellError } from "../../components/toast.tsx";
import type { ProviderInfo, Settings } from "../../contract/index.ts";
import { modelOf, usingModel } from "../../state/connection.ts";
import { useText } from "../../text/index.ts";
import { KeyCard } from "./KeyCard.tsx";
import { TestResult } from "./ModelCard.tsx";
import classes from "./Settings.module.css";

/** One card for each provider with an address of its own; the others are set up as a server. */
export function AccountCards({ settings }: { settings: Settings }) {
  const providers = useProviders();
  if (providers.isError) return <Failure compact error={providers.error} retry={() => void providers.refetch()} />;
  if (providers.isPending) return <ListSkeleton rows={3} height={36} />;
  return (
    <div className={classes.accounts}>
      {providers.data
        .filter((provider) => !provider.needsBaseUrl)
        .map((provider) => (
          <AccountCard key={provider.name} provider={provider} settings={settings} />
        ))}
    </div>
  );
}

function AccountCard({ provider, settings }: { provider: ProviderInfo; settings: Settings }) {
  const t = useText();
  const id = useId();
  const key = useKeyInfo(provider.name);
  const [open, setOpen] = useState(false);
  const used = modelOf(settings, provider.name);
  const status = used !== null ? t("settings.account.used", { model: used }) : t(key.data ? "settings.account.ready" : "settings.account.none");
  return (
    <section className={classes.account} aria-label={provider.title}>
      <div className={classes.accountHead}>
        <h3>{provider.title}</h3>
        <p>{status}</p>
        <Button variant="default" size="xs" aria-expanded={open} aria-controls={id} onClick={() => setOpen(!open)}>
          {t(open ? "settings.account.close" : "settings.account.open")}
        </Button>
      </div>
      <div id={id} hidden={!open}>
        {open && (
          <div className={classes.form}>
            <KeyCard account={provider.name} />
            <ModelChoice provider={provider} used={used} hasKey={Boolean(key.data)} />
          </div>
        )}
      </div>
    </section>
  );
}

function ModelChoice({ provider, used, hasKey }: { provider: ProviderInfo; used: string | null; hasKey: boolean }) {
  const t = useText();
  const [model, setModel] = useState(used ?? "");
  const [names, setNames] = useState<string[]>([]);
  const save = useSaveSettings();
  const test = useTestProvider();
  const wanted = model.trim();
  const use = (chosen: string | null) =>
    save.mutate(
      { models: usingModel(chosen) },
      {
        onSuccess: () => {
          if (chosen === null) setModel("");
          tell(t("settings.model.saved"));
        },
        onError: tellError,
      },
    );
  return (
    <form
      className={classes.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (wanted !== "" && wanted !== used) use(`${provider.name}:${wanted}`);
      }}
    >
      <Autocomplete
        label={t("settings.model.name")}
        description={t("settings.account.modelHint")}
        spellCheck={false}
        classNames={{ input: "mono" }}
        data={names}
        limit={40}
        value={model}
        onChange={(value) => {
          setModel(value);
          if (!test.isIdle && !test.isPending) test.reset();
        }}
      />
      <TestResult test={test} />
      <div className={classes.buttons}>
        <Button type="submit" disabled={!hasKey || wanted === "" || wanted === used} loading={save.isPending}>
          {t("settings.account.use")}
        </Button>
        <Button
          variant="default"
          disabled={!hasKey}
          loading={test.isPending}
          onClick={() =>
            test.mutate({ provider: provider.name, baseUrl: "", model: wanted, useStoredKey: true }, { onSuccess: (found) => setNames(found.models) })
          }
        >
          {t("settings.model.test")}
        </Button>
        {used !== null && (
          <Button variant="subtle" color="gray" className={classes.away ?? ""} onClick={() => use(null)}>
            {t("settings.account.stop")}
          </Button>
        )}
      </div>
    </form>
  );
}
