// The timeline on two canvases: figures and the axis above, lanes below, on the same axis. It sees no page: what it draws
// with, in which tones and on which textures is given.
import { gpus } from "../format";
import { timeTicks } from "./line_chart";
import type { Pen } from "./map_paint";
import { slotOf } from "./slots";
import {
  type Block,
  HEAD,
  type Holders,
  type Layout,
  bandNames,
  boxes,
  laneOf,
  nameOf,
  namesOf,
  wentTo,
  xOf,
} from "./timeline";
import type { Timeline } from "../types";

export interface Scene {
  pen: Pen;
  /** The colours of the theme, by the name of their token. */
  tone: Record<string, string>;
  texture: (kind: string, tone: string) => string | CanvasPattern;
  timeline: Timeline;
  /** What is drawn of the timeline. */
  blocks: Block[];
  map: Layout;
  known: Holders;
  /** Moments that are marked; 0: none. */
  marks: number[];
}

const FIGURES = [
  ["allocated", "ink", [], "GPUs held"],
  ["ready", "ink-3", [1, 3], "GPUs ready"],
  ["waiting", "warn", [4, 3], "waiting"],
] as const;
const FLOOR = HEAD - 26, // of the figures
  SMALL = "11px Inter Variable, system-ui",
  GREY = 0.45,
  LINE = 12; // px from one line of text to the next

// As much of a text as there is room for.
function cut(pen: Pen, text: string, room: number) {
  if (pen.measureText(text).width <= room) return text;
  let length = Math.max(0, Math.floor((text.length * room) / pen.measureText(text).width));
  while (length > 0 && pen.measureText(`${text.slice(0, length)}…`).width > room) length--;
  return length > 0 ? `${text.slice(0, length)}…` : "";
}

function paintTicks({ pen, tone, map }: Scene, top: number, bottom: number, isNamed: boolean) {
  for (const { value, label } of timeTicks(map.from, map.to, (map.right - map.left) / 90)) {
    const x = xOf(map, value);
    pen.fillStyle = tone.line;
    pen.fillRect(x, top, 1, bottom - top);
    pen.fillStyle = tone["ink-3"];
    if (isNamed && x < map.right - 40) pen.fillText(label, x + 3, HEAD - 8);
  }
}

// Steps above the lanes, each named at its right end, or on it where there is no room beside it.
function paintFigures({ pen, tone, timeline: { figures }, map }: Scene) {
  const most = Math.max(1, ...FIGURES.flatMap(([key]) => (figures[key] ?? []) as number[]));
  const labels: [value: number, name: string, say: string][] = [];
  for (const [key, name, dash, say] of FIGURES) {
    const values = figures[key] ?? [],
      step = (map.right - map.left) / values.length;
    pen.strokeStyle = tone[name];
    pen.setLineDash([...dash]);
    pen.beginPath();
    values.forEach((value, i) => {
      if (value === null) return;
      const y = FLOOR - (value / most) * 46;
      pen.lineTo(map.left + i * step, y);
      pen.lineTo(map.left + (i + 1) * step, y);
    });
    pen.stroke();
    const last = values.at(-1) ?? null;
    if (last !== null) labels.push([last, name, `${gpus(last)} ${say}`]);
  }
  pen.setLineDash([]);
  let under = 0;
  for (const [last, name, said] of labels.sort(([a], [b]) => b - a)) {
    under = Math.max(under + LINE, FLOOR - 3 - (last / most) * 46, map.left < 100 ? 24 : 0); // below what went to whom
    const x = map.left < 100 ? map.right - pen.measureText(said).width : map.right + 4;
    pen.fillStyle = tone.surface;
    pen.fillRect(x - 2, under - 10, map.right - x + 4, 13);
    pen.fillStyle = tone[name];
    pen.fillText(said, x, under);
  }
}

// What went to whom, above the lines that come up from the lanes; where no room is for words, a tick.
function paintReceivers({ pen, tone, timeline, map }: Scene) {
  let free = 0;
  pen.setLineDash([2, 3]);
  pen.strokeStyle = pen.fillStyle = tone.accent;
  for (const eviction of [...timeline.evictions].reverse()) {
    const x = xOf(map, map.from + eviction.at * 1000),
      say = wentTo(eviction);
    pen.beginPath();
    pen.moveTo(x, x < free || timeline.detail === "shares" ? 20 : HEAD);
    pen.lineTo(x, 12);
    pen.stroke();
    if (x < free) continue;
    const room = pen.measureText(say).width + 8,
      left = Math.min(x + 2, map.right + 8 - room); // one at the end begins further to the left
    if (left < free) continue;
    pen.fillText(say, left, 10);
    free = left + room;
  }
  pen.setLineDash([]);
}

function paintMarks({ pen, tone, map, marks }: Scene, height: number) {
  pen.fillStyle = tone.focus;
  for (const at of marks) if (at) pen.fillRect(xOf(map, at), 0, 2, height);
}

/** The figures, the axis and who took what. */
export function paintHead(scene: Scene) {
  scene.pen.font = SMALL;
  paintTicks(scene, 18, HEAD, true);
  paintReceivers(scene);
  paintFigures(scene);
  paintMarks(scene, HEAD);
}

function paintNames({ pen, tone, timeline, map }: Scene) {
  timeline.lanes.forEach((_, lane) => {
    namesOf(timeline, lane).forEach((text, i) => {
      pen.fillStyle = tone[i ? "ink-3" : "ink-2"];
      pen.fillText(cut(pen, text, map.left - 8), 0, lane * map.row + 12 + i * (LINE + 2));
    });
    if (timeline.by !== "pools") return;
    pen.fillStyle = tone.sunken;
    pen.fillRect(map.left, lane * map.row, map.right - map.left, map.fill);
  });
}

// A run of devices, or a share: in its project's colour and texture, or grey.
function paintBox({ pen, tone, texture }: Scene, project: string | null, [x, y, w, h]: number[]) {
  const slot = project === null ? null : slotOf(project),
    box = [x, y, slot && w > 3 ? w - 1 : w, slot && h > 4 ? h - 1 : h] as const;
  pen.globalAlpha = slot ? 1 : GREY;
  pen.fillStyle = slot ? tone[`p${slot.colour}`] : tone["ink-3"];
  pen.fillRect(...box);
  pen.globalAlpha = 1;
  if (!slot?.texture || h < 4) return;
  pen.fillStyle = texture(slot.texture, tone[`on${slot.colour}`]);
  pen.fillRect(...box);
}

// Text in a block, on its plain colour: a texture behind letters makes them hard to read.
function paintText({ pen, tone }: Scene, project: string | null, text: string, [x, y, room]: number[]) {
  const said = cut(pen, text, room - 8);
  if (said.length < Math.min(4, text.length)) return;
  if (project !== null) {
    const slot = slotOf(project);
    pen.fillStyle = tone[`p${slot.colour}`];
    if (slot.texture) pen.fillRect(x + 1, y - 9, pen.measureText(said).width + 6, 12);
    pen.fillStyle = tone[`on${slot.colour}`];
  } else pen.fillStyle = tone.ink;
  pen.fillText(said, x + 4, y);
}

function paintBlocks(scene: Scene) {
  const { pen, tone, timeline, map, blocks } = scene,
    { projects, by } = timeline,
    kept = new Set(scene.known.shown.map(p => p.id)),
    colourOf = (project?: number) =>
      project === undefined || !kept.has(projects[project].id) ? null : projects[project].id;
  for (const block of blocks) {
    const { project, end } = block,
      colour = colourOf(project);
    for (const [x, y, w, h] of boxes(timeline, map, block)) {
      paintBox(scene, colour, [x, y, w, h]);
      const sign = end === "failed" ? "◆" : end === "preempted" ? "◁" : "";
      const room = sign && w > 24 ? w - 14 : w;
      if (by !== "pools" && h > 10 && w > 30)
        paintText(scene, colour, by === "projects" ? gpus(block.gpus) : nameOf(timeline, block), [
          x,
          y + h / 2 + 4,
          room,
        ]);
      pen.fillStyle = colour === null ? tone.ink : tone[`on${slotOf(colour).colour}`];
      if (sign && w > 8) pen.fillText(sign, x + w - 12, y + h / 2 + 4);
    }
  }
  if (by !== "pools") return;
  for (const { x, end, low, high, block } of bandNames(timeline, map, blocks))
    paintText(scene, colourOf(block.project), nameOf(timeline, block), [x, (low + high) / 2 + 4, end - x]);
}

// A dotted line from where a place was given up to the head; where lanes are many or of many nodes, a tick.
function paintEvictions({ pen, tone, timeline, map }: Scene) {
  const isLine = timeline.detail === "devices";
  pen.setLineDash([2, 3]);
  pen.strokeStyle = tone.accent;
  for (const eviction of timeline.evictions) {
    const lane = laneOf(timeline, eviction),
      x = xOf(map, map.from + eviction.at * 1000);
    if (lane < 0) continue;
    pen.beginPath();
    pen.moveTo(x, lane * map.row + (isLine ? map.fill / 2 : Math.min(8, map.fill)));
    pen.lineTo(x, isLine ? 0 : lane * map.row);
    pen.stroke();
  }
  pen.setLineDash([]);
}

/** The lanes with what was held in them. */
export function paintLanes(scene: Scene) {
  scene.pen.font = SMALL;
  paintTicks(scene, 0, scene.map.height, false);
  paintNames(scene);
  paintBlocks(scene);
  paintEvictions(scene);
  paintMarks(scene, scene.map.height);
}
