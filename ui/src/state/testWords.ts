// What came of asking a server, in the language of the window. The app says it in English and more exactly; elsewhere the
// remedy tells which sentence fits, and what the app said is one click away.

import type { ProviderTest } from "../contract/index.ts";
import { sentence } from "./errors.ts";
import { spokenNow } from "./format.ts";
import type { Text } from "../text/index.ts";

/** The sentence, and the app's own where that is another. */
export function testWords(
  { ok, message, remedy, lacks, canWiden, callsNoTools }: ProviderTest,
  { who, model }: { who: string; model: string },
  t: Text,
): { said: string; original: string | null } {
  const original = [sentence(message, null), lacks].filter(Boolean).join(" ");
  if (spokenNow() === "en") return { said: original, original: null };
  if (!ok) return { said: remedy ? t(`settings.said.${remedy}`, { who, model }) : t("settings.said.failed", { who }), original };
  const lacking = callsNoTools ? "noTools" : canWiden ? "narrow" : lacks ? "lacks" : null;
  const works = t("settings.said.works", { model });
  return lacking === null ? { said: works, original: null } : { said: `${works} ${t(`settings.said.${lacking}`)}`, original };
}
