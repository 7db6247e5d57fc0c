// The quota bar. Left of the mark: what is owed. Right of the mark: what is borrowed. Pure: parts and scale in, marks
// out; a mark is [tag, attributes]. Geometry as drawn: bar 16 px in a row of 38, 8 px in rows of 24.

import { gpus, percent } from "../format";
import { axis, axisTop } from "./axis";
import type { Parts } from "./shares";
import type { Slot } from "./slots";

const fixed = (value: number) => Math.round(value * 100) / 100;

/** A drawn thing: its tag, and its attributes with a key and the text in it. */
export type Mark = [tag: "rect" | "path" | "text", attributes: MarkAttributes];
interface MarkAttributes {
  key: string;
  text?: string;
  [attribute: string]: string | number | undefined;
}

/**
 * How a bar is drawn. scale: pixels per unit; unit: "" for GPUs, or "%". width: where drawing must end. slot: its colour,
 * or null for ink.
 */
export interface BarShape {
  width: number;
  height?: number;
  bar?: number;
  scale: number;
  slot: Slot | null;
  limit?: boolean;
  ending?: number;
  unit?: string;
}
type Whole = Required<BarShape> & { x: (value: number) => number; colour: string | number; y: number };

// Draws one part of the bar from a place to a place, cut where drawing must end; what has no width is left out.
const drawer =
  ({ width: end, bar, y }: Whole, marks: Mark[]) =>
  (key: string, from: number, to: number, attributes: Record<string, string>, inset = 0) => {
    const right = Math.min(to, end);
    if (right <= from) return;
    const box = {
      x: fixed(from),
      y: fixed(y + inset),
      width: fixed(right - from),
      height: fixed(bar - 2 * inset),
      rx: 2,
    };
    marks.push(["rect", { key, ...box, ...attributes }]);
  };

// Where what is borrowed begins: at the mark; after what is held and owed where these sums of several go beyond it.
const baseOf = ({ quota, inQuota, owed }: Parts) => Math.max(Number.isFinite(quota) ? quota : 0, inQuota + owed);

// What is held, owed, borrowed and wanted, from the left.
function stretchMarks(parts: Parts, shape: Whole) {
  const marks: Mark[] = [],
    rect = drawer(shape, marks);
  const { x, colour, slot, ending } = shape;
  const hatched = { class: `ghost k${colour}`, fill: `url(#hatch-${colour})` };
  const limited = Number.isFinite(parts.quota),
    base = baseOf(parts),
    from = base + parts.over;
  if (limited && parts.quota > 0) rect("idle", 0, x(parts.quota), { class: "track" });
  if (parts.inQuota > 0) rect("held", 0, x(parts.inQuota), { class: `f${colour}` });
  if (slot?.texture && parts.inQuota > 0)
    rect("texture", 0, x(parts.inQuota), { fill: `url(#${slot.texture}-${colour})` });
  if (parts.owed > 0) {
    const left = x(parts.inQuota) + 1;
    rect("owed", left, left + Math.max(3, x(parts.owed) - 2), hatched, 0.6);
  }
  if (parts.over > 0) {
    const left = x(base) + 2;
    rect("over", left, left + Math.max(2, x(parts.over) - 2.75), { class: `over f${colour} k${colour}` }, 0.75);
  }
  if (parts.more > 0) rect("more", x(from) + 2, x(from) + 2 + Math.max(3, x(parts.more) - 3), hatched, 0.6);
  if (ending > 0) rect("ending", x(Math.max(0, parts.held - ending)) + 2, x(parts.held) - 2, { class: "run-end" }, 2.5);
  return marks;
}

// What lies over the bar: the non-preemptible part, the limit, the quota's mark.
function overMarks(parts: Parts, { x, y, bar, limit, width: end }: Whole) {
  const marks: Mark[] = [];
  if (parts.firm > 0) {
    const strip = bar > 8 ? 4 : 2,
      width = Math.min(x(parts.firm), end);
    marks.push(["rect", { key: "firm-gap", x: 0, y: y + bar - strip - 1, width, height: 1, class: "firm-gap" }]);
    marks.push(["rect", { key: "firm", x: 0, y: y + bar - strip, width, height: strip, class: "firm" }]);
  }
  if (limit && parts.limit !== null && x(parts.limit) <= end + 1)
    marks.push(["path", { key: "limit", d: `M${fixed(x(parts.limit) - 4)} ${y - 4}h4v${bar + 8}h-4`, class: "limit" }]);
  const mark = x(parts.quota);
  if (Number.isFinite(parts.quota) && mark <= end + 1) {
    const d = `M${fixed(mark - 1)} ${y - 3}h2v${bar + 6}h-2zM${fixed(mark - 4)} ${y - 7}h8l-4 5z`;
    marks.push(["path", { key: "mark", d, class: "deserved halo" }]);
  }
  return marks;
}

const BARELY = 1.05; // of the axis: what ends there is as good as inside

// What lies beyond the end of the axis, in words; "" where nothing does.
function cutText(parts: Parts, { x, width: end, scale, unit }: Whole) {
  const limited = Number.isFinite(parts.quota),
    from = baseOf(parts) + parts.over,
    out = end / scale;
  if (limited && x(parts.quota) > end + 1) return `quota ${amount(parts.quota, unit)}`; // it has no mark then
  if (from > BARELY * out) return amount(from, unit);
  return from + parts.more > BARELY * out ? `+${amount(from + parts.more - out, unit)}` : "";
}

/** The marks of one bar, those on top last. */
export function quotaMarks(parts: Parts, given: BarShape): Mark[] {
  const { height = 38, bar = 16, limit = true, ending = 0, unit = "", slot, scale, width } = given;
  const y = (height - bar) / 2;
  const x = (value: number) => fixed(value * scale);
  const shape: Whole = { width, height, bar, scale, slot, limit, ending, unit, x, colour: slot ? slot.colour : "n", y };
  const marks = [...stretchMarks(parts, shape), ...overMarks(parts, shape)];
  const cut = cutText(parts, shape);
  if (cut)
    marks.push([
      "text",
      { key: "cut", x: width, y: y - 3, "text-anchor": "end", class: "seg-t b halo", text: `${cut} →` },
    ]);
  return marks;
}

// Beyond the axis: GPUs as they are, whole ones from 10 on; percent whole.
const amount = (value: number, unit: string) =>
  unit === "%" ? percent(value) : gpus(value < 10 ? value : Math.round(value));

// How far a row goes with what it holds and is promised, and with all it wants. A limit far beyond both is left out.
export function reach(parts: Parts) {
  const held = Math.max(Number.isFinite(parts.quota) ? parts.quota : 0, parts.inQuota) + parts.over;
  return parts.limit !== null && parts.limit <= 2 * held ? Math.max(held, parts.limit) : held;
}
export const wantedReach = (parts: Parts) => baseOf(parts) + parts.over + parts.more;

// Parts as percent of the quota; without a quota there is nothing to relate to.
export function inPercent(parts: Parts) {
  if (!(parts.quota > 0) || !Number.isFinite(parts.quota)) return null;
  return Object.fromEntries(
    Object.entries(parts).map(([key, v]) => [key, v === null ? null : (v / parts.quota) * 100]),
  ) as unknown as Parts;
}

const MOST_PERCENT = 300;

/** The axis of rows, in GPUs or in percent; in percent those without a quota have none. */
export function axisOf(rows: Parts[], percent = false) {
  const all = percent ? rows.map(inPercent).filter(p => p !== null) : rows;
  const whole = axisTop(all.map(reach), all.map(wantedReach));
  return percent && whole.top > MOST_PERCENT ? axis(MOST_PERCENT) : whole;
}

const CHARACTER = 5.9,
  BOLD = 6.4; // of the small type, on average

interface Name {
  from: number;
  to: number;
  text: string;
}

// Names under their parts, {from, to, text}, moved inside the picture and apart.
export function named(names: Name[], scale: number, width: number) {
  const half = (n: Name) => (n.text.length * CHARACTER) / 2;
  const out = names.map(n => {
    const middle = ((n.from + n.to) / 2) * scale;
    const [x, anchor] =
      middle + half(n) > width ? [width, "end"] : middle < half(n) ? [0, "start"] : [middle, "middle"];
    return {
      text: n.text,
      x: fixed(x),
      anchor,
      left: anchor === "end" ? x - 2 * half(n) : anchor === "start" ? x : x - half(n),
      right: anchor === "start" ? x + 2 * half(n) : anchor === "end" ? x : x + half(n),
    };
  });
  if (out.length === 2 && out[0].right + CHARACTER > out[1].left)
    [out[0], out[1]] = [
      { ...out[0], x: 0, anchor: "start" },
      { ...out[1], x: fixed(width), anchor: "end" },
    ];
  return out.map(({ text, x, anchor }) => ({ text, x, anchor }));
}

// A text beside the mark: right of it where there is room.
export const besideMark = (mark: number, width: number, length = 9) =>
  mark + 7 + length * BOLD > width
    ? { x: fixed(mark - 7), "text-anchor": "end" }
    : { x: fixed(mark + 7), "text-anchor": "start" };
