// What the command palette offers on the screen of a run.

import { IconBinaryTree, IconGavel, IconList, IconPlayerPause, IconPlayerPlay, IconRepeat } from "@tabler/icons-react";
import { useContinue, usePause, useRunAgain } from "../../api/runs.ts";
import { tellError } from "../../components/toast.tsx";
import { go, replace } from "../../shell/route.ts";
import { type Command, useCommands } from "../../state/commands.ts";
import { usePreferences } from "../../state/preferences.ts";
import type { Standing } from "../../state/standing.ts";
import { useText } from "../../text/index.ts";

interface Here {
  runId: string;
  shown: "steps" | "verdict";
  stands: Standing;
}

/** Offers what can be done with this run without being asked once more. */
export function useRunCommands({ runId, shown, stands }: Here): void {
  const t = useText();
  const pause = usePause();
  const resume = useContinue();
  const again = useRunAgain();
  const { asList, setAsList } = usePreferences();
  const command = (id: string, title: string, icon: Command["icon"], run: () => void): Command => ({ id, title, group: "here", run, ...(icon ? { icon } : {}) });
  useCommands(() => {
    const other = shown === "steps" ? "verdict" : "steps";
    const ended = stands === "passed" || stands === "failed" || stands === "rejected" || stands === "stopped";
    return [
      command(other, t(`palette.run.${other}`), shown === "steps" ? IconGavel : IconBinaryTree, () => replace({ screen: "run", runId, view: other })),
      command("list", asList ? t("run.graph.asGraph") : t("run.graph.asList"), asList ? IconBinaryTree : IconList, () => {
        setAsList(!asList);
        replace({ screen: "run", runId, view: "steps" });
      }),
      ...(stands === "running" ? [command("pause", t("palette.run.pause"), IconPlayerPause, () => pause.mutate(runId, { onError: tellError }))] : []),
      ...(stands === "paused" || stands === "interrupted" ? [command("continue", t("palette.run.continue"), IconPlayerPlay, () => resume.mutate(runId, { onError: tellError }))] : []),
      ...(ended
        ? [
            command("again", t("run.again"), IconRepeat, () =>
              again.mutate({ runId, pickTitle: t("run.againFolder") }, { onSuccess: (started) => started && go({ screen: "run", runId: started.runId, view: "auto" }), onError: tellError }),
            ),
          ]
        : []),
    ];
  });
}
