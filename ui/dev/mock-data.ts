// A made-up run of the sample for looking at the screens without the app: every event in order, with the pause before it.

import type { CriterionResult, Plan, PlanStep, RunEvent, RunHeader, Task, ValueRef } from "../src/contract/index.ts";

/** An event with its key and the milliseconds before it. */
export interface Beat {
  wait: number;
  key: string;
  event: RunEvent;
  /** Text that a model says while this call is at work. */
  says?: string;
  /** Where a scenario may stop. */
  mark?: "ask1" | "running1" | "judged1" | "ask2" | "running2" | "passed";
}

const hash = (name: string) => `sha256:${name}`;

/** A small value that stands in the event. */
export function value(inline: unknown): ValueRef {
  return { hash: hash(String(Math.abs(JSON.stringify(inline).length))), bytes: JSON.stringify(inline).length, inline: inline as ValueRef["inline"], excerpt: null };
}

/** The task of the sample. */
export const task: Task = {
  name: "Quarterly expenses",
  goal: "Look through this quarter's expense files, add them up by category, explain the biggest changes, and list the expenses someone should check.",
  context: { quarter: "2026 Q2", currency: "EUR", checkAbove: 500 },
  expectedOutput: [
    {
      path: "report.md",
      description: "A report a busy manager can read",
      criteria: [
        { text: "Totals equal the data", check: { query: { sql: "SELECT round(sum(amount), 2) FROM expenses" } } },
        "Explains the largest change in plain words",
        { text: "At most 600 words", check: { words: { max: 600 } } },
      ],
    },
    {
      path: "flagged.csv",
      description: "Expenses someone should check",
      criteria: [
        { text: "Columns are id, date, amount, reason", check: { csv: { columns: ["id", "date", "amount", "reason"] } } },
        { text: "Every flagged id appears once", check: { csv: { unique: ["id"] } } },
      ],
    },
  ],
};

/** How the sample run begins. */
export const header: RunHeader = {
  task,
  title: "Quarterly expenses",
  envelope: { folder: "/home/ada/Expenses/2026 Q2", write: true, maxTokens: 64000, maxCycles: 5 },
  roles: { planner: "replay:sample", judge: "replay:sample", executorLow: "replay:sample", executorHigh: "replay:sample" },
  hooks: ["approval"],
  recording: "expenses",
  appVersion: "0.1.0",
};

const totals = [
  { category: "Travel", total: 6204.5 },
  { category: "Software", total: 4480 },
  { category: "Office", total: 3121.35 },
  { category: "Training", total: 2450 },
  { category: "Meals", total: 1698.25 },
];
const sqlTotals = "SELECT category, round(sum(amount), 2) AS total FROM expenses WHERE amount IS NOT NULL GROUP BY category ORDER BY total DESC";

const read: PlanStep = {
  id: "step_1",
  name: "Read the expense folder",
  description: "List the files in the working folder to see which months there are.",
  tools: ["directory_list"],
  expectedOutcome: "The names of the expense files",
  dependencies: [],
  args: { directory_list: { path: "." } },
};
const broken: PlanStep = {
  id: "step_2",
  name: "Find broken rows",
  description: "Find rows that cannot be added up: no amount, or an amount that is not a number.",
  tools: ["data_query"],
  expectedOutcome: "The rows that must be left out, with the reason",
  dependencies: ["step_1"],
  args: { data_query: { files: { expenses: "*.csv" }, sql: "SELECT * FROM expenses WHERE amount IS NULL" } },
};
const total: PlanStep = {
  id: "step_3",
  name: "Total per category",
  description: "Add up the rows of the three files by category.",
  tools: ["data_query"],
  expectedOutcome: "One row for each category",
  dependencies: ["step_1"],
  args: { data_query: { files: { expenses: "*.csv" }, sql: "SELECT category, round(sum(amount), 2) AS total FROM expenses GROUP BY category ORDER BY total DESC", as: "rows" } },
};
const explain: PlanStep = {
  id: "step_4",
  name: "Explain what changed",
  description: "Say in plain words which category changed most since April and why.",
  tools: [],
  expectedOutcome: "Three or four sentences a manager understands",
  dependencies: ["step_2", "step_3"],
  tier: "high",
};
const report: PlanStep = {
  id: "step_5",
  name: "Write the report",
  description: "Write the report with the totals and the explanation.",
  tools: ["file_write"],
  expectedOutcome: "report.md is written",
  dependencies: ["step_3", "step_4"],
  args: { file_write: { path: "report.md", content: "# Quarterly expenses, April to June\n\n{{step_4}}\n\n{{step_3}}" } },
};
const flagged: PlanStep = {
  id: "step_6",
  name: "Write flagged.csv",
  description: "Write the expenses above the limit and the broken rows as a table.",
  tools: ["file_write"],
  expectedOutcome: "flagged.csv is written",
  dependencies: ["step_2"],
  args: { file_write: { path: "flagged.csv", content: "{{step_2}}" } },
};

/** The first plan, which counts one expense twice. */
export const plan1: Plan = {
  steps: [read, broken, total, explain, report, flagged],
  estimatedTokens: 9200,
  reasoning:
    "The totals must equal the data, so they are computed from the files and not by a model. Broken rows are found first, because they would spoil the sums. Only the explanation needs thought; everything else is a query or a file.",
};

/** The second plan, which changes one step, adds one and leaves one out. */
export const plan2: Plan = {
  steps: [
    read,
    broken,
    { ...total, description: "Add up the valid rows of the three files by category, each id once.", args: { data_query: { files: { expenses: "*.csv" }, sql: sqlTotals, as: "rows" } } },
    { ...explain, dependencies: ["step_2", "step_3"] },
    report,
    { id: "step_7", name: "Keep each id once", description: "Leave out repeated ids from the flagged rows.", tools: ["data_query"], expectedOutcome: "Each id once", dependencies: ["step_2"], args: { data_query: { sql: "SELECT DISTINCT id, date, amount, reason FROM broken" } } },
    { ...flagged, id: "step_8", name: "Write the list of flagged expenses", description: "Write the cleaned rows as a table.", dependencies: ["step_7"], args: { file_write: { path: "flagged.csv", content: "{{step_7}}" } } },
  ],
  estimatedTokens: 6100,
  reasoning:
    "The judge found that the total is 250.00 too high and that id 2031 is listed twice. Both come from one expense that stands in two files. The total now counts each id once, and a new step cleans the flagged rows before they are written. Reading the folder and finding broken rows worked and are kept.",
};

function criteria(cycle: 1 | 2): CriterionResult[] {
  const good = cycle === 2;
  const app = (id: string, verdict: "pass" | "fail", evidence: string): CriterionResult => ({ id, verdict, evidence, by: "app", observed: null });
  const model = (id: string, evidence: string): CriterionResult => ({ id, verdict: good ? "pass" : "not_judged", evidence: good ? evidence : "", by: "model", observed: null });
  return [
    app("report.md/exists", "pass", good ? "2.4 kB" : "2.1 kB"),
    app("report.md/0", good ? "pass" : "fail", good ? "17,954.10 in both" : "the report says 18,204.10, the data says 17,954.10"),
    model("report.md/1", "Travel rose because of the May conference"),
    app("report.md/2", "pass", good ? "455 words" : "412 words"),
    app("flagged.csv/exists", "pass", "1.1 kB"),
    app("flagged.csv/0", "pass", "4 columns: id, date, amount, reason"),
    app("flagged.csv/1", good ? "pass" : "fail", good ? "23 ids, all different" : "id 2031 stands twice (rows 7 and 19)"),
    model("goal", "Spending was 17,954.10, eleven percent above the first quarter."),
  ];
}

const explanation =
  "Spending was 17,954.10, eleven percent above the first quarter. Travel rose because of the May conference: three flights and a hotel make up most of the change. Software is unchanged, and office costs fell by a fifth.";

/** What the produced report says. */
export const reportText = `# Quarterly expenses, April to June\n\n${explanation}\n\n## Totals\n\n| Category | Total | Change |\n|---|---:|---:|\n${totals.map((row) => `| ${row.category} | ${row.total.toFixed(2)} | ${row.category === "Travel" ? "+31 %" : "+2 %"} |`).join("\n")}\n\n## What should be checked\n\n- **23 expenses** are listed in \`flagged.csv\`.\n- One row of May has no amount and was left out.\n`;

/** What the produced list says. */
export const flaggedText = `id,date,amount,reason\n${Array.from({ length: 23 }, (_, n) => `${2014 + n},2026-0${4 + (n % 3)}-${String(3 + n).padStart(2, "0")},${(510 + n * 37.5).toFixed(2)},"above the limit, ${n % 2 ? "no receipt" : "ask Zoë Müller"}"`).join("\n")}\n`;

const usage = (input: number, output: number) => ({ input, output, cacheRead: 0, cacheWrite: 0, reasoning: 0 });

function modelCall(key: string, cycle: number, purpose: "plan" | "reasoning" | "judge", step: string | null, says: string, tokens: [number, number]): Beat[] {
  return [
    { wait: 120, key: `${key}:started`, says, event: { type: "modelCallStarted", cycle, purpose, step, model: "replay:sample", inputHash: hash(key), request: value({ messages: 2 }), promptHash: hash("p") } },
    { wait: 2600, key: `${key}:attempt/0`, event: { type: "modelAttempted", attempt: { attempt: 0, status: "success", durationMs: 2600, usage: usage(...tokens), error: null, waitMs: null } } },
    { wait: 10, key, event: { type: "modelCallFinished", response: { value: value({ text: says, toolUses: [], finishReason: "end_turn", usage: usage(...tokens), model: "sample", requestId: null }), finishReason: "end_turn", usage: usage(...tokens) }, error: null, durationMs: 2610 } },
  ];
}

function stepBeats(cycle: number, step: PlanStep, kept: boolean): Beat[] {
  const key = `cycle/${cycle}/step/${step.id}#0`;
  if (kept) {
    return [{ wait: 150, key, event: { type: "stepFinished", cycle, step: step.id, status: "kept", output: value(step.id === "step_1" ? [{ name: "april.csv", type: "file", size: 8120 }] : []), error: null, tokensUsed: 0, durationMs: 0 } }];
  }
  const beats: Beat[] = [{ wait: 250, key: `${key}:started`, event: { type: "stepStarted", cycle, step: step.id, inputs: step.dependencies.map((name) => ({ name, hash: hash(name) })) } }];
  const [tool] = step.tools;
  if (tool === undefined) {
    beats.push(...modelCall(`${key}/call/0`, cycle, "reasoning", step.id, explanation, [640, 118]));
    beats.push({ wait: 20, key, event: { type: "stepFinished", cycle, step: step.id, status: "done", output: value(explanation), error: null, tokensUsed: 758, durationMs: 2700 } });
    return beats;
  }
  const args = step.args?.[tool] ?? {};
  const writes = tool === "file_write";
  const output = writes ? { path: (args as { path: string }).path, bytesWritten: 2412 } : tool === "directory_list" ? [{ name: "april.csv", type: "file", size: 8120 }, { name: "may.csv", type: "file", size: 9031 }, { name: "june.csv", type: "file", size: 7744 }] : step.id === "step_2" ? { columns: ["file", "row", "reason"], rows: [["may.csv", 88, "amount is empty"]] } : totals;
  beats.push({
    wait: 100,
    key: `${key}/tool/0/run:started`,
    event: { type: "toolStarted", cycle, step: step.id, tool, args: value(args), access: writes ? [{ kind: "write", path: (args as { path: string }).path }] : [{ kind: "read", path: tool === "directory_list" ? "." : "april.csv" }], inputHash: hash(key) },
  });
  if (writes) beats.push({ wait: 60, key: `${key}/tool/0/run:intended`, event: { type: "effectIntended", path: (args as { path: string }).path, before: cycle === 1 ? null : hash("old"), after: hash(`${step.id}${cycle}`), output: value(output) } });
  beats.push({ wait: 900, key: `${key}/tool/0/run`, event: { type: "toolFinished", output: value(output), error: null, scratchpad: step.id === "step_2" ? [{ name: "broken_rows", value: value([{ file: "may.csv", row: 88 }]) }] : [], logs: step.id === "step_2" ? [{ level: "info", message: "one malformed row was skipped in may.csv" }] : [], durationMs: 920 } });
  beats.push({ wait: 10, key, event: { type: "stepFinished", cycle, step: step.id, status: "done", output: value(output), error: null, tokensUsed: 0, durationMs: 1100 } });
  return beats;
}

function cycleBeats(cycle: 1 | 2): Beat[] {
  const plan = cycle === 1 ? plan1 : plan2;
  const planHash = hash(`plan${cycle}`);
  const feedback = cycle === 1 ? null : "The total in report.md is 18,204.10 but the data adds up to 17,954.10: step_3 counts expense 2031 in both may.csv and june.csv. The same id stands twice in flagged.csv (rows 7 and 19). Count each id once.";
  const beats: Beat[] = [
    { wait: 50, key: `cycle/${cycle}`, event: { type: "cycleStarted", cycle } },
    { wait: 10, key: `cycle/${cycle}/plan#0:started`, event: { type: "planningStarted", cycle, feedback, guidance: 0 } },
    ...modelCall(`cycle/${cycle}/plan#0/call/0`, cycle, "plan", null, JSON.stringify(plan), [2410, 890]),
    { wait: 30, key: `cycle/${cycle}/plan#0`, event: { type: "planProposed", cycle, plan, planHash } },
    { wait: 10, key: `cycle/${cycle}/approval:asked`, mark: cycle === 1 ? "ask1" : "ask2", event: { type: "personAsked", ask: { kind: "approvePlan", cycle, planHash, envelope: header.envelope } } },
    { wait: 10, key: `cycle/${cycle}/approval`, event: { type: "personAnswered", answer: { kind: "approve", revisions: false } } },
    { wait: 10, key: `cycle/${cycle}/approved`, event: { type: "planApproved", cycle, planHash, by: "person" } },
  ];
  plan.steps.forEach((step, index) => {
    const of = stepBeats(cycle, step, cycle === 2 && index < 2);
    const middle = of.at(step.tools.length === 0 ? 1 : 0);
    if (middle && step.id === "step_4") middle.mark = cycle === 1 ? "running1" : "running2";
    beats.push(...of);
  });
  beats.push({ wait: 50, key: `cycle/${cycle}/summary`, event: { type: "scratchpadWritten", entry: { name: "_execution_summary", value: value([{ cycle }]) } } });
  beats.push({ wait: 100, key: `cycle/${cycle}/judge#0:started`, event: { type: "judgingStarted", cycle } });
  for (const result of criteria(cycle)) {
    if (result.by === "app") beats.push({ wait: 160, key: `cycle/${cycle}/check/${result.id}`, event: { type: "checkFinished", cycle, result, durationMs: 12 } });
  }
  const pass = cycle === 2;
  if (pass) beats.push(...modelCall("cycle/2/judge#0/call/0", 2, "judge", null, "…", [3120, 410]));
  beats.push({
    wait: 60,
    key: `cycle/${cycle}/judge#0`,
    mark: pass ? undefined : "judged1",
    event: {
      type: "cycleJudged",
      cycle,
      evaluation: {
        verdict: pass ? "pass" : "fail",
        confidence: pass ? 0.96 : 1,
        feedback: pass ? null : "The total in report.md is 18,204.10 but the data adds up to 17,954.10. The same id stands twice in flagged.csv. Count each id once.",
        summary: pass ? "The report states 17,954.10, which equals the data, explains the rise in travel with the May conference, and lists 23 expenses to check, each once." : null,
        criteria: criteria(cycle),
        score: pass ? 1 : 0.5,
        tokensUsed: pass ? 3530 : 0,
      },
    },
  } as Beat);
  return beats;
}

/** The whole sample run. */
export function sampleBeats(): Beat[] {
  return [
    { wait: 0, key: "run", event: { type: "runStarted", header } },
    ...cycleBeats(1),
    ...cycleBeats(2),
    {
      wait: 80,
      key: "run:finished",
      mark: "passed",
      event: {
        type: "runFinished",
        result: {
          status: "pass",
          stopReason: "passed",
          cycles: 2,
          tokensUsed: 9930,
          cost: null,
          feedback: "The report states 17,954.10, which equals the data, explains the rise in travel with the May conference, and lists 23 expenses to check, each once.",
          outputs: [
            { path: "report.md", description: "A report a busy manager can read", type: "file", value: null },
            { path: "flagged.csv", description: "Expenses someone should check", type: "file", value: null },
          ],
        },
      },
    },
  ];
}
