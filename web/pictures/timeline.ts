// Who held what when, as places on a canvas: a lane for each node, pool or project, and blocks in it. Pure.
import { clock, count, day, gpuCount, gpus, plural } from "../format";
import type { Timeline } from "../types";
import type { Range } from "./line_chart";
import { textured } from "./slots";

type Sent = Timeline["blocks"][number];
/** base: the GPUs of other blocks under it. whole: the one that it was cut from. */
export type Block = Sent & { base?: number; whole?: Sent };

export const HEAD = 92; // px: figures and the axis, above the lanes
const PHONE = 500,
  POOLS = 448; // px that pools share

/** What the picture is drawn by. left, right: where time begins and ends; row: the height of a lane, fill: of what is in it. */
export interface Layout {
  left: number;
  right: number;
  row: number;
  fill: number;
  height: number;
  from: number;
  to: number;
}

function heightOf({ by, lanes, detail }: Timeline) {
  if (by === "pools") return Math.max(72, Math.min(132, Math.floor(POOLS / lanes.length)));
  if (detail === "shares") return lanes.length > 16 ? 17 : 24;
  return 4 + Math.max(16, ...lanes.map(lane => lane.gpus * 4));
}

export function layout(timeline: Timeline, width: number): Layout {
  const row = heightOf(timeline);
  return {
    left: width < PHONE ? 64 : 112,
    right: width - (width < PHONE ? 8 : 96),
    row,
    fill: row - (timeline.by === "pools" ? 12 : 2),
    height: row * timeline.lanes.length + 8,
    from: Date.parse(timeline.start),
    to: Date.parse(timeline.end),
  };
}

export const xOf = ({ left, right, from, to }: Layout, at: number) =>
  left + ((at - from) / (to - from)) * (right - left);
export const timeAt = ({ left, right, from, to }: Layout, x: number) =>
  Math.round(from + Math.min(1, Math.max(0, (x - left) / (right - left))) * (to - from));

/** What stands at the left of a lane: its name, and of a pool how much it has. */
export function namesOf({ by, lanes, projects }: Timeline, lane: number) {
  const { node, nodePool, nodes = 0, project, gpus: size } = lanes[lane];
  if (by === "nodes") return [node!];
  if (by === "projects") return [project === undefined ? "other" : projects[project].name];
  return nodePool ? [nodePool, `${count(size)} GPUs`, plural(nodes, "node")] : ["gone"];
}

/** Who is known by colour, as many GPU seconds each held, most first; and of all others together. */
export function holders({ projects, blocks }: Timeline) {
  const sizes = new Map<number | undefined, number>();
  for (const { project, from, to, gpus: size } of blocks)
    sizes.set(project, (sizes.get(project) ?? 0) + size * (to - from));
  const all = projects.map((p, i) => ({ ...p, index: i, size: sizes.get(i) ?? 0 })).sort((a, b) => b.size - a.size);
  const kept = textured(all),
    shown = all.filter(p => kept.has(p.id));
  const sum = [...sizes.values()].reduce((a, b) => a + b, 0);
  return { shown, others: sum - shown.reduce((a, p) => a + p.size, 0) };
}
export type Holders = ReturnType<typeof holders>;

// The blocks of one pool on top of each other: at the bottom who has a colour and held most, others at the top.
function stackOf(own: Sent[], isColoured: (project?: number) => boolean): Block[] {
  const rows = new Map<number | undefined, { size: number; blocks: Sent[]; last?: Block; at: number }>();
  for (const block of own) {
    const row = rows.get(block.project) ?? { size: 0, blocks: [], at: 0 };
    rows.set(block.project, row);
    row.size += block.gpus * (block.to - block.from);
    row.blocks.push(block);
  }
  const rank = (project?: number) => (project === undefined ? 2 : isColoured(project) ? 0 : 1);
  const order = [...rows].sort(([a, x], [b, y]) => rank(a) - rank(b) || y.size - x.size),
    times = [...new Set(own.flatMap(b => [b.from, b.to]))].sort((a, b) => a - b),
    out: Block[] = [];
  times.slice(0, -1).forEach((from, i) => {
    const to = times[i + 1];
    let base = 0;
    for (const [, row] of order) {
      while (row.blocks[row.at + 1]?.from <= from) row.at++;
      const whole = row.blocks[row.at],
        { last } = row;
      if (whole.from > from || whole.to <= from) continue;
      if (last && last.whole === whole && last.base === base && last.to === from) last.to = to;
      else out.push((row.last = { ...whole, from, to, base, whole }));
      base += whole.gpus;
    }
  });
  return out;
}

/** What is drawn: pools' blocks stand on top of each other, cut where what is under them changes. */
export function drawn(timeline: Timeline): Block[] {
  const { by, lanes, blocks } = timeline;
  if (by !== "pools") return blocks;
  const shown = new Set<number | undefined>(holders(timeline).shown.map(p => p.index));
  return lanes.flatMap((_, i) =>
    stackOf(
      blocks.filter(b => b.lane === i),
      project => shown.has(project),
    ),
  );
}

/** The same with projects in the order of their names, others last; nodes and pools are in theirs. */
export function ordered(timeline: Timeline): Timeline {
  if (timeline.by !== "projects") return timeline;
  const name = (lane: number) => namesOf(timeline, lane)[0],
    isOther = (lane: number) => Number(timeline.lanes[lane].project === undefined);
  const order = timeline.lanes
    .map((_, i) => i)
    .sort((a, b) => isOther(a) - isOther(b) || name(a).localeCompare(name(b), "en"));
  const placeOf = new Map(order.map((lane, i) => [lane, i]));
  return {
    ...timeline,
    lanes: order.map(lane => timeline.lanes[lane]),
    blocks: timeline.blocks.map(b => ({ ...b, lane: placeOf.get(b.lane)! })),
  };
}

/** Where a block lies: one [x, y, width, height] for each run of devices that stand side by side. */
export function boxes({ lanes }: Timeline, map: Layout, { lane, from, to, devices, gpus: size, base = 0 }: Block) {
  const height = map.fill,
    top = lane * map.row,
    x = xOf(map, map.from + from * 1000),
    width = Math.max(1, Math.min(map.right, xOf(map, map.from + to * 1000)) - x),
    share = height / Math.max(1, lanes[lane].gpus, base + size, ...(devices ?? []).map(d => d + 1));
  const out: number[][] = [];
  if (!devices) out.push([x, top + Math.max(0, height - (base + size) * share), width, Math.min(height, size * share)]);
  devices?.forEach((device, i) => {
    if (i && device === devices[i - 1] + 1) out.at(-1)![3] += share;
    else out.push([x, top + device * share, width, share]);
  });
  return out;
}

export const blockAt = (timeline: Timeline, blocks: Block[], map: Layout, x: number, y: number) =>
  blocks.findLast(block =>
    boxes(timeline, map, block).some(([left, top, w, h]) => x >= left && x <= left + w && y >= top && y <= top + h),
  );

/** Where a pool's projects are named: each where its band stays at one height for longest. */
export function bandNames(timeline: Timeline, map: Layout, blocks: Block[], least = 12) {
  const open = new Map<string, { x: number; end: number; low: number; high: number; block: Block }>(),
    best = new Map<string, { x: number; end: number; low: number; high: number; block: Block }>();
  const close = (key: string) => {
    const stretch = open.get(key),
      known = best.get(key);
    if (stretch && (!known || stretch.end - stretch.x > known.end - known.x)) best.set(key, stretch);
    open.delete(key);
  };
  for (const block of blocks) {
    const [[x, y, w, h]] = boxes(timeline, map, block),
      key = `${block.lane}/${block.project}`,
      before = open.get(key),
      low = Math.max(before?.low ?? y, y),
      high = Math.min(before?.high ?? y + h, y + h);
    if (before && x - before.end < 2 && high - low >= least) Object.assign(before, { end: x + w, low, high });
    else {
      close(key);
      if (h >= least) open.set(key, { x, end: x + w, low: y, high: y + h, block });
    }
  }
  for (const key of [...open.keys()]) close(key);
  return [...best.values()];
}

export function nameOf({ by, workloads, projects }: Timeline, { project, workload, count: places }: Block) {
  const own = project === undefined ? "other" : projects[project].name;
  if (workload !== undefined) return `${own}/${workloads[workload].name}`;
  if (!places || by !== "nodes") return own;
  return project === undefined ? `${places} workloads` : `${places} workloads, ${own}`;
}

// A block in words: whose it is, what it holds, from when to when, how it ended.
export function wordsOf(timeline: Timeline, block: Block) {
  const { gpus: size, lane, from, to, end, failed, preempted } = block.whole ?? block;
  const [since, until] = [from, to].map(s => Date.parse(timeline.start) + s * 1000).map(t => `${day(t)} ${clock(t)}`);
  const ends = `${end ? `, ${end}` : ""}${failed ? `, ${failed} failed` : ""}${preempted ? `, ${preempted} preempted` : ""}`;
  const name = nameOf(timeline, block),
    [where] = namesOf(timeline, lane);
  return `${name}: ${gpuCount(size)}${where === name ? "" : ` of ${where}`}, ${since} to ${until}${ends}`;
}

type Eviction = Timeline["evictions"][number];
/** The lane that an eviction took from; -1: it is not here. */
export const laneOf = ({ by, lanes, projects }: Timeline, { node, nodePool, victim }: Eviction) =>
  lanes.findIndex(lane =>
    by === "nodes"
      ? lane.node === node
      : by === "pools"
        ? lane.nodePool === (nodePool ?? "")
        : (lane.project === undefined ? null : projects[lane.project].name) === victim.project,
  );

const side = (of?: Eviction["victim"]) => (of?.name ? `${of.project}/${of.name}` : "another project");
export const wordsOfEviction = ({ victim, beneficiary, gpus: given, node }: Eviction) =>
  `${side(victim)} gave ${gpuCount(given)} of ${node} to ${side(beneficiary)}`;
export const wentTo = ({ gpus: given, beneficiary }: Eviction) =>
  `↩ ${gpus(given)} to ${beneficiary?.project ?? "other"}`;

/** The same line said several times is one, with how often. */
export function counted<T extends { text: string }>(facts: T[]): (T & { times: number })[] {
  const known = new Map<string, T & { times: number }>();
  for (const fact of facts) {
    const before = known.get(fact.text);
    if (before) before.times++;
    else known.set(fact.text, { ...fact, times: 1 });
  }
  return [...known.values()];
}

// Moves a range by parts of its width, or zooms it; never beyond now, from two minutes to 35 days.
export function moved([from, to]: Range, by: number, zoom: number, now: number): Range {
  const width = Math.min(3024e6, Math.max(12e4, (to - from) * zoom)),
    end = Math.min(now, (from + to + width) / 2 + by * (to - from));
  return [end - width, end];
}
