// What can be done with a run as a whole, at the right of its title: pause, tell it something, stop; afterwards continue,
// run again, open the folder.

import { ActionIcon, Button, Tooltip } from "@mantine/core";
import { IconFolderOpen, IconMessagePlus, IconPlayerPause, IconPlayerPlay, IconRepeat } from "@tabler/icons-react";
import { useState } from "react";
import { type LiveRun, useContinue, useFork, usePause, useRunAgain } from "../../api/runs.ts";
import { StopRun } from "../../components/StopRun.tsx";
import { tellError, tellErrorOr } from "../../components/toast.tsx";
import { host } from "../../host/index.ts";
import { go } from "../../shell/route.ts";
import { canContinue, type Standing } from "../../state/standing.ts";
import { useText } from "../../text/index.ts";
import { GuideDialog } from "./GuideDialog.tsx";
import { MoreActions } from "./MoreActions.tsx";

interface RunActionsProps {
  run: LiveRun;
  runId: string;
  title: string;
  stands: Standing;
  shown: "steps" | "verdict";
}

/** The buttons. */
export function RunActions(props: RunActionsProps) {
  const { stands, run, runId, title } = props;
  if (stands !== "running" && stands !== "waiting" && stands !== "paused") return <Afterwards {...props} />;
  return (
    <>
      <Guide run={run} runId={runId} />
      {stands === "running" && <Pause runId={runId} />}
      {stands === "paused" && props.shown === "verdict" && <Continue runId={runId} primary />}
      <StopRun runId={runId} title={title} />
    </>
  );
}

/** Telling the run something, where a planner will hear it: neither a recording nor a flow has one that listens. */
function Guide({ run, runId }: { run: LiveRun; runId: string }) {
  const t = useText();
  const [opened, setOpened] = useState(false);
  const { header, guidance } = run.state;
  if (header === null || header.recording !== null || header.flow) return null;
  return (
    <>
      <Tooltip label={t("run.guide.open")}>
        <ActionIcon variant="default" size={36} onClick={() => setOpened(true)} aria-label={t("run.guide.open")}>
          <IconMessagePlus size={17} stroke={1.6} />
        </ActionIcon>
      </Tooltip>
      <GuideDialog runId={runId} given={guidance} opened={opened} close={() => setOpened(false)} />
    </>
  );
}

/** Asked to pause, a run finishes what is at work first; until it stands still, the button says so. */
function Pause({ runId }: { runId: string }) {
  const t = useText();
  const pause = usePause();
  const asked = pause.isPending || pause.isSuccess;
  return (
    <Tooltip label={asked ? t("run.pausingHint") : t("run.pauseHint")}>
      <Button
        variant="default"
        leftSection={<IconPlayerPause size={15} stroke={1.6} />}
        disabled={asked}
        onClick={() => pause.mutate(runId, { onError: tellError })}
      >
        {asked ? t("run.pausing") : t("run.pause")}
      </Button>
    </Tooltip>
  );
}

function Continue({ runId, primary = false }: { runId: string; primary?: boolean }) {
  const t = useText();
  const resume = useContinue();
  const send = () => resume.mutate(runId, { onSuccess: () => go({ screen: "run", runId, view: "auto" }), onError: tellErrorOr(send) });
  return (
    <Tooltip label={t("verdict.continueHint")}>
      <Button
        variant={primary ? "filled" : "default"}
        leftSection={<IconPlayerPlay size={15} stroke={1.6} />}
        loading={resume.isPending}
        onClick={send}
      >
        {t("run.continue")}
      </Button>
    </Tooltip>
  );
}

function Fork({ runId }: { runId: string }) {
  const t = useText();
  const fork = useFork();
  return (
    <Tooltip label={t("run.forkHint")} multiline maw={320}>
      <Button
        leftSection={<IconPlayerPlay size={15} stroke={1.6} />}
        loading={fork.isPending}
        onClick={() => fork.mutate(runId, { onSuccess: (started) => go({ screen: "run", runId: started.runId, view: "auto" }), onError: tellError })}
      >
        {t("run.fork")}
      </Button>
    </Tooltip>
  );
}

/** What can be done once a run has ended; at the verdict, what concerns its results stands beside the sentence. */
function Afterwards({ run, runId, stands, shown }: RunActionsProps) {
  const { result, header } = run.state;
  // The steps of an interrupted run say so themselves, with the button in the sentence. What a recording does not know,
  // it does not know the next time either.
  const ofModel = header?.recording == null;
  // Its own history is in its way: it would end in the same place.
  const forks = result?.error?.code === "input_hash_mismatch";
  const mayContinue = stands === "interrupted" ? shown === "verdict" : result !== null && ofModel && !forks && canContinue(result.stopReason);
  return (
    <>
      <MoreActions run={run} runId={runId} />
      {forks && <Fork runId={runId} />}
      {mayContinue && <Continue runId={runId} primary />}
      {shown === "steps" && stands !== "interrupted" && <ResultActions run={run} runId={runId} />}
    </>
  );
}

/** What can be done with what came out of a run that has ended. */
export function ResultActions({ run, runId }: Pick<RunActionsProps, "run" | "runId">) {
  const t = useText();
  const again = useRunAgain();
  const { result, header } = run.state;
  const folder = header?.envelope.folder;
  const { showInFolder } = host;
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconRepeat size={15} stroke={1.6} />}
        loading={again.isPending}
        onClick={() =>
          again.mutate(
            { runId, pickTitle: t("run.againFolder") },
            { onSuccess: (started) => started && go({ screen: "run", runId: started.runId, view: "auto" }), onError: tellError },
          )
        }
      >
        {t("run.again")}
      </Button>
      {folder && showInFolder && (
        <Button
          variant={result?.status === "pass" ? "filled" : "default"}
          leftSection={<IconFolderOpen size={16} stroke={1.6} />}
          onClick={() => void showInFolder(folder).catch(tellError)}
        >
          {t("common.openFolder")}
        </Button>
      )}
    </>
  );
}
