// Who held what when, as places on a canvas: a lane for each node, blocks on its devices. Pure.
import { clock, day, gpuCount } from "../format";
import type { Timeline } from "../types";
import type { Range } from "./line_chart";

export type Block = Timeline["blocks"][number];

export const HEAD = 92; // px: figures and the axis, above the lanes

/** What the picture is drawn by. left, right: where time begins and ends; row: the height of a lane. */
export interface Layout {
  left: number;
  right: number;
  row: number;
  height: number;
  from: number;
  to: number;
}

export function layout({ lanes, detail, start, end }: Timeline, width: number): Layout {
  const row =
    detail === "shares" ? (lanes.length > 16 ? 10 : 24) : 4 + Math.max(16, ...lanes.map(lane => lane.gpus * 4));
  const height = HEAD + row * lanes.length + 8;
  return {
    left: width < 500 ? 64 : 112,
    right: width - (width < 500 ? 8 : 96),
    row,
    height,
    from: Date.parse(start),
    to: Date.parse(end),
  };
}

export const xOf = ({ left, right, from, to }: Layout, at: number) =>
  left + ((at - from) / (to - from)) * (right - left);
export const timeAt = ({ left, right, from, to }: Layout, x: number) =>
  Math.round(from + Math.min(1, Math.max(0, (x - left) / (right - left))) * (to - from));

/** Where a block lies: one [x, y, width, height] for each run of devices that stand side by side. */
export function boxes({ lanes }: Timeline, map: Layout, { lane, from, to, devices, gpus }: Block) {
  const { row } = map,
    height = row - 2,
    top = HEAD + lane * row,
    x = xOf(map, map.from + from * 1000),
    width = Math.max(1, Math.min(map.right, xOf(map, map.from + to * 1000)) - x),
    share = height / Math.max(1, lanes[lane].gpus, ...(devices ?? []).map(d => d + 1));
  const out: number[][] = [];
  if (!devices) out.push([x, top + Math.max(0, height - gpus * share), width, Math.min(height, gpus * share)]);
  devices?.forEach((device, i) => {
    if (i && device === devices[i - 1] + 1) out.at(-1)![3] += share;
    else out.push([x, top + device * share, width, share]);
  });
  return out;
}

export const blockAt = (timeline: Timeline, map: Layout, x: number, y: number) =>
  timeline.blocks.findLast(block =>
    boxes(timeline, map, block).some(([left, top, w, h]) => x >= left && x <= left + w && y >= top && y <= top + h),
  );

export function nameOf({ workloads, projects }: Timeline, { project, workload, count }: Block) {
  const own = project === undefined ? "other" : projects[project].name;
  return workload !== undefined ? `${own}/${workloads[workload].name}` : count ? `${count} workloads, ${own}` : own;
}

/** The same with a lane for each project: how many GPUs it held from when to when. Those of others come last. */
export function byProject(timeline: Timeline): Timeline {
  const changes = new Map<number | undefined, Map<number, number>>();
  for (const { project, from, to, gpus } of timeline.blocks) {
    const of = changes.get(project) ?? changes.set(project, new Map()).get(project)!;
    of.set(from, (of.get(from) ?? 0) + gpus);
    of.set(to, (of.get(to) ?? 0) - gpus);
  }
  const name = (project?: number) => (project === undefined ? "other" : timeline.projects[project].name);
  const order = [...changes.keys()].sort(
    (a, b) => Number(a === undefined) - Number(b === undefined) || name(a).localeCompare(name(b), "en"),
  );
  const blocks: Block[] = [];
  const lanes = order.map((project, lane) => {
    const times = [...changes.get(project)!].sort(([a], [b]) => a - b);
    let held = 0,
      most = 0;
    times.forEach(([from, change], i) => {
      held = Math.round((held + change) * 1000) / 1000;
      most = Math.max(most, held);
      if (held > 0 && i + 1 < times.length) blocks.push({ lane, from, to: times[i + 1][0], gpus: held, project });
    });
    return { node: name(project), nodePool: "", gpus: Math.ceil(most) };
  });
  const evictions = timeline.evictions.map(e => ({ ...e, node: e.victim?.project ?? "other" }));
  return { ...timeline, detail: "shares", lanes, blocks, evictions };
}

// A block in words: whose it is, what it holds, from when to when, how it ended.
export function wordsOf(timeline: Timeline, block: Block) {
  const { gpus, lane, from, to, end, failed, preempted } = block;
  const [since, until] = [from, to].map(s => Date.parse(timeline.start) + s * 1000).map(t => `${day(t)} ${clock(t)}`);
  const ends = `${end ? `, ${end}` : ""}${failed ? `, ${failed} failed` : ""}${preempted ? `, ${preempted} preempted` : ""}`;
  const name = nameOf(timeline, block),
    { node } = timeline.lanes[lane];
  return `${name}: ${gpuCount(gpus)}${node === name ? "" : ` of ${node}`}, ${since} to ${until}${ends}`;
}

type Eviction = Timeline["evictions"][number];
const side = (of?: Eviction["victim"]) => (of?.name ? `${of.project}/${of.name}` : "another project");
export const wordsOfEviction = ({ victim, beneficiary, gpus, node }: Eviction) =>
  `${side(victim)} gave ${gpuCount(gpus)} of ${node} to ${side(beneficiary)}`;

// Moves a range by parts of its width, or zooms it; never beyond now, from two minutes to 35 days.
export function moved([from, to]: Range, by: number, zoom: number, now: number): Range {
  const width = Math.min(3024e6, Math.max(12e4, (to - from) * zoom)),
    end = Math.min(now, (from + to + width) / 2 + by * (to - from));
  return [end - width, end];
}
