// The quota bar. Left of the mark: what is owed. Right of the mark: what is borrowed. Pure: parts and scale in, marks
// out; a mark is [tag, attributes]. Geometry as drawn: bar 16 px in a row of 38, 8 px in rows of 24.

import { gpus, percent } from "../format";
import { axis, axisTop } from "./axis";

const fixed = value => Math.round(value * 100) / 100;

// parts: see shares.js. scale: pixels per unit; unit: "" for GPUs, or "%". width: where drawing must end. slot: {colour} or
// null for ink.
export function quotaMarks(parts, { width, height = 38, bar = 16, scale, slot, limit = true, ending = 0, unit = "" }) {
  const marks = [];
  const x = value => fixed(value * scale);
  const colour = slot ? slot.colour : "n",
    y = (height - bar) / 2,
    end = width;
  const hasMark = Number.isFinite(parts.quota),
    mark = hasMark ? x(parts.quota) : null;
  const rect = (name, from, to, attrs, inset = 0) => {
    const right = Math.min(to, end);
    if (right > from)
      marks.push([
        "rect",
        {
          key: name,
          x: fixed(from),
          y: fixed(y + inset),
          width: fixed(right - from),
          height: fixed(bar - 2 * inset),
          rx: 2,
          ...attrs,
        },
      ]);
  };
  if (hasMark && parts.quota > 0) rect("idle", 0, mark, { class: "track" });
  if (parts.inQuota > 0) rect("held", 0, x(parts.inQuota), { class: `f${colour}` });
  if (slot?.texture && parts.inQuota > 0)
    rect("texture", 0, x(parts.inQuota), { fill: `url(#${slot.texture}-${colour})` });
  if (parts.owed > 0)
    rect(
      "owed",
      x(parts.inQuota) + 1,
      x(parts.inQuota) + 1 + Math.max(3, x(parts.owed) - 2),
      { class: `ghost k${colour}`, fill: `url(#hatch-${colour})` },
      0.6,
    );
  const base = hasMark ? parts.quota : parts.inQuota;
  if (parts.over > 0)
    rect(
      "over",
      x(base) + 2,
      x(base) + 2 + Math.max(2, x(parts.over) - 2.75),
      { class: `over f${colour} k${colour}` },
      0.75,
    );
  const from = base + parts.over,
    out = end / scale; // out: where the axis ends
  if (parts.more > 0)
    rect(
      "more",
      x(from) + 2,
      x(from) + 2 + Math.max(3, x(parts.more) - 3),
      { class: `ghost k${colour}`, fill: `url(#hatch-${colour})` },
      0.6,
    );
  if (ending > 0) rect("ending", x(Math.max(0, parts.held - ending)) + 2, x(parts.held) - 2, { class: "run-end" }, 2.5);
  if (parts.firm > 0) {
    const strip = bar > 8 ? 4 : 2,
      w = Math.min(x(parts.firm), end);
    marks.push(["rect", { key: "firm-gap", x: 0, y: y + bar - strip - 1, width: w, height: 1, class: "firm-gap" }]);
    marks.push(["rect", { key: "firm", x: 0, y: y + bar - strip, width: w, height: strip, class: "firm" }]);
  }
  if (limit && parts.limit !== null && x(parts.limit) <= end + 1)
    marks.push(["path", { key: "limit", d: `M${fixed(x(parts.limit) - 4)} ${y - 4}h4v${bar + 8}h-4`, class: "limit" }]);
  if (hasMark && mark <= end + 1)
    marks.push([
      "path",
      {
        key: "mark",
        d: `M${fixed(mark - 1)} ${y - 3}h2v${bar + 6}h-2zM${fixed(mark - 4)} ${y - 7}h8l-4 5z`,
        class: "deserved halo",
      },
    ]);
  const cut =
    mark > end + 1
      ? `quota ${amount(parts.quota, unit)}`
      : x(from) > end + 1
        ? amount(from, unit)
        : x(from + parts.more) > end + 1
          ? `+${amount(from + parts.more - out, unit)}`
          : "";
  if (cut)
    marks.push([
      "text",
      { key: "cut", x: end, y: y - 3, "text-anchor": "end", class: "seg-t b halo", text: `${cut} →` },
    ]);
  return marks;
}

// Beyond the axis: GPUs as they are, whole ones from 10 on; percent whole.
const amount = (value, unit) => (unit === "%" ? percent(value) : gpus(value < 10 ? value : Math.round(value)));

// How far a row goes with what it holds and is promised, and with all it wants. A limit far beyond both is left out.
export function reach(parts) {
  const held = (Number.isFinite(parts.quota) ? parts.quota : parts.inQuota) + parts.over;
  return parts.limit !== null && parts.limit <= 2 * held ? Math.max(held, parts.limit) : held;
}
export const wantedReach = parts =>
  (Number.isFinite(parts.quota) ? parts.quota : parts.inQuota) + parts.over + parts.more;

// Parts as percent of the quota; without a quota there is nothing to relate to.
export function inPercent(parts) {
  if (!(parts.quota > 0) || !Number.isFinite(parts.quota)) return null;
  return Object.fromEntries(
    Object.entries(parts).map(([key, v]) => [key, v === null ? null : (v / parts.quota) * 100]),
  );
}

const MOST_PERCENT = 300;

// The axis of rows in percent; those without a quota have none.
export function percentAxis(rows) {
  const top = axisTop(rows.map(inPercent).filter(Boolean).map(reach));
  return top.top > MOST_PERCENT ? axis(MOST_PERCENT) : top;
}

const CHARACTER = 5.9,
  BOLD = 6.4; // of the small type, on average

// Names under their parts, {from, to, text}, moved inside the picture and apart.
export function named(names, scale, width) {
  const half = n => (n.text.length * CHARACTER) / 2;
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
export const besideMark = (mark, width, length = 9) =>
  mark + 7 + length * BOLD > width
    ? { x: fixed(mark - 7), "text-anchor": "end" }
    : { x: fixed(mark + 7), "text-anchor": "start" };
