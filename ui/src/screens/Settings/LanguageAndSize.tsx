// The language of the interface, how large everything is, and whether the system says when a run waits. All are about this window, and are kept by it.

import { Select, Switch } from "@mantine/core";
import { tell } from "../../components/toast.tsx";
import { type Language, usePreferences, zooms } from "../../state/preferences.ts";
import { languages, useText } from "../../text/index.ts";

const system = "system";

/** The choices. */
export function LanguageAndSize() {
  const t = useText();
  const { language, setLanguage, zoom, setZoom, notices, setNotices } = usePreferences();
  // The system asks the person too, once.
  const allow = async (wanted: boolean) => {
    const answer = wanted && typeof Notification !== "undefined" ? await Notification.requestPermission() : "denied";
    setNotices(wanted && answer === "granted");
    if (wanted && answer !== "granted") tell(t("settings.notices.refused"));
  };
  const named = Object.entries(languages).map(([value, label]) => ({ value, label }));
  return (
    <>
      <Select
        label={t("settings.language.title")}
        w={220}
        allowDeselect={false}
        value={language ?? system}
        data={[{ value: system, label: t("settings.language.system") }, ...named]}
        onChange={(value) => setLanguage(value !== null && Object.hasOwn(languages, value) ? (value as Language) : null)}
      />
      <Select
        label={t("settings.look.zoom")}
        w={120}
        allowDeselect={false}
        value={String(zoom)}
        data={zooms.map((percent) => ({ value: String(percent), label: `${percent} %` }))}
        onChange={(value) => setZoom(Number(value))}
      />
      <Switch label={t("settings.notices.label")} checked={notices} onChange={(event) => void allow(event.currentTarget.checked)} />
    </>
  );
}
