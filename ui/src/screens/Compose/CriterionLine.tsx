// One thing that must hold: a sentence, and at its end a chip that says who checks it. The chip's menu changes that, and
// a check's small form opens in place.

import { ActionIcon, Collapse, Menu, Tooltip, UnstyledButton } from "@mantine/core";
import { IconAdjustmentsHorizontal, IconCheck, IconSparkles, IconX } from "@tabler/icons-react";
import { memo, useId, useState } from "react";
import type { CheckInfo, CheckSpec } from "../../contract/index.ts";
import { checkSummary, formFields, longArgs, writeCheck } from "../../state/schemaForm.ts";
import { useCompose } from "../../state/compose.ts";
import { readCheck } from "../../state/criteria.ts";
import { pastedLines } from "../../state/pasted.ts";
import { suggestCheck } from "../../state/suggestCheck.ts";
import { type DraftCriterion, setCriterion } from "../../state/taskSource.ts";
import { useText } from "../../text/index.ts";
import { SchemaForm } from "../../components/SchemaForm.tsx";
import classes from "./Compose.module.css";
import { Problems, useProblemsAt } from "./problems.tsx";

interface CriterionLineProps {
  criterion: DraftCriterion;
  item: number;
  index: number;
  isFile: boolean;
  checks: readonly CheckInfo[];
  /** Puts lines below this one. */
  next: (...texts: readonly string[]) => void;
  remove: () => void;
  move: (by: number) => void;
}

/** Whether a line would look the same: what it does goes by its place, and not by when it was drawn. */
function isSame(before: CriterionLineProps, now: CriterionLineProps): boolean {
  const { item, index, isFile, checks } = before;
  const same = item === now.item && index === now.index && isFile === now.isFile && checks === now.checks;
  return same && JSON.stringify(before.criterion) === JSON.stringify(now.criterion);
}

/** A criterion. Enter makes the next, Backspace in an empty one takes it away. Typing in one draws no other again. */
export const CriterionLine = memo(Line, isSame);

function Line({ criterion, item, index, isFile, checks, next, remove, move }: CriterionLineProps) {
  const t = useText();
  const change = useCompose((state) => state.change);
  const visit = useCompose((state) => state.visit);
  const [open, setOpen] = useState(false);
  const formId = useId();
  const place = `expectedOutput[${item}].criteria[${index}]`;
  const wrong = useProblemsAt(place, true).some((problem) => !problem.warning);
  const set = (changed: Partial<DraftCriterion>) => change((source) => setCriterion(source, item, index, changed));

  const check = isSpec(criterion.check) ? readCheck(criterion.check) : null;
  const info = check ? (checks.find((one) => one.name === check.name) ?? null) : null;
  const offered = checks.filter((one) => isFile || !one.needsFile);
  const suggestion = criterion.check === null ? suggestCheck(criterion.text, offered.map((one) => one.name)) : null;
  const suggested = suggestion && offered.find((one) => one.name === suggestion.name);
  const choose = (name: string, args: Record<string, unknown> = {}) => {
    set({ check: writeCheck(name, args) });
    const chosen = checks.find((one) => one.name === name);
    const asks = chosen !== undefined && formFields(chosen.schema).length > 0 && Object.keys(args).length === 0;
    setOpen(asks);
    // A form that has just opened is empty by nature; what it lacks is said once it is left.
    if (!asks) visit(place);
  };
  const chip = check ? t("compose.result.byApp", { check: info ? checkSummary(info, check.args, t) : check.name }) : t("compose.result.byModel");

  return (
    <div className={classes.criterion} data-wrong={wrong || undefined}>
      <div className={classes.line}>
        <input
          className={classes.lineText}
          aria-label={t("compose.result.criterion")}
          data-criterion={index}
          value={criterion.text}
          onChange={(event) => set({ text: event.currentTarget.value })}
          onBlur={() => visit(place)}
          onPaste={(event) => {
            const list = criterion.text === "" ? pastedLines(event.clipboardData.getData("text/plain")) : null;
            if (list === null) return;
            event.preventDefault();
            const [first = "", ...rest] = list;
            set({ text: first });
            next(...rest);
          }}
          onKeyDown={(event) => {
            if (event.key === "Enter") next("");
            else if (event.key === "Backspace" && criterion.text === "") remove();
            else if (event.key === "ArrowUp") move(-1);
            else if (event.key === "ArrowDown") move(1);
            else return;
            event.preventDefault();
          }}
        />
        {!criterion.required && <span className={classes.optional}>{t("verdict.optional")}</span>}
        <Menu position="bottom-end" width={340}>
          <Menu.Target>
            <UnstyledButton className={classes.who} data-by={check ? "app" : "model"} data-wrong={wrong || undefined} aria-label={t("compose.result.chip", { who: chip })}>
              {chip}
            </UnstyledButton>
          </Menu.Target>
          <Menu.Dropdown className={classes.menu ?? ""}>
            <Menu.Item leftSection={<Tick on={!check} />} onClick={() => (setOpen(false), set({ check: null }))}>
              {t("compose.result.menuModel")}
              <p className={classes.menuHint}>{t("compose.result.menuModelHint")}</p>
            </Menu.Item>
            <Menu.Label>{t("compose.result.menuApp")}</Menu.Label>
            {offered.map((one) => (
              <Menu.Item
                key={one.name}
                leftSection={<Tick on={check?.name === one.name} />}
                onClick={() => (check?.name === one.name ? setOpen(true) : choose(one.name))}
              >
                {one.title}
                <p className={classes.menuHint}>{one.description}</p>
              </Menu.Item>
            ))}
            <Menu.Divider />
            <Menu.Item leftSection={<Tick on={criterion.required} />} onClick={() => set({ required: true })}>
              {t("compose.result.required")}
            </Menu.Item>
            <Menu.Item leftSection={<Tick on={!criterion.required} />} onClick={() => set({ required: false })}>
              {t("compose.result.niceToHave")}
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
        {check && info && formFields(info.schema).length > 0 && (
          <Tooltip label={t("compose.result.form")}>
            <ActionIcon
              size={26}
              variant={open ? "light" : "subtle"}
              color={open ? "indigo" : "gray"}
              aria-label={t("compose.result.form")}
              aria-expanded={open}
              aria-controls={formId}
              data-details
              onClick={() => setOpen(!open)}
            >
              <IconAdjustmentsHorizontal size={15} stroke={1.6} />
            </ActionIcon>
          </Tooltip>
        )}
        <Tooltip label={t("compose.result.removeCriterion")}>
          <ActionIcon className={classes.remove ?? ""} size={22} onClick={remove} aria-label={t("compose.result.removeCriterion")}>
            <IconX size={14} stroke={1.6} />
          </ActionIcon>
        </Tooltip>
      </div>
      {suggestion && suggested && (
        <p className={classes.suggestion}>
          <IconSparkles size={14} stroke={1.6} aria-hidden />
          {t("compose.result.suggestion", { check: checkSummary(suggested, suggestion.args, t) })}{" "}
          <UnstyledButton className={classes.use} onClick={() => choose(suggestion.name, suggestion.args)}>
            {t("compose.result.use")}
          </UnstyledButton>
        </p>
      )}
      {check && !info && checks.length > 0 && <p className={classes.suggestion}>{t("compose.result.unknownCheck", { name: check.name })}</p>}
      <Problems place={place} below />
      {check && info && (
        <Collapse expanded={open} id={formId} transitionDuration={150}>
          {open && (
            <div
              onBlur={(event) => {
                if (!event.currentTarget.contains(event.relatedTarget)) visit(place);
              }}
            >
              <SchemaForm
                label={info.title}
                schema={info.schema}
                args={longArgs(info.schema, check.args)}
                change={(args) => set({ check: writeCheck(info.name, args) })}
              />
            </div>
          )}
        </Collapse>
      )}
    </div>
  );
}

function isSpec(value: unknown): value is CheckSpec {
  return typeof value === "string" || (typeof value === "object" && value !== null && !Array.isArray(value));
}

function Tick({ on }: { on: boolean }) {
  return <IconCheck size={15} stroke={2} style={{ visibility: on ? "visible" : "hidden" }} aria-hidden />;
}
