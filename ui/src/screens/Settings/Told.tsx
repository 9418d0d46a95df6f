// What came of a press, at the card where it was pressed: it covers nothing, and stays until the
// next thing is done there.

import { createContext, type ReactNode, useContext, useMemo, useState } from "react";
import { Mark } from "../../components/Mark.tsx";
import { asHostError, type HostError } from "../../host/index.ts";
import { FormError } from "./FormError.tsx";
import classes from "./Settings.module.css";

interface Telling {
  /** Says that something worked. */
  tell: (words: string) => void;
  /** Says what did not work. */
  tellError: (thrown: unknown) => void;
}

const Here = createContext<Telling>({ tell: () => {}, tellError: () => {} });

/** How what is in a `Told` says what came of it; also after it is gone itself. */
export function useTold(): Telling {
  return useContext(Here);
}

/** The place of a card, and below it what its parts said last. */
export function Told({ children }: { children: ReactNode }) {
  const [words, setWords] = useState("");
  const [error, setError] = useState<HostError | null>(null);
  const telling = useMemo(() => {
    const say = (said: string, wrong: HostError | null) => {
      setWords(said);
      setError(wrong);
    };
    return { tell: (said: string) => say(said, null), tellError: (thrown: unknown) => say("", asHostError(thrown)), forget: () => say("", null) };
  }, []);
  return (
    <Here value={telling}>
      <div onInput={telling.forget} onClickCapture={telling.forget}>
        {children}
      </div>
      <div className={classes.told}>
        <FormError error={error} />
        <p role="status">
          {words !== "" && (
            <>
              <Mark kind="done" size={16} />
              <span>{words}</span>
            </>
          )}
        </p>
      </div>
    </Here>
  );
}
