// Step lines of metrics on a time axis: what a chart draws, as numbers. Pure. A value holds from its time until the next one;
// gaps stay gaps; names stand at the right end, moved apart where they would overlap.
import { clock, csvCell, day, iso } from "../format";

/** [milliseconds, value or null where nothing is known] */
export type Point = [at: number, value: number | null];
/** A metric in time. tone: a token's name; dash: of its line; fill: is it tinted below? quiet: one of many, behind the mean. */
export interface Series {
  name: string;
  points: Point[];
  tone: string;
  dash?: number[];
  fill?: number;
  quiet?: boolean;
}
export type Range = [from: number, to: number];
export type Format = (value: number | null) => string;
/** What is said of the axis of values. max: where it must end; least: how far it goes at least. */
export interface ValueScale {
  format: Format;
  max?: number;
  least?: number;
  binary?: boolean;
}

const MINUTE = 60000,
  DAY = 86400000;
const STEPS = [1, 5, 10, 30, 60, 120, 240, 360, 720].map(m => m * MINUTE).concat(DAY, 2 * DAY, 7 * DAY);
const LINE = 14; // px from name to name
export const FEW = 4; // more lines than this are quiet ones behind their mean

// The value that holds at a time; null: the last known one.
export function valueAt(points: Point[], at: number | null) {
  if (at === null) return points.findLast(p => p[1] !== null)?.[1] ?? null;
  return points.findLast(p => p[0] <= at)?.[1] ?? null;
}

// Round times at most `count` of which fit, with what to write under them.
export function timeTicks(from: number, to: number, count: number) {
  const step = STEPS.find(s => (to - from) / s <= count) ?? 30 * DAY;
  const zone = new Date(from).getTimezoneOffset() * MINUTE;
  const ticks = [];
  for (let at = Math.ceil((from - zone) / step) * step + zone; at <= to; at += step)
    ticks.push({ value: at, label: step >= DAY ? day(at) : clock(at) });
  return ticks;
}

// What a step of bytes may be, in its unit: halves of the unit below 1, and what makes the next unit whole near its end.
const BINARY = [0.25, 0.5, 1, 2, 5, 10, 20, 50, 100, 256];

// Values from 0 in steps of 1, 2, 5 × 10^n, at most 6; bytes in round steps of their binary unit. max: where the axis must end.
export function valueTicks(top: number, { max, binary }: Pick<ValueScale, "max" | "binary"> = {}) {
  const unit = binary ? 1024 ** Math.floor(Math.log2(Math.max(1, top)) / 10) : 1;
  const most = (max ?? top) / unit;
  const power = 10 ** Math.floor(Math.log10(most / 5));
  const steps = binary ? BINARY : [1, 2, 5, 10].map(s => s * power);
  const step = steps.find(s => most / s <= 5 + 1e-9) ?? steps.at(-1)!;
  const end = max === undefined ? Math.ceil(most / step - 1e-9) : most / step;
  return {
    top: end * step * unit,
    ticks: Array.from({ length: Math.floor(end + 1e-9) + 1 }, (_, i) => i * step * unit),
  };
}

// The axis of values with its words; a word that repeats the one below is left out.
export function valueAxis(series: Series[], { format, max, least = 1, binary }: ValueScale) {
  const { top, ticks } = valueTicks(Math.max(least, ...series.flatMap(s => s.points).map(p => p[1] ?? 0)), {
    max,
    binary,
  });
  const texts = ticks.map(v => format(v));
  return {
    top,
    ticks: ticks.map((value, i) => ({ value, label: i > 0 && texts[i] === texts[i - 1] ? "" : texts[i] })),
  };
}

// The time that the lines are drawn in. Where most of what was asked for is before anything was measured, it begins with the first sample.
export function span(series: Series[], from?: number, to?: number): Range {
  const points = series.flatMap(s => s.points),
    first = Math.min(...points.filter(p => p[1] !== null).map(p => p[0]));
  const until = to ?? Math.max(...points.map(p => p[0])),
    since = from ?? Math.min(...points.map(p => p[0]));
  return [Number.isFinite(first) && first > (since + until) / 2 ? Math.min(first, until - 2 * MINUTE) : since, until];
}

// One series -> the corners of its steps within [from, to]: a value holds to the next sample, or to the gap's begin, where y is NaN.
export function corners(points: Point[], [from, to]: Range) {
  const out: { x: number; y: number }[] = [];
  const inside = points.filter((p, i) => p[0] <= to && (p[0] >= from || (points[i + 1]?.[0] ?? 0) > from));
  let last: number | null = null;
  for (const [at, value] of inside) {
    const x = Math.max(from, at);
    if (value !== null) out.push({ x, y: value });
    else if (last !== null) out.push({ x, y: last }, { x, y: NaN });
    last = value;
  }
  const next = points.find(p => p[0] > to);
  if (last !== null && next) out.push({ x: to, y: last });
  return out;
}

// The mean of all series at each time that one of them has.
export function mean(series: Series[]): Point[] {
  return timesOf(series).map(at => {
    const known = series.map(s => valueAt(s.points, at)).filter(v => v !== null);
    return [at, known.length ? known.reduce((a, b) => a + b, 0) / known.length : null];
  });
}

// Of what is known of one line; null: nothing.
export function meanOf(points: Point[]): number | null {
  const known = points.flatMap(p => (p[1] === null ? [] : [p[1]]));
  return known.length ? known.reduce((a, b) => a + b, 0) / known.length : null;
}

// What is drawn: a few lines as they are; of many, quiet ones and their mean.
export function linesOf(series: Series[]): Series[] {
  if (series.length <= FEW) return series;
  return [
    ...series.map(s => ({ ...s, tone: "control", quiet: true })),
    { name: "mean", tone: "accent", points: mean(series) },
  ];
}

// Who is named at the right end: each of a few; of many the mean, the highest and the lowest at that time.
export function named(lines: Series[], at: number | null) {
  const quiet = lines.filter(s => s.quiet),
    loud = lines.filter(s => !s.quiet);
  const known = quiet
    .map(s => ({ s, value: valueAt(s.points, at) }))
    .filter(n => n.value !== null)
    .sort((a, b) => b.value! - a.value!);
  return known.length > 1 ? [known[0].s, ...loud, known.at(-1)!.s] : loud;
}

interface Frame {
  y: (value: number) => number;
  top: number;
  bottom: number;
}

// Names with the value at a time, at the height of the line's end: [{text, y, tone}]. y(value) -> px.
export function endNames(lines: Series[], { y, top, bottom }: Frame, format: Format, at: number | null) {
  const names = named(lines, at)
    .map(s => ({ s, last: valueAt(s.points, s.quiet ? at : null) }))
    .filter(n => n.last !== null)
    .map(({ s, last }) => ({
      text: `${format(valueAt(s.points, at))} ${s.name}`,
      y: Math.max(top + 6, y(last!)),
      tone: s.quiet ? "ink-2" : s.tone,
    }))
    .sort((a, b) => a.y - b.y);
  for (let i = 1; i < names.length; i++) names[i].y = Math.max(names[i].y, names[i - 1].y + LINE);
  for (let i = names.length - 1, limit = bottom - 4; i >= 0 && names[i].y > limit; i--, limit -= LINE)
    names[i].y = limit;
  return names;
}

// A time range after a zoom around a time, within the whole: factor < 1 is closer. null: the whole again. At least two minutes.
export function zoomed([from, to]: Range, whole: Range, around: number, factor: number): Range | null {
  const width = Math.max(2 * MINUTE, (to - from) * factor);
  if (width >= whole[1] - whole[0]) return null;
  const since = Math.min(whole[1] - width, Math.max(whole[0], around - ((around - from) / (to - from)) * width));
  return [since, since + width];
}

export const timesOf = (series: Series[]) =>
  [...new Set(series.flatMap(s => s.points.map(p => p[0])))].sort((a, b) => a - b);

export function csvOf(series: Series[]) {
  const maps = series.map(s => new Map(s.points));
  const rows = timesOf(series).map(t => [iso(t), ...maps.map(m => m.get(t) ?? "")]);
  return (
    [["time", ...series.map(s => s.name)], ...rows].map(cells => cells.map(csvCell).join(",")).join("\r\n") + "\r\n"
  );
}
