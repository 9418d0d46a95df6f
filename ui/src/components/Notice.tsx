// A screen's or a part's empty and failed state: a sentence, what it means, and the one action that helps.

import type { ReactNode } from "react";
import { useText } from "../text/index.ts";
import { Mark } from "./Mark.tsx";
import classes from "./Notice.module.css";

interface NoticeProps {
  title: string;
  body?: ReactNode;
  action?: ReactNode;
  /** The original words, one click away. */
  details?: string | undefined;
  tone?: "plain" | "failed";
  icon?: ReactNode;
  compact?: boolean;
}

/** A quiet, centred message. */
export function Notice({ title, body, action, details, tone = "plain", icon, compact = false }: NoticeProps) {
  const t = useText();
  return (
    <div className={classes.notice} data-compact={compact || undefined} role={tone === "failed" ? "alert" : undefined}>
      {icon && <div className={classes.icon}>{icon}</div>}
      {tone === "failed" && !icon && <Mark kind="failed" size={compact ? 16 : 24} />}
      <p className={classes.title}>{title}</p>
      {body && <p className={classes.body}>{body}</p>}
      {action && <div className={classes.action}>{action}</div>}
      {details && (
        <details className={classes.details}>
          <summary>{t("errors.details")}</summary>
          <pre>{details}</pre>
        </details>
      )}
    </div>
  );
}
