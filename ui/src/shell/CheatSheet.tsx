// Every shortcut on one sheet.

import { Modal } from "@mantine/core";
import { create } from "zustand";
import { useText } from "../text/index.ts";
import classes from "./CheatSheet.module.css";
import { shortcuts } from "./shortcuts.ts";

const useSheet = create<{ opened: boolean }>(() => ({ opened: false }));

/** Shows the sheet, or takes it away. */
export function toggleCheatSheet(): void {
  useSheet.setState(({ opened }) => ({ opened: !opened }));
}

const parts = {
  everywhere: ["palette", "newTask", "home", "runs", "waiting", "settings", "rail", "zoomIn", "zoomOut", "zoomReset", "sheet"],
  compose: ["open", "save", "saveAs", "undo", "redo", "nextLine"],
  run: ["send", "close", "resize"],
} as const;

/** The sheet. Stands once in the shell. */
export function CheatSheet() {
  const t = useText();
  const opened = useSheet((state) => state.opened);
  return (
    <Modal opened={opened} onClose={toggleCheatSheet} title={t("sheet.title")} size={560} closeButtonProps={{ "aria-label": t("common.close") }}>
      <div className={classes.sheet}>
        {(["everywhere", "compose", "run"] as const).map((part) => (
          <section key={part}>
            <h3>{t(`sheet.parts.${part}`)}</h3>
            <dl>
              {parts[part].map((name) => (
                <div key={name}>
                  <dt>{t(`sheet.names.${name}`)}</dt>
                  <dd>
                    <kbd>{shortcuts[name]}</kbd>
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Modal>
  );
}
