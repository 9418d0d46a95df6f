// What the screens need from the world around them. Two hosts fulfil it: the desktop window and a browser.

import type { Commands, Signal } from "../contract/index.ts";

/** The name of a command that the app answers. */
export type CommandName = keyof Commands;
/** What a command is asked with. */
export type Request<K extends CommandName> = Commands[K][0];
/** What a command answers. */
export type Reply<K extends CommandName> = Commands[K][1];

/** Which kind of file a picker looks for. */
export type FileKind = "task" | "context" | "run" | "recording" | "report";

/** Something that a person dropped on the window. A window of the desktop knows where it is, a browser what is in it. */
export type Dropped = { name: string; path: string } | { name: string; file: File };

/** Something to choose in a menu of the system, or a line between two of them. */
export type MenuEntry = { id: string; title: string; /** As the system writes them, such as `CmdOrCtrl+N`. */ keys?: string } | null;

/** The menus above the page. */
export type MenuBar = { title: string; entries: MenuEntry[] }[];

/** What stands in the tray. */
export interface Tray {
  /** What its symbol says when it is pointed at. */
  standing: string;
  entries: MenuEntry[];
}

/** The app's engine, the person's file pickers and their other programs. */
export interface Host {
  /** Asks the app; a refusal is thrown as a `HostError`. */
  call<K extends CommandName>(name: K, request: Request<K>): Promise<Reply<K>>;
  /** Tells of something new until the returned function is called. `onReopen` fires when signals may have been missed. */
  onSignal(listener: (signal: Signal) => void, onReopen?: () => void): () => void;
  /** The folder a person picks, or null when they change their mind. */
  pickFolder(title: string): Promise<string | null>;
  /** The file a person picks. */
  pickFile(kind: FileKind, title: string): Promise<string | null>;
  /** Where a person wants something saved. */
  saveFileAs(suggested: string, title: string, kind?: FileKind): Promise<string | null>;
  /** Hears what a person drops on the window, and whether they hold something over it, until the function is called. */
  onDrop(dropped: (things: Dropped[]) => void, over: (holds: boolean) => void): () => void;
  /** Says something beside the window, in the system's own way; where it has none, nothing happens. */
  notify(title: string, body: string, opened: () => void): void;
  /** Shows these menus instead of those before. Absent where a page has none. The entry `quit` ends the app by itself. */
  setMenuBar?: ((bar: MenuBar) => void) | undefined;
  /** Shows this in the tray instead of what was there. Absent where a page has none. */
  setTray?: ((tray: Tray) => void) | undefined;
  /** Hears which entry was chosen, until the function is called. */
  onMenu?: ((chosen: (id: string) => void) => () => void) | undefined;
  /** Makes everything larger or smaller, in percent of its usual size. */
  setZoom(percent: number): void;
  /** Shows a file or folder in the system's file manager, and starts nothing: a model may have chosen its name. Absent
   * where there is no file manager. */
  showInFolder?: ((path: string) => Promise<void>) | undefined;
  /** Opens a page of a provider in the person's web browser: one that the app itself names, never a model. */
  openPage(url: string): Promise<void>;
}
