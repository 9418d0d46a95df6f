// Why nothing moves although the run is not at its end, with the button that goes on.

import { Button } from "@mantine/core";
import { useContinue } from "../../api/runs.ts";
import { Mark } from "../../components/Mark.tsx";
import { tellError } from "../../components/toast.tsx";
import type { Standing } from "../../state/standing.ts";
import { useText } from "../../text/index.ts";
import classes from "./Run.module.css";

/** The notice of a run that was interrupted or paused; nothing for others. */
export function StandsStill({ runId, stands }: { runId: string; stands: Standing }) {
  const t = useText();
  const resume = useContinue();
  if (stands !== "interrupted" && stands !== "paused") return null;
  return (
    <div className={classes.notice} role="status">
      <Mark kind="interrupted" />
      <p>
        {t(`run.${stands}`)} <small>{t(`run.${stands}Body`)}</small>
      </p>
      <Button size="xs" loading={resume.isPending} onClick={() => resume.mutate(runId, { onError: tellError })}>
        {t("run.continue")}
      </Button>
    </div>
  );
}
