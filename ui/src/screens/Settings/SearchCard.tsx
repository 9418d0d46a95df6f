// The service that searches the web for a step: which one, where it is, its key, and whether it answers.

import { Button, SegmentedControl, TextInput } from "@mantine/core";
import { useState } from "react";
import { useDeleteKey, useSaveSettings, useSearchKinds, useTestSearch } from "../../api/settings.ts";
import { Failure } from "../../components/Failure.tsx";
import { ListSkeleton } from "../../components/Late.tsx";
import { Mark } from "../../components/Mark.tsx";
import type { SearchKind, SearchService } from "../../contract/index.ts";
import { sentence, shownError } from "../../state/errors.ts";
import { useText } from "../../text/index.ts";
import { KeyCard } from "./KeyCard.tsx";
import classes from "./Settings.module.css";
import { useTold } from "./Told.tsx";

/** The card. */
export function SearchCard({ service }: { service: SearchService | null }) {
  const kinds = useSearchKinds();
  if (kinds.isPending) return <ListSkeleton rows={1} height={64} />;
  if (kinds.isError) return <Failure compact error={kinds.error} retry={() => void kinds.refetch()} />;
  return <Service key={JSON.stringify(service)} service={service} kinds={kinds.data.kinds} account={kinds.data.account} />;
}

interface ServiceProps {
  /** As it is kept; null when none is. */
  service: SearchService | null;
  kinds: readonly SearchKind[];
  account: string;
}

function Service({ service, kinds, account }: ServiceProps) {
  const t = useText();
  const { tell, tellError } = useTold();
  const save = useSaveSettings();
  const forget = useDeleteKey(account);
  const test = useTestSearch();
  const [name, setName] = useState(service?.kind ?? kinds[0]?.name ?? "");
  const [address, setAddress] = useState(service?.baseUrl ?? "");
  const kind = kinds.find((one) => one.name === name);
  if (!kind) return null;
  const wanted = address.trim();
  const isKept = service !== null && service.kind === name && (service.baseUrl ?? "") === wanted;
  const wrong = save.error?.problems.find(({ path }) => path === "search.baseUrl");
  const choose = (other: string) => {
    setName(other);
    // An address is one kind's; only a kept one comes back.
    setAddress(service?.kind === other ? (service.baseUrl ?? "") : "");
    save.reset();
    test.reset();
  };
  const remove = () =>
    save.mutate(
      { search: null },
      {
        onSuccess: () => {
          forget.mutate(undefined, { onError: tellError });
          tell(t("settings.search.removed"));
        },
        onError: tellError,
      },
    );
  return (
    <div className={classes.form}>
      <form
        className={classes.form}
        aria-label={t("settings.search.title")}
        onSubmit={(event) => {
          event.preventDefault();
          const search: SearchService = wanted === "" ? { kind: name } : { kind: name, baseUrl: wanted };
          save.mutate({ search }, { onSuccess: () => tell(t("settings.model.saved")), onError: (error) => error.code !== "settings_invalid" && tellError(error) });
        }}
      >
        <SegmentedControl
          aria-label={t("settings.search.kind")}
          value={name}
          onChange={choose}
          data={kinds.map((one) => ({ value: one.name, label: one.title }))}
        />
        <div className={classes.keyForm}>
          <TextInput
            className={classes.grow ?? ""}
            label={t("settings.search.address")}
            description={t(kind.needsKey ? "settings.search.addressHint" : "settings.search.addressOwn")}
            placeholder={kind.baseUrl === "" ? "http://localhost:8888" : kind.baseUrl}
            inputMode="url"
            spellCheck={false}
            autoComplete="off"
            classNames={{ input: "mono" }}
            value={address}
            error={wrong ? sentence(wrong.message, null) : false}
            onChange={(event) => {
              setAddress(event.currentTarget.value);
              if (save.isError) save.reset();
            }}
          />
        </div>
        <div className={classes.buttons}>
          <Button type="submit" disabled={isKept || (wanted === "" && kind.baseUrl === "")} loading={save.isPending}>
            {t("settings.search.use")}
          </Button>
          <Button variant="default" disabled={!isKept} loading={test.isPending} onClick={() => test.mutate()}>
            {t("settings.search.test")}
          </Button>
          {service !== null && (
            <Button variant="subtle" color="gray" className={classes.away ?? ""} onClick={remove}>
              {t("settings.search.remove")}
            </Button>
          )}
        </div>
      </form>
      {isKept && kind.needsKey && <KeyCard account={account} baseUrl={wanted === "" ? kind.baseUrl : wanted} hint={t("settings.search.key", { title: kind.title })} keysPage={kind.keysPage} />}
      <Outcome test={test} />
      <p className={classes.plain}>{t("settings.search.leaves")}</p>
    </div>
  );
}

/** What came of asking the service. */
function Outcome({ test }: { test: ReturnType<typeof useTestSearch> }) {
  const t = useText();
  const words = test.error ? shownError(test.error, t).sentence : test.data?.message;
  if (words === undefined) return null;
  const ok = test.data?.ok === true;
  return (
    <p className={classes.result} data-bad={!ok || undefined} role={ok ? "status" : "alert"}>
      <Mark kind={ok ? "done" : "failed"} />
      <span className={classes.said}>{sentence(words, null)}</span>
    </p>
  );
}
