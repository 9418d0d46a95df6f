// What can be done from everywhere: go to a screen, change how the window looks.

import { IconHistory, IconHome, IconKeyboard, IconLanguage, IconLayoutSidebar, IconLineHeight, IconMap, IconMoon, IconPlayerPlay, IconPlus, IconSettings, IconSun, IconSunMoon, IconUserQuestion, IconZoomIn, IconZoomOut } from "@tabler/icons-react";
import { useStartSample } from "../api/runs.ts";
import { useSaveSettings } from "../api/settings.ts";
import { tellError } from "../components/toast.tsx";
import { type Command, useCommands } from "../state/commands.ts";
import { usePreferences } from "../state/preferences.ts";
import { languages, useText } from "../text/index.ts";
import { toggleCheatSheet } from "./CheatSheet.tsx";
import { go } from "./route.ts";
import { shortcuts, zoomBy } from "./shortcuts.ts";
import { startTour } from "./Tour.tsx";

const themes = { system: IconSunMoon, light: IconSun, dark: IconMoon } as const;

/** Offers them. Called once, by the shell. */
export function useEverywhere(): void {
  const t = useText();
  const sample = useStartSample();
  const save = useSaveSettings();
  const { dense, setDense, setLanguage, toggleRail } = usePreferences();
  useCommands((): Command[] => [
    { id: "new", group: "go", title: t("app.newTask"), icon: IconPlus, keys: shortcuts.newTask, run: () => go({ screen: "compose" }) },
    { id: "home", group: "go", title: t("app.home"), icon: IconHome, keys: shortcuts.home, run: () => go({ screen: "home" }) },
    { id: "runs", group: "go", title: t("app.runs"), icon: IconHistory, keys: shortcuts.runs, run: () => go({ screen: "runs", status: "all" }) },
    { id: "waiting", group: "go", title: t("app.waiting"), icon: IconUserQuestion, keys: shortcuts.waiting, run: () => go({ screen: "runs", status: "waiting" }) },
    { id: "settings", group: "go", title: t("app.settings"), icon: IconSettings, keys: shortcuts.settings, run: () => go({ screen: "settings" }) },
    {
      id: "sample",
      group: "go",
      title: t("home.sample"),
      icon: IconPlayerPlay,
      run: () => sample.mutate(undefined, { onSuccess: ({ runId }) => go({ screen: "run", runId, view: "auto" }), onError: tellError }),
    },
    ...(["system", "light", "dark"] as const).map(
      (theme): Command => ({ id: `theme-${theme}`, group: "window", title: t(`palette.theme.${theme}`), icon: themes[theme], run: () => save.mutate({ theme }, { onError: tellError }) }),
    ),
    { id: "density", group: "window", title: dense ? t("palette.comfortable") : t("palette.dense"), icon: IconLineHeight, run: () => setDense(!dense) },
    { id: "rail", group: "window", title: t("palette.rail"), icon: IconLayoutSidebar, keys: shortcuts.rail, run: toggleRail },
    { id: "zoomIn", group: "window", title: t("palette.zoomIn"), icon: IconZoomIn, keys: shortcuts.zoomIn, run: () => zoomBy(1) },
    { id: "zoomOut", group: "window", title: t("palette.zoomOut"), icon: IconZoomOut, keys: shortcuts.zoomOut, run: () => zoomBy(-1) },
    ...(Object.keys(languages) as (keyof typeof languages)[]).map((one): Command => ({ id: `language-${one}`, group: "window", title: languages[one], icon: IconLanguage, run: () => setLanguage(one) })),
    { id: "tour", group: "window", title: t("tour.open"), icon: IconMap, run: startTour },
    { id: "sheet", group: "window", title: t("sheet.title"), icon: IconKeyboard, keys: shortcuts.sheet, run: toggleCheatSheet },
  ]);
}
