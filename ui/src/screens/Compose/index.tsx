// Compose: a task written like a letter, or as its source; the two are one text.

import { Button, Menu, Modal, Popover, SegmentedControl, Tooltip, VisuallyHidden } from "@mantine/core";
import { IconAlertTriangle, IconArrowBackUp, IconArrowForwardUp, IconChevronDown, IconDeviceFloppy, IconEraser, IconFolderOpen, IconTemplate } from "@tabler/icons-react";
import { lazy, Suspense, useCallback, useEffect, useMemo, useState } from "react";
import { useStartRun } from "../../api/runs.ts";
import { useSettings } from "../../api/settings.ts";
import { useKeepTemplate } from "../../api/templates.ts";
import { useKeptDraft, useOpenTask, useSaveTask, useTaskCheck } from "../../api/tasks.ts";
import { ListSkeleton } from "../../components/Late.tsx";
import { Notice } from "../../components/Notice.tsx";
import { Column, Screen } from "../../components/Screen.tsx";
import { tell, tellError } from "../../components/toast.tsx";
import type { Problem } from "../../contract/index.ts";
import { go } from "../../shell/route.ts";
import { shortcuts } from "../../shell/shortcuts.ts";
import { useCommands } from "../../state/commands.ts";
import { grantsOf, hasUnsaved, isUntouched, useCompose } from "../../state/compose.ts";
import { sentence } from "../../state/errors.ts";
import { fileName } from "../../state/format.ts";
import { templateTitle } from "../../state/ownTemplates.ts";
import { placeWords } from "../../state/place.ts";
import { type Draft, parsePath, readDraft, setAt } from "../../state/taskSource.ts";
import { usedModel } from "../../state/connection.ts";
import { type Text, useText } from "../../text/index.ts";
import classes from "./Compose.module.css";
import { Letter } from "./Letter.tsx";
import { ProblemsContext } from "./problems.tsx";
import { NoModel, Refused } from "./Strip.tsx";
import { Templates } from "./Templates.tsx";
import { useDrops } from "./useDrops.ts";

const SourceTab = lazy(() => import("./SourceTab.tsx").then((module) => ({ default: module.SourceTab })));

const none: readonly Problem[] = [];
const longestName = 60;
/** As many as one reads before putting the first right. */
const mostTodo = 20;

/** The composer. */
export function Compose() {
  const t = useText();
  useKeptDraft();
  const { loaded, source, folder, visited, showAll, texts } = useCompose();
  const [tab, setTab] = useState<"letter" | "source">("letter");
  const [templates, setTemplates] = useState(false);
  const [opening, setOpening] = useState<(() => void) | null>(null);
  const asks = useCallback((open: () => void) => (hasUnsaved(useCompose.getState()) ? setOpening(() => open) : open()), []);
  const over = useDrops(asks);
  useCommands(() => [{ id: "templates", group: "here", title: t("compose.templates.open"), icon: IconTemplate, run: () => setTemplates(true) }]);
  const draft = useMemo(() => readDraft(source), [source]);
  const checked = useTaskCheck(source, folder);
  // What the app said of other words is not held against these: nothing more is marked until it has read them.
  const [shown, setShown] = useState({ visited, showAll, texts });
  if (checked.settled && (shown.visited !== visited || shown.showAll !== showAll || shown.texts !== texts)) setShown({ visited, showAll, texts });
  const problems = shown.texts === texts ? checked.problems : none;
  const found = useMemo(() => ({ problems, ...shown }), [problems, shown]);
  const settings = useSettings();
  const unconnected = settings.data !== undefined && usedModel(settings.data) === null;
  const start = useStartRun();
  const begin = () => {
    if (folder === null) return;
    const options = draft ? { options: grantsOf(useCompose.getState(), draft) } : {};
    start.mutate({ source, folder, ...options }, { onSuccess: ({ runId }) => go({ screen: "run", runId, view: "auto" }) });
  };
  // A refusal is about the words and the folder as they were; what was done in another program may have mended it, too.
  const isOfThese = start.variables?.source === source && start.variables.folder === folder;
  const refused = isOfThese ? start.error : null;
  const { reset } = start;
  useEffect(() => {
    if (!refused) return;
    window.addEventListener("focus", reset);
    return () => window.removeEventListener("focus", reset);
  }, [refused, reset]);
  if (!loaded) {
    return (
      <Screen title={t("compose.title")}>
        <Column narrow>
          <ListSkeleton rows={3} height={96} />
        </Column>
      </Screen>
    );
  }
  return (
    <Screen
      title={<Title draft={draft} />}
      beside={<Kept />}
      actions={
        <>
          <SegmentedControl
            size="xs"
            aria-label={t("compose.tabs.label")}
            value={tab}
            onChange={(value) => setTab(value === "source" ? "source" : "letter")}
            data={[
              { value: "letter", label: t("compose.tabs.letter") },
              { value: "source", label: t("compose.tabs.source") },
            ]}
          />
          <Button variant="default" onClick={() => setTemplates(true)}>
            {t("compose.templates.open")}
          </Button>
          <Templates opened={templates} close={() => setTemplates(false)} />
          <FileMenu draft={draft} />
          <Start draft={draft} problems={problems} settled={checked.settled} pending={start.isPending} begin={begin} showSource={() => setTab("source")} />
        </>
      }
    >
      {refused ? <Refused error={refused} again={begin} close={reset} /> : unconnected && <NoModel />}
      {over && <div className={classes.drop}>{t("compose.dropped.here")}</div>}
      <Modal opened={opening !== null} onClose={() => setOpening(null)} title={t("compose.openTitle")} closeButtonProps={{ "aria-label": t("common.close") }}>
        <p>{t("compose.openBody")}</p>
        <div className={classes.modalActions}>
          <Button variant="default" data-autofocus onClick={() => setOpening(null)}>
            {t("common.cancel")}
          </Button>
          <Button
            onClick={() => {
              opening?.();
              setOpening(null);
            }}
          >
            {t("compose.dropped.open")}
          </Button>
        </div>
      </Modal>
      <ProblemsContext value={found}>
        {tab === "source" ? (
          <Suspense fallback={<ListSkeleton rows={8} height={20} />}>
            <SourceTab problems={problems} />
          </Suspense>
        ) : draft ? (
          <Letter draft={draft} effects={checked.effects} />
        ) : (
          <Notice
            title={t("compose.sourceBroken")}
            body={problems[0] ? sentence(problems[0].message, null) : undefined}
            action={<Button onClick={() => setTab("source")}>{t("compose.toSource")}</Button>}
          />
        )}
      </ProblemsContext>
    </Screen>
  );
}

function Title({ draft }: { draft: Draft | null }) {
  const t = useText();
  const change = useCompose((state) => state.change);
  return (
    <>
      <VisuallyHidden>{t("compose.title")}</VisuallyHidden>
      <input
        className={classes.name}
        size={Math.min(40, Math.max(9, draft?.name.length ?? 0))}
        aria-label={t("compose.name")}
        placeholder={t("compose.title")}
        value={draft?.name ?? ""}
        disabled={!draft}
        onChange={(event) => {
          const { value } = event.currentTarget;
          change((source) => setAt(source, ["name"], value === "" ? undefined : value));
        }}
      />
    </>
  );
}

function Kept() {
  const t = useText();
  const { path, source, saved, isKept } = useCompose();
  const words = path === null ? t("compose.unsaved") : source === saved ? fileName(path) : `${fileName(path)} · ${t("compose.changed")}`;
  return (
    <>
      <span className={classes.kept} title={path ?? undefined}>
        {words}
      </span>
      <span role="status">
        {!isKept && (
          <span className={classes.notKept}>
            <IconAlertTriangle size={15} stroke={1.6} aria-hidden />
            {t("compose.notKept")}
          </span>
        )}
      </span>
    </>
  );
}

function FileMenu({ draft }: { draft: Draft | null }) {
  const t = useText();
  const compose = useCompose();
  const open = useOpenTask();
  const save = useSaveTask();
  // What takes the place of words that are in no file is asked about first.
  const [asks, setAsks] = useState<"fresh" | "opening" | null>(null);
  const unsaved = hasUnsaved(compose);
  const suggested = `${(draft?.name || "task").trim().toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, longestName)}.yaml`;

  const openFile = () =>
    open.mutate(t("compose.open"), {
      onSuccess: (task) => {
        if (task) compose.opened({ source: task.source, folder: task.folder, path: task.path, saved: task.source });
      },
      onError: tellError,
    });
  const replace = (how: "fresh" | "opening") => {
    setAsks(null);
    if (how === "fresh") compose.fresh();
    else openFile();
  };
  const askOrReplace = (how: "fresh" | "opening") => (unsaved ? setAsks(how) : replace(how));
  const keep = useKeepTemplate();
  const keepTemplate = () => {
    const title = templateTitle(draft);
    if (title === null) return;
    keep.mutate({ title, source: compose.source }, { onSuccess: () => tell(t("compose.templates.kept", { title })), onError: tellError });
  };
  const saveTo = (path: string | null) =>
    save.mutate(
      { source: compose.source, path, suggested, title: t("compose.saveAs") },
      {
        onSuccess: (target) => {
          if (target === null) return;
          compose.savedAs(target);
          tell(t("compose.saved", { name: fileName(target) }));
        },
        onError: tellError,
      },
    );

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
      const key = event.key.toLowerCase();
      const inSource = event.target instanceof Element && event.target.closest(".cm-editor") !== null;
      // The source has an undo of its own.
      if (key === "z" && !inSource) (event.shiftKey ? compose.redo : compose.undo)();
      else if (key === "y" && !inSource && !event.shiftKey) compose.redo();
      else if (key === "s") saveTo(event.shiftKey ? null : compose.path);
      else if (key === "o" && !event.shiftKey) askOrReplace("opening");
      else return;
      event.preventDefault();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  });

  useCommands(() => [
    { id: "open", group: "here", title: t("compose.open"), icon: IconFolderOpen, keys: shortcuts.open, run: () => askOrReplace("opening") },
    { id: "save", group: "here", title: t("compose.save"), icon: IconDeviceFloppy, keys: shortcuts.save, run: () => saveTo(compose.path) },
    { id: "saveAs", group: "here", title: t("compose.saveAs"), icon: IconDeviceFloppy, keys: shortcuts.saveAs, run: () => saveTo(null) },
    ...(compose.past.length > 0 ? [{ id: "undo", group: "here" as const, title: t("compose.undo"), icon: IconArrowBackUp, keys: shortcuts.undo, run: compose.undo }] : []),
    ...(compose.future.length > 0 ? [{ id: "redo", group: "here" as const, title: t("compose.redo"), icon: IconArrowForwardUp, keys: shortcuts.redo, run: compose.redo }] : []),
    { id: "fresh", group: "here", title: t("compose.fresh"), icon: IconEraser, run: () => askOrReplace("fresh") },
  ]);

  return (
    <>
      <Menu position="bottom-end" width={220}>
        <Menu.Target>
          <Button variant="default" rightSection={<IconChevronDown size={15} stroke={1.6} />} loading={open.isPending || save.isPending}>
            {t("compose.menu")}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item rightSection={<kbd className={classes.keys}>{shortcuts.undo}</kbd>} disabled={compose.past.length === 0} onClick={compose.undo}>
            {t("compose.undo")}
          </Menu.Item>
          <Menu.Item rightSection={<kbd className={classes.keys}>{shortcuts.redo}</kbd>} disabled={compose.future.length === 0} onClick={compose.redo}>
            {t("compose.redo")}
          </Menu.Item>
          <Menu.Divider />
          <Menu.Item rightSection={<kbd className={classes.keys}>{shortcuts.open}</kbd>} onClick={() => askOrReplace("opening")}>
            {t("compose.open")}
          </Menu.Item>
          <Menu.Item rightSection={<kbd className={classes.keys}>{shortcuts.save}</kbd>} onClick={() => saveTo(compose.path)}>
            {t("compose.save")}
          </Menu.Item>
          <Menu.Item onClick={() => saveTo(null)}>{t("compose.saveAs")}</Menu.Item>
          <Menu.Item disabled={templateTitle(draft) === null} onClick={keepTemplate}>
            {t("compose.templates.keep")}
          </Menu.Item>
          <Menu.Divider />
          <Menu.Item onClick={() => askOrReplace("fresh")}>{t("compose.fresh")}</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Modal
        opened={asks !== null}
        onClose={() => setAsks(null)}
        title={t(asks === "opening" ? "compose.openTitle" : "compose.freshTitle")}
        closeButtonProps={{ "aria-label": t("common.close") }}
      >
        <p>{t(asks === "opening" ? "compose.openBody" : "compose.freshBody")}</p>
        <div className={classes.modalActions}>
          <Button variant="default" onClick={() => setAsks(null)}>
            {t("common.cancel")}
          </Button>
          <Button onClick={() => asks && replace(asks)}>{t(asks === "opening" ? "compose.open" : "compose.fresh")}</Button>
        </div>
      </Modal>
    </>
  );
}

/** A problem with its place, in the letter's words. */
function placed(problem: Problem, draft: Draft | null, t: Text): string {
  const place = draft === null ? problem.path : placeWords(parsePath(problem.path), draft, t);
  return place === "" ? problem.message : `${place}: ${problem.message}`;
}

interface StartProps {
  draft: Draft | null;
  problems: readonly Problem[];
  settled: boolean;
  pending: boolean;
  begin: () => void;
  showSource: () => void;
}

function Start({ draft, problems, settled, pending, begin, showSource }: StartProps) {
  const t = useText();
  const compose = useCompose();
  const { folder, revealAll } = compose;
  const settings = useSettings();
  const todo = [
    ...problems.filter((problem) => !problem.warning).map((problem) => placed(problem, draft, t)),
    ...(folder === null ? [t("compose.folderNeeded")] : []),
  ];
  const unconnected = settings.data !== undefined && usedModel(settings.data) === null;
  const ready = todo.length === 0 && !unconnected && settled;
  return (
    <>
      {isUntouched(compose) ? null : todo.length > 0 ? (
        <Popover position="bottom-end" width={360} onOpen={revealAll}>
          <Popover.Target>
            <button type="button" className={classes.todo}>
              {t("compose.problems", { count: todo.length })}
            </button>
          </Popover.Target>
          <Popover.Dropdown>
            <ul className={classes.todoList}>
              {todo.slice(0, mostTodo).map((problem) => (
                <li key={problem}>{sentence(problem, null)}</li>
              ))}
            </ul>
            {todo.length > mostTodo && <p className={classes.hint}>{t("compose.problemsMore", { count: todo.length - mostTodo })}</p>}
            {!draft && (
              <Button size="xs" variant="default" onClick={showSource}>
                {t("compose.toSource")}
              </Button>
            )}
          </Popover.Dropdown>
        </Popover>
      ) : (
        unconnected && (
          <button type="button" className={classes.todo} onClick={() => go({ screen: "settings" })}>
            {t("compose.connectFirst")}
          </button>
        )
      )}
      <Tooltip label={t("compose.planHint")}>
        <Button
          disabled={!ready}
          loading={pending}
          onClick={begin}
        >
          {t("compose.plan")}
        </Button>
      </Tooltip>
    </>
  );
}
