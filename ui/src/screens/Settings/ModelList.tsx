// The models in use with some words about each, and behind a button the form for what a person knows better.

import { Button } from "@mantine/core";
import { type ReactNode, useState } from "react";
import type { Settings } from "../../contract/index.ts";
import { modelsInUse } from "../../state/roles.ts";
import classes from "./Settings.module.css";

interface ModelListProps {
  settings: Settings;
  /** Models that a person said something about, in use or not. */
  typed: readonly string[];
  /** What is said of a model. */
  words: (id: string) => string;
  /** What stands there while no model is in use. */
  none: string;
  edit: string;
  renderForm: (models: string[], done: () => void) => ReactNode;
}

/** The list. */
export function ModelList({ settings, typed, words, none, edit, renderForm }: ModelListProps) {
  const [edits, setEdits] = useState(false);
  const shown = [...new Set([...modelsInUse(settings), ...typed])];
  if (shown.length === 0) return <p className={classes.plain}>{none}</p>;
  return (
    <div className={classes.form}>
      <dl className={classes.prices}>
        {shown.map((id) => (
          <div key={id}>
            <dt className="mono">{id}</dt>
            <dd className="numbers">{words(id)}</dd>
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
