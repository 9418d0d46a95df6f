// Where a run stops, to be changed while it works or after it stopped there.

import { NumberInput } from "@mantine/core";
import type { LimitsChange } from "../../contract/index.ts";
import type { Room } from "../../state/budget.ts";
import { useText } from "../../text/index.ts";
import classes from "./Run.module.css";

interface LimitsFormProps {
  limits: Room;
  /** In which currency money is counted; empty where no price is known. */
  currency: string;
  change: LimitsChange;
  set: (change: LimitsChange) => void;
}

/** The fields. */
export function LimitsForm({ limits, currency, change, set }: LimitsFormProps) {
  const t = useText();
  const number = (value: string | number) => (typeof value === "number" ? value : undefined);
  return (
    <div className={classes.limits}>
      <NumberInput
        label={t("run.limits.tokens")}
        min={1000}
        step={1000}
        thousandSeparator=","
        allowDecimal={false}
        value={change.maxTokens ?? limits.maxTokens}
        onChange={(value) => set({ ...change, maxTokens: number(value) ?? null })}
      />
      <NumberInput
        label={t("run.limits.cycles")}
        min={1}
        max={50}
        allowDecimal={false}
        value={change.maxCycles ?? limits.maxCycles}
        onChange={(value) => set({ ...change, maxCycles: number(value) ?? null })}
      />
      {(currency !== "" || limits.maxCost !== undefined) && (
        <NumberInput
          label={t("run.limits.money", { currency })}
          placeholder={t("run.limits.noMoney")}
          min={0}
          decimalScale={2}
          step={0.5}
          value={change.withoutMaxCost ? "" : (change.maxCost ?? limits.maxCost ?? "")}
          onChange={(value) => set({ ...change, maxCost: number(value) ?? null, withoutMaxCost: number(value) === undefined })}
        />
      )}
      <NumberInput
        label={t("run.limits.minutes")}
        placeholder={t("run.limits.noTime")}
        min={1}
        allowDecimal={false}
        value={change.withoutMaxMinutes ? "" : (change.maxMinutes ?? limits.maxMinutes ?? "")}
        onChange={(value) => set({ ...change, maxMinutes: number(value) ?? null, withoutMaxMinutes: number(value) === undefined })}
      />
    </div>
  );
}
