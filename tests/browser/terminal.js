// The app's other face: `tepa` in a terminal, on the data folder of a running app.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const top = fileURLToPath(new URL("../../", import.meta.url));
const targets = process.env.CARGO_TARGET_DIR ?? join(top, "target");
const program = resolve(process.env.TEPA_CLI ?? join(targets, "debug/tepa"));

/** Runs `tepa` with nobody at the keyboard; what it ended with and what it said. */
export async function tepa(data, ...args) {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, TEPA_DATA_DIR: data } });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (part) => (said += part));
  const [code] = await once(child, "close");
  return { code, said };
}

const flow = `id: welcome
steps:
  - id: who
    gate:
      text: "Who is it for? **Say** how it should sound."
      question:
        type: object
        properties:
          name: { type: string, title: Name }
          warm: { type: boolean, title: Warmly }
        required: [name, warm]
  - id: sure
    gate: { text: "Shall it be sent?" }
  - id: done
    answer: { text: "Dear {{who.name}}" }
`;

/** Begins a flow that asks a person twice; it is left waiting with its first question. */
export async function startFlow(data, folder, url, model) {
  const file = join(folder, "welcome.yaml");
  writeFileSync(file, flow);
  const begun = await tepa(data, "flow", "run", file, "--url", url, "--model", model);
  assert.equal(begun.code, 4, begun.said);
}
