// Where the data is, how large it is, and a copy of it.

import { Button, Code, CopyButton, Tooltip, UnstyledButton } from "@mantine/core";
import { IconCopy, IconDatabaseExport, IconFolderOpen } from "@tabler/icons-react";
import { useAppInfo, useBackUp, useDataSize } from "../../api/settings.ts";
import { Failure } from "../../components/Failure.tsx";
import { ListSkeleton } from "../../components/Late.tsx";
import { host } from "../../host/index.ts";
import { size } from "../../state/format.ts";
import { useText } from "../../text/index.ts";
import classes from "./Settings.module.css";
import { useTold } from "./Told.tsx";

/** The card. */
export function DataCard() {
  const t = useText();
  const { tell, tellError } = useTold();
  const info = useAppInfo();
  const bytes = useDataSize().data;
  const backUp = useBackUp();
  const { showInFolder } = host;
  if (info.isError) return <Failure compact error={info.error} retry={() => void info.refetch()} />;
  if (!info.data) return <ListSkeleton rows={1} height={36} />;
  const { dataFolder } = info.data;
  const copyAll = () =>
    backUp.mutate(t("settings.data.backUpPick"), {
      onSuccess: (made) => made && tell(t("settings.data.backedUp", { path: made.path, size: size(made.bytes) })),
      onError: tellError,
    });
  return (
    <div className={classes.form}>
      <dl className={classes.facts}>
        <div>
          <dt>{t("settings.data.folder")}</dt>
          <dd>
            <Code className={classes.folder ?? ""}>{dataFolder}</Code>
            <CopyButton value={dataFolder}>
              {({ copied, copy }) => (
                <Tooltip label={copied ? t("common.copied") : t("common.copy")}>
                  <UnstyledButton className={classes.icon} onClick={copy} aria-label={t("common.copy")}>
                    <IconCopy size={15} stroke={1.6} />
                  </UnstyledButton>
                </Tooltip>
              )}
            </CopyButton>
            {showInFolder && (
              <Tooltip label={t("common.openFolder")}>
                <UnstyledButton className={classes.icon} onClick={() => void showInFolder(dataFolder).catch(tellError)} aria-label={t("common.openFolder")}>
                  <IconFolderOpen size={16} stroke={1.6} />
                </UnstyledButton>
              </Tooltip>
            )}
          </dd>
        </div>
        <div>
          <dt>{t("settings.data.size")}</dt>
          <dd className="numbers">{bytes === undefined ? "–" : size(bytes)}</dd>
        </div>
      </dl>
      <div className={classes.buttons}>
        <Button variant="default" leftSection={<IconDatabaseExport size={16} stroke={1.6} />} loading={backUp.isPending} onClick={copyAll}>
          {t("settings.data.backUp")}
        </Button>
        <p className={classes.note}>{t("settings.data.backUpHint")}</p>
      </div>
    </div>
  );
}
