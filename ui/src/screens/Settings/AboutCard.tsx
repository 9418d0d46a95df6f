// What this is: its versions, its licences, and facts that one can hand to somebody who helps.

import { Button, CopyButton } from "@mantine/core";
import { IconCopy, IconStethoscope } from "@tabler/icons-react";
import { useAppInfo, useSaveDiagnostics } from "../../api/settings.ts";
import { Failure } from "../../components/Failure.tsx";
import { ListSkeleton } from "../../components/Late.tsx";
import type { Versions } from "../../contract/index.ts";
import { fileName } from "../../state/format.ts";
import { type Text, useText } from "../../text/index.ts";
import classes from "./Settings.module.css";
import { useTold } from "./Told.tsx";

/** The card. */
export function AboutCard() {
  const t = useText();
  const { tell, tellError } = useTold();
  const info = useAppInfo();
  const save = useSaveDiagnostics();
  if (info.isError) return <Failure compact error={info.error} retry={() => void info.refetch()} />;
  if (!info.data) return <ListSkeleton rows={4} height={24} />;
  const rows = rowsOf(info.data.versions, t);
  const saveFacts = () =>
    save.mutate(t("settings.about.pick"), {
      onSuccess: (written) => written && tell(t("settings.about.saved", { name: fileName(written.path) })),
      onError: tellError,
    });
  return (
    <div className={classes.form}>
      <dl className={classes.facts}>
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd className="numbers">{value}</dd>
          </div>
        ))}
      </dl>
      <p className={classes.licences}>{t("settings.about.licences")}</p>
      <div className={classes.buttons}>
        <Button variant="default" leftSection={<IconStethoscope size={16} stroke={1.6} />} loading={save.isPending} onClick={saveFacts}>
          {t("settings.about.save")}
        </Button>
        <CopyButton value={rows.map(([name, value]) => `${name}: ${value}`).join("\n")}>
          {({ copied, copy }) => (
            <Button variant="default" leftSection={<IconCopy size={16} stroke={1.6} />} onClick={copy}>
              {copied ? t("common.copied") : t("settings.about.copy")}
            </Button>
          )}
        </CopyButton>
      </div>
      <p className={classes.licences}>{t("settings.about.saveHint")}</p>
    </div>
  );
}

function rowsOf(versions: Versions, t: Text): [string, string][] {
  return [
    ["Tepa", versions.app],
    [t("settings.about.format"), versions.format],
    ["SQLite", versions.sqlite],
    [t("settings.about.system"), `${versions.system}, ${versions.architecture}`],
    [t("settings.about.webview"), versions.webview ?? t("settings.about.browser")],
  ];
}
