// A line through points in right angles, its corners rounded.

/** A place in the graph's own coordinates. */
export interface Point {
  x: number;
  y: number;
}

/** The SVG path through these points; consecutive points must share an x or a y. */
export function roundedPath(points: readonly Point[], radius: number): string {
  const corners = simplify(points);
  const [first, ...rest] = corners;
  if (!first) return "";
  let path = `M${first.x} ${first.y}`;
  rest.forEach((point, index) => {
    const before = corners[index];
    const after = corners[index + 2];
    if (!before || !after) {
      path += `L${point.x} ${point.y}`;
      return;
    }
    const room = Math.min(radius, distance(before, point) / 2, distance(point, after) / 2);
    const start = toward(point, before, room);
    const end = toward(point, after, room);
    path += `L${start.x} ${start.y}Q${point.x} ${point.y} ${end.x} ${end.y}`;
  });
  return path;
}

function distance(a: Point, b: Point): number {
  return Math.abs(a.x - b.x) + Math.abs(a.y - b.y);
}

function toward(from: Point, to: Point, by: number): Point {
  return { x: from.x + Math.sign(to.x - from.x) * by, y: from.y + Math.sign(to.y - from.y) * by };
}

/** Leaves out repeated points and those in the middle of a straight line. */
function simplify(points: readonly Point[]): Point[] {
  const kept: Point[] = [];
  for (const point of points) {
    const last = kept.at(-1);
    const secondLast = kept.at(-2);
    if (last && last.x === point.x && last.y === point.y) continue;
    const straight =
      last &&
      secondLast &&
      ((secondLast.x === last.x && last.x === point.x) || (secondLast.y === last.y && last.y === point.y));
    if (straight) kept.pop();
    kept.push(point);
  }
  return kept;
}
