// The very first start: what this is, in three pictures and two buttons.

import { Button } from "@mantine/core";
import { IconMap, IconPlayerPlay, IconPlugConnected } from "@tabler/icons-react";
import { Mark } from "../../components/Mark.tsx";
import { Column, Screen } from "../../components/Screen.tsx";
import { href } from "../../shell/route.ts";
import { startTour } from "../../shell/Tour.tsx";
import { useText } from "../../text/index.ts";
import classes from "./Hero.module.css";

interface HeroProps {
  sample: { pending: boolean; start: () => void };
}

/** Shown while there is no run at all. */
export function Hero({ sample }: HeroProps) {
  const t = useText();
  return (
    <Screen title={t("home.title")}>
      <Column>
        <div className={classes.hero}>
          <h2 className={classes.title}>{t("home.hero.title")}</h2>
          <p className={classes.body}>{t("home.hero.body")}</p>
          <div className={classes.ways}>
            <div className={classes.way}>
              <Button size="md" leftSection={<IconPlayerPlay size={16} stroke={1.8} />} onClick={sample.start} loading={sample.pending}>
                {t("home.hero.sample")}
              </Button>
              <p>{t("home.hero.sampleHint")}</p>
            </div>
            <div className={classes.way}>
              <Button
                size="md"
                variant="default"
                component="a"
                href={href({ screen: "settings" })}
                leftSection={<IconPlugConnected size={16} stroke={1.6} />}
              >
                {t("home.hero.connect")}
              </Button>
              <p>{t("home.hero.connectHint")}</p>
            </div>
          </div>
          <Button className={classes.tour ?? ""} variant="subtle" size="xs" leftSection={<IconMap size={15} stroke={1.6} />} onClick={startTour}>
            {t("tour.open")}
          </Button>
          <div className={classes.pictures}>
            <figure>
              <PlanPicture />
              <figcaption>
                <b>{t("home.hero.plan")}</b>
                {t("home.hero.planBody")}
              </figcaption>
            </figure>
            <figure>
              <RunPicture />
              <figcaption>
                <b>{t("home.hero.run")}</b>
                {t("home.hero.runBody")}
              </figcaption>
            </figure>
            <figure>
              <VerdictPicture />
              <figcaption>
                <b>{t("home.hero.verdict")}</b>
                {t("home.hero.verdictBody")}
              </figcaption>
            </figure>
          </div>
        </div>
      </Column>
    </Screen>
  );
}

function Box({ x, y, w = 76, accent = false }: { x: number; y: number; w?: number; accent?: boolean }) {
  return (
    <g>
      <rect x={x} y={y} width={w} height={26} rx={6} className={accent ? classes.boxAccent : classes.box} />
      <circle cx={x + 13} cy={y + 13} r={4.5} className={accent ? classes.dotAccent : classes.dot} />
      <rect x={x + 24} y={y + 11} width={w - 36} height={4} rx={2} className={classes.words} />
    </g>
  );
}

function PlanPicture() {
  return (
    <svg viewBox="0 0 240 132" className={classes.picture} aria-hidden="true">
      <path d="M120 38v12M120 50H80q-6 0-6 6v6M120 50h40q6 0 6 6v6M74 88v6q0 6 6 6h34q6 0 6 6M166 88v6q0 6-6 6h-34q-6 0-6 6" className={classes.line} />
      <Box x={82} y={12} accent />
      <Box x={36} y={62} />
      <Box x={128} y={62} />
      <Box x={82} y={106} />
    </svg>
  );
}

function RunPicture() {
  return (
    <svg viewBox="0 0 240 132" className={classes.picture} aria-hidden="true">
      <rect x={52} y={14} width={136} height={104} rx={8} className={classes.box} />
      <path d="M52 40h136" className={classes.line} />
      <rect x={64} y={25} width={44} height={4} rx={2} className={classes.words} />
      {[52, 68, 84, 100].map((y, index) => (
        <g key={y}>
          <rect x={64} y={y} width={[38, 46, 34, 42][index]} height={4} rx={2} className={classes.words} />
          <rect x={146} y={y} width={30} height={4} rx={2} className={index === 2 ? classes.wordsAccent : classes.words} />
        </g>
      ))}
    </svg>
  );
}

function VerdictPicture() {
  return (
    <div className={classes.verdict} aria-hidden="true">
      {(["done", "failed", "done"] as const).map((first, index) => (
        <div key={index}>
          <span style={{ width: [92, 74, 84][index] }} />
          <Mark kind={first} />
          <Mark kind="done" />
        </div>
      ))}
    </div>
  );
}
