// The key of a model account. It goes in once; what comes back is that there is one, and its last four characters.

import { Button, Modal, PasswordInput } from "@mantine/core";
import { useState } from "react";
import { sealed } from "../../api/keeping.ts";
import { useAppInfo, useDeleteKey, useKeyInfo, useSetKey } from "../../api/settings.ts";
import { Failure } from "../../components/Failure.tsx";
import { ListSkeleton } from "../../components/Late.tsx";
import { Mark } from "../../components/Mark.tsx";
import { Time } from "../../components/Time.tsx";
import type { KeyInfo } from "../../contract/index.ts";
import { host } from "../../host/index.ts";
import { announce } from "../../shell/announce.tsx";
import { useIsAsked } from "../../state/asked.ts";
import { isPlain } from "../../state/connection.ts";
import { sentence } from "../../state/errors.ts";
import { useText } from "../../text/index.ts";
import { FormError } from "./FormError.tsx";
import classes from "./Settings.module.css";
import { useTold } from "./Told.tsx";
import { useArrival } from "./useArrival.ts";

interface KeyCardProps {
  account: string;
  /** The server that a key entered here is for, where that is not the settings' one; it is sent nowhere else. */
  baseUrl?: string | null;
  /** What is worth knowing before a key is entered. */
  hint?: string;
  /** Where the provider gives out keys. */
  keysPage?: string | null;
}

/** What is known of the key, and the field to put one in. */
export function KeyCard({ account, baseUrl = null, hint, keysPage = null }: KeyCardProps) {
  const t = useText();
  const info = useKeyInfo(account);
  const app = useAppInfo();
  const [replaces, setReplaces] = useState(false);
  const asked = useIsAsked(account, "key");
  if (asked && info.data && !replaces) setReplaces(true);
  if (info.isError) return <Failure compact error={info.error} retry={() => void info.refetch()} />;
  if (info.isPending) return <ListSkeleton rows={1} height={36} />;
  const problem = app.data?.keychainProblem ?? null;
  return (
    <div className={classes.form}>
      {problem && (!info.data || replaces) && (
        <div className={classes.result} role="status">
          <Mark kind="uncertain" />
          <div className={classes.said}>
            <p>{t("settings.key.noKeychain")}</p>
            <details className={classes.original}>
              <summary>{t("errors.details")}</summary>
              <p lang="en">{sentence(problem, null)}</p>
            </details>
          </div>
        </div>
      )}
      {info.data && !replaces ? (
        <Present account={account} baseUrl={baseUrl} info={info.data} replace={() => setReplaces(true)} />
      ) : (
        <Field account={account} baseUrl={baseUrl} hint={hint} keysPage={keysPage} done={() => setReplaces(false)} replaces={replaces} noKeychain={problem !== null} />
      )}
    </div>
  );
}

interface PresentProps {
  account: string;
  baseUrl: string | null;
  info: KeyInfo;
  replace: () => void;
}

function Present({ account, baseUrl, info, replace }: PresentProps) {
  const t = useText();
  const { tell, tellError } = useTold();
  const remove = useDeleteKey(account);
  const [asks, setAsks] = useState(false);
  return (
    <>
      <p className={classes.result}>
        <Mark kind="done" />
        <span>
          {info.last4 === null ? t("settings.key.presentPlain") : t("settings.key.present", { last4: info.last4 })}{" "}
          {t(`settings.key.source.${info.source}`)}
          {info.addedAtMs !== null && (
            <>
              {" "}
              {t("settings.key.added")} <Time at={info.addedAtMs} />.
            </>
          )}
        </span>
      </p>
      {isPlain(baseUrl) && (
        <p className={classes.plainKey} role="note">
          <Mark kind="uncertain" />
          {t("settings.key.plain")}
        </p>
      )}
      <div className={classes.buttons}>
        <Button variant="default" onClick={replace}>
          {t("settings.key.replace")}
        </Button>
        {info.source !== "environment" && (
          <Button variant="subtle" color="gray" onClick={() => setAsks(true)}>
            {t("settings.key.remove")}
          </Button>
        )}
      </div>
      <Modal opened={asks} onClose={() => setAsks(false)} title={t("settings.key.removeTitle")} closeButtonProps={{ "aria-label": t("common.close") }}>
        <p>{t("settings.key.removeBody")}</p>
        <div className={classes.modalActions}>
          <Button variant="default" onClick={() => setAsks(false)}>
            {t("common.cancel")}
          </Button>
          <Button
            color="red"
            loading={remove.isPending}
            onClick={() =>
              // Not a callback of `mutate`: this card is gone as soon as there is no key to show.
              remove.mutateAsync(undefined).then(() => {
                setAsks(false);
                tell(t("settings.key.removed"));
              }, tellError)
            }
          >
            {t("settings.key.remove")}
          </Button>
        </div>
      </Modal>
    </>
  );
}

interface FieldProps {
  account: string;
  baseUrl: string | null;
  hint: string | undefined;
  keysPage: string | null;
  done: () => void;
  replaces: boolean;
  noKeychain: boolean;
}

/** What a keychain that cannot keep a key says; then it can be kept in the meantime without one. */
const withoutKeychain = ["keychain_unavailable", "keychain_locked", "keychain_failed"];

function Field({ account, baseUrl, hint, keysPage, done, replaces, noKeychain }: FieldProps) {
  const t = useText();
  const { tellError } = useTold();
  const [key, setKey] = useState("");
  const set = useSetKey(account, baseUrl);
  const setForNow = useSetKey(account, baseUrl, true);
  const plain = isPlain(baseUrl);
  const input = useArrival(account, "key");
  const keep = (how: typeof set) =>
    how.mutate(sealed(key.trim()), {
      onSuccess: (info) => {
        setKey("");
        done();
        // What stands here then says the same, to those who see it.
        announce(t(info.source === "keychain" ? "settings.key.kept" : "settings.key.keptSession"));
      },
    });
  const refused = set.error !== null && withoutKeychain.includes(set.error.code) && !setForNow.isError;
  return (
    <form
      className={classes.keyForm}
      onSubmit={(event) => {
        event.preventDefault();
        if (key.trim() !== "") keep(noKeychain ? setForNow : set);
      }}
    >
      <PasswordInput
        ref={input}
        className={classes.grow ?? ""}
        label={t("settings.key.field")}
        description={hint}
        placeholder={t("settings.key.placeholder")}
        autoComplete="off"
        spellCheck={false}
        value={key}
        onChange={(event) => setKey(event.currentTarget.value)}
      />
      <Button type="submit" disabled={key.trim() === ""} loading={set.isPending || setForNow.isPending}>
        {t(plain ? "settings.key.keepPlain" : noKeychain ? "settings.key.keepForNow" : "settings.key.keep")}
      </Button>
      {keysPage !== null && (
        <Button variant="subtle" onClick={() => void host.openPage(keysPage).catch(tellError)}>
          {t("settings.key.get")}
        </Button>
      )}
      {replaces && (
        <Button variant="default" onClick={done}>
          {t("common.cancel")}
        </Button>
      )}
      <FormError error={setForNow.error ?? set.error} />
      {refused && (
        <Button variant="default" disabled={key.trim() === ""} onClick={() => keep(setForNow)}>
          {t("settings.key.keepForNow")}
        </Button>
      )}
      {plain && (
        <p className={classes.plainKey} role="note">
          <Mark kind="uncertain" />
          {t("settings.key.plain")}
        </p>
      )}
    </form>
  );
}
