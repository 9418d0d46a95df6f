// Runs the tests in the browser: `node run.js [FILE...]`, all files when none is named. What fails is tried once more
// by itself, with nothing beside it, since a browser on a busy machine may be slower than anybody's patience. What
// passes only then is named and counted, so that it can be mended, and a few of those are too many: the run fails.
// Nothing else is tried again, and nothing twice.

import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";

/** So many tests may need a second try before the run counts as failed. */
const mostUnsteady = 2;
const timeout = 300_000;

/** Runs tests; what they say goes to the standard output. Gives how many passed, and which failed. */
async function attempt(options) {
  const outcome = { passed: 0, failed: [] };
  const tests = run({ timeout, ...options });
  tests.on("test:pass", ({ skip, details }) => {
    if (skip === undefined && details.type !== "suite") outcome.passed += 1;
  });
  tests.on("test:fail", ({ name, file, details }) => {
    if (details.type !== "suite") outcome.failed.push({ name, file });
  });
  const words = tests.compose(spec);
  words.pipe(process.stdout, { end: false });
  await new Promise((done, failed) => words.once("end", done).once("error", failed));
  return outcome;
}

const named = process.argv.slice(2);
const files = (named.length ? named : readdirSync(import.meta.dirname).filter((file) => file.endsWith(".test.js")))
  .map((file) => (named.length ? resolve(file) : join(import.meta.dirname, file)));
const { passed, failed } = await attempt({ files, concurrency: 2 });

const unsteady = [];
const broken = [];
for (const { name, file } of failed) {
  // A file that could not be run at all fails under its own name, and no test in it is called so.
  const pattern = new RegExp(`^${name.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")}$`, "v");
  const again = failed.length <= mostUnsteady ? await attempt({ files: [file], concurrency: 1, testNamePatterns: pattern }) : null;
  (again?.passed === 1 && again.failed.length === 0 ? unsteady : broken).push(name);
}

for (const name of unsteady) console.log(`Passed only when tried again: ${name}`);
for (const name of broken) console.log(`Failed: ${name}`);
console.log(`${passed + unsteady.length} passed, ${broken.length} failed`);
process.exitCode = broken.length ? 1 : 0;
