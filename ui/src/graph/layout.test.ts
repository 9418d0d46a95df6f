import { expect, test } from "vitest";
import { type LayoutNode, layoutGraph, NODE } from "./layout.ts";
import { roundedPath } from "./path.ts";

const chain: LayoutNode[] = [
  { id: "a", after: [] },
  { id: "b", after: ["a"] },
  { id: "c", after: ["b"] },
];
const diamond: LayoutNode[] = [
  { id: "a", after: [] },
  { id: "b", after: ["a"] },
  { id: "c", after: ["a"] },
  { id: "d", after: ["b", "c", "a"] },
];

function overlaps(nodes: readonly LayoutNode[]): string[] {
  const placed = [...layoutGraph(nodes).nodes];
  return placed.flatMap(([one, a], index) =>
    placed
      .slice(index + 1)
      .filter(([, b]) => Math.abs(a.x - b.x) < NODE.width && Math.abs(a.y - b.y) < NODE.height)
      .map(([other]) => `${one}/${other}`),
  );
}

test("a step stands below what it depends on", () => {
  const { nodes } = layoutGraph(diamond);
  const y = (id: string) => nodes.get(id)?.y ?? Number.NaN;
  expect(y("a")).toBeLessThan(y("b"));
  expect(y("b")).toBe(y("c"));
  expect(y("c")).toBeLessThan(y("d"));
});

test("no two cards overlap", () => {
  const wide = Array.from({ length: 12 }, (_, n) => ({ id: `s${n}`, after: n > 3 ? [`s${n - 4}`, `s${n % 3}`] : [] }));
  expect(overlaps(wide)).toEqual([]);
});

test("the same plan is laid out the same way twice", () => {
  expect(layoutGraph(diamond)).toEqual(layoutGraph(diamond));
});

test("a chain is one straight column", () => {
  const { nodes, edges } = layoutGraph(chain);
  expect(new Set([...nodes.values()].map((point) => point.x)).size).toBe(1);
  expect(edges.map((edge) => edge.path)).toEqual(["M120 72L120 124", "M120 196L120 248"]);
});

test("an unknown dependency and a circle are survived", () => {
  const odd: LayoutNode[] = [
    { id: "a", after: ["ghost", "a", "b"] },
    { id: "b", after: ["a"] },
  ];
  expect(layoutGraph(odd).nodes.size).toBe(2);
});

test("a line past a row keeps clear of the cards in it", () => {
  const { nodes, edges } = layoutGraph(diamond);
  const long = edges.find((edge) => edge.id === "a->d");
  const xs = [...(long?.path ?? "").matchAll(/[ML](-?[\d.]+) (-?[\d.]+)/g)]
    .map(([, x, y]) => ({ x: Number(x), y: Number(y) }))
    .filter((point) => {
      const row = nodes.get("b")?.y ?? 0;
      return point.y > row && point.y < row + NODE.height;
    })
    .map((point) => point.x);
  for (const x of xs) {
    for (const id of ["b", "c"]) {
      const left = nodes.get(id)?.x ?? 0;
      expect(x <= left || x >= left + NODE.width).toBe(true);
    }
  }
});

test("a corner is rounded by no more than half its shorter side", () => {
  const points = [
    { x: 0, y: 0 },
    { x: 0, y: 20 },
    { x: 8, y: 20 },
    { x: 8, y: 60 },
  ];
  expect(roundedPath(points, 10)).toBe("M0 0L0 16Q0 20 4 20L4 20Q8 20 8 24L8 60");
});
