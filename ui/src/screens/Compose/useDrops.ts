// Files that are dropped on the composer: a folder is where it works, a task's file is opened, and any other becomes a
// fact with its text, or, where it can be read in its place, the folder that it lies in.

import { useEffect, useState } from "react";
import { tell, tellError } from "../../components/toast.tsx";
import { type Dropped, host } from "../../host/index.ts";
import { useCompose } from "../../state/compose.ts";
import { factName, isTaskFile, mostDropped, parentOf } from "../../state/dropped.ts";
import { readDraft, setAt } from "../../state/taskSource.ts";
import { freeName } from "../../state/context.ts";
import { size } from "../../state/format.ts";
import { useText } from "../../text/index.ts";

/** Whether a person holds something over the window. `asks` is called before a task takes the place of another. */
export function useDrops(asks: (open: () => void) => void): boolean {
  const t = useText();
  const [over, setOver] = useState(false);
  useEffect(() => {
    const openTask = (source: string, path: string | null, folder: string | null) =>
      asks(() => useCompose.getState().opened({ source, path, folder, saved: path === null ? null : source }));
    const keepFact = (name: string, text: string) => {
      const { source, change } = useCompose.getState();
      const taken = Object.keys(readDraft(source)?.context ?? {});
      change((now) => setAt(now, ["context", freeName(taken, factName(name))], text));
      tell(t("compose.dropped.fact", { name }));
    };
    const atPlace = async (name: string, path: string) => {
      const { setFolder, folder } = useCompose.getState();
      const found = await host.call("folder_info", { path });
      if (found.exists) return setFolder(path);
      if (isTaskFile(name)) {
        const task = await host.call("task_open", { path });
        return openTask(task.source, task.path, parentOf(path));
      }
      if (folder === null) setFolder(parentOf(path));
      keepFact(name, name);
    };
    const inside = async (name: string, file: File) => {
      if (file.size > mostDropped) return tell(t("compose.dropped.large", { name, size: size(mostDropped) }));
      const text = await file.text();
      if (text.includes("\u0000") || text.includes("\ufffd")) return tell(t("compose.dropped.noText", { name }));
      if (isTaskFile(name) && (readDraft(text)?.goal ?? "") !== "") openTask(text, null, useCompose.getState().folder);
      else keepFact(name, text);
    };
    const take = async (things: Dropped[]) => {
      for (const thing of things) await ("path" in thing ? atPlace(thing.name, thing.path) : inside(thing.name, thing.file));
    };
    return host.onDrop((things) => void take(things).catch(tellError), setOver);
  }, [t, asks]);
  return over;
}
