import { expect, it } from "vitest";
import { shownOf, unsavedParts, useDrafts } from "./drafts.ts";

const kept = { minutes: 15 };
const draft = (value: unknown) => ({ base: JSON.stringify(kept), value });

it("what was changed is shown when the form is shown again, until it is taken back", () => {
  const { put, forget } = useDrafts.getState();
  put("limits", draft({ minutes: 77 }));
  expect(shownOf(useDrafts.getState().drafts["limits"], kept)).toEqual({ minutes: 77 });
  forget("limits");
  expect(shownOf(useDrafts.getState().drafts["limits"], kept)).toEqual(kept);
});

it("what was changed is not shown when another value is kept by now", () => {
  expect(shownOf(draft({ minutes: 77 }), { minutes: 20 })).toEqual({ minutes: 20 });
});

it("a part is not saved as long as one of its forms is not", () => {
  expect(unsavedParts({ limits: draft({}), "account:work:model": draft("m"), "account:home:address": draft("a") })).toEqual(new Set(["limits", "account"]));
  expect(unsavedParts({})).toEqual(new Set());
});
