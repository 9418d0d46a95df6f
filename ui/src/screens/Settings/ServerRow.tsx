// One MCP server: how it stands, what it offers, and the next thing that can be done about it.

import { Button, Modal, UnstyledButton } from "@mantine/core";
import { useState } from "react";
import { useApproveServer, useConnectServer, useLeaveServer, useRemoveServer } from "../../api/servers.ts";
import { Code } from "../../components/Code.tsx";
import { type MarkKind, StateBadge } from "../../components/Mark.tsx";
import type { McpServer, ServerTool, ToolChange } from "../../contract/index.ts";
import { sentence } from "../../state/errors.ts";
import { inShort, missingValues, reachedBy, type ServerStanding, standingOf } from "../../state/servers.ts";
import { useText } from "../../text/index.ts";
import classes from "./ServersCard.module.css";
import { Told, useTold } from "./Told.tsx";

const marks: Record<ServerStanding, MarkKind> = { added: "idle", offers: "person", ready: "done", changed: "uncertain", failed: "failed" };

/** The row. */
export function ServerRow({ server }: { server: McpServer }) {
  const t = useText();
  const { tell } = useTold();
  const titleId = `server-${server.name}`;
  return (
    <li className={classes.row} aria-labelledby={titleId}>
      <Told>
        <Server server={server} titleId={titleId} gone={() => tell(t("settings.servers.removed", { name: server.name }))} />
      </Told>
    </li>
  );
}

interface ServerProps {
  server: McpServer;
  titleId: string;
  /** Says that the server is no more, where that can still be read. */
  gone: () => void;
}

function Server({ server, titleId, gone }: ServerProps) {
  const t = useText();
  const { tellError } = useTold();
  const connect = useConnectServer(server.name);
  const leave = useLeaveServer(server.name);
  const standing = standingOf(server);
  const missing = missingValues(server);
  const badge: { kind: MarkKind; words: string } = connect.isPending
    ? { kind: "running", words: t("settings.servers.standing.starting") }
    : { kind: marks[standing], words: t(`settings.servers.standing.${standing}`, { count: server.approved?.length ?? 0 }) };
  return (
    <div className={classes.server}>
      <div className={classes.head}>
        <h3 id={titleId}>{server.name}</h3>
        <StateBadge kind={badge.kind}>{badge.words}</StateBadge>
        <div className={classes.actions}>
          <Button
            size="xs"
            variant={standing === "added" ? "filled" : "default"}
            loading={connect.isPending}
            aria-label={`${t(standing === "added" ? "settings.servers.connect" : "settings.servers.test")}: ${server.name}`}
            onClick={() => connect.mutate(undefined, { onError: tellError })}
          >
            {t(standing === "added" ? "settings.servers.connect" : "settings.servers.test")}
          </Button>
          {connect.isPending && (
            <Button size="xs" variant="default" aria-label={`${t("common.cancel")}: ${server.name}`} onClick={() => leave.mutate(undefined, { onError: tellError })}>
              {t("common.cancel")}
            </Button>
          )}
          <Remove server={server} gone={gone} />
        </div>
      </div>
      <p className={classes.reached}>
        <code>{reachedBy(server.launch)}</code>
      </p>
      {server.values.length > 0 && <p className={classes.hint}>{t("settings.servers.kept", { names: server.values.join(", ") })}</p>}
      {missing.length > 0 && <p className={classes.warning}>{t("settings.servers.missing", { names: missing.join(", ") })}</p>}
      <div role="status">{connect.isPending && <p className={classes.hint}>{t("settings.servers.starting")}</p>}</div>
      {!connect.isPending && <Standing server={server} standing={standing} />}
    </div>
  );
}

function Standing({ server, standing }: { server: McpServer; standing: ServerStanding }) {
  const t = useText();
  switch (standing) {
    case "added":
      return <p className={classes.hint}>{t(`settings.servers.${server.launch.kind === "address" ? "addedAddress" : "addedProgram"}`)}</p>;
    case "failed":
      return <Failed server={server} />;
    case "offers":
      return <Offered server={server} />;
    case "changed":
      return <Changed server={server} />;
    case "ready":
      return <Tools tools={server.approved ?? []} />;
  }
}

/** What could not be done, what to do, and what the server said. */
function Failed({ server }: { server: McpServer }) {
  const t = useText();
  const { problem, log } = server;
  if (problem === null) return null;
  return (
    <div className={classes.failed} role="alert">
      <p>{sentence(problem.message, null)}</p>
      {problem.hint !== null && <p className={classes.hint}>{problem.hint}</p>}
      {log.length > 0 && (
        <details>
          <summary>{t("settings.servers.log")}</summary>
          <Code text={log.join("\n")} label={t("settings.servers.log")} maxHeight={200} />
        </details>
      )}
    </div>
  );
}

/** Everything that it offers, to be approved for the first time. */
function Offered({ server }: { server: McpServer }) {
  const t = useText();
  const offered = server.offered;
  if (offered === null) return null;
  if (offered.tools.length === 0) return <p className={classes.hint}>{t("settings.servers.nothing")}</p>;
  return (
    <div className={classes.asks}>
      <p>{t("settings.servers.offers", { count: offered.tools.length })}</p>
      <ToolList tools={offered.tools} />
      <Approve server={server} label={t("settings.servers.allow", { count: offered.tools.length })} />
    </div>
  );
}

/** What is not as it was approved, side by side. */
function Changed({ server }: { server: McpServer }) {
  const t = useText();
  if (server.offered === null) return null;
  return (
    <div className={classes.asks}>
      <p>{t("settings.servers.changedBody")}</p>
      <ul className={classes.changes}>
        {server.offered.changes.map((change) => (
          <li key={change.tool}>
            <Change change={change} />
          </li>
        ))}
      </ul>
      <Approve server={server} label={t("settings.servers.allowChange")} />
    </div>
  );
}

function Change({ change: { tool, before, after } }: { change: ToolChange }) {
  const t = useText();
  const kind = before === null ? "new" : after === null ? "gone" : "other";
  const sameWords = before !== null && after !== null && before.description === after.description;
  return (
    <>
      <p>
        <code>{tool}</code> <span className={classes.kind}>{t(`settings.servers.change.${kind}`)}</span>
      </p>
      {before !== null && !sameWords && (
        <p className={classes.words}>
          <span>{t("settings.servers.change.before")}</span> <del>{before.description || t("settings.servers.saysNothing")}</del>
        </p>
      )}
      {after !== null && !sameWords && (
        <p className={classes.words}>
          <span>{t("settings.servers.change.after")}</span> <ins>{after.description || t("settings.servers.saysNothing")}</ins>
        </p>
      )}
      {before !== null && after !== null && JSON.stringify(before.parameters) !== JSON.stringify(after.parameters) && (
        <details open={sameWords}>
          <summary>{t("settings.servers.change.parameters")}</summary>
          <Code
            text={`${JSON.stringify(before.parameters, null, 1)}\n→\n${JSON.stringify(after.parameters, null, 1)}`}
            label={t("settings.servers.change.parameters")}
            maxHeight={200}
          />
        </details>
      )}
      {before === null && after !== null && <Whole tool={tool} words={after} />}
    </>
  );
}

function Approve({ server, label }: { server: McpServer; label: string }) {
  const t = useText();
  const { tell, tellError } = useTold();
  const approve = useApproveServer(server.name);
  const hash = server.offered?.hash;
  return (
    <div>
      <Button
        size="xs"
        loading={approve.isPending}
        aria-label={`${label}: ${server.name}`}
        onClick={() =>
          hash !== undefined && approve.mutate(hash, { onSuccess: () => tell(t("settings.servers.approved", { name: server.name })), onError: tellError })
        }
      >
        {label}
      </Button>
    </div>
  );
}

/** What was approved, folded away. */
function Tools({ tools }: { tools: readonly ServerTool[] }) {
  const t = useText();
  const [open, setOpen] = useState(false);
  return (
    <>
      <UnstyledButton className={classes.more} aria-expanded={open} onClick={() => setOpen(!open)}>
        {t(open ? "settings.servers.hideTools" : "settings.servers.showTools", { count: tools.length })}
      </UnstyledButton>
      {open && <ToolList tools={tools} />}
    </>
  );
}

/** Everything that models read of a tool: whoever allows it can see it first. */
function Whole({ tool, words }: { tool: string; words: Pick<ServerTool, "description" | "parameters"> }) {
  const t = useText();
  return (
    <details>
      <summary aria-label={`${t("settings.servers.whole")}: ${tool}`}>{t("settings.servers.whole")}</summary>
      <Code text={`${words.description}\n\n${JSON.stringify(words.parameters, null, 2)}`} label={`${t("settings.servers.whole")}: ${tool}`} maxHeight={240} />
    </details>
  );
}

function ToolList({ tools }: { tools: readonly ServerTool[] }) {
  const t = useText();
  return (
    <ul className={classes.tools}>
      {tools.map((tool) => (
        <li key={tool.tool}>
          <code>{tool.tool}</code>
          <span>
            <span>{inShort(tool) || t("settings.servers.saysNothing")}</span>
            {tool.saysReadOnly && <em> {t("settings.servers.saysReadOnly")}</em>}
            <Whole tool={tool.tool} words={tool} />
          </span>
        </li>
      ))}
    </ul>
  );
}

function Remove({ server, gone }: { server: McpServer; gone: () => void }) {
  const t = useText();
  const { tellError } = useTold();
  const remove = useRemoveServer(server.name);
  const [asks, setAsks] = useState(false);
  return (
    <>
      <Button size="xs" variant="subtle" color="gray" aria-label={`${t("settings.servers.remove")}: ${server.name}`} onClick={() => setAsks(true)}>
        {t("settings.servers.remove")}
      </Button>
      <Modal
        opened={asks}
        onClose={() => setAsks(false)}
        title={t("settings.servers.removeTitle", { name: server.name })}
        closeButtonProps={{ "aria-label": t("common.close") }}
      >
        <p>{t("settings.servers.removeBody")}</p>
        <div className={classes.modalActions}>
          <Button variant="default" data-autofocus onClick={() => setAsks(false)}>
            {t("common.cancel")}
          </Button>
          <Button
            color="red"
            loading={remove.isPending}
            onClick={() =>
              // Not a callback of `mutate`: this row is gone as soon as the server is.
              remove.mutateAsync().then(() => {
                setAsks(false);
                gone();
              }, tellError)
            }
          >
            {t("settings.servers.remove")}
          </Button>
        </div>
      </Modal>
    </>
  );
}
