import { expect, test } from "vitest";
import { parse } from "yaml";
import { freshSource, insertAllAt, insertAt, parsePath, placesIn, readDraft, renameAt, setAt, setCriterion, writePath, writeTask } from "./taskSource.ts";

const source = `# What the office asked for.
name: Quarterly expenses # shown in lists
goal: Add the files up
context:
  # The current quarter.
  quarter: 2026 Q2
  limit: 500
expectedOutput:
  - path: report.md
    description: A report
    criteria:
      - Explains the change # judged
      - text: Short enough
        check: { words: { max: 600 } }
custom: kept as it is
`;

/** The lines that are different, with - and +. */
function changed(after: string, before = source): string[] {
  const [old, now] = [before.split("\n"), after.split("\n")];
  return [...old.filter((line) => !now.includes(line)).map((line) => `-${line}`), ...now.filter((line) => !old.includes(line)).map((line) => `+${line}`)];
}

test("a changed goal changes one line and keeps every comment", () => {
  expect(changed(setAt(source, ["goal"], "Add them up by category"))).toEqual(["-goal: Add the files up", "+goal: Add them up by category"]);
});

test("a value keeps the comment beside it", () => {
  expect(changed(setAt(source, ["name"], "Expenses"))).toEqual([
    "-name: Quarterly expenses # shown in lists",
    "+name: Expenses # shown in lists",
  ]);
});

test("a number stays a number", () => {
  expect(changed(setAt(source, ["context", "limit"], 750))).toEqual(["-  limit: 500", "+  limit: 750"]);
});

test("text that looks like a number is written so that it stays text", () => {
  const after = setAt(source, ["context", "quarter"], "2026");
  expect(readDraft(after)?.context["quarter"]).toBe("2026");
});

test("several lines are written as a block", () => {
  const after = setAt(source, ["goal"], "First this.\nThen that.");
  expect(readDraft(after)?.goal).toBe("First this.\nThen that.");
  expect(after).toContain("goal: |-\n  First this.\n  Then that.\n");
});

test("renaming a fact keeps its place and its comment", () => {
  expect(changed(renameAt(source, ["context"], "quarter", "period"))).toEqual(["-  quarter: 2026 Q2", "+  period: 2026 Q2"]);
});

test("a name that is taken is not given twice", () => {
  expect(renameAt(source, ["context"], "quarter", "limit")).toBe(source);
});

test("a plain sentence stays one, with its comment", () => {
  expect(changed(setCriterion(source, 0, 0, { text: "Explains it" }))).toEqual([
    "-      - Explains the change # judged",
    "+      - Explains it # judged",
  ]);
});

test("a check makes it an object, and taking it away a sentence again", () => {
  const checked = setCriterion(source, 0, 0, { check: "not_empty" });
  expect(readDraft(checked)?.expected).toEqual([
    {
      path: "report.md",
      description: "A report",
      criteria: [
        { text: "Explains the change", check: "not_empty", required: true, weight: null },
        { text: "Short enough", check: { words: { max: 600 } }, required: true, weight: null },
      ],
    },
  ]);
  expect(readDraft(setCriterion(checked, 0, 0, { check: null }))).toEqual(readDraft(source));
  expect(changed(setCriterion(source, 0, 1, { check: null }))).toEqual([
    "-      - text: Short enough",
    "-        check: { words: { max: 600 } }",
    "+      - Short enough",
  ]);
});

test("what the form does not touch in a criterion stays as it is written", () => {
  expect(changed(setCriterion(source, 0, 1, { required: false }))).toEqual(["+        required: false"]);
});

test("a first criterion opens the empty list", () => {
  const after = insertAt(freshSource, ["expectedOutput", 0, "criteria"], 0, "Is short");
  expect(after).toContain("    criteria:\n      - Is short\n");
});

test("a first fact opens the empty map", () => {
  expect(setAt(freshSource, ["context", "limit"], 5)).toContain("context:\n  limit: 5\n");
});

test("keys that nobody knows are kept", () => {
  expect(setAt(source, ["limits", "maxCycles"], 3)).toContain("custom: kept as it is\nlimits:\n  maxCycles: 3\n");
});

test("text that cannot be read is not touched", () => {
  const broken = "goal: [unclosed";
  expect([setAt(broken, ["goal"], "x"), readDraft(broken)]).toEqual([broken, null]);
});

test("an empty text is an empty task", () => {
  expect(readDraft("")?.goal).toBe("");
  expect(setAt("", ["goal"], "Begin")).toBe("goal: Begin\n");
});

test("a bomb of aliases is not opened", () => {
  const bomb = ["a: &a [x,x,x,x,x,x,x,x]", ...Array.from({ length: 9 }, (_, n) => `${"bcdefghij"[n]}: &${"bcdefghij"[n]} [${`*${"abcdefghi"[n]},`.repeat(8)}]`)].join("\n");
  expect(readDraft(bomb)).toBeNull();
});

test.each(["goal", "expectedOutput[0].criteria[2].check", "context.a.b", ""])("the place %s is read and written", (path) => {
  expect(writePath(parsePath(path))).toBe(path);
});

test("several lines are put into the middle of a list, and into one that is not there", () => {
  const path = parsePath("expectedOutput[0].criteria");
  const texts = (text: string) => [readDraft(text)?.expected].flat().flatMap((item) => (typeof item === "object" ? item.criteria.map((one) => one.text) : []));
  const list = "goal: g\nexpectedOutput:\n  - description: d\n    criteria:\n      - a # why\n      - d\n";
  expect(texts(insertAllAt(list, path, 1, ["b", "c"]))).toEqual(["a", "b", "c", "d"]);
  expect(insertAllAt(list, path, 1, ["b", "c"])).toContain("- a # why");
  expect(texts(insertAllAt("goal: g\nexpectedOutput:\n  - description: d\n", path, 0, ["a", "b"]))).toEqual(["a", "b"]);
});

test("a place is found in the text", () => {
  const [from, to] = placesIn(source)(parsePath("expectedOutput[0].criteria[1].check"));
  expect(source.slice(from, to)).toBe("{ words: { max: 600 } }");
});

test("the task of a run is written as people write one, and means the same", () => {
  const task = {
    expectedOutput: [{ path: "r.md", description: "d", criteria: ["clear", { text: "short", check: { words: { max: 9 } } }] }],
    goal: "Tell it: all of it",
    context: { limit: 500 },
    hooks: [{ askMe: "step" }],
  };
  const written = writeTask(task);
  expect(written.split("\n")[0]).toBe('goal: "Tell it: all of it"');
  expect(readDraft(written)).toMatchObject({ goal: task.goal, context: task.context, rules: task.hooks });
  expect(parse(written)).toEqual(task);
});
