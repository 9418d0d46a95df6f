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
  /** The language of the words; null as the system has it. */
  language: Language | null;
  /** Whether the system says when a run waits or has ended. */
  notices: boolean;
  /** How large everything is, in percent. */
  zoom: number;
  toggleRail: () => void;
  setInspectorWidth: (width: number) => void;
  setPanelHeight: (height: number) => void;
  setPanelOpen: (open: boolean) => void;
  setAsList: (asList: boolean) => void;
  setDense: (dense: boolean) => void;
  setLanguage: (language: Language | null) => void;
  setNotices: (notices: boolean) => void;
  setZoom: (zoom: number) => void;
}

/** A language that the interface is written in. */
export type Language = "en" | "de";

/** How large everything can be, in percent. */
export const zooms = [80, 90, 100, 110, 125, 150, 175, 200] as const;

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
      language: null,
      notices: false,
      zoom: 100,
      toggleRail: () => set((now) => ({ railCollapsed: !now.railCollapsed })),
      setInspectorWidth: (width) => set({ inspectorWidth: between(300, Math.round(width), 720) }),
      setPanelHeight: (height) => set({ panelHeight: between(120, Math.round(height), 560), panelOpen: true }),
      setPanelOpen: (panelOpen) => set({ panelOpen }),
      setAsList: (asList) => set({ asList }),
      setDense: (dense) => set({ dense }),
      setLanguage: (language) => set({ language }),
      setNotices: (notices) => set({ notices }),
      setZoom: (zoom) => set({ zoom: between(80, zoom, 200) }),
    }),
    { name: "tepa.window" },
  ),
);
