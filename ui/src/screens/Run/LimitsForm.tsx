// Where a run stops, to be changed while it works or after it stopped there.

import { NumberField } from "../../components/NumberField.tsx";
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
  return (
    <div className={classes.limits}>
      <NumberField
        label={t("run.limits.tokens")}
        whole
        needed
        min={1000}
        step={1000}
        value={change.maxTokens ?? limits.maxTokens}
        onChange={(maxTokens) => set({ ...change, maxTokens })}
      />
      <NumberField
        label={t("run.limits.cycles")}
        whole
        needed
        min={1}
        max={50}
        value={change.maxCycles ?? limits.maxCycles}
        onChange={(maxCycles) => set({ ...change, maxCycles })}
      />
      {(currency !== "" || limits.maxCost !== undefined) && (
        <NumberField
          label={t("run.limits.money", { currency })}
          placeholder={t("run.limits.noMoney")}
          min={0}
          step={0.5}
          value={change.withoutMaxCost ? null : (change.maxCost ?? limits.maxCost ?? null)}
          onChange={(maxCost) => set({ ...change, maxCost, withoutMaxCost: maxCost === null })}
        />
      )}
      <NumberField
        label={t("run.limits.minutes")}
        placeholder={t("run.limits.noTime")}
        whole
        min={1}
        value={change.withoutMaxMinutes ? null : (change.maxMinutes ?? limits.maxMinutes ?? null)}
        onChange={(maxMinutes) => set({ ...change, maxMinutes, withoutMaxMinutes: maxMinutes === null })}
      />
    </div>
  );
}
