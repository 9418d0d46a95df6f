// What is wrong, beside the place where it is wrong: from the moment somebody has been there.

import { createContext, useContext } from "react";
import type { Problem } from "../../contract/index.ts";
import { useCompose } from "../../state/compose.ts";
import { sentence } from "../../state/errors.ts";
import classes from "./Compose.module.css";

/** Every problem of the task that is being written. */
export const ProblemsContext = createContext<readonly Problem[]>([]);

/** The problems at a place, and below it when `below` is set. */
export function useProblemsAt(place: string, below = false): readonly Problem[] {
  const problems = useContext(ProblemsContext);
  const shown = useCompose((state) => state.showAll || state.visited.has(place));
  if (!shown) return [];
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
