// The same task once more with another model for everything, beside what the first one made of it.

import { Button, Modal, Radio, TextInput } from "@mantine/core";
import { useState } from "react";
import { type LiveRun, useStartWith } from "../../api/runs.ts";
import { useModels, useSettings } from "../../api/settings.ts";
import { tellError } from "../../components/toast.tsx";
import { go } from "../../shell/route.ts";
import { knownModels } from "../../state/connection.ts";
import { choosable, modelFacts } from "../../state/modelFacts.ts";
import { useText } from "../../text/index.ts";
import classes from "./Run.module.css";

/** More are found by typing. */
const mostShown = 60;

/** The dialog. */
export function OtherModel({ run, close }: { run: LiveRun; close: () => void }) {
  const t = useText();
  const settings = useSettings();
  const models = useModels();
  const start = useStartWith();
  const [model, setModel] = useState("");
  const { header } = run.state;
  if (!header) return null;
  const { planner, judge, executorLow, executorHigh } = header.roles;
  const used = [...new Set([planner, judge, executorLow, executorHigh])];
  const known = new Map((settings.data ? choosable(settings.data, models.data ?? []) : []).map((one) => [one.id, one]));
  for (const id of settings.data ? knownModels(settings.data, used) : used) if (!known.has(id)) known.set(id, { id, info: null });
  // What is chosen is no search.
  const search = known.has(model) ? "" : model.trim().toLowerCase();
  const shown = [...known.values()].filter(({ id }) => id.toLowerCase().includes(search)).slice(0, mostShown);
  const send = () =>
    start.mutate(
      { header, model: model.trim(), pickTitle: t("run.againFolder") },
      { onSuccess: (started) => started && go({ screen: "run", runId: started.runId, view: "auto" }), onError: tellError },
    );
  return (
    <Modal opened onClose={close} title={t("run.otherModel.title")} closeButtonProps={{ "aria-label": t("common.close") }}>
      <p className={classes.modalWords}>{t("run.otherModel.body", { models: used.join(", ") })}</p>
      <TextInput
        data-autofocus
        label={t("run.otherModel.label")}
        description={t("run.otherModel.hint")}
        value={model}
        onChange={(event) => setModel(event.currentTarget.value)}
        classNames={{ input: "mono" }}
        spellCheck={false}
      />
      {shown.length > 0 && (
        <Radio.Group className={classes.otherModels ?? ""} aria-label={t("run.otherModel.list")} value={model} onChange={setModel}>
          {shown.map(({ id, info }) => (
            <Radio
              key={id}
              value={id}
              size="xs"
              classNames={{ label: "mono" }}
              label={id}
              description={(used.includes(id) && t("run.otherModel.before")) || (info && modelFacts(info, t)) || undefined}
            />
          ))}
        </Radio.Group>
      )}
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
