// Where the task stops, folded to one sentence that opens to a form.

import { Select, UnstyledButton } from "@mantine/core";
import { useState } from "react";
import { useSettings } from "../../api/settings.ts";
import { NumberField } from "../../components/NumberField.tsx";
import type { Approval, Limits } from "../../contract/index.ts";
import { useCompose } from "../../state/compose.ts";
import { count, folderName, money } from "../../state/format.ts";
import { type Draft, setAt } from "../../state/taskSource.ts";
import { useText } from "../../text/index.ts";
import classes from "./Compose.module.css";
import { Problems } from "./problems.tsx";

const approvals: readonly Approval[] = ["every_plan", "first_plan", "never"];
const standard = { maxCycles: 5, maxTokens: 64_000 };

/** The sentence. */
export function LimitsLine({ draft }: { draft: Draft }) {
  const t = useText();
  const { folder, change, approvalChosen, chooseApproval } = useCompose();
  const settings = useSettings().data;
  const limits: Pick<Limits, "maxCycles" | "maxTokens" | "maxCost" | "maxMinutes"> = settings?.limits ?? standard;
  const [open, setOpen] = useState(false);
  const cycles = draft.maxCycles ?? limits.maxCycles;
  const tokens = draft.maxTokens ?? limits.maxTokens;
  const cost = draft.maxCost ?? limits.maxCost ?? null;
  const minutes = draft.maxMinutes ?? limits.maxMinutes ?? null;
  // What a file says about asking is a request: every plan waits until a person chooses otherwise here.
  const approval = approvalChosen ? (draft.approval ?? "every_plan") : "every_plan";
  const asksOtherwise = !approvalChosen && draft.approval !== null && draft.approval !== "every_plan";
  const set = (name: string, value: unknown) => change((source) => setAt(source, ["limits", name], value));
  const field = (name: "maxCycles" | "maxTokens" | "maxCost" | "maxMinutes") => ({
    label: t(`compose.limits.${name}`),
    description: t(`compose.limits.${name}Hint`),
    onChange: (value: number | null) => set(name, value ?? undefined),
    // The task has it as it is typed: one that cannot be read is a problem of the task, and not a task without the limit.
    onRefused: (typed: string) => set(name, typed),
  });
  return (
    <section className={classes.limits} aria-label={t("compose.limits.title")}>
      <p>
        {t(cost === null ? "compose.limits.sentence" : "compose.limits.sentenceMoney", {
          money: cost === null ? "" : money(cost, settings?.prices.currency || "USD"),
          cycles: t("common.cycles", { count: cycles }),
          tokens: t("common.tokens", { count: tokens, shown: count(tokens) }) + (minutes === null ? "" : `, ${t("run.ask.minutes", { count: minutes })}`),
          approval: t(`compose.limits.approval.${approval}`),
        })}{" "}
        {folder !== null && t("compose.limits.works", { folder: folderName(folder) })}{" "}
        <UnstyledButton className={classes.use} aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? t("compose.limits.done") : t("compose.limits.change")}
        </UnstyledButton>
      </p>
      {open && (
        <div className={classes.limitsForm}>
          <NumberField {...field("maxCycles")} whole min={1} max={50} value={cycles} />
          <NumberField {...field("maxTokens")} whole min={1000} step={1000} value={tokens} />
          <NumberField {...field("maxCost")} min={0} step={0.5} value={cost} />
          <NumberField {...field("maxMinutes")} whole min={1} value={minutes} />
          <Select
            label={t("compose.limits.approvalLabel")}
            description={asksOtherwise && draft.approval ? t("compose.limits.approvalAsked", { asked: t(`compose.limits.options.${draft.approval}`) }) : t("compose.limits.approvalHint")}
            allowDeselect={false}
            value={approval}
            data={approvals.map((value) => ({ value, label: t(`compose.limits.options.${value}`) }))}
            onChange={(value) => {
              if (!value) return;
              chooseApproval();
              change((source) => setAt(source, ["approval"], value === "every_plan" ? undefined : value));
            }}
          />
        </div>
      )}
      <Problems place="limits" below />
    </section>
  );
}
