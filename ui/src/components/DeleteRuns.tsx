// Deleting runs is for good, so what goes with them is said first, in numbers; and what stays.

import { Button, Modal } from "@mantine/core";
import { useDeleteRuns, useDeletion } from "../api/archive.ts";
import { count, size } from "../state/format.ts";
import { useText } from "../text/index.ts";
import classes from "./StopRun.module.css";
import { tell, tellError } from "./toast.tsx";

interface DeleteRunsProps {
  /** Those that are to go. */
  runIds: readonly string[];
  /** What a single one is called. */
  title: string;
  close: () => void;
  deleted: () => void;
}

/** The question. */
export function DeleteRuns({ runIds, title, close, deleted }: DeleteRunsProps) {
  const t = useText();
  const { data, error } = useDeletion(runIds);
  const remove = useDeleteRuns();
  const number = runIds.length;
  return (
    <Modal opened onClose={close} title={t("runs.delete.title", { count: number, title })} closeButtonProps={{ "aria-label": t("common.close") }}>
      <p aria-live="polite">
        {data
          ? t("runs.delete.goes", {
              events: t("runs.delete.events", { count: data.events, shown: count(data.events) }),
              values: t("runs.delete.values", { count: data.values, shown: count(data.values), size: size(data.bytes) }),
            })
          : error
            ? error.message
            : t("common.loading")}
      </p>
      <p className={classes.stays}>{t("runs.delete.stays")}</p>
      <div className={classes.actions}>
        <Button variant="default" data-autofocus onClick={close}>
          {t("runs.delete.keep")}
        </Button>
        <Button
          color="red"
          disabled={!data}
          loading={remove.isPending}
          onClick={() =>
            remove.mutate(runIds, {
              onSuccess: () => {
                close();
                deleted();
                tell(t("runs.delete.done", { count: number }));
              },
              onError: tellError,
            })
          }
        >
          {t("runs.delete.send", { count: number })}
        </Button>
      </div>
    </Modal>
  );
}
