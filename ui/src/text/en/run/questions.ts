// What a run asks a person while it is at work.

export const questions = {
  count_one: "{{count}} question waits for you",
  count_other: "{{count}} questions wait for you",
  plan: "Plan of cycle {{number}}",
  effect: "What the task does by itself",
  aloud: { plan: "may the plan run?", step: "may “{{step}}” run?", permission: "may it {{wants}}?", effect: "may the task do something by itself?" },
  allowAll: "Let all {{count}} run",
} as const;

export const stepQuestion = {
  title: "May this step run?",
  rule: "You wanted to be asked: {{rule}}",
  allow: "Let it run",
  reject: "Reject",
  onNode: "May it run?",
} as const;

export const gate = {
  title: "The flow asks you",
  stepTitle: "This step asks you",
  onNode: "It asks you",
  noAnswer: "Do not answer",
  yes: "Yes, go on",
  no: "No",
  refuse: "End the run",
  send: "Send the answer",
  answer: "Your answer",
  asJson: "Written as JSON, as the flow describes it.",
  notJson: "This is not JSON yet.",
} as const;

export const permission = {
  title: "May this step do this?",
  body: "“{{step}}” wants to use “{{tool}}”. It goes on when you say so.",
  once: "Allow once",
  no: "No",
  run: "Allow in this run",
  runHint: "The same is not asked again until the run ends.",
  task: "Allow for this task, always",
  taskHint: "In every run of it, until you take it back in Settings.",
  why: "Why not?",
  whyHint: "The next plan is told, so that it finds another way.",
  refuse: "Do not allow",
  onNode: "May it do this?",
} as const;

export const effect = {
  title: {
    check: "May the task run this command?",
    command: "May the task run this command?",
    webhook: "May the task tell this address?",
  },
  body: "The task brings it. Nothing of it is done until you allow exactly this; if a letter of it changes, you are asked again.",
  reaches: {
    check: "It works in the task’s folder and can change nothing else.",
    command: "It works in the task’s folder and can change nothing else. It is told the task, its plans and its results, and may change them.",
    webhook: "The address gets the task, its plans and its results, and may change them.",
  },
  without: {
    check: "Without it nobody knows whether this criterion holds, so the run cannot pass.",
    command: "Without it the run goes on, and this rule is not followed.",
    webhook: "Without it the run goes on, and the address is told nothing.",
  },
  taskHint: "In every run of it while this stays as it is, until you take it back in Settings.",
  before: "One question first",
  beforeBody: "Planning begins when you have answered.",
} as const;

export const uncertain = {
  file: {
    title: "Did “{{path}}” get written?",
    body: "The step “{{step}}” was changing this file when the app closed or the tool’s time was over, and whether the change was made cannot be told for certain. Have a look, then decide.",
    markDoneHint: "Keep the file as it is and go on.",
    runAgainHint: "Write the file anew.",
  },
  outside: {
    title: "Did “{{path}}” get done?",
    body: "The step “{{step}}” had begun this when the app closed or the tool’s time was over, and the app cannot look whether it did its work. Have a look, then decide.",
    markDoneHint: "Go on as if it had been done.",
    runAgainHint: "Do it once more.",
  },
  markDone: "It is done",
  runAgain: "Do it again",
  stopRun: "Stop the run",
} as const;
