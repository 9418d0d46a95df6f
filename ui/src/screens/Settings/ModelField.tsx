// A field for the name of a model, with the models that are known and what is known of them.

import { Autocomplete } from "@mantine/core";
import { type RefObject, useRef, useState } from "react";
import type { ModelInfo } from "../../contract/index.ts";
import { modelFacts } from "../../state/modelFacts.ts";
import { useText } from "../../text/index.ts";
import classes from "./Settings.module.css";

/** More are found by typing. */
const mostShown = 60;

interface ModelFieldProps {
  label: string;
  description?: string;
  placeholder?: string;
  /** What can be chosen; anything else can be typed. */
  models: readonly { id: string; info: ModelInfo | null }[];
  value: string;
  onChange: (value: string) => void;
  id?: string;
  /** What is wrong with what stands there. */
  error?: string | null;
  /** Whether what is known stands below the field, so that fields side by side stay in one line. */
  below?: boolean;
  ref?: RefObject<HTMLInputElement | null>;
}

/** Names a model. */
export function ModelField({ label, description, placeholder, models, value, onChange, id, error = null, below = false, ref }: ModelFieldProps) {
  const t = useText();
  // What stands there when the list is opened is no search: every model is shown until something is typed.
  const [searches, setSearches] = useState(false);
  const picked = useRef<string | null>(null);
  const known = new Map(models.map((model) => [model.id, model.info]));
  const chosen = known.get(value.trim());
  const facts = chosen ? modelFacts(chosen, t) : "";
  return (
    <Autocomplete
      {...(ref && { ref })}
      {...(id !== undefined && { id })}
      label={label}
      description={facts !== "" ? facts : description}
      {...(placeholder !== undefined && { placeholder })}
      error={error}
      {...(below && { inputWrapperOrder: ["label", "input", "error", "description"] })}
      spellCheck={false}
      classNames={{ input: "mono" }}
      data={[...known.keys()]}
      limit={mostShown}
      filter={({ options, search }) => options.filter((option) => !searches || ("value" in option && option.value.toLowerCase().includes(search.trim().toLowerCase()))).slice(0, mostShown)}
      onFocus={() => setSearches(false)}
      onClick={() => setSearches(false)}
      onOptionSubmit={(option) => {
        picked.current = option;
      }}
      renderOption={({ option }) => {
        const info = known.get(option.value);
        return (
          <span className={classes.option}>
            <span className="mono">{option.value}</span>
            {info && <span className={classes.optionFacts}>{modelFacts(info, t)}</span>}
          </span>
        );
      }}
      value={value}
      onChange={(words) => {
        setSearches(words !== picked.current);
        picked.current = null;
        onChange(words);
      }}
    />
  );
}
