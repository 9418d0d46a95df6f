// What of a run is looked at: a cycle, a step in it, and one of the questions that wait.

import { useCallback, useState } from "react";
import type { RunState, WaitingFor } from "../../contract/index.ts";
import { nodeId } from "../../graph/model.ts";
import { cycleOf, questionsOf, stepOf } from "../../state/questions.ts";

/** What a person chose to look at, for as long as `scope` stays what it is. */
interface Choice {
  scope: string;
  cycle: number;
  selected: string | null;
}

/** Follows a run: a new cycle as it begins, a question where it stands, until a person chooses otherwise. */
export function useLookedAt(state: RunState) {
  const questions = questionsOf(state);
  const [wanted, setWanted] = useState<string | null>(null);
  const question = questions.find(({ key }) => key === wanted) ?? questions[0] ?? null;
  const latest = state.cycles.at(-1)?.number ?? 0;
  const scope = `${latest} ${question?.key ?? ""}`;
  const asked = question === null ? null : stepOf(question.ask);
  const natural = { cycle: (question === null ? null : cycleOf(question.ask)) ?? latest, selected: asked === null ? null : nodeId(asked) };
  const { forget, ...looked } = useChoice(scope, natural.cycle, natural.selected);
  const chooseQuestion = ({ key }: WaitingFor) => {
    setWanted(key);
    forget();
  };
  return { questions, question, chooseQuestion, ...looked };
}

function useChoice(scope: string, cycle: number, selected: string | null) {
  const [choice, setChoice] = useState<Choice | null>(null);
  const { cycle: shown, selected: chosen } = choice?.scope === scope ? choice : { cycle, selected };
  const select = useCallback((id: string | null) => setChoice({ scope, cycle: shown, selected: id }), [scope, shown]);
  const chooseCycle = useCallback((number: number) => setChoice({ scope, cycle: number, selected: null }), [scope]);
  const forget = useCallback(() => setChoice(null), []);
  return { shown, selected: chosen, select, chooseCycle, forget };
}
