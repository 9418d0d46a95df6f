// A list that may be very long, in parts: each is drawn while it is near what is in sight, and keeps its height while it
// is not. For lines of different heights that stand among other things; a list that scrolls by itself has a virtualizer.

import { type ReactNode, useEffect, useRef, useState } from "react";

/** How many lines a part has. A list of this many parts is drawn whole. */
const partSize = 20;
const wholeParts = 3;
/** How far beside the window a part is drawn already. */
const margin = 400;

interface PartsProps {
  count: number;
  /** How high a line is that was never drawn, roughly. */
  lineHeight: number;
  /** A line that is drawn wherever it stands. */
  wanted?: number | null;
  /** What holds the lines of a part. */
  as?: "div" | "tbody";
  lines: (from: number, to: number) => ReactNode;
}

/** The list. */
export function Parts({ count, lineHeight, wanted = null, as: Holder = "div", lines }: PartsProps) {
  if (count <= partSize * wholeParts) return <Holder>{lines(0, count)}</Holder>;
  const starts = Array.from({ length: Math.ceil(count / partSize) }, (_, part) => part * partSize);
  return starts.map((from) => {
    const to = Math.min(from + partSize, count);
    const forced = wanted !== null && wanted >= from && wanted < to;
    return <Part key={from} from={from} to={to} lineHeight={lineHeight} forced={forced} as={Holder} lines={lines} />;
  });
}

interface PartProps extends Required<Pick<PartsProps, "as" | "lineHeight" | "lines">> {
  from: number;
  to: number;
  forced: boolean;
}

function Part({ from, to, lineHeight, forced, as, lines }: PartProps) {
  const [holder, setHolder] = useState<HTMLElement | null>(null);
  const [near, setNear] = useState(false);
  const height = useRef<number | null>(null);
  const [shownHeight, setShownHeight] = useState<number | null>(null);
  useEffect(() => {
    if (!holder) return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        const last = entries.at(-1);
        if (!last) return;
        if (last.isIntersecting) {
          setNear(true);
          // What has the focus keeps it.
        } else if (!holder.contains(document.activeElement)) {
          setShownHeight(height.current);
          setNear(false);
        }
      },
      { root: scrollerOf(holder), rootMargin: `${margin}px 0px` },
    );
    observer.observe(holder);
    return () => observer.disconnect();
  }, [holder]);
  const drawn = near || forced;
  useEffect(() => {
    if (drawn && holder) height.current = holder.getBoundingClientRect().height;
  });
  const room = { height: shownHeight ?? (to - from) * lineHeight };
  if (as === "tbody") return <tbody ref={setHolder}>{drawn ? lines(from, to) : <tr aria-hidden style={room} />}</tbody>;
  return <div ref={setHolder}>{drawn ? lines(from, to) : <div style={room} />}</div>;
}

/** What really scrolls around an element; the window where nothing does. */
function scrollerOf(element: HTMLElement): HTMLElement | null {
  for (let around = element.parentElement; around; around = around.parentElement) {
    const scrolls = around.scrollHeight > around.clientHeight && /auto|scroll/.test(getComputedStyle(around).overflowY);
    if (scrolls) return around;
  }
  return null;
}
