// Another account: a second key at a provider, or a service that speaks chat completions, such as OpenRouter.

import { Button, Select, TextInput } from "@mantine/core";
import { useState } from "react";
import { useSaveSettings } from "../../api/settings.ts";
import type { ProviderInfo, Settings } from "../../contract/index.ts";
import { type Text, useText } from "../../text/index.ts";
import { FormError } from "./FormError.tsx";
import classes from "./Settings.module.css";
import { useTold } from "./Told.tsx";

/** Services that many people have a key of, and where they are. */
const services = [
  { title: "OpenRouter", name: "openrouter", url: "https://openrouter.ai/api/v1" },
  { title: "Groq", name: "groq", url: "https://api.groq.com/openai/v1" },
] as const;

/** The name of a kind of account, for people. */
export function kindTitle(provider: ProviderInfo, t: Text): string {
  return provider.needsBaseUrl ? t("settings.account.otherKind") : provider.title;
}

/** The form for another account, behind its button. */
export function AddAccount({ providers, settings }: { providers: readonly ProviderInfo[]; settings: Settings }) {
  const t = useText();
  const { tell } = useTold();
  const save = useSaveSettings();
  const [open, setOpen] = useState(false);
  const [name, setName] = useState("");
  const [kind, setKind] = useState("openai_compatible");
  const [baseUrl, setBaseUrl] = useState("");
  const needsAddress = providers.find((provider) => provider.name === kind)?.needsBaseUrl ?? false;
  const complete = name.trim() !== "" && (!needsAddress || baseUrl.trim() !== "");
  const close = () => {
    setOpen(false);
    setName("");
    setBaseUrl("");
  };
  if (!open) {
    return (
      <div className={classes.account}>
        <Button variant="default" size="xs" data-field="add-account" onClick={() => setOpen(true)}>
          {t("settings.account.add")}
        </Button>
        <p className={classes.addHint}>{t("settings.account.addHint")}</p>
      </div>
    );
  }
  return (
    <form
      className={`${classes.account} ${classes.form}`}
      aria-label={t("settings.account.add")}
      onSubmit={(event) => {
        event.preventDefault();
        if (!complete) return;
        const account = { name: name.trim(), kind, ...(baseUrl.trim() !== "" && { baseUrl: baseUrl.trim() }) };
        save.mutate(
          { accounts: [...settings.accounts, account] },
          {
            onSuccess: () => {
              close();
              tell(t("settings.account.added"));
            },
          },
        );
      }}
    >
      <div className={classes.two}>
        <TextInput
          label={t("settings.account.name")}
          description={t("settings.account.nameHint")}
          spellCheck={false}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Select
          label={t("settings.account.kind")}
          description={t("settings.account.kindHint")}
          allowDeselect={false}
          data={providers.map((provider) => ({ value: provider.name, label: kindTitle(provider, t) }))}
          value={kind}
          onChange={(value) => setKind(value ?? kind)}
        />
      </div>
      {needsAddress && (
        <div className={classes.usual} role="group" aria-label={t("settings.account.services")}>
          {services.map((service) => (
            <Button
              key={service.name}
              size="compact-xs"
              variant="default"
              onClick={() => {
                setBaseUrl(service.url);
                if (name.trim() === "") setName(service.name);
              }}
            >
              {service.title}
            </Button>
          ))}
        </div>
      )}
      <TextInput
        label={t(needsAddress ? "settings.account.address" : "settings.account.otherAddress")}
        placeholder={needsAddress ? "https://openrouter.ai/api/v1" : ""}
        inputMode="url"
        spellCheck={false}
        classNames={{ input: "mono" }}
        value={baseUrl}
        onChange={(event) => setBaseUrl(event.currentTarget.value)}
      />
      <FormError error={save.error} />
      <div className={classes.buttons}>
        <Button type="submit" disabled={!complete} loading={save.isPending}>
          {t("settings.account.keep")}
        </Button>
        <Button variant="default" onClick={close}>
          {t("common.cancel")}
        </Button>
      </div>
    </form>
  );
}
