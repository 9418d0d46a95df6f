// The form of one step of a plan that is being changed. What is wrong with it stands beside it, as the app says it.

import { ActionIcon, Button, MultiSelect, Select, Textarea, TextInput, Tooltip } from "@mantine/core";
import { IconTrash, IconX } from "@tabler/icons-react";
import { useState } from "react";
import type { Key, Plan, PlanStep } from "../../contract/index.ts";
import { stepTitle } from "../../graph/model.ts";
import { assign, deleteStep, describeStep, type Doer, doerOf, giveDetails, reconnect, renameStep, retool, usePlanEdits } from "../../state/planEdit.ts";
import { modelName } from "../../state/run.ts";
import { isRecord } from "../../state/value.ts";
import { toolChoices, toolName } from "../../state/toolName.ts";
import { useText } from "../../text/index.ts";
import classes from "./PlanEditor.module.css";

interface StepEditorProps {
  editKey: Key;
  plan: Plan;
  step: PlanStep;
  tools: readonly string[];
  models: readonly string[];
  problems: readonly string[];
  close: () => void;
}

/** The form. */
export function StepEditor({ editKey, plan, step, tools, models, problems, close }: StepEditorProps) {
  const t = useText();
  const change = usePlanEdits((state) => state.change);
  const { id } = step;
  const set = (next: (plan: Plan) => Plan, about?: string) => change(editKey, next, about);
  const others = plan.steps.filter((other) => other.id !== id).map((other) => ({ value: other.id, label: stepTitle(other) || other.id }));
  const doers = [
    { value: "tier:low", label: t("run.inspector.tierLow") },
    { value: "tier:high", label: t("run.inspector.tierHigh") },
    ...[...new Set([...models, ...(step.model === undefined ? [] : [step.model])])].map((model) => ({ value: `model:${model}`, label: modelName(model) })),
  ];
  // What a field says itself is not said above it as well.
  const atFields = [t("run.edit.descriptionNeeded"), t("run.edit.outcomeNeeded")] as readonly string[];
  const above = problems.filter((problem) => !atFields.includes(problem));
  return (
    <div className={classes.editor}>
      <header className={classes.head}>
        <h2>{stepTitle(step) || t("run.edit.newStep")}</h2>
        <Tooltip label={t("run.inspector.close")}>
          <ActionIcon onClick={close} aria-label={t("run.inspector.close")} size={28}>
            <IconX size={16} stroke={1.6} />
          </ActionIcon>
        </Tooltip>
      </header>
      {above.length > 0 && (
        <ul className={classes.problems} aria-label={t("run.edit.problems")}>
          {above.map((problem) => (
            <li key={problem}>{problem}</li>
          ))}
        </ul>
      )}
      <TextInput label={t("run.edit.name")} value={step.name ?? ""} onChange={(event) => set((now) => renameStep(now, id, event.currentTarget.value), `name ${id}`)} />
      <Textarea
        label={t("run.edit.description")}
        autosize
        minRows={2}
        maxRows={10}
        value={step.description}
        error={step.description.trim() === "" ? t("run.edit.descriptionNeeded") : null}
        onChange={(event) => set((now) => describeStep(now, id, "description", event.currentTarget.value), `description ${id}`)}
      />
      <Textarea
        label={t("run.edit.outcome")}
        autosize
        minRows={1}
        maxRows={6}
        value={step.expectedOutcome}
        error={step.expectedOutcome.trim() === "" ? t("run.edit.outcomeNeeded") : null}
        onChange={(event) => set((now) => describeStep(now, id, "expectedOutcome", event.currentTarget.value), `outcome ${id}`)}
      />
      <MultiSelect
        label={t("run.edit.tools")}
        description={step.tools.length === 0 ? t("run.edit.noTools") : undefined}
        data={toolChoices([...tools, ...step.tools], t)}
        value={step.tools}
        onChange={(chosen) => set((now) => retool(now, id, chosen))}
        hidePickedOptions
        searchable
        comboboxProps={{ withinPortal: true }}
      />
      <Select label={t("run.edit.doer")} data={doers} value={valueOf(doerOf(step))} allowDeselect={false} onChange={(value) => value && set((now) => assign(now, id, doerFrom(value)))} />
      <MultiSelect
        label={t("run.edit.needs")}
        description={step.dependencies.length === 0 ? t("run.edit.needsNothing") : undefined}
        data={[...others, ...step.dependencies.filter((one) => !others.some(({ value }) => value === one)).map((value) => ({ value, label: value }))]}
        value={step.dependencies}
        onChange={(chosen) => set((now) => reconnect(now, id, chosen))}
        hidePickedOptions
        searchable
      />
      {Object.entries(step.args ?? {}).map(([tool, details]) => (
        <Details key={tool} tool={tool} details={details} give={(next, about) => set((now) => giveDetails(now, id, tool, next), about && `${about} ${tool} ${id}`)} />
      ))}
      <div>
        <Button
          variant="default"
          leftSection={<IconTrash size={16} stroke={1.6} />}
          onClick={() => {
            set((now) => deleteStep(now, id));
            close();
          }}
        >
          {t("run.edit.delete")}
        </Button>
      </div>
    </div>
  );
}

function valueOf(doer: Doer): string {
  return "model" in doer ? `model:${doer.model}` : `tier:${doer.tier}`;
}

function doerFrom(value: string): Doer {
  if (value.startsWith("model:")) return { model: value.slice("model:".length) };
  return { tier: value === "tier:high" ? "high" : "low" };
}

/** What the plan gives a tool word for word. */
function Details({ tool, details, give }: { tool: string; details: unknown; give: (next: unknown, about?: string) => void }) {
  const t = useText();
  const fields = isRecord(details) ? Object.entries(details) : [];
  return (
    <fieldset className={classes.details}>
      <legend>{t("run.edit.details", { tool: toolName(tool, t) })}</legend>
      {fields.map(([name, value]) => (
        <Detail key={name} name={name} value={value} give={(next) => give({ ...(details as object), [name]: next }, name)} />
      ))}
      <div>
        <Button variant="subtle" size="xs" onClick={() => give(undefined)}>
          {t("run.edit.letModel")}
        </Button>
      </div>
    </fieldset>
  );
}

function Detail({ name, value, give }: { name: string; value: unknown; give: (next: unknown) => void }) {
  const t = useText();
  const isText = typeof value === "string";
  // What is no text is written as JSON; while it is none, the plan keeps what it had.
  const [broken, setBroken] = useState<string | null>(null);
  return (
    <Textarea
      label={name}
      autosize
      minRows={1}
      maxRows={12}
      classNames={{ input: classes.mono ?? "" }}
      value={broken ?? (isText ? value : JSON.stringify(value, null, 2))}
      error={broken !== null && t("run.gate.notJson")}
      onChange={(event) => {
        const words = event.currentTarget.value;
        if (isText) return give(words);
        try {
          give(JSON.parse(words) as unknown);
          setBroken(null);
        } catch {
          setBroken(words);
        }
      }}
    />
  );
}
