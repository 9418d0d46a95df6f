// The shell: the rail at the left, one screen at the right, and what belongs to all screens.

import { Suspense, useEffect, useRef } from "react";
import { useApplyTheme } from "../api/settings.ts";
import { useLostAnswers, useRunSignals } from "../api/runs.ts";
import { host } from "../host/index.ts";
import { ListSkeleton } from "../components/Late.tsx";
import { Column } from "../components/Screen.tsx";
import { tellError } from "../components/toast.tsx";
import { Compose, History, Home, Run, Settings } from "../screens/index.ts";
import { usePreferences } from "../state/preferences.ts";
import { Announcer } from "./announce.tsx";
import { CheatSheet } from "./CheatSheet.tsx";
import { ErrorBoundary } from "./ErrorBoundary.tsx";
import { useEverywhere } from "./everywhere.ts";
import { Handed } from "./Handed.tsx";
import { useMenus } from "./menus.ts";
import { useNotices } from "./notices.ts";
import { Palette } from "./Palette.tsx";
import { Rail } from "./Rail.tsx";
import { parseRoute, type Route, useHash } from "./route.ts";
import classes from "./Shell.module.css";
import { Tour } from "./Tour.tsx";
import { useShortcuts } from "./shortcuts.ts";

/** The whole window. */
export function App() {
  const hash = useHash();
  const route = parseRoute(hash);
  const main = useRef<HTMLElement>(null);
  useShortcuts();
  useRunSignals();
  useLostAnswers(tellError);
  useApplyTheme();
  useEverywhere();
  useMenus();
  useNotices();
  const dense = usePreferences((state) => state.dense);
  const zoom = usePreferences((state) => state.zoom);
  useEffect(() => host.setZoom(zoom), [zoom]);
  const place = route.screen === "run" ? route.runId : route.screen;
  const first = useRef(true);
  useEffect(() => {
    // Going somewhere else moves the reader there too; the first screen leaves the focus alone.
    if (!first.current) main.current?.focus({ preventScroll: true });
    first.current = false;
  }, [place]);
  return (
    <div className={classes.frame} data-dense={dense || undefined}>
      <Rail route={route} skip={() => main.current?.focus()} />
      <main className={classes.main} ref={main} tabIndex={-1}>
        <ErrorBoundary place={hash}>
          <Suspense fallback={<Opening />}>
            <Place route={route} />
          </Suspense>
        </ErrorBoundary>
        <div id="floating" />
      </main>
      <Palette />
      <CheatSheet />
      <Tour />
      <Handed />
      <Announcer />
    </div>
  );
}

function Opening() {
  return (
    <Column>
      <ListSkeleton rows={4} height={64} />
    </Column>
  );
}

function Place({ route }: { route: Route }) {
  switch (route.screen) {
    case "home":
      return <Home />;
    case "compose":
      return <Compose />;
    case "runs":
      return <History filter={route.status} />;
    case "run":
      return <Run key={route.runId} runId={route.runId} view={route.view} />;
    case "settings":
      return <Settings />;
  }
}
