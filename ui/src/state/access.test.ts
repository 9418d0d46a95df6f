import { expect, test } from "vitest";
import type { Envelope } from "../contract/index.ts";
import { text } from "../text/index.ts";
import { accessWords, grantedBeside } from "./access.ts";

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
