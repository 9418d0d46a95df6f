// A run file that a person opened with the app: what will happen with it is said first.

import { Button, Modal } from "@mantine/core";
import { useEffect, useState } from "react";
import { handedFile, useImportFile } from "../api/archive.ts";
import { listen } from "../api/signals.ts";
import { Failure } from "../components/Failure.tsx";
import { tell } from "../components/toast.tsx";
import { fileName } from "../state/format.ts";
import { useText } from "../text/index.ts";
import classes from "../components/StopRun.module.css";
import { go } from "./route.ts";

/** The question, while there is such a file. */
export function Handed() {
  const [path, setPath] = useState<string | null>(null);
  useEffect(() => {
    // One that cannot be asked for now is asked for with the next signal.
    const ask = () => void handedFile().then((file) => file !== null && setPath(file), () => undefined);
    ask();
    return listen((signal) => {
      if (signal.kind === "fileHanded") ask();
    }, ask);
  }, []);
  return path === null ? null : <Import key={path} path={path} close={() => setPath(null)} />;
}

function Import({ path, close }: { path: string; close: () => void }) {
  const t = useText();
  const read = useImportFile();
  const send = () =>
    read.mutate(path, {
      onSuccess: (run) => {
        close();
        tell(t("runs.import.done", { title: run.title }));
        go({ screen: "run", runId: run.runId, view: "auto" });
      },
    });
  return (
    <Modal opened onClose={close} title={t("runs.handed.title", { name: fileName(path) })} closeButtonProps={{ "aria-label": t("common.close") }}>
      {read.isError ? <Failure compact error={read.error} /> : <p>{t("runs.handed.body")}</p>}
      <div className={classes.actions}>
        <Button variant="default" onClick={close}>
          {read.isError ? t("common.close") : t("common.cancel")}
        </Button>
        {!read.isError && (
          <Button data-autofocus loading={read.isPending} onClick={send}>
            {t("runs.import.open")}
          </Button>
        )}
      </div>
    </Modal>
  );
}
