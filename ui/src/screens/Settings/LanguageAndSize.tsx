// The language of the interface and how large everything is. Both are about this window, and are kept by it.

import { Select } from "@mantine/core";
import { type Language, usePreferences, zooms } from "../../state/preferences.ts";
import { languages, useText } from "../../text/index.ts";

const system = "system";

/** The two choices. */
export function LanguageAndSize() {
  const t = useText();
  const { language, setLanguage, zoom, setZoom } = usePreferences();
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
    </>
  );
}
