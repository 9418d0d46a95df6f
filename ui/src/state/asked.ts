// The field of an account that a button leads to, from the settings themselves or from a run.

import { create } from "zustand";

/** What of an account is to be put right. */
export type AccountField = "key" | "address" | "model";

interface Asked {
  asked: { account: string; field: AccountField } | null;
  /** Leads to a field: its account is opened, and the cursor put there. */
  ask: (account: string, field: AccountField) => void;
  /** Once somebody is there. */
  arrived: () => void;
}

/** Where somebody is led to; nowhere most of the time. */
export const useAsked = create<Asked>()((set) => ({
  asked: null,
  ask: (account, field) => set({ asked: { account, field } }),
  arrived: () => set({ asked: null }),
}));

/** Whether somebody is led to this field, or with no field to anything of the account. */
export function useIsAsked(account: string, field?: AccountField): boolean {
  return useAsked(({ asked }) => asked?.account === account && (field === undefined || asked.field === field));
}
