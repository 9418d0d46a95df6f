// Tasks to begin with, to choose from.

import { Button, Modal } from "@mantine/core";
import { useState } from "react";
import { hasUnsaved, useCompose } from "../../state/compose.ts";
import { type Template, templates } from "../../text/templates.ts";
import { useText } from "../../text/index.ts";
import classes from "./Templates.module.css";

/** The dialog with all of them. */
export function Templates({ opened, close }: { opened: boolean; close: () => void }) {
  const t = useText();
  const compose = useCompose();
  // What takes the place of words that are in no file is asked about first.
  const [asks, setAsks] = useState<Template | null>(null);
  const take = ({ source }: Template) => {
    setAsks(null);
    close();
    compose.begin(source);
  };
  return (
    <>
      <Modal opened={opened && asks === null} onClose={close} title={t("compose.templates.title")} size={720} closeButtonProps={{ "aria-label": t("common.close") }}>
        <p className={classes.hint}>{t("compose.templates.hint")}</p>
        <ul className={classes.list}>
          {templates.map((template) => (
            <li key={template.id}>
              <button type="button" onClick={() => (hasUnsaved(compose) ? setAsks(template) : take(template))}>
                <strong>{template.title}</strong>
                <span>{template.about}</span>
              </button>
            </li>
          ))}
        </ul>
      </Modal>
      <Modal opened={asks !== null} onClose={() => setAsks(null)} title={t("compose.openTitle")} closeButtonProps={{ "aria-label": t("common.close") }}>
        <p>{t("compose.openBody")}</p>
        <div className={classes.actions}>
          <Button variant="default" onClick={() => setAsks(null)}>
            {t("common.cancel")}
          </Button>
          <Button onClick={() => asks && take(asks)}>{t("compose.templates.use")}</Button>
        </div>
      </Modal>
    </>
  );
}
