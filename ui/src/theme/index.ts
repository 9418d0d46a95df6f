// The Mantine theme: our two palettes, 14 px body, weight 600 for titles and nothing else.

import {
  createTheme,
  type CSSVariablesResolver,
  type MantineColorsTuple,
  ActionIcon,
  Badge,
  Button,
  Input,
  Menu,
  Modal,
  Notification,
  Popover,
  Portal,
  SegmentedControl,
  Switch,
  Tabs,
  Tooltip,
} from "@mantine/core";
import { text } from "../text/index.ts";
import { cssVariables, dark, light } from "./tokens.ts";

const indigo: MantineColorsTuple = [
  "#edf1ff", "#dbe3ff", "#bac8ff", "#9db0ff", "#7c92f8", "#5c74ee", "#4c62dc", "#3b5bdb", "#3451c7", "#2b44ac",
];
const slate: MantineColorsTuple = [
  "#f7f9fc", "#f1f4f9", "#e3e8f0", "#cdd5e1", "#9aa7ba", "#7b899e", "#5d6b80", "#475569", "#1e293b", "#0f172a",
];
const night: MantineColorsTuple = [
  "#e7ecf5", "#c7d1e0", "#aab7ca", "#8b9ab1", "#33415b", "#222d42", "#121a2b", "#0e1523", "#0b111d", "#080d16",
];

const sans = '"Inter Variable", Inter, system-ui, sans-serif';
const mono = '"JetBrains Mono Variable", "JetBrains Mono", ui-monospace, monospace';

/** The theme that every screen is drawn with. */
export const theme = createTheme({
  primaryColor: "indigo",
  primaryShade: { light: 7, dark: 6 },
  colors: { indigo, gray: slate, dark: night },
  fontFamily: sans,
  fontFamilyMonospace: mono,
  fontSizes: { xs: "12px", sm: "14px", md: "14px", lg: "16px", xl: "20px" },
  lineHeights: { xs: "1.5", sm: "1.5", md: "1.5", lg: "1.5", xl: "1.4" },
  headings: { fontFamily: sans, fontWeight: "600" },
  defaultRadius: 8,
  radius: { xs: "4px", sm: "6px", md: "8px", lg: "10px", xl: "12px" },
  spacing: { xs: "8px", sm: "12px", md: "16px", lg: "24px", xl: "32px" },
  cursorType: "pointer",
  focusRing: "auto",
  respectReducedMotion: true,
  components: {
    Button: Button.extend({ defaultProps: { size: "sm" }, styles: { root: { fontWeight: 400 }, label: { gap: 8 } } }),
    ActionIcon: ActionIcon.extend({ defaultProps: { variant: "subtle", color: "gray", size: 32 } }),
    Badge: Badge.extend({ styles: { root: { textTransform: "none", fontWeight: 400 } } }),
    Input: Input.extend({ defaultProps: { size: "sm" } }),
    Switch: Switch.extend({ defaultProps: { withThumbIndicator: false } }),
    InputWrapper: Input.Wrapper.extend({
      styles: {
        label: { fontWeight: 400, fontSize: 12, color: "var(--t-text2)", marginBottom: 4 },
        description: { lineHeight: 1.5 },
        error: { lineHeight: 1.5 },
      },
    }),
    Tooltip: Tooltip.extend({ defaultProps: { openDelay: 350, transitionProps: { duration: 120 }, multiline: true, maw: 320 } }),
    Menu: Menu.extend({ defaultProps: { withInitialFocusPlaceholder: false, shadow: "float", radius: 12, transitionProps: { duration: 120 } } }),
    // What floats is a part of the screen for a reader, too.
    Portal: Portal.extend({ defaultProps: { target: "#floating" } }),
    Popover: Popover.extend({ defaultProps: { shadow: "float", radius: 12, transitionProps: { duration: 120 } } }),
    Modal: Modal.extend({
      defaultProps: { radius: 12, centered: true, transitionProps: { duration: 150 }, overlayProps: { opacity: 0.35 } },
      styles: {
        // It stands in the screen, whose edge is not the window's.
        inner: { left: 0 },
        title: { fontWeight: 600, fontSize: 16 },
        content: { background: "var(--t-float)", border: "1px solid var(--t-border)" },
        header: { background: "var(--t-float)" },
      },
    }),
    Notification: Notification.extend({ defaultProps: { closeButtonProps: { "aria-label": text("common.close") } } }),
    SegmentedControl: SegmentedControl.extend({
      defaultProps: { withItemsBorders: false, transitionDuration: 150 },
      styles: {
        root: { background: "var(--t-hover)", border: "1px solid var(--t-border)" },
        indicator: { boxShadow: "none", border: "1px solid var(--t-border-strong)", background: "var(--t-card)" },
        label: { fontWeight: 400 },
      },
    }),
    Tabs: Tabs.extend({ styles: { tab: { fontWeight: 400 } } }),
  },
  shadows: { float: "var(--t-shadow)", md: "var(--t-shadow)", lg: "var(--t-shadow)" },
});

const mantineFromTokens = {
  "--mantine-color-body": "var(--t-page)",
  "--mantine-color-text": "var(--t-text)",
  "--mantine-color-dimmed": "var(--t-text3)",
  "--mantine-color-placeholder": "var(--t-text3)",
  "--mantine-color-default": "var(--t-card)",
  "--mantine-color-default-hover": "var(--t-hover)",
  "--mantine-color-default-color": "var(--t-text)",
  "--mantine-color-default-border": "var(--t-border-strong)",
  "--mantine-color-anchor": "var(--t-accent-text)",
  "--mantine-color-disabled": "var(--t-hover)",
  "--mantine-color-disabled-color": "var(--t-text3)",
  "--mantine-color-disabled-border": "var(--t-border)",
  "--mantine-color-error": "var(--t-failed)",
  "--mantine-color-indigo-filled": "var(--t-accent)",
  "--mantine-color-indigo-filled-hover": "var(--t-accent-hover)",
  "--mantine-color-indigo-light": "var(--t-accent-soft)",
  "--mantine-color-indigo-light-color": "var(--t-accent-text)",
  "--mantine-color-red-filled": "var(--t-danger)",
  "--mantine-color-red-filled-hover": "var(--t-danger-hover)",
  "--mantine-primary-color-filled": "var(--t-accent)",
  "--mantine-primary-color-filled-hover": "var(--t-accent-hover)",
};

/** Puts both palettes into CSS variables and points Mantine's own variables at them. */
export const variablesResolver: CSSVariablesResolver = () => ({
  variables: {},
  light: { ...cssVariables(light), ...mantineFromTokens },
  dark: { ...cssVariables(dark), ...mantineFromTokens },
});
