// The panel beside a plan that a person changes: what is wrong with it, what is different, and the approval of exactly
// that plan. One step of it is in `StepEditor`.

import { ActionIcon, Button, Tooltip } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconAlertTriangle, IconArrowBackUp, IconArrowForwardUp, IconPlus } from "@tabler/icons-react";
import { useEffect, useMemo } from "react";
import { useAnswer, useCheckedPlan } from "../../api/runs.ts";
import { tellError } from "../../components/toast.tsx";
import type { CheckedPlan, Key, Plan } from "../../contract/index.ts";
import { type GraphModel, nodeId, stepTitle } from "../../graph/model.ts";
import { focusScreen } from "../../shell/announce.tsx";
import { shortcuts } from "../../shell/shortcuts.ts";
import { addStep, missedSteps, type PlanEdit, problemsByStep, usePlanEdits } from "../../state/planEdit.ts";
import { useText } from "../../text/index.ts";
import { EstimateWords } from "./PlanCost.tsx";
import classes from "./PlanEditor.module.css";
import { Changes } from "./PlanReview.tsx";

/** What the app says of the plan as it is being changed. Whoever approves before it has spoken is refused by it. */
export interface Checked {
  reply: CheckedPlan | null;
  /** What is wrong, by step; under `null` what is about the plan as a whole. */
  problems: Map<string | null, string[]>;
}

/** Has the app look at a plan that is being changed, a moment after the last change. */
export function useChecked(runId: string, edit: PlanEdit | null): Checked {
  const t = useText();
  const plan = edit?.now ?? null;
  const [asked] = useDebouncedValue(plan, 150);
  const query = useCheckedPlan(runId, asked);
  const reply = query.data ?? null;
  const problems = useMemo(() => {
    const found = asked && reply ? problemsByStep(asked, reply.problems) : new Map<string | null, string[]>();
    // What is only not written yet is said in the words of its field; the app looks at nothing else of such a step.
    for (const { id, description, expectedOutcome } of asked?.steps ?? []) {
      const empty = [description.trim() === "" && t("run.edit.descriptionNeeded"), expectedOutcome.trim() === "" && t("run.edit.outcomeNeeded")];
      if (empty.some(Boolean)) found.set(id, empty.filter((one) => one !== false));
    }
    for (const [id, names] of edit ? missedSteps(edit) : []) found.set(id, [...(found.get(id) ?? []), t("run.edit.missed", { names: names.join(", ") })]);
    return found;
  }, [asked, reply, edit, t]);
  return { reply, problems };
}

interface PlanEditorProps {
  edit: PlanEdit;
  checked: Checked;
  model: GraphModel;
  select: (id: string) => void;
}

/** The panel while no step is looked at. */
export function PlanEditor({ edit, checked, model, select }: PlanEditorProps) {
  const t = useText();
  const names = new Map(edit.now.steps.map((step) => [step.id, stepTitle(step) || step.id]));
  const wrong = [...checked.problems];
  return (
    <>
      <h2 className={classes.title}>{t("run.edit.title")}</h2>
      <p className={classes.note}>{t("run.edit.hint")}</p>
      {wrong.length > 0 && (
        <section className={classes.part}>
          <h3>{t("run.edit.problems")}</h3>
          <ul className={classes.wrong}>
            {wrong.map(([id, messages]) => (
              <li key={id ?? ""}>
                <IconAlertTriangle size={16} stroke={1.6} aria-hidden />
                <div>
                  {id !== null && (
                    <button type="button" onClick={() => select(nodeId(id))}>
                      {names.get(id)}
                    </button>
                  )}
                  {messages.map((message) => (
                    <p key={message}>{message}</p>
                  ))}
                </div>
              </li>
            ))}
          </ul>
        </section>
      )}
      <Changes model={model} title={t("run.edit.changes")} select={select} />
      {checked.reply?.estimate && (
        <section className={classes.part}>
          <h3>{t("run.ask.costs")}</h3>
          <EstimateWords estimate={checked.reply.estimate} />
        </section>
      )}
    </>
  );
}

interface EditorFootProps {
  runId: string;
  edit: PlanEdit;
  checked: Checked;
  /** The step after which a new one is put. */
  after: string | null;
  select: (id: string | null) => void;
}

/** What a person can do with the whole plan; it stays in sight while they change its steps. */
export function EditorFoot({ runId, edit, checked, after, select }: EditorFootProps) {
  const t = useText();
  const answer = useAnswer(runId);
  const { change, undo, redo, end } = usePlanEdits();
  const { key } = edit;
  useUndoKeys(key);
  const isSame = isEqual(edit.now, edit.original);
  const count = [...checked.problems.values()].reduce((sum, messages) => sum + messages.length, 0);
  const add = () => {
    const made = addStep(edit.now, t("run.edit.newStep"), after);
    change(key, () => made.plan);
    select(nodeId(made.id));
  };
  const approve = () =>
    answer.mutate(
      { key, answer: isSame ? { kind: "approve", revisions: false } : { kind: "approveEdited", plan: edit.now, revisions: false } },
      {
        onSuccess: () => {
          end();
          select(null);
          focusScreen();
        },
        onError: tellError,
      },
    );
  return (
    <>
      <div className={classes.tools}>
        <Tooltip label={`${t("compose.undo")} (${shortcuts.undo})`}>
          <ActionIcon size={36} disabled={edit.past.length === 0} onClick={() => undo(key)} aria-label={t("compose.undo")}>
            <IconArrowBackUp size={18} stroke={1.6} />
          </ActionIcon>
        </Tooltip>
        <Tooltip label={`${t("compose.redo")} (${shortcuts.redo})`}>
          <ActionIcon size={36} disabled={edit.future.length === 0} onClick={() => redo(key)} aria-label={t("compose.redo")}>
            <IconArrowForwardUp size={18} stroke={1.6} />
          </ActionIcon>
        </Tooltip>
        <Button variant="default" className={classes.add ?? ""} leftSection={<IconPlus size={16} stroke={1.6} />} onClick={add}>
          {t("run.edit.add")}
        </Button>
      </div>
      <div className={classes.buttons}>
        <Button
          variant="default"
          disabled={answer.isPending}
          onClick={() => {
            end();
            select(null);
          }}
        >
          {t("run.edit.discard")}
        </Button>
        <Button loading={answer.isPending} disabled={count > 0} onClick={approve}>
          {isSame ? t("run.ask.approve") : t("run.edit.approve")}
        </Button>
      </div>
      <p className={classes.state} role="status">
        {count > 0 ? t("run.edit.wrong", { count }) : ""}
      </p>
    </>
  );
}

function isEqual(one: Plan, other: Plan): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

/** Undo and redo by their keys; a text field has its own way while it has the focus. */
function useUndoKeys(key: Key): void {
  const { undo, redo } = usePlanEdits();
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || event.key.toLowerCase() !== "z") return;
      event.preventDefault();
      if (event.shiftKey) redo(key);
      else undo(key);
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [key, undo, redo]);
}
