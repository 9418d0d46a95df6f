// What can be done from where one is, for the command palette: each screen says what it offers for as long as it is shown.

import type { Icon } from "@tabler/icons-react";
import { useEffect, useRef } from "react";

/** What a command is about. */
export type CommandGroup = "here" | "go" | "window";

/** Something that can be done, by its name. */
export interface Command {
  id: string;
  title: string;
  group: CommandGroup;
  icon?: Icon;
  /** The keys that do it, as they are shown. */
  keys?: string;
  run: () => void;
}

type Offer = () => readonly Command[];

const offers = new Set<Offer>();

/** Offers commands while the component is shown; `offer` is asked when somebody looks. */
export function useCommands(offer: Offer): void {
  const latest = useRef(offer);
  useEffect(() => {
    latest.current = offer;
  });
  useEffect(() => {
    const ask: Offer = () => latest.current();
    offers.add(ask);
    return () => {
      offers.delete(ask);
    };
  }, []);
}

const order: readonly CommandGroup[] = ["here", "go", "window"];

/** Everything that is offered now: what belongs to the screen first. */
export function offered(): Command[] {
  return order.flatMap((group) => [...offers].flatMap((offer) => offer().filter((command) => command.group === group)));
}

/** The commands whose name has every word, or a part that begins so. */
export function matching(commands: readonly Command[], query: string): Command[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return commands.filter(({ title }) => {
    const parts = title.toLowerCase().split(/[\s:,“”]+/);
    return words.every((word) => parts.some((part) => part.startsWith(word)) || title.toLowerCase().includes(word));
  });
}
