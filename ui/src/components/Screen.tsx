// The frame that every screen shares: a title row of 56 px with its actions at the right, and the content below.

import type { ReactNode } from "react";
import classes from "./Screen.module.css";

interface ScreenProps {
  title: ReactNode;
  /** Status and small facts directly after the title. */
  beside?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

/** A screen: one heading, its one primary action at the right, its content. */
export function Screen({ title, beside, actions, children }: ScreenProps) {
  return (
    <>
      <header className={classes.head}>
        <div className={classes.row}>
        <h1 className={classes.title}>{title}</h1>
        {beside && <div className={classes.beside}>{beside}</div>}
        {actions && <div className={classes.actions}>{actions}</div>}
        </div>
      </header>
      {children}
    </>
  );
}

/** Scrolling content in a column of reading width. */
export function Column({ children, narrow = false }: { children: ReactNode; narrow?: boolean }) {
  return (
    <div className={classes.body} tabIndex={-1}>
      <div className={classes.column} data-narrow={narrow || undefined}>
        {children}
      </div>
    </div>
  );
}
