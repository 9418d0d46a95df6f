// What runs may do by themselves, and what was allowed for good, to be taken back.

import { Button, Radio, SegmentedControl } from "@mantine/core";
import { useGrants, useRevokeGrant, useSaveSettings } from "../../api/settings.ts";
import { Failure } from "../../components/Failure.tsx";
import { ListSkeleton } from "../../components/Late.tsx";
import { Time } from "../../components/Time.tsx";
import type { PermissionDefaults, Preset, TaskGrant } from "../../contract/index.ts";
import { accessWords } from "../../state/access.ts";
import { folderName } from "../../state/format.ts";
import { useText } from "../../text/index.ts";
import classes from "./PermissionsCard.module.css";
import { useTold } from "./Told.tsx";

const presets: readonly Preset[] = ["careful", "normal", "handsOff"];

/** The card. */
export function PermissionsCard({ permissions }: { permissions: PermissionDefaults }) {
  const t = useText();
  const { tellError } = useTold();
  const save = useSaveSettings();
  const change = (next: Partial<PermissionDefaults>) => save.mutate({ permissions: { ...permissions, ...next } }, { onError: tellError });
  return (
    <div className={classes.card}>
      <Radio.Group
        label={t("settings.permissions.preset")}
        value={permissions.preset}
        onChange={(value) => change({ preset: presets.find((one) => one === value) ?? "normal" })}
      >
        <div className={classes.presets}>
          {presets.map((preset) => (
            <Radio key={preset} value={preset} label={t(`settings.permissions.${preset}`)} description={t(`settings.permissions.${preset}Hint`)} />
          ))}
        </div>
      </Radio.Group>
      <div className={classes.row}>
        <div>
          <p className={classes.label} id="commands-label">
            {t("settings.permissions.commands")}
          </p>
          <p className={classes.hint}>{t("settings.permissions.commandsHint")}</p>
        </div>
        <SegmentedControl
          aria-labelledby="commands-label"
          value={permissions.commands.kind === "off" ? "off" : "ask"}
          onChange={(value) => change({ commands: value === "off" ? { kind: "off" } : { kind: "ask" } })}
          data={[
            { value: "ask", label: t("settings.permissions.ask") },
            { value: "off", label: t("settings.permissions.off") },
          ]}
        />
      </div>
      <Grants />
    </div>
  );
}

function Grants() {
  const t = useText();
  const grants = useGrants();
  return (
    <section aria-label={t("settings.permissions.grants")}>
      <p className={classes.label}>{t("settings.permissions.grants")}</p>
      {grants.isPending ? (
        <ListSkeleton rows={1} height={44} />
      ) : grants.isError ? (
        <Failure compact error={grants.error} retry={() => void grants.refetch()} />
      ) : grants.data.length === 0 ? (
        <p className={classes.hint}>{t("settings.permissions.none")}</p>
      ) : (
        <ul className={classes.grants}>
          {grants.data.map((grant) => (
            <Grant key={grant.id} grant={grant} />
          ))}
        </ul>
      )}
    </section>
  );
}

function Grant({ grant }: { grant: TaskGrant }) {
  const t = useText();
  const { tell, tellError } = useTold();
  const revoke = useRevokeGrant();
  const { verb, what } = accessWords(grant.access, t);
  return (
    <li>
      <div className={classes.grant}>
        <p>
          {verb} <code className={classes.what}>{what}</code>
        </p>
        <p className={classes.hint}>
          {grant.title} · <span title={grant.folder}>{folderName(grant.folder)}</span> · <Time at={grant.grantedAtMs} />
        </p>
      </div>
      <Button
        size="xs"
        variant="default"
        loading={revoke.isPending}
        aria-label={`${t("settings.permissions.revoke")}: ${verb} ${what}`}
        onClick={() => revoke.mutate(grant.id, { onSuccess: () => tell(t("settings.permissions.revoked")), onError: tellError })}
      >
        {t("settings.permissions.revoke")}
      </Button>
    </li>
  );
}
