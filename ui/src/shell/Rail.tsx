// The left rail: where one can go, what waits, and the one button that starts something.

import { ActionIcon, Tooltip } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import {
  type Icon,
  IconCommand,
  IconHistory,
  IconHome,
  IconLayoutSidebarLeftCollapse,
  IconLayoutSidebarLeftExpand,
  IconPlus,
  IconSettings,
  IconUserQuestion,
} from "@tabler/icons-react";
import { Logo } from "../components/Logo.tsx";
import { usePreferences } from "../state/preferences.ts";
import { useText } from "../text/index.ts";
import { useRuns } from "../api/runs.ts";
import { openPalette } from "./Palette.tsx";
import { href, type Route } from "./route.ts";
import classes from "./Shell.module.css";
import { shortcuts } from "./shortcuts.ts";

interface ItemProps {
  icon: Icon;
  label: string;
  to: Route;
  current: boolean;
  keys?: string;
  count?: number;
  countLabel?: string;
}

function Item({ icon: Icon, label, to, current, keys, count = 0, countLabel }: ItemProps) {
  const { collapsed } = useRail();
  const hint = collapsed ? (keys ? `${label}  ${keys}` : label) : keys;
  return (
    <li>
      <Tooltip label={hint} position="right" disabled={!hint}>
        <a className={classes.item} href={href(to)} aria-current={current ? "page" : undefined} aria-label={collapsed ? label : undefined}>
          <Icon size={18} stroke={1.6} aria-hidden />
          {!collapsed && label}
          {count > 0 && (
            <span className={classes.count} aria-label={countLabel}>
              {count}
            </span>
          )}
        </a>
      </Tooltip>
    </li>
  );
}

/** How wide the rail is: as it was last made, and narrow in a small window, where the screen needs the room. */
function useRail() {
  const { railCollapsed, toggleRail, zoom } = usePreferences();
  const narrow = useMediaQuery(`(max-width: ${10 * zoom}px)`, false, { getInitialValueInEffect: false });
  return { collapsed: railCollapsed || narrow, narrow, toggleRail };
}

/** The rail; `route` says which item is the present place. */
export function Rail({ route, skip }: { route: Route; skip: () => void }) {
  const t = useText();
  const { collapsed, narrow, toggleRail } = useRail();
  const waiting = useRuns({ status: ["waiting"], text: "" }).data?.length ?? 0;
  const inWaiting = route.screen === "runs" && route.status === "waiting";
  const CollapseIcon = collapsed ? IconLayoutSidebarLeftExpand : IconLayoutSidebarLeftCollapse;
  const collapseLabel = collapsed ? t("app.expand") : t("app.collapse");
  return (
    <nav className={classes.rail} data-collapsed={collapsed || undefined} aria-label={t("app.navigation")}>
      <button type="button" className={classes.skip} onClick={skip}>
        {t("app.skip")}
      </button>
      <div className={classes.brand}>
        <Logo />
        {!collapsed && t("app.name")}
        {!collapsed && (
          <Tooltip label={`${collapseLabel}  ${shortcuts.rail}`} position="right">
            <ActionIcon className={classes.collapse ?? ""} onClick={toggleRail} aria-label={collapseLabel} aria-expanded size={28}>
              <CollapseIcon size={17} stroke={1.6} />
            </ActionIcon>
          </Tooltip>
        )}
      </div>
      <Tooltip label={collapsed ? `${t("app.newTask")}  ${shortcuts.newTask}` : shortcuts.newTask} position="right">
        <a
          className={classes.primary}
          href={href({ screen: "compose" })}
          aria-label={collapsed ? t("app.newTask") : undefined}
          aria-current={route.screen === "compose" ? "page" : undefined}
        >
          <IconPlus size={18} stroke={1.8} aria-hidden />
          {!collapsed && t("app.newTask")}
        </a>
      </Tooltip>
      <ul className={classes.list}>
        <Item icon={IconHome} label={t("app.home")} to={{ screen: "home" }} current={route.screen === "home"} keys={shortcuts.home} />
        <Item
          icon={IconHistory}
          label={t("app.runs")}
          to={{ screen: "runs", status: "all" }}
          current={(route.screen === "runs" && !inWaiting) || route.screen === "run"}
          keys={shortcuts.runs}
        />
        <Item
          icon={IconUserQuestion}
          label={t("app.waiting")}
          to={{ screen: "runs", status: "waiting" }}
          current={inWaiting}
          keys={shortcuts.waiting}
          count={waiting}
          countLabel={t("app.waitingCount", { count: waiting })}
        />
      </ul>
      <ul className={`${classes.list} ${classes.bottom}`}>
        <li>
          <Tooltip label={collapsed ? `${t("palette.open")}  ${shortcuts.palette}` : shortcuts.palette} position="right">
            <button type="button" className={classes.item} onClick={openPalette} aria-label={collapsed ? t("palette.open") : undefined}>
              <IconCommand size={18} stroke={1.6} aria-hidden />
              {!collapsed && t("palette.open")}
            </button>
          </Tooltip>
        </li>
        <Item icon={IconSettings} label={t("app.settings")} to={{ screen: "settings" }} current={route.screen === "settings"} keys={shortcuts.settings} />
      </ul>
      {collapsed && !narrow && (
        <Tooltip label={`${collapseLabel}  ${shortcuts.rail}`} position="right">
          <ActionIcon className={classes.collapse ?? ""} onClick={toggleRail} aria-label={collapseLabel} aria-expanded={false} size={28}>
            <CollapseIcon size={17} stroke={1.6} />
          </ActionIcon>
        </Tooltip>
      )}
    </nav>
  );
}
