// The frame of the window, its menus, and how runs stand.

export const app = {
  name: "Tepa",
  skip: "Skip to the content",
  navigation: "Main",
  collapse: "Make the side bar narrow",
  expand: "Make the side bar wide",
  newTask: "New task",
  home: "Home",
  runs: "Runs",
  waiting: "Waiting for you",
  waitingCount_one: "{{count}} run waits for you",
  waitingCount_other: "{{count}} runs wait for you",
  settings: "Settings",
  crash: {
    title: "This screen stopped working",
    body: "Your runs and files are safe; they are kept by the app, not by this screen.",
    reload: "Open it again",
  },
} as const;

export const menu = {
  file: "File",
  view: "View",
  help: "Help",
  show: "Show Tepa",
  quit: "Quit Tepa",
  running_one: "{{count}} run is at work",
  running_other: "{{count}} runs are at work",
} as const;

export const standing = {
  running: "Running",
  waiting: "Waits for you",
  paused: "Paused",
  interrupted: "Interrupted",
  passed: "Passed",
  failed: "Did not pass",
  rejected: "Rejected",
  stopped: "Stopped",
} as const;
