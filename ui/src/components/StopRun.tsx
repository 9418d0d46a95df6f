// Stopping ends a run for good, so it is asked once more wherever it is offered.

import { Button, type ButtonProps, Modal } from "@mantine/core";
import { IconPlayerStop } from "@tabler/icons-react";
import { useState } from "react";
import { useStop } from "../api/runs.ts";
import { useText } from "../text/index.ts";
import classes from "./StopRun.module.css";
import { tellError } from "./toast.tsx";

interface StopRunProps {
  runId: string;
  title: string;
  size?: ButtonProps["size"];
  /** Whether the button's name says which run it stops: where several stand under one another. */
  named?: boolean;
}

/** The button with its question. */
export function StopRun({ runId, title, size = "sm", named = false }: StopRunProps) {
  const t = useText();
  const stop = useStop();
  const [asks, setAsks] = useState(false);
  return (
    <>
      <Button
        variant="default"
        size={size}
        leftSection={named ? undefined : <IconPlayerStop size={15} stroke={1.6} />}
        loading={stop.isPending}
        onClick={() => setAsks(true)}
        aria-label={named ? t("home.stopRun", { title }) : undefined}
      >
        {t("run.stop")}
      </Button>
      <Modal opened={asks} onClose={() => setAsks(false)} title={t("run.stopTitle")} closeButtonProps={{ "aria-label": t("common.close") }}>
        <p>{t("run.stopBody")}</p>
        <div className={classes.actions}>
          <Button variant="default" data-autofocus onClick={() => setAsks(false)}>
            {t("run.keepGoing")}
          </Button>
          <Button
            color="red"
            onClick={() => {
              setAsks(false);
              stop.mutate(runId, { onError: tellError });
            }}
          >
            {t("run.stop")}
          </Button>
        </div>
      </Modal>
    </>
  );
}
