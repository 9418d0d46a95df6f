// What should come out: a card for each file or answer, with what must hold line by line.

import { ActionIcon, Button, Textarea, Tooltip } from "@mantine/core";
import { IconFileText, IconMessage, IconPlus, IconX } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import { useChecks } from "../../api/settings.ts";
import { Parts } from "../../components/Parts.tsx";
import type { CheckInfo } from "../../contract/index.ts";
import { useCompose } from "../../state/compose.ts";
import { pastedLines } from "../../state/pasted.ts";
import { type Draft, type DraftItem, insertAllAt, insertAt, setAt } from "../../state/taskSource.ts";
import { useText } from "../../text/index.ts";
import classes from "./Compose.module.css";
import { CriterionLine } from "./CriterionLine.tsx";
import { Problems } from "./problems.tsx";

const noChecks: readonly CheckInfo[] = [];
const lineHeight = 41;

/** The expected results. */
export function Results({ draft }: { draft: Draft }) {
  const t = useText();
  const { change } = useCompose();
  const { expected } = draft;
  const add = (item: object) =>
    change((source) =>
      typeof expected === "string"
        ? setAt(source, ["expectedOutput"], [...(expected === "" ? [] : [{ description: expected }]), item])
        : insertAt(source, ["expectedOutput"], expected.length, item),
    );
  return (
    <>
      {typeof expected === "string" ? (
        <Sentence text={expected} />
      ) : (
        expected.map((item, index) => <Result key={index} item={item} index={index} />)
      )}
      <Problems place="expectedOutput" />
      <div className={classes.adders}>
        <Button variant="subtle" color="gray" size="xs" leftSection={<IconPlus size={14} stroke={1.8} />} onClick={() => add({ path: "", description: "", criteria: [] })}>
          {t("compose.addFile")}
        </Button>
        <Button variant="subtle" color="gray" size="xs" leftSection={<IconPlus size={14} stroke={1.8} />} onClick={() => add({ description: "", criteria: [] })}>
          {t("compose.addAnswer")}
        </Button>
      </div>
    </>
  );
}

function Sentence({ text }: { text: string }) {
  const t = useText();
  const { change, visit } = useCompose();
  return (
    <div className={classes.result}>
      <div className={classes.sentence}>
        <Textarea
          variant="unstyled"
          className={classes.grow ?? ""}
          aria-label={t("compose.results")}
          autosize
          minRows={1}
          value={text}
          onChange={(event) => {
            const { value } = event.currentTarget;
            change((source) => setAt(source, ["expectedOutput"], value));
          }}
          onBlur={() => visit("expectedOutput")}
        />
        <span className={classes.judge}>{t("compose.asSentence")}</span>
      </div>
    </div>
  );
}

function Result({ item, index }: { item: DraftItem; index: number }) {
  const t = useText();
  const { change, visit } = useCompose();
  const checks = useChecks().data ?? noChecks;
  const place = `expectedOutput[${index}]`;
  const lines = useRef<HTMLDivElement>(null);
  // The line that takes the focus once it is drawn; of very many only those in sight are.
  const [wanted, setWanted] = useState<{ line: number } | null>(null);
  const focused = useRef(wanted);
  useEffect(() => {
    if (wanted === null || focused.current === wanted) return;
    if (focusLine(lines.current, Math.min(wanted.line, item.criteria.length))) focused.current = wanted;
  });
  const focus = (line: number) => setWanted({ line: Math.max(0, line) });

  const set = (field: string, value: unknown) => change((source) => setAt(source, ["expectedOutput", index, field], value));
  const insert = (at: number, ...texts: readonly string[]) => {
    change((source) => insertAllAt(source, ["expectedOutput", index, "criteria"], at, texts));
    focus(at + texts.length - 1);
  };
  const remove = (at: number) => {
    change((source) => setAt(source, ["expectedOutput", index, "criteria", at], undefined));
    focus(at - 1);
  };
  const name = item.path || item.description || t("compose.result.answer");
  return (
    <div className={classes.result}>
      <div className={classes.resultHead}>
        {item.path === null ? <IconMessage size={16} stroke={1.6} aria-hidden /> : <IconFileText size={16} stroke={1.6} aria-hidden />}
        {item.path === null ? (
          <span className={classes.answer}>{t("compose.result.answer")}</span>
        ) : (
          <input
            className={classes.path}
            aria-label={t("compose.result.path")}
            placeholder={t("compose.result.pathPlaceholder")}
            value={item.path}
            onChange={(event) => set("path", event.currentTarget.value)}
            onBlur={() => visit(`${place}.path`)}
            spellCheck={false}
          />
        )}
        <input
          className={classes.description}
          aria-label={t("compose.result.description")}
          placeholder={t("compose.result.descriptionPlaceholder")}
          value={item.description}
          onChange={(event) => set("description", event.currentTarget.value)}
          onBlur={() => visit(`${place}.description`)}
        />
        <Tooltip label={t("compose.result.remove", { name })}>
          <ActionIcon
            className={classes.remove ?? ""}
            size={22}
            aria-label={t("compose.result.remove", { name })}
            onClick={() => change((source) => setAt(source, ["expectedOutput", index], undefined))}
          >
            <IconX size={14} stroke={1.6} />
          </ActionIcon>
        </Tooltip>
      </div>
      <Problems place={place} />
      <Problems place={`${place}.path`} />
      <Problems place={`${place}.description`} />
      <div ref={lines}>
        <Parts
          count={item.criteria.length}
          lineHeight={lineHeight}
          wanted={wanted?.line ?? null}
          lines={(from, to) =>
            item.criteria.slice(from, to).map((criterion, offset) => {
              const at = from + offset;
              return (
                <CriterionLine
                  key={at}
                  criterion={criterion}
                  item={index}
                  index={at}
                  isFile={item.path !== null}
                  checks={checks}
                  next={(...texts) => insert(at + 1, ...texts)}
                  remove={() => remove(at)}
                  move={(by) => focus(at + by)}
                />
              );
            })
          }
        />
        <NewLine at={item.criteria.length} add={(...texts) => insert(item.criteria.length, ...texts)} back={() => focus(item.criteria.length - 1)} />
      </div>
    </div>
  );
}

/** Whether the line is there to take the focus. */
function focusLine(box: HTMLElement | null, line: number): boolean {
  const input = box?.querySelector<HTMLInputElement>(`[data-criterion="${line}"]`) ?? null;
  input?.focus();
  return input !== null;
}

/** The line below the last one; `at` is the number that it would have. */
function NewLine({ at, add, back }: { at: number; add: (...texts: readonly string[]) => void; back: () => void }) {
  const t = useText();
  return (
    <div className={classes.line} data-new>
      <input
        className={classes.lineText}
        aria-label={t("compose.result.criterion")}
        placeholder={t("compose.result.criterionPlaceholder")}
        data-criterion={at}
        value=""
        // What is typed here at once becomes a line of its own, which takes the focus with it.
        onChange={(event) => add(event.currentTarget.value)}
        onPaste={(event) => {
          const list = pastedLines(event.clipboardData.getData("text/plain"));
          if (list === null) return;
          event.preventDefault();
          add(...list);
        }}
        onKeyDown={(event) => {
          if (event.key === "ArrowUp") {
            event.preventDefault();
            back();
          }
        }}
      />
    </div>
  );
}
