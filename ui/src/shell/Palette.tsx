// Everything that can be done, by its name: commands of the screen, places, and runs found by their words.

import { Spotlight, spotlight } from "@mantine/spotlight";
import { useDebouncedValue } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { useState } from "react";
import { useRuns } from "../api/runs.ts";
import { Mark } from "../components/Mark.tsx";
import { Time } from "../components/Time.tsx";
import { type Command, type CommandGroup, matching, offered } from "../state/commands.ts";
import { standingMark, standingOf } from "../state/standing.ts";
import { useText } from "../text/index.ts";
import { go } from "./route.ts";
import classes from "./Palette.module.css";

const mostRuns = 6;
const groups: readonly CommandGroup[] = ["here", "go", "window"];

/** Opens the palette. */
export function openPalette(): void {
  spotlight.open();
}

/** The palette. Stands once in the shell. */
export function Palette() {
  const t = useText();
  const [query, setQuery] = useState("");
  // What is offered is asked for when the palette is opened, not with every change of a screen behind it.
  const [commands, setCommands] = useState<readonly Command[]>([]);
  const found = matching(commands, query);
  const runs = useFoundRuns(query);
  return (
    <Spotlight.Root
      query={query}
      onQueryChange={setQuery}
      onSpotlightOpen={() => setCommands(offered())}
      onSpotlightClose={() => setQuery("")}
      shortcut={null}
      clearQueryOnClose
      closeOnActionTrigger
      returnFocus
      title={t("palette.title")}
      overlayProps={{ opacity: 0.35, blur: 0 }}
      classNames={{ content: classes.palette ?? "", inner: classes.inner ?? "", header: classes.header ?? "" }}
    >
      <Spotlight.Search placeholder={t("palette.placeholder")} aria-label={t("palette.placeholder")} leftSection={<IconSearch size={18} stroke={1.6} />} />
      <Spotlight.ActionsList className={classes.list}>
        {groups.map((group) => {
          const among = found.filter((command) => command.group === group);
          return (
            among.length > 0 && (
              <Spotlight.ActionsGroup key={group} label={t(`palette.groups.${group}`)}>
                {among.map(({ id, title, icon: Icon, keys, run }) => (
                  <Spotlight.Action
                    key={id}
                    label={title}
                    leftSection={Icon && <Icon size={17} stroke={1.6} />}
                    rightSection={keys && <kbd className={classes.keys}>{keys}</kbd>}
                    onClick={run}
                  />
                ))}
              </Spotlight.ActionsGroup>
            )
          );
        })}
        {runs.length > 0 && (
          <Spotlight.ActionsGroup label={t("palette.groups.runs")}>
            {runs.map((run) => (
              <Spotlight.Action
                key={run.runId}
                label={run.title}
                leftSection={<Mark kind={standingMark[standingOf(run)]} />}
                rightSection={<span className={classes.keys}><Time at={run.startedAtMs} /></span>}
                onClick={() => go({ screen: "run", runId: run.runId, view: "auto" })}
              />
            ))}
          </Spotlight.ActionsGroup>
        )}
        {found.length + runs.length === 0 && <Spotlight.Empty>{t("palette.none")}</Spotlight.Empty>}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  );
}

/** Runs that have these words; none for no words. */
function useFoundRuns(query: string) {
  const [text] = useDebouncedValue(query.trim(), 150);
  const runs = useRuns({ status: [], text }, text !== "");
  return text === "" || query.trim() === "" ? [] : (runs.data ?? []).slice(0, mostRuns);
}
