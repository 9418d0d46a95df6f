// Home: what waits for a person, what is running, what ran last. On the very first start, the two ways in.

import { Button } from "@mantine/core";
import { IconPlayerPlay, IconPlugConnected } from "@tabler/icons-react";
import { useRuns, useStartSample } from "../../api/runs.ts";
import { useSettings } from "../../api/settings.ts";
import { Card, Section } from "../../components/Card.tsx";
import { Failure } from "../../components/Failure.tsx";
import { ListSkeleton } from "../../components/Late.tsx";
import { Column, Screen } from "../../components/Screen.tsx";
import { tellError } from "../../components/toast.tsx";
import type { RunSummary } from "../../contract/index.ts";
import { go, href } from "../../shell/route.ts";
import { standingOf } from "../../state/standing.ts";
import { usedModel } from "../../state/connection.ts";
import { useText } from "../../text/index.ts";
import { Hero } from "./Hero.tsx";
import classes from "./Home.module.css";
import { RunRow } from "./RunRow.tsx";

const recentShown = 8;

/** Starts the sample and goes to it. */
export function useSample() {
  const sample = useStartSample();
  return {
    pending: sample.isPending,
    start: () =>
      sample.mutate(undefined, {
        onSuccess: ({ runId }) => go({ screen: "run", runId, view: "auto" }),
        onError: tellError,
      }),
  };
}

/** The first screen. */
export function Home() {
  const t = useText();
  const runs = useRuns({ status: [], text: "" });
  const sample = useSample();
  const settings = useSettings();
  if (runs.isPending) {
    return (
      <Screen title={t("home.title")}>
        <Column narrow>
          <ListSkeleton />
        </Column>
      </Screen>
    );
  }
  if (runs.isError && !runs.data) {
    return (
      <Screen title={t("home.title")}>
        <Failure error={runs.error} retry={() => void runs.refetch()} />
      </Screen>
    );
  }
  if (runs.data.length === 0) return <Hero sample={sample} />;
  return (
    <Screen
      title={t("home.title")}
      actions={
        <>
          {settings.data && usedModel(settings.data) === null && (
            <Button
              variant="default"
              component="a"
              href={href({ screen: "settings" })}
              leftSection={<IconPlugConnected size={15} stroke={1.6} />}
            >
              {t("home.hero.connect")}
            </Button>
          )}
          <Button
            variant="default"
            leftSection={<IconPlayerPlay size={15} stroke={1.6} />}
            onClick={sample.start}
            loading={sample.pending}
          >
            {t("home.sample")}
          </Button>
        </>
      }
    >
      <Lists runs={runs.data} />
    </Screen>
  );
}

function Lists({ runs }: { runs: RunSummary[] }) {
  const t = useText();
  const where = (...standings: string[]) => runs.filter((run) => standings.includes(standingOf(run)));
  const open = [
    { title: t("home.waiting"), runs: where("waiting"), tone: "waiting" as const },
    { title: t("home.running"), runs: where("running", "paused"), tone: "plain" as const },
    { title: t("home.interrupted"), runs: where("interrupted"), tone: "plain" as const, hint: t("home.interruptedHint") },
  ];
  const recent = where("passed", "failed", "rejected", "stopped").slice(0, recentShown);
  return (
    <Column narrow>
      {open
        .filter((part) => part.runs.length > 0)
        .map((part) => (
          <Section key={part.title} title={part.title}>
            {part.hint && <p className={classes.hint}>{part.hint}</p>}
            <Card tone={part.tone}>
              {part.runs.map((run) => (
                <RunRow key={run.runId} run={run} />
              ))}
            </Card>
          </Section>
        ))}
      <Section
        title={t("home.recent")}
        aside={
          <a className={classes.all} href={href({ screen: "runs", status: "all" })}>
            {t("home.all")}
          </a>
        }
      >
        <Card>
          {recent.length === 0 ? (
            <p className={classes.none}>{t("home.noneRecent")}</p>
          ) : (
            recent.map((run) => <RunRow key={run.runId} run={run} />)
          )}
        </Card>
      </Section>
    </Column>
  );
}
