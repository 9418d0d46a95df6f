// Made-up runs of any size, as the app records them.

const task = { name: "Measured", goal: "Be drawn", context: {}, expectedOutput: "A picture" };
const roles = { planner: "bench:one", judge: "bench:one", executorLow: "bench:one", executorHigh: "bench:one" };
const header = {
  task,
  title: "Measured",
  envelope: { folder: "/measured", write: true, maxTokens: 64000, maxCycles: 5 },
  roles,
  hooks: ["approval"],
  recording: null,
  appVersion: "0.1.0",
};

/** The id of every made-up run. */
export const runId = "measured";

/** A plan of as many steps: ranks of eight, each step after one or two of the rank before. */
function plan(count) {
  const steps = Array.from({ length: count }, (_, index) => {
    const above = index - 8;
    const dependencies = above < 0 ? [] : [...new Set([above, above - (above % 8) + ((above + 3) % 8)])].map((one) => `step_${one}`);
    return { id: `step_${index}`, name: `Step ${index} of the plan`, description: "Does its part", tools: ["file_read"], expectedOutcome: "A part", dependencies };
  });
  return { reasoning: "Each part is done by itself.", estimatedTokens: count, steps };
}

/** The events of a run, one after the other; times are those of its making. */
export class MadeRun {
  events = [];

  add(key, event) {
    this.events.push({ runId, seq: this.events.length + 1, atMs: Date.now(), key, event });
  }

  /** As far as the question whether a plan of so many steps may run. */
  proposed(count) {
    const made = plan(count);
    this.add("run", { type: "runStarted", header });
    this.add("cycle_1", { type: "cycleStarted", cycle: 1 });
    this.add("cycle_1", { type: "planningStarted", cycle: 1, feedback: null });
    this.add("cycle_1", { type: "planProposed", cycle: 1, plan: made, planHash: "sha256:plan" });
    return this;
  }

  /** The plan is approved. */
  approved() {
    this.add("cycle_1", { type: "planApproved", cycle: 1, planHash: "sha256:plan", by: "person" });
    return this;
  }

  /** One more call of a tool: its beginning, which is a line of the activity list, and its end. */
  called(number, steps) {
    const step = `step_${number % steps}`;
    const key = `cycle_1/${step}/tool_${number}`;
    this.add(`${key}:started`, { type: "toolStarted", cycle: 1, step, tool: "file_read", args: { hash: "sha256:args", bytes: 2, inline: {}, excerpt: null }, access: [{ kind: "read", path: `notes/${number}.txt` }] });
    this.add(`${key}:finished`, { type: "toolFinished", output: { hash: "sha256:out", bytes: 4, inline: "text", excerpt: null }, error: null, scratchpad: [], logs: [], durationMs: 1 });
  }

  /** The run in a list. */
  get summary() {
    const at = this.events[0].atMs;
    return { runId, title: header.title, status: "running", stopReason: null, cycles: 1, tokensUsed: 0, folder: "/measured", imported: false, recording: null, driven: true, waiting: null, startedAtMs: at, updatedAtMs: at, costs: {} };
  }
}
