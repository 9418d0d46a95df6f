// The button that helps against what kept a model from answering.

import { Button } from "@mantine/core";
import { useState } from "react";
import { type LiveRun, useContinue } from "../../api/runs.ts";
import { useProviders, useSettings } from "../../api/settings.ts";
import { tellError } from "../../components/toast.tsx";
import type { Remedy } from "../../contract/index.ts";
import { host } from "../../host/index.ts";
import { go } from "../../shell/route.ts";
import { type AccountField, useAsked } from "../../state/asked.ts";
import { useText } from "../../text/index.ts";
import { OtherModel } from "./OtherModel.tsx";

interface RemedyButtonProps {
  remedy: Remedy;
  /** The model that did not answer, as `provider:model`. */
  model: string;
  run: LiveRun;
  runId: string;
}

/** One button, whatever helps. */
export function RemedyButton({ remedy, model, run, runId }: RemedyButtonProps) {
  const t = useText();
  const resume = useContinue();
  const page = useCreditPage(model);
  const [picks, setPicks] = useState(false);
  const settings = () => go({ screen: "settings" });
  const account = model.split(":")[0] ?? "";
  const field = (name: AccountField) => () => {
    useAsked.getState().ask(account, name);
    settings();
  };
  const again = () => resume.mutate(runId, { onSuccess: () => go({ screen: "run", runId, view: "auto" }), onError: tellError });
  const acts: Record<Remedy, () => void> = {
    key: field("key"),
    credit: page === null ? settings : () => void host.openPage(page).catch(tellError),
    model: () => setPicks(true),
    provider: settings,
    address: field("address"),
    server: again,
    network: again,
    clock: again,
    less: () => setPicks(true),
    wait: again,
  };
  return (
    <>
      <Button size="xs" variant="default" loading={resume.isPending} onClick={acts[remedy]}>
        {remedy === "credit" && page === null ? t("errors.toSettings") : t(`settings.remedy.${remedy}`)}
      </Button>
      {picks && <OtherModel run={run} close={() => setPicks(false)} />}
    </>
  );
}

/** Where credit for this model is bought; null where nobody knows. */
function useCreditPage(model: string): string | null {
  const providers = useProviders().data ?? [];
  const accounts = useSettings().data?.accounts ?? [];
  const account = model.split(":")[0];
  const kind = accounts.find((one) => one.name === account)?.kind ?? account;
  return providers.find((one) => one.name === kind)?.creditPage ?? null;
}
