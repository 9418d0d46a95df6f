// Tasks to begin with, to choose from.

import { ActionIcon, Button, Modal } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { useState } from "react";
import { useForgetTemplate, useOwnTemplates } from "../../api/templates.ts";
import { tellError } from "../../components/toast.tsx";
import { hasUnsaved, useCompose } from "../../state/compose.ts";
import type { OwnTemplate } from "../../state/ownTemplates.ts";
import { readDraft } from "../../state/taskSource.ts";
import { type Template, templates } from "../../text/templates.ts";
import { useText } from "../../text/index.ts";
import classes from "./Templates.module.css";

/** The dialog with all of them. */
export function Templates({ opened, close }: { opened: boolean; close: () => void }) {
  const t = useText();
  const compose = useCompose();
  // What takes the place of words that are in no file is asked about first.
  const [asks, setAsks] = useState<Pick<Template, "source"> | null>(null);
  const own = useOwnTemplates().data ?? [];
  const take = ({ source }: Pick<Template, "source">) => {
    setAsks(null);
    close();
    compose.begin(source);
  };
  const choose = (template: Pick<Template, "source">) => (hasUnsaved(compose) ? setAsks(template) : take(template));
  return (
    <>
      <Modal opened={opened && asks === null} onClose={close} title={t("compose.templates.title")} size={720} closeButtonProps={{ "aria-label": t("common.close") }}>
        <p className={classes.hint}>{t("compose.templates.hint")}</p>
        {own.length > 0 && (
          <>
            <h3 className={classes.part}>{t("compose.templates.yours")}</h3>
            <ul className={classes.list}>
              {own.map((template) => (
                <Own key={template.title} template={template} choose={choose} />
              ))}
            </ul>
            <h3 className={classes.part}>{t("compose.templates.others")}</h3>
          </>
        )}
        <ul className={classes.list}>
          {templates.map((template) => (
            <li key={template.id}>
              <button type="button" className={classes.card} onClick={() => choose(template)}>
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

/** One of the person's own, which they can also delete: asked once more in its place. */
function Own({ template, choose }: { template: OwnTemplate; choose: (template: OwnTemplate) => void }) {
  const t = useText();
  const forget = useForgetTemplate();
  const [asks, setAsks] = useState(false);
  if (asks) {
    return (
      <li className={classes.asks}>
        <p>{t("compose.templates.delete", { title: template.title })}</p>
        <div>
          <Button size="xs" variant="default" onClick={() => setAsks(false)}>
            {t("common.cancel")}
          </Button>
          <Button size="xs" color="red" loading={forget.isPending} onClick={() => forget.mutate(template.title, { onError: tellError })}>
            {t("compose.templates.deleteSend")}
          </Button>
        </div>
      </li>
    );
  }
  return (
    <li className={classes.own}>
      <button type="button" className={classes.card} onClick={() => choose(template)}>
        <strong>{template.title}</strong>
        <span>{readDraft(template.source)?.goal}</span>
      </button>
      <ActionIcon className={classes.forget ?? ""} size={26} onClick={() => setAsks(true)} aria-label={t("compose.templates.forget", { title: template.title })}>
        <IconX size={14} stroke={1.6} />
      </ActionIcon>
    </li>
  );
}
