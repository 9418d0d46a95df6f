// What a step may touch or wants to touch, in words: a verb, and the file, command or host that it is about.

import type { Access, Envelope, HookEvent, TaskEffect } from "../contract/index.ts";
import type { Text } from "../text/index.ts";

/** One thing that a step touches. */
export interface AccessWords {
  verb: string;
  what: string;
}

/** An access in words. */
export function accessWords(access: Access, t: Text): AccessWords {
  switch (access.kind) {
    case "read":
      return { verb: t("access.read"), what: access.path };
    case "write":
      return { verb: t("access.write"), what: access.path };
    case "writeScratchpad":
      return { verb: t("access.write"), what: t("access.scratchpad") };
    case "execute":
      return { verb: t("access.execute"), what: access.command };
    case "network":
      if (access.host === "*") return { verb: t("access.network"), what: t("access.anywhere") };
      return { verb: t(access.effect ? "access.send" : "access.ask"), what: access.host };
    case "search":
      return { verb: t("access.search"), what: t("access.anywhere") };
    case "server":
      return { verb: t("access.server", { server: access.server }), what: access.tool };
    case "taskEffect":
      return effectWords(access.effect, t);
  }
}

/** What a task would have the app do by itself, in words; the command or the address stands in it whole. */
export function effectWords(effect: TaskEffect, t: Text): AccessWords {
  switch (effect.kind) {
    case "check":
      return { verb: t("effects.check"), what: effect.run };
    case "command":
      return { verb: t("effects.command", { when: whenWords(effect.on, t) }), what: effect.run };
    case "webhook":
      return { verb: t("effects.webhook", { when: whenWords(effect.on, t) }), what: effect.url };
  }
}

/** When a rule is carried out. */
export function whenWords(on: readonly HookEvent[], t: Text): string {
  return on.map((event) => t(`effects.when.${event}`)).join(", ");
}

/** Everything that an envelope grants beside its working folder, each once, in words. */
export function grantedBeside(envelope: Envelope, t: Text): AccessWords[] {
  const folders = (envelope.folders ?? []).map(({ path, write }) => ({ verb: t(write ? "access.write" : "access.read"), what: path }));
  const listed = envelope.commands?.kind === "listed" ? envelope.commands.patterns : [];
  const commands = listed.map((pattern) => ({ verb: t("access.execute"), what: pattern }));
  const network = envelope.commandNetwork ? [{ verb: t("access.network"), what: t("access.anywhere") }] : [];
  const hosts = (envelope.hosts ?? []).map(({ host, change }) => ({ verb: t(change ? "access.send" : "access.ask"), what: host }));
  const search = envelope.search === undefined ? [] : [{ verb: t("access.search"), what: envelope.search }];
  const servers = (envelope.mcpServers ?? []).map((server) => ({ verb: t("access.servers"), what: server }));
  const kept = (envelope.kept ?? []).map((access) => accessWords(access, t));
  const effects = (envelope.effects ?? []).filter(({ allowed }) => allowed).map(({ effect }) => effectWords(effect, t));
  const all = [...folders, ...commands, ...network, ...hosts, ...search, ...servers, ...kept, ...effects];
  return all.filter((one, place) => all.findIndex((other) => other.verb === one.verb && other.what === one.what) === place);
}

/** What the task asks for that nobody allowed, in words: it is not done. */
export function refusedEffects(envelope: Envelope, t: Text): AccessWords[] {
  const isKept = (effect: TaskEffect) => (envelope.kept ?? []).some((access) => access.kind === "taskEffect" && JSON.stringify(access.effect) === JSON.stringify(effect));
  return (envelope.effects ?? []).filter(({ allowed, effect }) => !allowed && !isKept(effect)).map(({ effect }) => effectWords(effect, t));
}
