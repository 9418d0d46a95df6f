// The same task as YAML. What is typed here appears in the letter, and the other way round, in one text.

import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, HighlightStyle, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useRef } from "react";
import type { Problem } from "../../contract/index.ts";
import { useCompose } from "../../state/compose.ts";
import { sentence } from "../../state/errors.ts";
import { brokenAt, parsePath, placesIn } from "../../state/taskSource.ts";
import { useText } from "../../text/index.ts";
import classes from "./Compose.module.css";

const look = EditorView.theme({
  "&": { height: "100%", fontSize: "13px", color: "var(--t-text)", backgroundColor: "var(--t-card)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.65" },
  ".cm-content": { padding: "12px 0", caretColor: "var(--t-text)" },
  ".cm-gutters": { backgroundColor: "var(--t-card)", color: "var(--t-text3)", border: "none", paddingLeft: "8px" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--t-hover) 70%, transparent)" },
  ".cm-cursor": { borderLeftColor: "var(--t-text)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--t-accent) 30%, transparent)",
  },
  ".cm-tooltip": {
    backgroundColor: "var(--t-float)",
    border: "1px solid var(--t-border)",
    borderRadius: "10px",
    boxShadow: "var(--t-shadow)",
    overflow: "hidden",
  },
  ".cm-diagnostic": { padding: "8px 12px", borderLeftWidth: "3px", fontFamily: "var(--mantine-font-family)" },
});

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--t-accent-text)" },
  { tag: [tags.comment, tags.lineComment], color: "var(--t-text3)", fontStyle: "italic" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--t-running)" },
  { tag: [tags.punctuation, tags.separator, tags.squareBracket, tags.brace], color: "var(--t-text3)" },
]);

/** The editor. */
export function SourceTab({ problems }: { problems: readonly Problem[] }) {
  const t = useText();
  const place = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView | null>(null);
  const source = useCompose((state) => state.source);
  const label = t("compose.tabs.source");

  useEffect(() => {
    if (!place.current) return undefined;
    const view = new EditorView({
      parent: place.current,
      state: EditorState.create({
        doc: useCompose.getState().source,
        extensions: [
          lineNumbers(),
          history(),
          drawSelection(),
          highlightActiveLine(),
          bracketMatching(),
          yaml(),
          indentUnit.of("  "),
          syntaxHighlighting(colours),
          lintGutter(),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ "aria-label": label }),
          // Escape and then Tab leaves the editor, as CodeMirror documents for keyboards.
          keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
          look,
          EditorView.updateListener.of((update) => {
            if (update.docChanged) useCompose.getState().change(() => update.state.doc.toString());
          }),
        ],
      }),
    });
    editor.current = view;
    view.scrollDOM.tabIndex = 0;
    view.focus();
    return () => {
      editor.current = null;
      view.destroy();
    };
  }, [label]);

  useEffect(() => {
    const view = editor.current;
    if (!view || view.state.doc.toString() === source) return;
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: source } });
  }, [source]);

  useEffect(() => {
    const view = editor.current;
    if (view) view.dispatch(setDiagnostics(view.state, diagnostics(view.state.doc.toString(), problems)));
  }, [problems, source]);

  return (
    <div className={classes.source}>
      <p className={classes.hint}>{t("compose.sourceHint")}</p>
      <div className={classes.editor} ref={place} />
    </div>
  );
}

function diagnostics(source: string, problems: readonly Problem[]): Diagnostic[] {
  const end = source.length;
  const broken = brokenAt(source);
  if (broken.length > 0) {
    return broken.map(({ from, to, message }) => ({ from: Math.min(from, end), to: Math.min(to, end), severity: "error", message }));
  }
  const placeOf = placesIn(source);
  return problems.map((problem) => {
    const [from, to] = placeOf(parsePath(problem.path));
    return { from: Math.min(from, end), to: Math.min(to, end), severity: problem.warning ? "warning" : "error", message: sentence(problem.message, null) };
  });
}
