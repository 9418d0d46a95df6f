// Saying no ends the run, so it is asked once more, with room for a reason.

import { Button, Modal, Textarea } from "@mantine/core";
import { useState } from "react";
import { useText } from "../../text/index.ts";
import classes from "./PlanReview.module.css";

interface RejectDialogProps {
  /** What is refused. */
  what: "plan" | "step" | "gate" | "answer";
  opened: boolean;
  close: () => void;
  send: (reason: string | null) => void;
}

/** The dialog. */
export function RejectDialog({ what, opened, close, send }: RejectDialogProps) {
  const t = useText();
  const [reason, setReason] = useState("");
  return (
    <Modal opened={opened} onClose={close} title={t(`run.reject.${what}.title`)} closeButtonProps={{ "aria-label": t("common.close") }}>
      <p className={classes.modalBody}>{t(`run.reject.${what}.body`)}</p>
      <Textarea label={t("run.reject.label")} autosize minRows={2} maxRows={6} value={reason} onChange={(event) => setReason(event.currentTarget.value)} />
      <div className={classes.buttons}>
        <Button variant="default" onClick={close}>
          {t("common.cancel")}
        </Button>
        <Button
          color="red"
          onClick={() => {
            close();
            send(reason.trim() || null);
          }}
        >
          {t(`run.reject.${what}.send`)}
        </Button>
      </div>
    </Modal>
  );
}
