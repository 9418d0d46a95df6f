// Below the graph: what happened, which files changed, what the steps noted for one another.

import { ActionIcon, Tabs, TextInput, Tooltip } from "@mantine/core";
import { IconChevronDown, IconChevronUp, IconSearch } from "@tabler/icons-react";
import { type KeyboardEvent, type PointerEvent, useRef, useState } from "react";
import type { LiveRun } from "../../api/runs.ts";
import { Notice } from "../../components/Notice.tsx";
import { RecordedValue } from "../../components/ValueView.tsx";
import { usePreferences } from "../../state/preferences.ts";
import { changedFiles } from "../../state/run.ts";
import { useText } from "../../text/index.ts";
import { Activity } from "./Activity.tsx";
import classes from "./BottomPanel.module.css";
import { FilesChanged } from "./FilesChanged.tsx";

const tabs = ["activity", "files", "scratchpad"] as const;
type Tab = (typeof tabs)[number];

/** The panel, as high as it was last made. */
export function BottomPanel({ run, runId }: { run: LiveRun; runId: string }) {
  const t = useText();
  const { panelHeight, setPanelHeight, panelOpen, setPanelOpen } = usePreferences();
  const [tab, setTab] = useState<Tab>("activity");
  const [filter, setFilter] = useState("");
  const drag = useRef<{ y: number; height: number } | null>(null);
  const files = changedFiles(run.state);
  // The app's own notes to the planner begin with an underscore; a person has all of that in the steps.
  const notes = Object.entries(run.state.scratchpad).filter(([name]) => !name.startsWith("_"));
  const counts: Record<Tab, number> = { activity: 0, files: files.length, scratchpad: notes.length };

  const onPointerDown = (event: PointerEvent<HTMLDivElement>) => {
    event.currentTarget.setPointerCapture(event.pointerId);
    drag.current = { y: event.clientY, height: panelHeight };
  };
  const onPointerMove = (event: PointerEvent<HTMLDivElement>) => {
    if (drag.current) setPanelHeight(drag.current.height + drag.current.y - event.clientY);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "ArrowUp") setPanelHeight(panelHeight + 24);
    else if (event.key === "ArrowDown") setPanelHeight(panelHeight - 24);
    else return;
    event.preventDefault();
  };
  const toggleLabel = panelOpen ? t("run.panel.hide") : t("run.panel.show");
  return (
    <section className={classes.panel} aria-label={t("run.panel.label")} style={{ height: panelOpen ? panelHeight : 42 }}>
      {panelOpen && (
        <div
          className={classes.grip}
          role="separator"
          aria-orientation="horizontal"
          aria-label={t("run.panel.resize")}
          aria-valuenow={panelHeight}
          aria-valuemin={120}
          aria-valuemax={560}
          tabIndex={0}
          onPointerDown={onPointerDown}
          onPointerMove={onPointerMove}
          onPointerUp={() => (drag.current = null)}
          onKeyDown={onKeyDown}
        />
      )}
      <Tabs
        value={tab}
        onChange={(value) => {
          setTab(tabs.find((one) => one === value) ?? "activity");
          setPanelOpen(true);
        }}
        className={classes.tabs ?? ""}
        keepMounted={false}
      >
        <div className={classes.bar}>
          <Tabs.List className={classes.tabList ?? ""}>
            {tabs.map((value) => (
              <Tabs.Tab key={value} value={value}>
                {t(`run.panel.${value}`)}
                {counts[value] > 0 && <span className={classes.count}> · {counts[value]}</span>}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          {panelOpen && tab === "activity" && (
            <TextInput
              size="xs"
              className={classes.filter ?? ""}
              leftSection={<IconSearch size={13} stroke={1.6} />}
              placeholder={t("run.panel.filter")}
              aria-label={t("run.panel.filter")}
              value={filter}
              onChange={(event) => setFilter(event.currentTarget.value)}
            />
          )}
          <Tooltip label={toggleLabel}>
            <ActionIcon onClick={() => setPanelOpen(!panelOpen)} aria-label={toggleLabel} aria-expanded={panelOpen} size={28}>
              {panelOpen ? <IconChevronDown size={16} stroke={1.6} /> : <IconChevronUp size={16} stroke={1.6} />}
            </ActionIcon>
          </Tooltip>
        </div>
        {panelOpen && (
          <>
            <Tabs.Panel value="activity" className={classes.content ?? ""}>
              <Activity run={run} filter={filter} />
            </Tabs.Panel>
            <Tabs.Panel value="files" className={classes.scroll ?? ""}>
              <FilesChanged state={run.state} runId={runId} files={files} />
            </Tabs.Panel>
            <Tabs.Panel value="scratchpad" className={classes.scroll ?? ""}>
              {notes.length === 0 ? (
                <Notice compact title={t("run.panel.noScratchpad")} />
              ) : (
                <dl className={classes.notes}>
                  {notes.map(([name, value]) => (
                    <div key={name}>
                      <dt className="mono">{name}</dt>
                      <dd>
                        <RecordedValue reference={value} label={name} />
                      </dd>
                    </div>
                  ))}
                </dl>
              )}
            </Tabs.Panel>
          </>
        )}
      </Tabs>
    </section>
  );
}
