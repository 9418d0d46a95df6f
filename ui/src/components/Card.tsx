// Surfaces and sections: a card is a border and a radius, never a shadow.

import type { ReactNode } from "react";
import classes from "./Card.module.css";

interface CardProps {
  children: ReactNode;
  padded?: boolean;
  tone?: "plain" | "waiting";
  className?: string | undefined;
}

/** A card. */
export function Card({ children, padded = false, tone = "plain", className }: CardProps) {
  return (
    <div className={className ? `${classes.card} ${className}` : classes.card} data-padded={padded || undefined} data-tone={tone}>
      {children}
    </div>
  );
}

/** A titled part of a screen. */
export function Section({ title, aside, children }: { title: string; aside?: ReactNode; children: ReactNode }) {
  return (
    <section className={classes.section} aria-label={title}>
      <div className={classes.sectionHead}>
        <h2>{title}</h2>
        {aside && <div className={classes.aside}>{aside}</div>}
      </div>
      {children}
    </section>
  );
}
