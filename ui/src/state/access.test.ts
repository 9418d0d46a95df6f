import { expect, test } from "vitest";
import type { Envelope } from "../contract/index.ts";
import { text } from "../text/index.ts";
import { accessWords, grantedBeside, refusedEffects } from "./access.ts";

const plain: Envelope = { folder: "/home/zoe", write: true, maxTokens: 1, maxCycles: 1 };

test("an access is a verb and what it is about", () => {
  expect(accessWords({ kind: "execute", command: "git push" }, text)).toEqual({ verb: "Run the command", what: "git push" });
  expect(accessWords({ kind: "network", host: "a.org", effect: true }, text)).toEqual({ verb: "Send something to", what: "a.org" });
  expect(accessWords({ kind: "network", host: "*", effect: true }, text).what).toBe("any address");
});

test("what is granted beside the folder is listed once", () => {
  expect(grantedBeside(plain, text)).toEqual([]);
  const wide: Envelope = {
    ...plain,
    folders: [{ path: "/data", write: false }],
    commands: { kind: "listed", patterns: ["make *"] },
    hosts: [{ host: "a.org", change: false, private: false }],
    kept: [{ kind: "read", path: "/data" }],
  };
  expect(grantedBeside(wide, text).map(({ what }) => what)).toEqual(["/data", "make *", "a.org"]);
});

test("what a task does by itself stands whole among what is granted or among what is not", () => {
  const check = { kind: "check" as const, run: "make test && echo ok" };
  const webhook = { kind: "webhook" as const, url: "https://a.org/tepa?key=1", on: ["preStep" as const, "postStep" as const], timeout: 1, continueOnError: false };
  const kept = { kind: "command" as const, run: "./look.sh", on: ["postPlanner" as const], timeout: 1, continueOnError: false };
  const asks: Envelope = {
    ...plain,
    effects: [check, webhook, kept].map((effect, place) => ({ effect, hash: `sha256:${place}`, allowed: place === 0 })),
    kept: [{ kind: "taskEffect", effect: kept }],
  };
  expect(grantedBeside(asks, text).map(({ what }) => what)).toEqual(["./look.sh", "make test && echo ok"]);
  expect(refusedEffects(asks, text)).toEqual([{ verb: "Before each step, After each step: send what happens to", what: "https://a.org/tepa?key=1" }]);
});
