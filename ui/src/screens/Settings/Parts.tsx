// The parts of the settings, one below the other, and beside them a list that leads to each.

import { UnstyledButton, VisuallyHidden } from "@mantine/core";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { unsavedParts, useDrafts } from "../../state/drafts.ts";
import { useText } from "../../text/index.ts";
import classes from "./Settings.module.css";
import { Told } from "./Told.tsx";

/** A part: its heading, a sentence about it, and its card. */
export interface Part {
  key: string;
  title: string;
  body: string;
  card: ReactNode;
}

/** All parts; those in one list belong together. */
export function Parts({ groups }: { groups: readonly (readonly Part[])[] }) {
  const t = useText();
  const cards = useRef<HTMLDivElement>(null);
  const [now, setNow] = useState(groups[0]?.[0]?.key ?? "");
  useEffect(() => watch(cards.current, setNow), []);
  const unsaved = unsavedParts(useDrafts((state) => state.drafts));
  const lead = (key: string) => {
    const part = cards.current?.querySelector<HTMLElement>(`[data-part=${key}]`);
    part?.scrollIntoView({ block: "start" });
    part?.querySelector("h2")?.focus({ preventScroll: true });
    setNow(key);
  };
  return (
    <div className={classes.parts}>
      <nav className={classes.list} aria-label={t("settings.parts")}>
        {groups.map((parts) => (
          <ul key={parts[0]?.key}>
            {parts.map(({ key, title }) => (
              <li key={key}>
                <UnstyledButton aria-current={key === now ? "true" : undefined} onClick={() => lead(key)}>
                  {title}
                  {unsaved.has(key) && (
                    <span className={classes.unsaved} title={t("settings.unsaved")}>
                      <VisuallyHidden>{t("settings.unsaved")}</VisuallyHidden>
                    </span>
                  )}
                </UnstyledButton>
              </li>
            ))}
          </ul>
        ))}
      </nav>
      <div className={classes.cards} ref={cards}>
        {groups.flat().map(({ key, title, body, card }) => (
          <section key={key} className={classes.group} aria-label={title} data-part={key}>
            <div className={classes.about}>
              <h2 tabIndex={-1}>{title}</h2>
              <p>{body}</p>
            </div>
            <div className={classes.card}>
              <Told>{card}</Told>
            </div>
          </section>
        ))}
      </div>
    </div>
  );
}

/** Tells which part is read: the one that reaches across the upper part of what is seen. */
function watch(cards: HTMLElement | null, tell: (key: string) => void): (() => void) | undefined {
  if (cards === null || typeof IntersectionObserver === "undefined") return undefined;
  const observer = new IntersectionObserver(
    (seen) => {
      const part = seen.find(({ isIntersecting }) => isIntersecting)?.target;
      if (part instanceof HTMLElement && part.dataset.part !== undefined) tell(part.dataset.part);
    },
    { rootMargin: "-20% 0px -79% 0px" },
  );
  for (const part of cards.children) observer.observe(part);
  return () => observer.disconnect();
}
