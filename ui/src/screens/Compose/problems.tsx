// What is wrong, beside the place where it is wrong: from the moment somebody has been there.

import { createContext, useContext } from "react";
import type { Problem } from "../../contract/index.ts";
import { sentence } from "../../state/errors.ts";
import classes from "./Compose.module.css";

/** What the app said about the task that is being written, and what was to be shown of it at that moment. */
export interface Found {
  problems: readonly Problem[];
  visited: ReadonlySet<string>;
  showAll: boolean;
}

/** Every problem of the task that is being written. */
export const ProblemsContext = createContext<Found>({ problems: [], visited: new Set(), showAll: false });

/** The problems at a place, and below it when `below` is set. */
export function useProblemsAt(place: string, below = false): readonly Problem[] {
  const { problems, visited, showAll } = useContext(ProblemsContext);
  if (!showAll && !visited.has(place)) return [];
  return problems.filter(({ path }) => path === place || (below && (path.startsWith(`${place}.`) || path.startsWith(`${place}[`))));
}

/** The problems at a place, in words. `id` ties them to their field. */
export function Problems({ place, below = false, id }: { place: string; below?: boolean; id?: string }) {
  const found = useProblemsAt(place, below);
  if (found.length === 0) return null;
  return (
    <div className={classes.problems} id={id}>
      {found.map((problem) => (
        <p key={`${problem.path} ${problem.message}`} data-warning={problem.warning || undefined}>
          {sentence(problem.message, null)}
        </p>
      ))}
    </div>
  );
}
