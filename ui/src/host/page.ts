// What both hosts do in the same way, because the page does it: notifications, and files that are dropped on it.

import type { Dropped, Host } from "./types.ts";

/** Says something beside the window, where a person allowed that. */
export const notify: Host["notify"] = (title, body, opened) => {
  if (typeof Notification === "undefined" || Notification.permission !== "granted") return;
  const notification = new Notification(title, { body, tag: title });
  notification.addEventListener("click", () => {
    window.focus();
    opened();
    notification.close();
  });
};

/** Hears what is dropped on the page itself. */
export const onPageDrop: Host["onDrop"] = (dropped, over) => {
  const holdsFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") === true;
  const onOver = (event: DragEvent) => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    over(true);
  };
  const onLeave = (event: DragEvent) => {
    if (event.relatedTarget === null) over(false);
  };
  const onDrop = (event: DragEvent) => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    over(false);
    dropped([...(event.dataTransfer?.files ?? [])].map((file): Dropped => ({ name: file.name, file })));
  };
  window.addEventListener("dragover", onOver);
  window.addEventListener("dragleave", onLeave);
  window.addEventListener("drop", onDrop);
  return () => {
    window.removeEventListener("dragover", onOver);
    window.removeEventListener("dragleave", onLeave);
    window.removeEventListener("drop", onDrop);
  };
};
