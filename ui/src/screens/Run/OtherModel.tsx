// The same task once more with another model for everything, beside what the first one made of it.

import { Autocomplete, Button, Modal } from "@mantine/core";
import { useState } from "react";
import { type LiveRun, useStartWith } from "../../api/runs.ts";
import { useSettings } from "../../api/settings.ts";
import { tellError } from "../../components/toast.tsx";
import { go } from "../../shell/route.ts";
import { knownModels } from "../../state/connection.ts";
import { useText } from "../../text/index.ts";
import classes from "./Run.module.css";

/** The dialog. */
export function OtherModel({ run, close }: { run: LiveRun; close: () => void }) {
  const t = useText();
  const settings = useSettings();
  const start = useStartWith();
  const [model, setModel] = useState("");
  const { header } = run.state;
  if (!header) return null;
  const { planner, judge, executorLow, executorHigh } = header.roles;
  const used = [...new Set([planner, judge, executorLow, executorHigh])];
  const known = settings.data ? knownModels(settings.data, used) : used;
  const send = () =>
    start.mutate(
      { header, model: model.trim(), pickTitle: t("run.againFolder") },
      { onSuccess: (started) => started && go({ screen: "run", runId: started.runId, view: "auto" }), onError: tellError },
    );
  return (
    <Modal opened onClose={close} title={t("run.otherModel.title")} closeButtonProps={{ "aria-label": t("common.close") }}>
      <p className={classes.modalWords}>{t("run.otherModel.body", { models: used.join(", ") })}</p>
      <Autocomplete
        data-autofocus
        // Opened by the focus, it would cover the buttons.
        openOnFocus={false}
        label={t("run.otherModel.label")}
        description={t("run.otherModel.hint")}
        data={known}
        value={model}
        onChange={setModel}
        classNames={{ input: "mono" }}
        spellCheck={false}
      />
      <div className={classes.modalActions}>
        <Button variant="default" onClick={close}>
          {t("common.cancel")}
        </Button>
        <Button loading={start.isPending} disabled={model.trim() === ""} onClick={send}>
          {t("run.otherModel.send")}
        </Button>
      </div>
    </Modal>
  );
}
