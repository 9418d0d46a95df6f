// A short way round, in four steps: what happens to a task from its first word to its verdict. It never starts by itself;
// the first Home and the command palette offer it.

import { Button, Modal, VisuallyHidden } from "@mantine/core";
import { IconGavel, IconListCheck, IconMessage, IconPencil } from "@tabler/icons-react";
import { create } from "zustand";
import { useText } from "../text/index.ts";
import classes from "./Tour.module.css";

const steps = [
  { name: "task", icon: IconPencil },
  { name: "plan", icon: IconListCheck },
  { name: "run", icon: IconMessage },
  { name: "verdict", icon: IconGavel },
] as const;

const useTour = create<{ at: number | null }>(() => ({ at: null }));

/** Begins it. */
export function startTour(): void {
  useTour.setState({ at: 0 });
}

/** The tour. Stands once in the shell. */
export function Tour() {
  const t = useText();
  const at = useTour((state) => state.at);
  const go = (next: number | null) => useTour.setState({ at: next });
  const step = at === null ? null : (steps[at] ?? null);
  const last = at === steps.length - 1;
  const Icon = step?.icon;
  return (
    <Modal opened={step !== null} onClose={() => go(null)} size={460} title={step && t(`tour.${step.name}.title`)} closeButtonProps={{ "aria-label": t("common.close") }}>
      {at !== null && step && Icon && (
        <>
          <div className={classes.picture} aria-hidden>
            <Icon size={40} stroke={1.3} />
          </div>
          <p className={classes.body} aria-live="polite">
            {t(`tour.${step.name}.body`)}
          </p>
          <div className={classes.foot}>
            <span className={classes.dots}>
              <VisuallyHidden>{t("tour.place", { number: at + 1, count: steps.length })}</VisuallyHidden>
              {steps.map(({ name }, index) => (
                <span key={name} data-here={index === at || undefined} aria-hidden />
              ))}
            </span>
            <Button variant="default" disabled={at === 0} onClick={() => go(at - 1)}>
              {t("tour.back")}
            </Button>
            <Button data-autofocus onClick={() => go(last ? null : at + 1)}>
              {last ? t("tour.done") : t("tour.next")}
            </Button>
          </div>
        </>
      )}
    </Modal>
  );
}
