// How this window is arranged. Kept in the window, because it is about the window; everything else lives in the app.

import { create } from "zustand";
import { persist } from "zustand/middleware";

interface Preferences {
  railCollapsed: boolean;
  inspectorWidth: number;
  panelHeight: number;
  panelOpen: boolean;
  asList: boolean;
  /** Whether lists stand closer together. */
  dense: boolean;
  toggleRail: () => void;
  setInspectorWidth: (width: number) => void;
  setPanelHeight: (height: number) => void;
  setPanelOpen: (open: boolean) => void;
  setAsList: (asList: boolean) => void;
  setDense: (dense: boolean) => void;
}

const between = (low: number, value: number, high: number) => Math.min(high, Math.max(low, value));

/** The arrangement of the window, remembered between starts. */
export const usePreferences = create<Preferences>()(
  persist(
    (set) => ({
      railCollapsed: false,
      inspectorWidth: 380,
      panelHeight: 200,
      panelOpen: true,
      asList: false,
      dense: false,
      toggleRail: () => set((now) => ({ railCollapsed: !now.railCollapsed })),
      setInspectorWidth: (width) => set({ inspectorWidth: between(300, Math.round(width), 720) }),
      setPanelHeight: (height) => set({ panelHeight: between(120, Math.round(height), 560), panelOpen: true }),
      setPanelOpen: (panelOpen) => set({ panelOpen }),
      setAsList: (asList) => set({ asList }),
      setDense: (dense) => set({ dense }),
    }),
    { name: "tepa.window" },
  ),
);
