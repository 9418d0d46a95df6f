// What a run may touch, and what a task does by itself.

export const access = {
  read: "Read",
  write: "Read and change",
  scratchpad: "the scratchpad",
  execute: "Run the command",
  network: "Use the network in commands at",
  anywhere: "any address",
  ask: "Read from",
  send: "Send something to",
  server: "Use of the MCP server {{server}} the tool",
  servers: "Use the MCP server",
  search: "Search the web at",
} as const;

export const effects = {
  title: "What it does by itself",
  intro: "The task brings commands or web addresses. Each is off until you allow exactly what stands here; what you do not allow now, the run asks about before it begins.",
  allow: "Allow",
  kept: "Allowed for this task",
  refused: "Asked for and not allowed, so it is not done:",
  check: "To check results, run the command",
  command: "{{when}}: tell what happens to the command",
  webhook: "{{when}}: send what happens to",
  when: {
    prePlanner: "Before planning",
    postPlanner: "After planning",
    preExecutor: "Before the steps",
    preStep: "Before each step",
    postStep: "After each step",
    postExecutor: "After the steps",
    preEvaluator: "Before judging",
    postEvaluator: "After judging",
  },
} as const;
