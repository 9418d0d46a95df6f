// The task as a letter: what should be done, where the files are, what should come out, what it should know, and where
// it stops.

import { Button, Textarea, Tooltip, UnstyledButton } from "@mantine/core";
import { IconFolder, IconFolderPlus, IconX } from "@tabler/icons-react";
import { useFolder } from "../../api/settings.ts";
import { host } from "../../host/index.ts";
import type { AskedEffect } from "../../contract/index.ts";
import { useCompose } from "../../state/compose.ts";
import { sentence } from "../../state/errors.ts";
import { count, folderName } from "../../state/format.ts";
import { type Draft, setAt } from "../../state/taskSource.ts";
import { useText } from "../../text/index.ts";
import { tellError } from "../../components/toast.tsx";
import { Column } from "../../components/Screen.tsx";
import classes from "./Compose.module.css";
import { Context } from "./Context.tsx";
import { Effects } from "./Effects.tsx";
import { LimitsLine } from "./LimitsLine.tsx";
import { Problems } from "./problems.tsx";
import { Results } from "./Results.tsx";
import { Rules } from "./Rules.tsx";
import { ServersLine } from "./ServersLine.tsx";

/** The letter. */
export function Letter({ draft, effects }: { draft: Draft; effects: readonly AskedEffect[] }) {
  const t = useText();
  const { change, visit } = useCompose();
  return (
    <Column narrow>
      <Textarea
        classNames={{ input: classes.goal ?? "" }}
        aria-label={t("compose.goal")}
        placeholder={t("compose.goal")}
        autosize
        minRows={2}
        maxRows={14}
        autoFocus={draft.goal === ""}
        value={draft.goal}
        onChange={(event) => {
          const { value } = event.currentTarget;
          change((source) => setAt(source, ["goal"], value));
        }}
        onBlur={() => visit("goal")}
      />
      <Problems place="goal" />
      <Part title={t("compose.where")}>
        <Folder asked={draft.workingFolder} />
      </Part>
      <Part title={t("compose.results")}>
        <Results draft={draft} />
      </Part>
      <Part title={t("compose.context")}>
        <Context value={draft.context} />
      </Part>
      <Part title={t("compose.rules.title")}>
        <Rules rules={draft.rules} />
      </Part>
      {effects.length > 0 && (
        <Part title={t("effects.title")}>
          <Effects effects={effects} />
        </Part>
      )}
      <ServersLine servers={draft.servers} />
      <LimitsLine draft={draft} />
    </Column>
  );
}

function Part({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <section className={classes.part} aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

function Folder({ asked }: { asked: string | null }) {
  const t = useText();
  const { folder, setFolder } = useCompose();
  const info = useFolder(folder);
  const pick = () =>
    void host
      .pickFolder(t("compose.folderPick"))
      .then((picked) => picked !== null && setFolder(picked))
      .catch(tellError);
  if (folder === null) {
    return (
      <>
        <Button variant="default" leftSection={<IconFolderPlus size={16} stroke={1.6} />} onClick={pick}>
          {t("compose.folderPick")}
        </Button>
        <p className={classes.hint}>{asked === null ? t("compose.folderHint") : t("compose.folderAsked", { folder: asked })}</p>
      </>
    );
  }
  const facts = info.data?.exists
    ? [
        ...info.data.files.slice(0, 3).map(({ extension, count: files }) =>
          extension === "" ? t("run.panel.filesTotal", { count: files }) : t("compose.folderFiles", { count: files, kind: extension.toUpperCase() }),
        ),
        info.data.rows === null ? null : t("common.rows", { count: info.data.rows, shown: count(info.data.rows) }),
      ].filter(Boolean)
    : [];
  const problem = info.data?.problem ?? info.error?.message ?? null;
  return (
    <>
      <div className={classes.chips}>
        <Tooltip label={`${folder} — ${t("compose.folderChange")}`}>
          <UnstyledButton className={classes.chip} onClick={pick} data-problem={problem !== null || undefined}>
            <IconFolder size={16} stroke={1.6} aria-hidden />
            {folderName(folder)}
          </UnstyledButton>
        </Tooltip>
        {facts.length > 0 && <span className={classes.facts}>{facts.join(" · ")}</span>}
        <Tooltip label={t("compose.folderRemove")}>
          <UnstyledButton className={classes.quiet} onClick={() => setFolder(null)} aria-label={t("compose.folderRemove")}>
            <IconX size={14} stroke={1.6} />
          </UnstyledButton>
        </Tooltip>
      </div>
      {problem && (
        <div className={classes.problems}>
          <p>{sentence(problem, null)}</p>
        </div>
      )}
    </>
  );
}
