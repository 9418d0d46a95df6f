// One step, looked at closely: what it was given, what it does, what the model said, what came of it, what it cost.

import { ActionIcon, Tooltip } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { type LiveRun, useRunningText } from "../../api/runs.ts";
import { useValue } from "../../api/values.ts";
import { Code } from "../../components/Code.tsx";
import { Mark } from "../../components/Mark.tsx";
import { RecordedValue, ValueView } from "../../components/ValueView.tsx";
import type { Access, CallState, CycleState, Key, StepState, ToolState } from "../../contract/index.ts";
import { type GraphNode, readInput, stepTitle } from "../../graph/model.ts";
import { Elapsed } from "../../graph/StepNode.tsx";
import { effectWords } from "../../state/access.ts";
import { askedModel, costWords } from "../../state/cost.ts";
import { sentence, shownError } from "../../state/errors.ts";
import { count, duration } from "../../state/format.ts";
import { type Halted, markOfStep, modelName, stepName } from "../../state/run.ts";
import { entry } from "../../state/runState.ts";
import { prettySql } from "../../state/sql.ts";
import { isRecord } from "../../state/value.ts";
import { toolName } from "../../state/toolName.ts";
import { type Text, useText } from "../../text/index.ts";
import classes from "./StepInspector.module.css";
import { TryAgain } from "./TryAgain.tsx";

interface StepInspectorProps {
  run: LiveRun;
  runId: string;
  node: GraphNode;
  cycle: CycleState;
  halted: Halted;
  close: () => void;
}

/** The inspector's content. */
export function StepInspector({ run, runId, node, cycle, halted, close }: StepInspectorProps) {
  const t = useText();
  const { step, state } = node;
  const status = state?.status ?? "waiting";
  const calls = leaves(state, run.state.calls);
  const tools = leaves(state, run.state.tools);
  const cost = costWords(run.state, calls.map(([, call]) => call));
  const touched = touches(tools).map((access) => touchWords(access, t));
  return (
    <div className={classes.inspector}>
      <header className={classes.head}>
        <Mark kind={markOfStep(status, halted)} size={18} />
        <h2>{stepTitle(step)}</h2>
        <Tooltip label={t("run.inspector.close")}>
          <ActionIcon onClick={close} aria-label={t("run.inspector.close")} size={28}>
            <IconX size={16} stroke={1.6} />
          </ActionIcon>
        </Tooltip>
      </header>
      {step.name && <p className={classes.description}>{step.description}</p>}
      <dl className={classes.facts}>
        <Fact name={t("run.inspector.status")}>{status === "running" && halted ? t(`run.graph.halted.${halted}`) : t(`run.step.${status}`)}</Fact>
        <Fact name={t("run.inspector.given")}>{given(node, run, t)}</Fact>
        {step.tools.length > 0 && (
          <Fact name={step.tools.length === 1 ? t("run.inspector.tool") : t("run.inspector.tools")}>
            <span title={step.tools.join(", ")}>{step.tools.map((tool) => toolName(tool, t)).join(", ")}</span>
          </Fact>
        )}
        <Fact name={t("run.inspector.model")}>{usedModel(node, calls, t)}</Fact>
        {state !== null && state.tokensUsed > 0 && (
          <Fact name={t("run.inspector.tokens")}>
            <span className="numbers">{count(state.tokensUsed)}</span>
          </Fact>
        )}
        {cost !== "" && (
          <Fact name={t("run.inspector.cost")}>
            <span className="numbers">{cost}</span>
          </Fact>
        )}
        {state !== null && (state.durationMs !== null || (state.startedAtMs !== null && state.status === "running" && !halted)) && (
          <Fact name={t("run.inspector.time")}>
            <span className="numbers">
              {state.durationMs !== null ? duration(state.durationMs) : <Elapsed since={state.startedAtMs ?? 0} />}
            </span>
          </Fact>
        )}
        {node.parts.length > 0 && (
          <Fact name={t("run.inspector.changed")}>{node.parts.map((part) => t(`run.change.parts.${part}`)).join(", ")}</Fact>
        )}
        <Fact name={t("run.inspector.expects")}>{step.expectedOutcome}</Fact>
        {touched.length > 0 && (
          <Fact name={t("run.inspector.touches")}>
            {touched.map((words) => (
              <span key={words} className={classes.touch}>
                {words}
              </span>
            ))}
          </Fact>
        )}
      </dl>
      <WordsBefore node={node} />
      {state?.error && (
        <Problem state={state}>
          {state.status === "failed" && node.cycle === run.state.cycles.at(-1)?.number && (
            <TryAgain run={run} runId={runId} title={stepTitle(step)} why={sentence(state.error.message, null)} />
          )}
        </Problem>
      )}
      <Does node={node} tools={tools} />
      {calls.map(([key, call]) => (
        <Said key={key} run={run} callKey={key} call={call} halted={halted} />
      ))}
      <Result node={node} cycle={cycle} halted={halted} />
      {tools
        .filter(([, tool]) => tool.logs.length > 0)
        .map(([key, tool]) => (
          <Part key={key} title={t("run.inspector.log")}>
            {tool.logs.map((line, index) => (
              <p key={index} className={classes.log}>
                {line.message}
              </p>
            ))}
          </Part>
        ))}
    </div>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Part({ title, children }: { title: ReactNode; children: ReactNode }) {
  return (
    <section className={classes.part}>
      <h3>{title}</h3>
      {children}
    </section>
  );
}

function leaves<T>(state: StepState | null, all: { [key: string]: T }): [Key, T][] {
  return (state?.leaves ?? []).flatMap((key) => {
    const found = entry(all, key);
    return found === undefined ? [] : [[key, found] as [Key, T]];
  });
}

function given(node: GraphNode, run: LiveRun, t: Text): string {
  const names = [
    ...node.step.dependencies.map((id) => stepName(run.state, node.cycle, id)),
    ...(node.step.inputs ?? []).map((input) => {
      const from = readInput(input);
      if (!from) return input;
      return t("run.inspector.earlier", { name: stepName(run.state, from.cycle, from.step), number: from.cycle });
    }),
  ];
  return names.length === 0 ? t("run.inspector.givenNothing") : names.join(", ");
}

function usedModel(node: GraphNode, calls: [Key, CallState][], t: Text): string {
  const asked = calls.flatMap(([, call]) => (call.attempts.length === 0 ? [call.model] : call.attempts.map((attempt) => askedModel(call, attempt))));
  const used = [...new Set(asked.map(modelName))];
  const effort = calls.flatMap(([, call]) => call.attempts).findLast((attempt) => attempt.effort !== undefined)?.effort;
  if (used.length > 0) return [used.join(", "), effort && t(`run.inspector.effort.${effort}`)].filter(Boolean).join(" · ");
  const { step } = node;
  const complete = step.tools.length > 0 && step.tools.every((tool) => step.args && Object.hasOwn(step.args, tool));
  if (complete) return t("run.inspector.noModel");
  return step.model ? modelName(step.model) : step.tier === "high" ? t("run.inspector.tierHigh") : t("run.inspector.tierLow");
}

function touches(tools: [Key, ToolState][]): Access[] {
  const seen = new Map<string, Access>();
  for (const [, tool] of tools) for (const access of tool.access) seen.set(JSON.stringify(access), access);
  return [...seen.values()];
}

function touchWords(access: Access, t: Text): string {
  switch (access.kind) {
    case "read":
      return t("run.inspector.reads", { path: access.path });
    case "write":
      return t("run.inspector.writes", { path: access.path });
    case "writeScratchpad":
      return t("run.inspector.writesScratchpad");
    case "execute":
      return t("run.inspector.executes", { command: access.command });
    case "network":
      return t(access.effect ? "run.inspector.sends" : "run.inspector.asks", { host: access.host });
    case "search":
      return t("run.inspector.searches");
    case "server":
      return t("run.inspector.usesServer", { server: access.server, tool: access.tool });
    case "taskEffect": {
      const { verb, what } = effectWords(access.effect, t);
      return `${verb} ${what}`;
    }
  }
}

function Problem({ state, children }: { state: StepState; children: ReactNode }) {
  const t = useText();
  if (!state.error) return null;
  const shown = shownError({ ...state.error, hint: null }, t);
  return (
    <div className={classes.problem} data-quiet={state.status === "skipped" || undefined}>
      <h3>{state.status === "skipped" ? t("run.inspector.skippedBecause") : t("run.inspector.error")}</h3>
      <p>{shown.sentence}</p>
      {shown.original !== shown.sentence && !sameWords(shown.sentence, shown.original) && (
        <details>
          <summary>{t("errors.details")}</summary>
          <p className="mono">{shown.original}</p>
        </details>
      )}
      {children}
    </div>
  );
}

function sameWords(a: string, b: string): boolean {
  const plain = (words: string) => words.toLowerCase().replace(/[.\s]+$/, "");
  return plain(a) === plain(b);
}

/** What the plan before said in other words. */
function WordsBefore({ node }: { node: GraphNode }) {
  const t = useText();
  const { before, parts, step } = node;
  const words = before && [
    ...(parts.includes("description") && step.description !== before.description ? [before.description] : []),
    ...(parts.includes("outcome") ? [before.expectedOutcome] : []),
  ];
  if (!words || words.length === 0) return null;
  return (
    <Part title={t("run.change.was")}>
      {words.map((one) => (
        <p key={one} className={classes.before}>
          {one}
        </p>
      ))}
    </Part>
  );
}

function Does({ node, tools }: { node: GraphNode; tools: [Key, ToolState][] }) {
  const t = useText();
  const title = (tool: string) => (node.step.tools.length > 1 ? t("run.inspector.doesWith", { tool: toolName(tool, t) }) : t("run.inspector.does"));
  if (tools.length > 0) {
    return tools.map(([key, tool]) => (
      <Part key={key} title={title(tool.tool)}>
        <Args reference={tool} />
      </Part>
    ));
  }
  const planned = node.step.args;
  if (!planned) return null;
  return (
    <>
      {Object.entries(planned).map(([tool, args]) => (
        <Part key={tool} title={title(tool)}>
          {node.before?.args && node.parts.includes("args") && JSON.stringify(node.before.args[tool]) !== JSON.stringify(args) ? (
            <>
              <p className={classes.label}>{t("run.change.was")}</p>
              <ArgsValue value={node.before.args[tool]} />
              <p className={classes.label}>{t("run.change.now")}</p>
            </>
          ) : null}
          <ArgsValue value={args} />
        </Part>
      ))}
    </>
  );
}

function Args({ reference }: { reference: ToolState }) {
  const t = useText();
  const { value } = useValue(reference.args, false);
  if (value === undefined) return <RecordedValue reference={reference.args} label={t("run.inspector.does")} />;
  return <ArgsValue value={value} />;
}

function ArgsValue({ value }: { value: unknown }) {
  const t = useText();
  if (isRecord(value) && typeof value["sql"] === "string") {
    const { sql, ...rest } = value;
    return (
      <div className={classes.query}>
        <Code text={prettySql(String(sql))} label={t("run.inspector.does")} />
        {Object.keys(rest).length > 0 && <ValueView value={rest} label={t("run.inspector.does")} />}
      </div>
    );
  }
  return <ValueView value={value} label={t("run.inspector.does")} />;
}

function Said({ run, callKey, call, halted }: { run: LiveRun; callKey: Key; call: CallState; halted: Halted }) {
  const t = useText();
  const atWork = call.durationMs === null && !halted;
  const { text, reasoning } = useRunningText(run.feed, atWork ? callKey : null);
  const { value } = useValue(call.response, call.purpose === "reasoning");
  const words = atWork ? text : isRecord(value) && typeof value["text"] === "string" ? value["text"] : "";
  const retries = call.attempts.length;
  const instead = call.attempts.find((attempt) => attempt.instead !== undefined)?.instead;
  if (!atWork && words === "" && retries <= 1 && !instead) return null;
  return (
    <Part
      title={
        <>
          {atWork ? t("run.inspector.saying") : t("run.inspector.said")}
          {retries > 1 && ` · ${t("run.inspector.attempts", { count: retries })}`}
        </>
      }
    >
      {instead && <p className={classes.instead}>{t("run.inspector.instead", { model: modelName(instead.model), because: sentence(instead.because, null) })}</p>}
      {reasoning !== "" && <p className={classes.thoughts}>{reasoning}</p>}
      {words !== "" ? (
        <div className={classes.said} data-live={atWork || undefined}>
          {words}
        </div>
      ) : (
        atWork && reasoning === "" && <p className={classes.quiet}>{t("run.inspector.working")}</p>
      )}
    </Part>
  );
}

function Result({ node, cycle, halted }: { node: GraphNode; cycle: CycleState; halted: Halted }) {
  const t = useText();
  const { state, step } = node;
  if (!state || node.mark === "removed") return null;
  if (state.output) {
    // What a thinking step says is its result; it is not shown twice.
    if (step.tools.length === 0 && node.cycle === cycle.number && state.status === "done" && state.leaves.length > 0) return null;
    return (
      <Part title={t("run.inspector.result")}>
        <RecordedValue reference={state.output} label={t("run.inspector.result")} />
      </Part>
    );
  }
  if (state.status !== "running" || halted || step.tools.length === 0) return null;
  return (
    <Part title={t("run.inspector.result")}>
      <p className={classes.quiet}>{t("run.inspector.working")}</p>
    </Part>
  );
}
