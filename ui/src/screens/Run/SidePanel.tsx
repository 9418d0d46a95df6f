// The panel at the right: resizable by mouse and by keyboard, with room for a question at its foot.

import { ActionIcon, Tooltip } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { type KeyboardEvent, type PointerEvent, type ReactNode, useRef } from "react";
import { usePreferences } from "../../state/preferences.ts";
import { useText } from "../../text/index.ts";
import classes from "./SidePanel.module.css";

interface SidePanelProps {
  label: string;
  children: ReactNode;
  footer?: ReactNode;
}

/** The panel. */
export function SidePanel({ label, children, footer }: SidePanelProps) {
  const t = useText();
  const { inspectorWidth: width, setInspectorWidth } = usePreferences();
  const drag = useRef<{ x: number; width: number } | null>(null);
  const onPointerDown = (event: PointerEvent<HTMLDivElement>) => {
    event.currentTarget.setPointerCapture(event.pointerId);
    drag.current = { x: event.clientX, width };
  };
  const onPointerMove = (event: PointerEvent<HTMLDivElement>) => {
    if (drag.current) setInspectorWidth(drag.current.width + drag.current.x - event.clientX);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "ArrowLeft") setInspectorWidth(width + 24);
    else if (event.key === "ArrowRight") setInspectorWidth(width - 24);
    else return;
    event.preventDefault();
  };
  return (
    <aside className={classes.panel} style={{ width }} aria-label={label}>
      <div
        className={classes.grip}
        role="separator"
        aria-orientation="vertical"
        aria-label={t("run.inspector.resize")}
        aria-valuenow={width}
        aria-valuemin={300}
        aria-valuemax={720}
        tabIndex={0}
        onPointerDown={onPointerDown}
        onPointerMove={onPointerMove}
        onPointerUp={() => (drag.current = null)}
        onKeyDown={onKeyDown}
      />
      {/* What is only read can be longer than the panel: the keyboard scrolls it, too. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className={classes.scroll} role="group" aria-label={label} tabIndex={0}>
        {children}
      </div>
      {footer && <div className={classes.footer}>{footer}</div>}
    </aside>
  );
}

/** The title of what stands in the panel, with what takes it away. */
export function PanelHead({ title, close }: { title: string; close: () => void }) {
  const t = useText();
  return (
    <header className={classes.head}>
      <h2>{title}</h2>
      <Tooltip label={t("run.inspector.close")}>
        <ActionIcon onClick={close} aria-label={t("run.inspector.close")} size={28}>
          <IconX size={16} stroke={1.6} />
        </ActionIcon>
      </Tooltip>
    </header>
  );
}
