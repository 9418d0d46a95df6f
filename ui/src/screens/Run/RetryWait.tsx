// A provider that is busy: why, when the next attempt begins, and the button that does not wait for it.

import { Button } from "@mantine/core";
import { useTryNow, useWaits } from "../../api/runs.ts";
import { Mark } from "../../components/Mark.tsx";
import { tellError } from "../../components/toast.tsx";
import type { RunState } from "../../contract/index.ts";
import { sentence } from "../../state/errors.ts";
import { waitingCalls } from "../../state/waits.ts";
import { useText } from "../../text/index.ts";
import classes from "./RetryWait.module.css";

/** The wait of a run, while there is one. */
export function RetryWait({ runId, state }: { runId: string; state: RunState }) {
  const t = useText();
  const calls = waitingCalls(state);
  const { data: waits = [], dataUpdatedAt } = useWaits(runId, calls.length > 0);
  const tryNow = useTryNow(runId);
  const first = calls[0];
  const until = Math.min(...waits.map((wait) => wait.untilMs));
  if (!first || waits.length === 0) return null;
  const seconds = Math.max(0, Math.ceil((until - dataUpdatedAt) / 1000));
  return (
    <div className={classes.wait} role="status">
      <Mark kind="uncertain" />
      <p>
        {first.error && sentence(first.error.message, null)} <span className="numbers">{t("run.wait.next", { count: seconds })}</span>
      </p>
      <Button size="xs" variant="default" loading={tryNow.isPending} onClick={() => tryNow.mutate(undefined, { onError: tellError })}>
        {t("run.wait.now")}
      </Button>
    </div>
  );
}
