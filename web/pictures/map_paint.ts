// The cluster map on a canvas, drawn whole. It sees no page: what it draws with, in which tones and on which textures is
// given.

import { gpus, ratio } from "../format";
import { type Hit, type Layout, type Place, ZOOMS } from "./cluster_canvas";
import {
  type Look,
  type MapCell,
  type MapRun,
  heatOf,
  lookOf,
  piecesOf,
  runBox,
  runLabel,
  stretches,
} from "./cluster_map";

/** As much of a canvas as is drawn with. */
export type Pen = Pick<
  CanvasRenderingContext2D,
  | "beginPath"
  | "fill"
  | "fillRect"
  | "fillStyle"
  | "fillText"
  | "font"
  | "globalAlpha"
  | "lineTo"
  | "lineWidth"
  | "measureText"
  | "moveTo"
  | "roundRect"
  | "setLineDash"
  | "stroke"
  | "strokeRect"
  | "strokeStyle"
  | "textBaseline"
>;
export interface Scene extends Look {
  map: Layout;
  zoom: number;
  /** Where the cursor stands. */
  at: Hit | null;
  /** The colours of the theme, by the name of their token. */
  tone: Record<string, string>;
  /** "dots", "grid", or the stronger dots of what is "idle", in a tone. */
  texture: (kind: string, tone: string) => string | CanvasPattern;
}
interface Box {
  x: number;
  y: number;
  w: number;
  h: number;
}

const SANS = "Inter Variable, system-ui",
  LETTER = 6, // of names in runs: the widest are cut, not the most
  DIM = 0.18,
  GREY = 0.45,
  SEAM = 0.3,
  STEPS = [0.22, 0.38, 0.55, 0.75, 1]; // of the tone, from hardly used to busy

// Rows are large enough for names, for marks, or for colours alone.
const isLarge = (h: number) => h >= 12;
const isSmall = (h: number) => h < 6;

function block(pen: Pen, { x, y, w, h }: Box) {
  if (!isLarge(h)) return pen.fillRect(x, y, w, h);
  pen.beginPath();
  pen.roundRect(x, y, w, h, 3);
  pen.fill();
}

function outline(pen: Pen, { x, y, w, h }: Box, tone: string) {
  pen.strokeStyle = tone;
  pen.lineWidth = isSmall(h) ? 0.5 : 1;
  pen.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
}

function strokes(pen: Pen, tone: string, ...points: number[]) {
  pen.strokeStyle = tone;
  pen.lineWidth = 1.25;
  pen.beginPath();
  for (let i = 0; i < points.length; i += 4) {
    pen.moveTo(points[i], points[i + 1]);
    pen.lineTo(points[i + 2], points[i + 3]);
  }
  pen.stroke();
}

// A device that nobody holds, or that can't be used; by health all of them.
function drawDevice(pen: Pen, cell: MapCell, box: Box, { view, tone }: Scene, closed: boolean) {
  const { x, y, w, h } = box,
    mx = x + w / 2,
    my = y + h / 2,
    d = isLarge(h) ? 3 : 2;
  if (cell.state === "down") {
    pen.fillStyle = isSmall(h) ? tone.bad : tone["bad-soft"];
    pen.fillRect(x, y, w, h);
    if (isSmall(h)) return;
    outline(pen, box, tone.bad);
    strokes(pen, tone.bad, mx - d, my - d, mx + d, my + d, mx + d, my - d, mx - d, my + d);
    return;
  }
  if (view === "health" && cell.workloads.length) {
    pen.fillStyle = tone["ok-soft"];
    pen.fillRect(x, y, w, h);
  }
  outline(pen, box, closed ? tone["ink-3"] : view === "health" ? tone.ok : tone["line-strong"]);
  if (closed && !isSmall(h)) strokes(pen, tone["ink-2"], mx - d - 1, my, mx + d + 1, my);
}

// A device by its use: dots where it is idle, else the stronger the busier; with the number where there is room.
function drawHeat(pen: Pen, cell: MapCell, box: Box, { tone, texture }: Scene) {
  const step = heatOf(cell),
    idle = step === "idle",
    { x, y, w, h } = box;
  if (idle || step === "none") {
    pen.fillStyle = tone.sunken;
    pen.fillRect(x, y, w, h);
    if (!isSmall(h)) outline(pen, box, idle ? tone.accent : tone["line-strong"]);
    pen.fillStyle = isSmall(h) ? tone.accent : texture("idle", tone.accent);
    if (idle) pen.fillRect(x, isSmall(h) ? y + h / 2 : y, w, isSmall(h) ? 0.75 : h);
    return;
  }
  pen.globalAlpha = STEPS[step];
  pen.fillStyle = tone.accent;
  pen.fillRect(x, y, w, h);
  pen.globalAlpha = 1;
  if (isLarge(h) && w >= 18) {
    const text = String(Math.round(cell.utilization!));
    pen.fillStyle = step > 2 ? tone["on-ink"] : tone.ink;
    pen.fillText(text, x + w / 2 - 3.1 * text.length, y + h / 2 + 0.5);
  }
}

// A run in its colour, with what is special about it and its name.
function drawRun(pen: Pen, run: MapRun, box: Box, cell: number, scene: Scene) {
  const { view, lifted, tone, texture } = scene,
    { slot, name, hot } = lookOf(run, scene),
    { x, y, w, h } = box,
    plain = view === "utilization";
  const dim = lifted && !hot ? DIM : 1;
  if (!plain) {
    pen.fillStyle = slot ? tone[`p${slot.colour}`] : tone["ink-3"];
    pen.globalAlpha = slot ? dim : Math.min(GREY, dim);
    block(pen, box);
    pen.fillStyle = tone.surface;
    pen.globalAlpha = SEAM * dim;
    if (run.whole && !isSmall(h)) for (let i = 1; i < run.size; i++) pen.fillRect(x - 1.5 + i * cell, y + 1, 1, h - 2);
    pen.globalAlpha = dim;
    if (slot?.texture && dim === 1 && isLarge(h)) {
      pen.fillStyle = texture(slot.texture, tone[`on${slot.colour}`]);
      block(pen, box);
    }
  }
  if (run.firm && !plain && !isSmall(h)) {
    pen.fillStyle = tone.surface;
    pen.fillRect(x, y + h - 3, w, 1);
    pen.fillStyle = tone.ink;
    pen.fillRect(x, y + h - 2, w, 2);
  }
  if (run.ending.length && !isSmall(h)) {
    pen.setLineDash([3, 2]);
    for (const [from, size] of stretches(run.ending)) {
      const width = Math.max(2, (run.whole ? size * cell : w) - 4);
      outline(pen, { x: x + from * cell + 1, y: y + 1, w: width, h: h - 2 }, tone.ink);
    }
    pen.setLineDash([]);
  }
  const label = plain || !isLarge(h) ? "" : runLabel(name, w, LETTER);
  if (label) {
    if (slot && dim === 1) {
      pen.fillStyle = tone[`p${slot.colour}`]; // no texture or seam behind a name
      pen.fillRect(x + 3, y + 1, label.length * LETTER, h - (run.firm ? 4 : 2));
    }
    pen.fillStyle = slot ? tone[`on${slot.colour}`] : tone.ink;
    pen.fillText(label, x + 5, y + h / 2 + (run.firm ? -0.5 : 0.5));
  }
  pen.globalAlpha = 1;
}

// A node: its devices, then who holds them. What is closed or broken has a bar before it at any size.
function drawRow(pen: Pen, place: Place, height: number, scene: Scene) {
  const { row, x, y, left, cell } = place,
    { view, tone } = scene;
  const h = height - (isLarge(height) ? 2 : isSmall(height) ? 0.5 : 1);
  if (row.state !== "ready") {
    pen.fillStyle = row.state === "down" ? tone.bad : tone.warn;
    pen.fillRect(x + left - 5, y, 3, h);
  }
  const boxOf = (i: number) => ({ x: x + left + i * cell + 1, y, w: cell - 2, h });
  row.cells.forEach((device, i) => {
    if (device.state === "down") return;
    if (view === "health" || !device.workloads.length)
      drawDevice(pen, device, boxOf(i), scene, row.state === "cordoned");
    else if (view === "utilization") drawHeat(pen, device, boxOf(i), scene);
  });
  if (view !== "health")
    for (const run of row.runs) {
      const { x: from, width } = runBox(run, x + left, cell);
      drawRun(pen, run, { x: from, y, w: width, h }, cell, scene);
    }
  row.cells.forEach((device, i) => device.state === "down" && drawDevice(pen, device, boxOf(i), scene, false));
}

function drawHeads(pen: Pen, { map, tone }: Scene) {
  for (const { pool, x, y } of map.heads) {
    let at = x;
    const say = (text: string, font: string, colour: string) => {
      pen.font = font;
      pen.fillStyle = colour;
      pen.fillText(text, at, y + 10);
      at += pen.measureText(text).width + 12;
    };
    say(pool.name, `600 13px ${SANS}`, tone.ink);
    say(`${gpus(pool.held)} of ${gpus(pool.total)} · ${ratio(pool.held, pool.total)}`, `12px ${SANS}`, tone["ink-2"]);
    say(`Nodes: ${piecesOf(pool)}`, `12px ${SANS}`, tone["ink-3"]);
  }
}

/** Draws all of it. */
export function paintMap(pen: Pen, scene: Scene) {
  const { map, zoom, at, tone } = scene,
    { rowHeight } = map;
  pen.textBaseline = "middle";
  drawHeads(pen, scene);
  pen.font = "10px ui-monospace, monospace";
  for (const { row, line, x, y } of map.places)
    if (line % ZOOMS[zoom].name === 0) {
      pen.fillStyle = row.state === "ready" ? tone["ink-2"] : row.state === "down" ? tone.bad : tone.warn;
      const room = rowHeight >= 16 ? 11 : 8; // the end of a name tells nodes apart
      pen.fillText(row.name.length > room ? `…${row.name.slice(1 - room)}` : row.name, x, y + rowHeight / 2);
    }
  pen.font = `500 10px ${SANS}`;
  for (const place of map.places) drawRow(pen, place, rowHeight, scene);
  if (at) {
    const { x, y, left, cell } = at.place;
    for (const [colour, width] of [
      [tone.surface, 5],
      [tone.ink, 2],
    ] as const) {
      pen.strokeStyle = colour;
      pen.lineWidth = width;
      pen.strokeRect(x + left + (at.cell ?? 0) * cell - 1, y - 1, cell + 1, rowHeight + 1);
    }
  }
}
