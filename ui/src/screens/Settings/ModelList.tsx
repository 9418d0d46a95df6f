// The models in use with some words about each, and behind a button the form for what a person knows better.

import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import type { Settings } from "../../contract/index.ts";
import { useDraft } from "../../state/drafts.ts";
import { modelsInUse } from "../../state/roles.ts";
import classes from "./Settings.module.css";

interface ModelListProps {
  settings: Settings;
  /** The part of the settings that it is in. */
  name: string;
  /** Models that a person said something about, in use or not. */
  typed: readonly string[];
  /** What is said of a model. */
  words: (id: string) => { words: string; note: string };
  /** What stands there while no model is in use. */
  none: string;
  edit: string;
  renderForm: (models: string[], done: () => void) => ReactNode;
}

/** The list. */
export function ModelList({ settings, name, typed, words, none, edit, renderForm }: ModelListProps) {
  const [edits, setEdits] = useDraft(`${name}:form`, false);
  const shown = [...new Set([...modelsInUse(settings), ...typed])];
  if (shown.length === 0) return <p className={classes.plain}>{none}</p>;
  return (
    <div className={classes.form}>
      <dl className={classes.prices}>
        {shown.map((id) => (
          <div key={id}>
            <dt className="mono">{id}</dt>
            <dd className="numbers">
              {words(id).words}
              {words(id).note !== "" && <small>{words(id).note}</small>}
            </dd>
          </div>
        ))}
      </dl>
      {edits ? (
        renderForm(shown, () => setEdits(false))
      ) : (
        <div className={classes.buttons}>
          <Button variant="default" size="xs" onClick={() => setEdits(true)}>
            {edit}
          </Button>
        </div>
      )}
    </div>
  );
}
