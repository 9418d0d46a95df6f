// The tour, the command palette and the sheet of shortcuts.

export const tour = {
  open: "Show me around",
  place: "Step {{number}} of {{count}}",
  back: "Back",
  next: "Next",
  done: "Begin",
  task: { title: "Say what you want", body: "Write it as you would tell a colleague, choose the folder with your files, and list what must hold. Many things the app can check by itself, exactly and for no tokens." },
  plan: { title: "Read the plan, change it, approve it", body: "A model proposes steps. You see what each does, what it may touch and what all of it will cost. Ask for changes in words, or change the steps yourself. Nothing starts before you approve." },
  run: { title: "Watch it work, or go away", body: "Every step shows what it was given, what the model said and what came of it. Pause, stop or say something at any time. A run survives closing the window." },
  verdict: { title: "Get a verdict, not a guess", body: "Each thing that must hold is passed or not, with the place that shows it. What fails is tried again with what was learned. Every run is kept." },
} as const;

export const palette = {
  title: "Commands",
  open: "Commands",
  placeholder: "What would you like to do?",
  none: "Nothing is called that.",
  groups: { here: "Here", go: "Go to", window: "Window", runs: "Runs" },
  theme: { system: "Look as the system does", light: "Use the light theme", dark: "Use the dark theme" },
  dense: "Show lists closer together",
  comfortable: "Show lists with more room",
  rail: "Make the side bar narrow or wide",
  zoomIn: "Make everything larger",
  zoomOut: "Make everything smaller",
  run: { verdict: "Show the verdict", steps: "Show the steps", pause: "Pause this run", continue: "Continue this run" },
} as const;

export const sheet = {
  title: "Keyboard shortcuts",
  parts: { everywhere: "Everywhere", compose: "Writing a task", run: "A run" },
  names: {
    palette: "Commands",
    newTask: "New task",
    home: "Home",
    runs: "Runs",
    waiting: "Waiting for you",
    settings: "Settings",
    rail: "Side bar",
    zoomIn: "Larger",
    zoomOut: "Smaller",
    zoomReset: "Usual size",
    sheet: "This sheet",
    open: "Open",
    save: "Save",
    saveAs: "Save as",
    undo: "Undo",
    redo: "Redo",
    nextLine: "Next thing that must hold",
    send: "Send your words",
    close: "Close the step",
    resize: "Panel wider or narrower",
  },
} as const;
