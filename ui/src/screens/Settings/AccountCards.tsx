// A card for each account: its key, a trial, and the model to ask. Accounts that a person added stand among those that
// each provider has by itself.

import { Button, Modal, TextInput } from "@mantine/core";
import { useId, useState } from "react";
import { useDeleteKey, useKeyInfo, useModels, useProviders, useSaveSettings, useTestProvider, useWidenModel } from "../../api/settings.ts";
import { Failure } from "../../components/Failure.tsx";
import { ListSkeleton } from "../../components/Late.tsx";
import type { Account, ProviderInfo, ProviderModels, Settings } from "../../contract/index.ts";
import { host } from "../../host/index.ts";
import { useAsked, useIsAsked } from "../../state/asked.ts";
import { modelOf, thinkingAsBefore, usingModel, withoutAccount } from "../../state/connection.ts";
import { useDraft } from "../../state/drafts.ts";
import { choosable, overwrittenRoles, recommendedModels } from "../../state/modelFacts.ts";
import { useText } from "../../text/index.ts";
import { AddAccount, kindTitle } from "./AddAccount.tsx";
import { KeyCard } from "./KeyCard.tsx";
import { ModelField } from "./ModelField.tsx";
import classes from "./Settings.module.css";
import { TestResult } from "./TestResult.tsx";
import { Told, useTold } from "./Told.tsx";
import { useArrival } from "./useArrival.ts";

/** One card for each account; the one server of one's own is set up elsewhere. */
export function AccountCards({ settings }: { settings: Settings }) {
  const providers = useProviders();
  if (providers.isError) return <Failure compact error={providers.error} retry={() => void providers.refetch()} />;
  if (providers.isPending) return <ListSkeleton rows={3} height={36} />;
  const own = providers.data.filter((provider) => !provider.needsBaseUrl);
  const isAdded = (account: Account) => account.name !== account.kind;
  return (
    <div className={classes.accounts}>
      {own.map((provider) => (
        <AccountCard key={provider.name} name={provider.name} title={provider.title} provider={provider} added={null} settings={settings} />
      ))}
      {settings.accounts.filter(isAdded).map((account) => {
        const provider = providers.data.find((one) => one.name === account.kind);
        if (!provider) return null;
        return <AccountCard key={account.name} name={account.name} title={account.name} provider={provider} added={account} settings={settings} />;
      })}
      <AddAccount providers={providers.data} settings={settings} />
    </div>
  );
}

interface AccountCardProps {
  name: string;
  title: string;
  provider: ProviderInfo;
  /** The account when a person added it. */
  added: Account | null;
  settings: Settings;
}

function AccountCard({ name, title, provider, added, settings }: AccountCardProps) {
  const t = useText();
  const { tell } = useTold();
  const id = useId();
  const key = useKeyInfo(name);
  const [open, setOpen] = useState(false);
  const asked = useIsAsked(name);
  if (asked && !open) setOpen(true);
  const used = modelOf(settings, name);
  const wantsKey = provider.key === "required";
  const status =
    used !== null ? t("settings.account.used", { model: used }) : t(key.data ? "settings.account.ready" : wantsKey ? "settings.account.none" : "settings.account.readyPlain");
  const place = added?.baseUrl;
  return (
    <section className={classes.account} aria-label={title}>
      <div className={classes.accountHead}>
        <h3>{title}</h3>
        <p>
          {added && `${kindTitle(provider, t)}${place ? `, ${place}` : ""}. `}
          {status}
        </p>
        <Button variant="default" size="xs" aria-expanded={open} aria-controls={id} onClick={() => setOpen(!open)}>
          {t(open ? "settings.account.close" : "settings.account.open")}
        </Button>
      </div>
      <div id={id} hidden={!open}>
        {open && (
          <Told>
            <div className={classes.form}>
              {added && <AccountAddress key={place ?? ""} account={added} provider={provider} settings={settings} />}
              <KeyCard account={name} baseUrl={place ?? null} keysPage={provider.keysPage} />
              <ModelChoice
                name={name}
                title={added && !provider.needsBaseUrl ? `${provider.title} (${name})` : title}
                used={used}
                ready={Boolean(key.data) || !wantsKey}
                settings={settings}
                added={added}
                provider={provider}
                gone={() => tell(t("settings.account.removed"))}
              />
              <AccountFallback key={settings.fallbacks?.accounts?.[name] ?? ""} name={name} settings={settings} />
            </div>
          </Told>
        )}
      </div>
    </section>
  );
}

interface ModelChoiceProps {
  name: string;
  title: string;
  used: string | null;
  ready: boolean;
  settings: Settings;
  added: Account | null;
  provider: ProviderInfo;
  /** Says that the account is no more, where that can still be read. */
  gone: () => void;
}

function ModelChoice({ name, title, used, ready, settings, added, provider, gone }: ModelChoiceProps) {
  const t = useText();
  const { tell, tellError } = useTold();
  const ask = useAsked((state) => state.ask);
  const field = useArrival(name, "model");
  const [model, setModel] = useDraft(`account:${name}:model`, used ?? "");
  const listed = useModels().data?.find((account) => account.provider === name);
  // The models of a test stay to choose from when its outcome is about another model.
  const [offered, setOffered] = useState<string[]>([]);
  const [asks, setAsks] = useState(false);
  const save = useSaveSettings();
  const key = useKeyInfo(name);
  const stored = Boolean(key.data) && key.data?.source !== "environment";
  const removeKey = useDeleteKey(name);
  const test = useTestProvider();
  const wanted = model.trim();
  const saved = { onSuccess: () => tell(t("settings.model.saved")), onError: tellError };
  const use = (models: Settings["models"]) => save.mutate({ models }, saved);
  const forget = () => {
    // Not callbacks of `mutate`: this card is gone as soon as the account is.
    save
      .mutateAsync(withoutAccount(settings, name))
      .then(() => (stored ? removeKey.mutateAsync() : undefined))
      .then(gone, tellError);
  };
  const again = () => test.mutate({ provider: name, baseUrl: "", model: wanted, useStoredKey: true });
  const edit = () => ask(name, "model");
  const place = added?.baseUrl ?? null;
  const widen = useWidenModel();
  const page = provider.creditPage;
  const elsewhere = () => document.querySelector<HTMLElement>("[data-field=add-account]")?.focus();
  const trust = () =>
    save.mutate(
      { overrides: { ...settings.overrides, [`${name}:${wanted}`]: { ...settings.overrides?.[`${name}:${wanted}`], tools: true } } },
      {
        onSuccess: () => {
          test.reset();
          tell(t("settings.model.saved"));
        },
        onError: tellError,
      },
    );
  const makeWide = (baseUrl: string) =>
    widen.mutate(
      { baseUrl, model: wanted },
      {
        onSuccess: (wide) => {
          setModel(wide.model);
          test.mutate({ provider: name, baseUrl: "", model: wide.model, useStoredKey: true });
        },
        onError: tellError,
      },
    );
  // A list without a choice is what was asked for, whatever the app calls it.
  const names = new Map((listed?.models ?? []).map((info) => [info.id, info]));
  const choices = [...new Set([...(test.data?.models ?? offered), ...names.keys()])].map((id) => ({ id, info: names.get(id) ?? null }));
  const offers = test.data && wanted === "" && (test.data.ok || test.data.remedy === "model") && choices.length > 0 ? choices.length : null;
  return (
    <form
      className={classes.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (wanted !== "" && wanted !== used) use(usingModel(`${name}:${wanted}`, settings));
      }}
    >
      <ModelField
        ref={field}
        label={t("settings.model.name")}
        description={t("settings.account.modelHint")}
        models={choices}
        value={model}
        onChange={(value) => {
          setModel(value);
          if (test.data) setOffered(test.data.models);
          if (!test.isIdle && !test.isPending) test.reset();
        }}
      />
      <TestResult
        test={test}
        who={title}
        offers={offers}
        remedies={{
          key: () => ask(name, "key"),
          model: edit,
          less: edit,
          provider: elsewhere,
          wait: again,
          network: again,
          clock: again,
          server: again,
          ...(page !== null && { credit: () => void host.openPage(page).catch(tellError) }),
          ...(added && { address: () => ask(name, "address") }),
        }}
        trust={trust}
        {...(place !== null && { widen: { busy: widen.isPending, run: () => makeWide(place) } })}
      />
      <div className={classes.buttons}>
        <Button type="submit" disabled={!ready || wanted === "" || wanted === used} loading={save.isPending}>
          {t("settings.account.use")}
        </Button>
        <Button variant="default" disabled={!ready} loading={test.isPending} onClick={again}>
          {t("settings.model.test")}
        </Button>
        {listed && ready && (
          <Recommended
            account={listed}
            settings={settings}
            use={(models) => {
              setModel(models.planner?.slice(name.length + 1) ?? model);
              use(models);
            }}
          />
        )}
        {used !== null && (
          <Button
            variant="subtle"
            color="gray"
            className={classes.away ?? ""}
            onClick={() => {
              setModel("");
              use(usingModel(null, settings));
            }}
          >
            {t("settings.account.stop")}
          </Button>
        )}
        {added && used === null && (
          <Button variant="subtle" color="gray" className={classes.away ?? ""} onClick={() => setAsks(true)}>
            {t("settings.account.remove")}
          </Button>
        )}
      </div>
      <Modal opened={asks} onClose={() => setAsks(false)} title={t("settings.account.removeTitle", { name })} closeButtonProps={{ "aria-label": t("common.close") }}>
        <p>{t(stored ? "settings.account.removeWithKey" : "settings.account.removeBody")}</p>
        <div className={classes.modalActions}>
          <Button variant="default" data-autofocus onClick={() => setAsks(false)}>
            {t("common.cancel")}
          </Button>
          <Button color="red" loading={save.isPending || removeKey.isPending} onClick={forget}>
            {t("settings.account.remove")}
          </Button>
        </div>
      </Modal>
    </form>
  );
}

/** Where an account's server is. */
function AccountAddress({ account, provider, settings }: { account: Account; provider: ProviderInfo; settings: Settings }) {
  const t = useText();
  const { tell, tellError } = useTold();
  const save = useSaveSettings();
  const kept = account.baseUrl ?? "";
  const field = useArrival(account.name, "address");
  const [address, setAddress] = useDraft(`account:${account.name}:address`, kept);
  const wanted = address.trim();
  const { baseUrl: _, ...plain } = account;
  const changed: Account = wanted === "" ? plain : { ...plain, baseUrl: wanted };
  return (
    <form
      className={classes.keyForm}
      onSubmit={(event) => {
        event.preventDefault();
        const accounts = settings.accounts.map((one) => (one.name === account.name ? changed : one));
        save.mutate({ accounts }, { onSuccess: () => tell(t("settings.model.saved")), onError: tellError });
      }}
    >
      <TextInput
        ref={field}
        className={classes.grow ?? ""}
        label={t(provider.needsBaseUrl ? "settings.account.address" : "settings.account.otherAddress")}
        inputMode="url"
        spellCheck={false}
        classNames={{ input: "mono" }}
        value={address}
        onChange={(event) => setAddress(event.currentTarget.value)}
      />
      {wanted !== kept && (
        <Button type="submit" variant="default" disabled={provider.needsBaseUrl && wanted === ""} loading={save.isPending}>
          {t("common.save")}
        </Button>
      )}
    </form>
  );
}

/** Takes a model for each role in one go, where the account has them; asks before it takes the place of others. */
function Recommended({ account, settings, use }: { account: ProviderModels; settings: Settings; use: (models: Settings["models"]) => void }) {
  const t = useText();
  const [asks, setAsks] = useState(false);
  const models = recommendedModels(account);
  if (models === null) return null;
  const take = () => use(thinkingAsBefore(models, settings));
  const overwritten = overwrittenRoles(settings, models);
  return (
    <>
      <Button variant="subtle" title={account.recommended.join(", ")} onClick={() => (overwritten.length > 0 ? setAsks(true) : take())}>
        {t("settings.account.recommended")}
      </Button>
      <Modal opened={asks} onClose={() => setAsks(false)} title={t("settings.account.recommendedTitle")} closeButtonProps={{ "aria-label": t("common.close") }}>
        <p>{t("settings.account.recommendedBody")}</p>
        <dl className={`${classes.prices} ${classes.changes}`}>
          {overwritten.map(({ role, before, after }) => (
            <div key={role}>
              <dt>{t(`settings.roles.${role}`)}</dt>
              <dd>{t("settings.account.recommendedChange", { before, after })}</dd>
            </div>
          ))}
        </dl>
        <div className={classes.modalActions}>
          <Button variant="default" data-autofocus onClick={() => setAsks(false)}>
            {t("common.cancel")}
          </Button>
          <Button
            onClick={() => {
              setAsks(false);
              take();
            }}
          >
            {t("settings.account.recommended")}
          </Button>
        </div>
      </Modal>
    </>
  );
}

/** What is asked when a model of this account does not answer, whoever asks it. */
function AccountFallback({ name, settings }: { name: string; settings: Settings }) {
  const t = useText();
  const { tell, tellError } = useTold();
  const save = useSaveSettings();
  const models = choosable(settings, useModels().data ?? []);
  const kept = settings.fallbacks?.accounts?.[name] ?? "";
  const [fallback, setFallback] = useDraft(`account:${name}:fallback`, kept);
  const send = () => {
    const { [name]: _before, ...others } = settings.fallbacks?.accounts ?? {};
    const wanted = fallback.trim();
    const accounts = wanted === "" ? others : { ...others, [name]: wanted };
    save.mutate({ fallbacks: { ...settings.fallbacks, accounts } }, { onSuccess: () => tell(t("settings.model.saved")), onError: tellError });
  };
  return (
    <form
      className={classes.keyForm}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <div className={classes.grow}>
        <ModelField
          label={t("settings.account.fallback")}
          description={t("settings.account.fallbackHint")}
          placeholder={t("settings.roles.fallbackNone")}
          models={models}
          value={fallback}
          error={save.error?.problems.find((one) => one.path === `fallbacks.accounts.${name}`)?.message ?? null}
          onChange={(value) => {
            setFallback(value);
            if (save.isError) save.reset();
          }}
        />
      </div>
      {fallback.trim() !== kept && (
        <Button type="submit" variant="default" loading={save.isPending}>
          {t("common.save")}
        </Button>
      )}
    </form>
  );
}
