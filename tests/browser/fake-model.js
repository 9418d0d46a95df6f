// A small server that speaks chat completions: lists one model, and streams a plan, a tool call, a text or a judgement
// piece by piece, as it is asked for. It can be told to wait in the middle of an answer, or to go wrong.

import { once } from "node:events";
import { createServer } from "node:http";

/** The one model that it has. */
export const model = "tiny-1";

/** Starts the server; it ends with the test. */
export async function startModel(t, answers = usualAnswers) {
  const fake = new FakeModel(answers);
  const server = createServer((request, response) => void fake.answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  fake.url = `http://127.0.0.1:${server.address().port}/v1`;
  fake.close = () => {
    server.close();
    server.closeAllConnections();
  };
  t.after(fake.close);
  return fake;
}

class FakeModel {
  constructor(answers) {
    this.answers = answers;
    /** Every request: its path, its Authorization header, and its body. */
    this.seen = [];
    /** Models that it says it has beside the one. */
    this.names = [];
    /** What to do instead of answering, until it is taken back: `(request, response) => void`. */
    this.fault = null;
    this.held = new Map();
  }

  /** What was asked for: `plan`, `tool`, `judgement` or `text`, in order. */
  get asked() {
    return this.seen.flatMap(({ body }) => (body ? [purpose(body)] : []));
  }

  /** Answers of this kind stop after their first half, until the function that this returns is called. */
  hold(kind) {
    let release;
    this.held.set(kind, new Promise((done) => (release = done)));
    return () => {
      this.held.delete(kind);
      release();
    };
  }

  async answer(request, response) {
    const body = request.method === "POST" ? JSON.parse(await read(request)) : null;
    // What lies beside the protocol it does not have.
    if (!request.url.startsWith("/v1/")) return json(response, 404, {});
    this.seen.push({ path: request.url, authorization: request.headers.authorization ?? null, body });
    if (this.fault) return this.fault(request, response);
    if (request.url === "/v1/models") return json(response, 200, { object: "list", data: [model, ...this.names].map((id) => ({ id, object: "model" })) });
    const kind = purpose(body);
    response.writeHead(200, { "content-type": "text/event-stream" });
    const pieces = kind === "tool" ? call(isTrial(body) ? { name: "note", input: { word: "yes" } } : this.answers.tool(body)) : words(this.answers[kind](body));
    for (const [index, delta] of pieces.entries()) {
      if (index === Math.ceil(pieces.length / 2)) await this.held.get(kind);
      response.write(event({ choices: [{ index: 0, delta, finish_reason: null }] }));
    }
    response.write(event({ choices: [{ index: 0, delta: {}, finish_reason: kind === "tool" ? "tool_calls" : "stop" }] }));
    response.write(event({ choices: [], usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 } }));
    response.end("data: [DONE]\n\n");
  }
}

function purpose(body) {
  if (body.tools) return "tool";
  return body.response_format?.json_schema?.name ?? "text";
}

/** Whether somebody tries whether this model calls tools. */
function isTrial(body) {
  return body.tools.some((tool) => tool.function.name === "note");
}

function words(text) {
  return text.match(/\s*\S+/g).map((content) => ({ content }));
}

function call({ name, input }) {
  const [first, second] = [JSON.stringify(input).slice(0, 5), JSON.stringify(input).slice(5)];
  return [
    { tool_calls: [{ index: 0, id: "call_1", type: "function", function: { name, arguments: first } }] },
    { tool_calls: [{ index: 0, function: { arguments: second } }] },
  ];
}

function event(value) {
  return `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", model, ...value })}\n\n`;
}

function json(response, status, value) {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}

async function read(request) {
  let text = "";
  for await (const part of request) text += part;
  return text;
}

/** The words that the usual answers write into their file. */
export const letter = "Dear reader, the notes speak of three birds: a heron, a wren and an owl.";

const plan = {
  reasoning: "The notes are read first, then told again in one sentence, which is written down.",
  estimatedTokens: 900,
  steps: [
    { id: "step_1", name: "Read the notes", description: "Read notes.txt", tools: ["file_read"], expectedOutcome: "The notes", dependencies: [], tier: "low" },
    { id: "step_2", name: "Tell it briefly", description: "Tell the notes in one sentence", tools: [], expectedOutcome: "One sentence", dependencies: ["step_1"], tier: "high" },
    {
      id: "step_3",
      name: "Write the letter",
      description: "Write letter.md",
      tools: ["file_write"],
      expectedOutcome: "letter.md exists",
      dependencies: ["step_2"],
      tier: "low",
      args: { file_write: { path: "letter.md", content: "{{step_2}}" } },
    },
  ],
};

/** Answers that take the task of `notesTask` to a pass. */
export const usualAnswers = {
  plan: () => JSON.stringify(plan),
  tool: () => ({ name: "file_read", input: { path: "notes.txt" } }),
  text: () => letter,
  judgement: (body) => {
    const listed = body.messages.at(-1).content.split("Criteria to judge:\n")[1].split("\nSteps:")[0];
    const ids = [...listed.matchAll(/^- (\S+?)(?: \(nice to have\))?: /gm)].map(([, id]) => id);
    const criteria = ids.map((id) => ({ id, verdict: "pass", evidence: "three birds" }));
    return JSON.stringify({ verdict: "pass", confidence: 0.9, summary: "The letter names the three birds.", criteria });
  },
};

/** A judge that finds the letter wanting as often as this, and then passes it. */
export function wanting(times) {
  let left = times;
  return (body) => {
    const passed = JSON.parse(usualAnswers.judgement(body));
    if (left === 0) return JSON.stringify(passed);
    left -= 1;
    const criteria = passed.criteria.map((one) => ({ ...one, verdict: "fail" }));
    const feedback = `Step "step_2": the letter lacks warmth (${left}).`;
    return JSON.stringify({ verdict: "fail", confidence: 0.8, feedback, criteria });
  };
}

/** A plan with two steps that nothing keeps apart, and a third after both. */
export const twoLetters = JSON.stringify({
  ...JSON.parse(usualAnswers.plan()),
  steps: [
    { id: "a", name: "Write the letter", description: "Write letter.md", tools: ["file_write"], expectedOutcome: "letter.md", dependencies: [], args: { file_write: { path: "letter.md", content: "Dear reader, three birds." } } },
    { id: "b", name: "Write the list", description: "Write list.md", tools: ["file_write"], expectedOutcome: "list.md", dependencies: [], args: { file_write: { path: "list.md", content: "three birds" } } },
    { id: "c", name: "Read both", description: "Read letter.md", tools: ["file_read"], expectedOutcome: "Both", dependencies: ["a", "b"], args: { file_read: { path: "letter.md" } } },
  ],
});

/** A task for them. */
export const notesTask = `name: Three birds
goal: Write a letter about the birds in the notes
context: {}
expectedOutput:
  - path: letter.md
    description: A short letter
    criteria:
      - Says how many birds there are
      - text: At most 50 words
        check: { words: { max: 50 } }
`;

const files = {
  "data.json": '{"birds":[{"name":"heron","legs":2},{"name":"wren","legs":2}],"total":2}',
  "list.csv": "id,name\n1,heron\n2,wren\n1,owl\n",
};

/** A plan that writes two files, one of them with a row twice. */
export const filesPlan = JSON.stringify({
  reasoning: "Both files are written.",
  estimatedTokens: 10,
  steps: Object.entries(files).map(([path, content], index) => ({
    id: `s${index}`,
    name: `Write ${path}`,
    description: `Write ${path}`,
    tools: ["file_write"],
    expectedOutcome: path,
    dependencies: [],
    args: { file_write: { path, content } },
  })),
});

/** A task for it that does not hold. */
export const filesTask = `name: Birds as data
goal: List the birds
limits: { maxCycles: 1 }
context: {}
expectedOutput:
  - path: data.json
    description: Birds
    criteria: [{ text: Is JSON, check: json }]
  - path: list.csv
    description: A list
    criteria: [{ text: Everyone once, check: { csv: { unique: [id] } } }]
`;

/** What goes wrong, by name. */
export const faults = {
  page: (_, response) => {
    response.writeHead(200, { "content-type": "text/html" });
    response.end("<!doctype html><title>Welcome</title><h1>It works!</h1>");
  },
  noCredit: (_, response) => json(response, 402, { error: { message: "Insufficient credits", code: "insufficient_quota" } }),
  notHere: (_, response) => json(response, 403, { error: { message: "Country, region, or territory not supported", code: "unsupported_country_region_territory" } }),
  noModel: (_, response) => json(response, 404, { error: { message: "The model does not exist", code: "model_not_found" } }),
  tooLong: (_, response) => json(response, 400, { error: { message: "too many tokens", code: "context_length_exceeded" } }),
  wantsSignIn: (_, response) => json(response, 407, {}),
  blocked: (_, response) => {
    response.writeHead(403, { "content-type": "text/html" });
    response.end("<!doctype html><title>Blocked</title><h1>Your company's proxy blocked this page</h1>");
  },
  refuses: (_, response) => json(response, 400, { error: { message: "no", code: "x" } }),
  refusesKey: (_, response) => json(response, 401, { error: { message: "Incorrect API key provided", code: "invalid_api_key" } }),
  cuts: (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(event({ choices: [{ index: 0, delta: { content: '{"reasoning": "The' }, finish_reason: null }] }), () =>
      response.destroy(),
    );
  },
};
