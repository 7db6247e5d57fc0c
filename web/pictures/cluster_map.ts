// The cluster as rows and cells: a node is a row, a GPU a cell, adjacent cells of one workload are one run. Pure.

import type { Node, NodeDevice, OverviewNodes } from "../types";
import { type Slot, coloured, slotOf } from "./slots";

/** Who holds a device or a part of it. */
export interface Holder {
  id: string | null;
  name: string;
  projectId?: string | null;
  projectName?: string | null;
  departmentId?: string | null;
  departmentName?: string | null;
  share?: number;
  preemptible?: boolean;
}
export interface MapCell {
  index: number;
  state: NodeDevice["state"];
  workloads: Holder[];
  utilization: number | null;
  /** Held, and nothing was done with it for five minutes. */
  idle?: boolean;
}
/** Adjacent cells of one workload, or its part of one. */
export interface MapRun {
  id: string | null;
  name: string;
  projectId?: string | null;
  project?: string | null;
  departmentId?: string | null;
  department?: string | null;
  firm: boolean;
  whole: boolean;
  from: number;
  offset: number;
  size: number;
  ending: number[];
}
export interface MapRow {
  id?: string;
  name: string;
  pool: string;
  gpu: string;
  state: "down" | "cordoned" | "ready";
  /** What runs there leaves, or has left. */
  drained?: boolean;
  cells: MapCell[];
  held: number;
  free: number;
  runs: MapRun[];
}
export interface MapPool {
  name: string;
  gpu: string;
  rows: MapRow[];
  total: number;
  held: number;
  down: number;
  idle: number;
}
/** As much of a node as the map needs. */
export type MapNode = Pick<Node, "name" | "nodePool"> & {
  id?: string;
  status?: string;
  gpuInfo?: Node["gpuInfo"];
  prorata?: {
    cordoned?: boolean;
    drained?: boolean;
    cordon?: { draining?: boolean } | null;
    devices?: Partial<MapCell & { index: number }>[];
  };
};

// Nodes of the API -> pools with rows, in the order of the given pool names.
export function poolsOf(nodes: MapNode[], order: string[] = []) {
  const empty = (name: string): MapPool => ({ name, gpu: "", rows: [], total: 0, held: 0, down: 0, idle: 0 });
  const pools = new Map(order.map(name => [name, empty(name)]));
  for (const node of [...nodes].sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }))) {
    const row = rowOf(node);
    if (!row.cells.length) continue;
    if (!pools.has(row.pool)) pools.set(row.pool, empty(row.pool));
    const pool = pools.get(row.pool)!;
    pool.rows.push(row);
    pool.gpu ||= row.gpu;
    pool.total += row.cells.filter(c => c.state !== "down").length;
    pool.held += row.held;
    pool.idle += row.cells.filter(c => c.workloads.length && c.utilization === 0).length;
    pool.down += row.cells.filter(c => c.state === "down").length;
  }
  return [...pools.values()].filter(p => p.rows.length);
}

// Nodes of the overview in brief -> nodes of the API, as far as the map needs them.
export function nodesInBrief({ nodes, workloads }: OverviewNodes): MapNode[] {
  return nodes.map(n => {
    const devices = Array.from({ length: n.gpuCount }, (_, index): MapCell => ({
      index,
      state: n.gpusDown.includes(index) ? "down" : n.cordoned ? "cordoned" : "free",
      utilization: n.utilization[index] ?? null,
      idle: n.gpusIdle.includes(index),
      workloads: [],
    }));
    for (const { workload, gpus, share, releasing } of n.held)
      for (const device of gpus.map(g => devices[g]).filter(Boolean)) {
        device.workloads.push({ ...workloads[workload], share });
        if (device.state !== "down") device.state = releasing ? "releasing" : "allocated";
      }
    const { gpuType, gpuCount, cordoned, drained } = n;
    return { ...n, gpuInfo: { gpuType, gpuCount }, prorata: { devices, cordoned, drained } };
  });
}

// One node -> {cells, runs, held, free, state}.
export function rowOf(node: MapNode): MapRow {
  const own: NonNullable<MapNode["prorata"]> = node.prorata ?? {};
  const devices: Partial<MapCell>[] =
    own.devices ??
    Array.from({ length: node.gpuInfo?.gpuCount ?? 0 }, (_, index) => ({ index, state: "free", workloads: [] }));
  const down = node.status !== undefined && node.status !== "Ready";
  const cells = devices.map((d): MapCell => ({
    index: d.index ?? 0,
    state: down ? "down" : (d.state ?? "free"),
    workloads: d.workloads ?? [],
    utilization: d.utilization ?? null,
    idle: d.idle,
  }));
  const held = cells.reduce((sum, c) => sum + c.workloads.reduce((s, w) => s + (w.share ?? 1), 0), 0);
  const free = cells.filter(c => c.state === "free").length;
  return {
    id: node.id,
    name: node.name,
    pool: node.nodePool,
    gpu: node.gpuInfo?.gpuType ?? "",
    state: down ? "down" : own.cordoned ? "cordoned" : "ready",
    drained: own.drained ?? own.cordon?.draining,
    cells,
    held: Math.round(held * 1000) / 1000,
    free,
    runs: down ? [] : runsOf(cells),
  };
}

// Adjacent whole devices of one workload make one run; shared devices make a run per part, from the left.
export function runsOf(cells: MapCell[]) {
  const runs: MapRun[] = [];
  for (const [at, cell] of cells.entries()) {
    let left = 0;
    for (const w of cell.workloads) {
      const share = Math.min(w.share ?? 1, 1 - left);
      const last = runs.at(-1);
      const whole = cell.workloads.length === 1 && share === 1;
      const ending = cell.state === "releasing";
      if (whole && last && last.id === w.id && last.whole && last.from + last.size === at) {
        last.size += 1;
        if (ending) last.ending.push(at - last.from);
      } else {
        runs.push({
          id: w.id,
          name: w.name,
          projectId: w.projectId,
          project: w.projectName,
          departmentId: w.departmentId,
          department: w.departmentName,
          firm: w.preemptible === false,
          whole,
          from: at,
          offset: left,
          size: share,
          ending: ending ? [0] : [],
        });
      }
      left += share;
    }
  }
  return runs;
}

/** Who holds something, a project or a department. slot: its colour; null is grey. */
export interface Group {
  id: string;
  name: string;
  size: number;
  slot: Slot | null;
}
/** What the map shows: by project, department, utilization or health; whose runs stand out; who holds something. */
export interface Look {
  view: string;
  lifted: string | null;
  groups: Map<string, Group>;
}

const keyOf = (run: MapRun, view: string) => (view === "department" ? run.departmentId : run.projectId);

// Who holds something, who holds most first. Of many projects the largest alone have a colour; a department always has.
export function groupsIn(pools: MapPool[], view: string): Look["groups"] {
  const held = new Map<string, Omit<Group, "slot">>();
  for (const run of pools.flatMap(p => p.rows.flatMap(r => r.runs))) {
    const id = keyOf(run, view),
      name = (view === "department" ? run.department : run.project) ?? "";
    if (id) held.set(id, { id, name, size: run.size + (held.get(id)?.size ?? 0) });
  }
  const list = [...held.values()].sort((a, b) => b.size - a.size || a.name.localeCompare(b.name));
  const kept = coloured(list);
  return new Map(list.map(g => [g.id, { ...g, slot: view === "department" || kept.has(g.id) ? slotOf(g.id) : null }]));
}

// How a run looks: its colour, the name in it, whether it stands out. Who is lifted has its colour in any case.
export function lookOf(run: MapRun, { view, lifted, groups }: Look) {
  const id = keyOf(run, view),
    hot = Boolean(lifted) && id === lifted;
  return {
    slot: (id && groups.get(id)?.slot) || (hot ? slotOf(lifted) : null),
    name: (view === "department" && run.project) || run.name,
    hot,
  };
}

// What is free in one piece, of many nodes: "61 full, 12 with 1–3 free, 7 with 8 free, 1 down".
export function piecesOf(pool: MapPool) {
  const most = Math.max(...pool.rows.map(r => r.cells.length)),
    half = Math.floor(most / 2),
    count = (test: (row: MapRow) => boolean) => pool.rows.filter(test).length;
  const up = (r: MapRow) => r.state === "ready",
    between = (low: number, high: number) => count(r => up(r) && r.free >= low && r.free <= high);
  const span = (low: number, high: number) => (low === high ? `${low}` : `${low}–${high}`);
  const bands = [
    [0, 0],
    [1, half],
    [half + 1, most - 1],
    [most, most],
  ].filter(([low, high], i) => low <= high && (i === 0 || low > 0));
  const said = bands.map(([low, high]): [number, string] => [
    between(low, high),
    high === 0 ? "full" : `with ${span(low, high)} free`,
  ]);
  const out = (["cordoned", "down"] as const).map((state): [number, string] => [count(r => r.state === state), state]);
  return [...said, ...out]
    .filter(([n]) => n > 0)
    .map(([n, word]) => `${n} ${word}`)
    .join(", ");
}

// Where a run is drawn in a row of cells `cell` pixels wide: {x, width}.
export function runBox(run: MapRun, left: number, cell: number) {
  if (run.whole) return { x: left + run.from * cell + 1, width: run.size * cell - 2 };
  const inner = cell - 2,
    x = left + run.from * cell + 1 + run.offset * inner;
  return { x, width: Math.max(2, run.size * inner - (run.offset + run.size < 0.999 ? 1 : 0)) };
}

// The name inside a run, cut to what fits; at least five letters fit, else none.
export function runLabel(name: string, width: number, letter = 5.9) {
  const fit = Math.floor((width - 12) / letter);
  if (fit < 5 || !name) return "";
  return name.length > fit ? name.slice(0, fit - 1) + "…" : name;
}

// What a row says at its right end.
export function rowNote(row: MapRow) {
  if (row.state === "down") return "down";
  if (row.state === "cordoned") return !row.drained ? "cordoned" : row.held > 0 ? "draining" : "drained";
  const room = Math.round((row.cells.length - row.held) * 100) / 100;
  return room > 0 ? `${room} free` : "";
}

// Ending devices of a run as stretches: [0,1,2,6] -> [[0,3],[6,1]].
export function stretches(indices: number[]) {
  const out: [from: number, size: number][] = [];
  for (const i of indices) {
    const last = out.at(-1);
    if (last && last[0] + last[1] === i) last[1] += 1;
    else out.push([i, 1]);
  }
  return out;
}

// Utilization in five steps, 0..4; null when nothing is known.
export const heat = (percent: number | null | undefined) =>
  percent === null || percent === undefined ? null : Math.min(4, Math.floor(Number(percent) / 20));

// How a held device looks by utilization: idle, a step, or not measured.
export const heatOf = ({ idle, utilization }: MapCell) => (idle ? "idle" : (heat(utilization) ?? "none"));

// One sentence for a reader who does not see the picture.
export function sentenceOf(pool: MapPool) {
  const parts = [
    `Pool ${pool.name}: ${Math.round(pool.held * 100) / 100} of ${pool.total} GPUs allocated on ${pool.rows.length} nodes`,
  ];
  if (pool.down) parts.push(`${pool.down} not ready`);
  return `${parts.join(", ")}; nodes: ${piecesOf(pool)}.`;
}
