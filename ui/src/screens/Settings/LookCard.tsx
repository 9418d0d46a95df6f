// How the window looks and speaks. All but the theme are about this window, and are kept by it.

import { SegmentedControl, Select, Switch } from "@mantine/core";
import type { ReactNode } from "react";
import { useSaveSettings } from "../../api/settings.ts";
import type { Theme } from "../../contract/index.ts";
import { type Language, usePreferences, zooms } from "../../state/preferences.ts";
import { languages, useText } from "../../text/index.ts";
import classes from "./Settings.module.css";
import { useTold } from "./Told.tsx";

const themes: readonly Theme[] = ["system", "light", "dark"];
const system = "system";

/** The card. */
export function LookCard({ theme }: { theme: Theme }) {
  const t = useText();
  const { tell, tellError } = useTold();
  const save = useSaveSettings();
  const { language, setLanguage, zoom, setZoom, dense, setDense, notices, setNotices } = usePreferences();
  // The system asks the person too, once.
  const allow = async (wanted: boolean) => {
    const answer = wanted && typeof Notification !== "undefined" ? await Notification.requestPermission() : "denied";
    setNotices(wanted && answer === "granted");
    if (wanted && answer !== "granted") tell(t("settings.notices.refused"));
  };
  const named = Object.entries(languages).map(([value, label]) => ({ value, label }));
  return (
    <div className={classes.form}>
      <div className={classes.two}>
        <Choice label={t("settings.look.label")}>
          <SegmentedControl
            fullWidth
            aria-label={t("settings.look.label")}
            value={theme}
            onChange={(value) => save.mutate({ theme: themes.find((one) => one === value) ?? system }, { onError: tellError })}
            data={themes.map((value) => ({ value, label: t(`settings.look.${value}`) }))}
          />
        </Choice>
        <Choice label={t("settings.look.density")}>
          <SegmentedControl
            fullWidth
            aria-label={t("settings.look.density")}
            value={dense ? "dense" : "room"}
            onChange={(value) => setDense(value === "dense")}
            data={[
              { value: "room", label: t("settings.look.room") },
              { value: "dense", label: t("settings.look.dense") },
            ]}
          />
        </Choice>
        <Select
          label={t("settings.language.title")}
          allowDeselect={false}
          value={language ?? system}
          data={[{ value: system, label: t("settings.language.system") }, ...named]}
          onChange={(value) => setLanguage(value !== null && Object.hasOwn(languages, value) ? (value as Language) : null)}
        />
        <Select
          label={t("settings.look.zoom")}
          allowDeselect={false}
          value={String(zoom)}
          data={zooms.map((percent) => ({ value: String(percent), label: `${percent} %` }))}
          onChange={(value) => setZoom(Number(value))}
        />
      </div>
      <Switch label={t("settings.notices.label")} checked={notices} onChange={(event) => void allow(event.currentTarget.checked)} />
    </div>
  );
}

/** A choice below its name, as fields stand below theirs. */
function Choice({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <p className={classes.label} aria-hidden>
        {label}
      </p>
      {children}
    </div>
  );
}
