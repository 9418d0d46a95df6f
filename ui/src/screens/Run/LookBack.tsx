// Looking back at a run: the steps, the question, the files and the activity as they were at any moment of it.

import { ActionIcon, Slider, Tooltip } from "@mantine/core";
import { IconPlayerSkipBack, IconPlayerSkipForward, IconX } from "@tabler/icons-react";
import { useMemo, useState } from "react";
import type { LiveRun } from "../../api/runs.ts";
import type { RunState } from "../../contract/index.ts";
import { timeOfDay } from "../../state/format.ts";
import { stops, Timeline } from "../../state/timeline.ts";
import { useText } from "../../text/index.ts";
import classes from "./LookBack.module.css";

/** A run as it was, when somebody looks back at it. */
export interface Past {
  /** The run to draw. */
  run: LiveRun;
  /** What moves along it; null while nobody looks back. */
  slider: React.ReactNode;
  open: boolean;
  toggle: () => void;
}

/** The run as it is, or as it was where the slider stands. */
export function usePast(live: LiveRun): Past {
  const { records, length } = live;
  const [place, setPlace] = useState<number | null>(null);
  const timeline = useMemo(() => new Timeline(records), [records]);
  const looks = place !== null;
  // Nobody looks through a journal that grows while nobody looks back.
  const places = useMemo(() => (looks ? stops(records, length) : []), [looks, records, length]);
  const count = place === null ? length : (places[Math.min(place, places.length - 1)] ?? length);
  const run = useMemo(() => (place === null ? live : { ...live, state: unasked(timeline.at(count)), length: count }), [place, live, timeline, count]);
  const at = records[count - 1]?.atMs ?? 0;
  return {
    run,
    open: looks,
    toggle: () => setPlace(looks ? null : Number.MAX_SAFE_INTEGER),
    slider: place !== null ? <LookBack place={Math.min(place, places.length - 1)} last={places.length - 1} at={at} setPlace={setPlace} /> : null,
  };
}

/** A question of back then is not to be answered now. */
function unasked(state: RunState): RunState {
  const { waitingAlso: _, ...rest } = state;
  return { ...rest, waiting: null };
}

function LookBack({ place, last, at, setPlace }: { place: number; last: number; at: number; setPlace: (place: number | null) => void }) {
  const t = useText();
  const step = (by: number) => setPlace(Math.min(last, Math.max(0, place + by)));
  return (
    <div className={classes.bar} role="group" aria-label={t("run.past.title")}>
      <span className={classes.words}>{t("run.past.title")}</span>
      <Tooltip label={t("run.past.back")}>
        <ActionIcon size={28} disabled={place === 0} onClick={() => step(-1)} aria-label={t("run.past.back")}>
          <IconPlayerSkipBack size={15} stroke={1.6} />
        </ActionIcon>
      </Tooltip>
      <Slider
        className={classes.slider ?? ""}
        size={4}
        min={0}
        max={last}
        value={place}
        onChange={setPlace}
        label={null}
        thumbLabel={t("run.past.moment")}
        thumbValueText={t("run.past.of", { place: place + 1, count: last + 1, time: timeOfDay(at) })}
      />
      <Tooltip label={t("run.past.forward")}>
        <ActionIcon size={28} disabled={place === last} onClick={() => step(1)} aria-label={t("run.past.forward")}>
          <IconPlayerSkipForward size={15} stroke={1.6} />
        </ActionIcon>
      </Tooltip>
      <span className={classes.time}>{timeOfDay(at)}</span>
      <Tooltip label={t("run.past.close")}>
        <ActionIcon size={28} onClick={() => setPlace(null)} aria-label={t("run.past.close")}>
          <IconX size={15} stroke={1.6} />
        </ActionIcon>
      </Tooltip>
    </div>
  );
}
