// What a dropped file is, by its name.

/** The most bytes that become a fact. */
export const mostDropped = 100_000;

/** Whether a file is called as tasks are. */
export function isTaskFile(name: string): boolean {
  return /\.(ya?ml)$/i.test(name);
}

/** The name of the fact that a file becomes: `price list.txt` is `price_list`. */
export function factName(file: string): string {
  const words = file.replace(/\.[^.]*$/, "").replace(/[^\p{L}\p{N}]+/gu, "_").replace(/^_+|_+$/g, "").toLowerCase();
  return words.slice(0, 40) || "file";
}

/** The folder that something lies in. */
export function parentOf(path: string): string {
  const parent = path.replace(/[\\/]+[^\\/]*$/, "");
  return parent === "" ? "/" : parent;
}
