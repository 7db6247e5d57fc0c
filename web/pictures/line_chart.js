// Step lines of metrics on a time axis: from series and a size to paths, ticks and names. Pure. A value holds from its time
// until the next one; gaps stay gaps; names stand at the right end, moved apart where they would overlap.
import { clock, day } from "../format.js";

const MINUTE = 60000, DAY = 86400000;
const STEPS = [1, 5, 10, 30, 60, 120, 240, 360, 720].map(m => m * MINUTE).concat(DAY, 2 * DAY, 7 * DAY);
const LINE = 14; // px from name to name
const fixed = value => Math.round(value * 10) / 10;

// The value that holds at a time; null: the last known one.
export function valueAt(points, at) {
  if (at === null) return points.findLast(p => p[1] !== null)?.[1] ?? null;
  return points.findLast(p => p[0] <= at)?.[1] ?? null;
}

// Round times at most `count` of which fit, with what to write under them.
export function timeTicks(from, to, count) {
  const step = STEPS.find(s => (to - from) / s <= count) ?? 30 * DAY;
  const zone = new Date(from).getTimezoneOffset() * MINUTE;
  const ticks = [];
  for (let at = Math.ceil((from - zone) / step) * step + zone; at <= to; at += step) ticks.push({ at, text: step >= DAY ? day(at) : clock(at) });
  return ticks;
}

// Values from 0 in steps of 1, 2, 5 × 10^n, at most 6; of bytes in steps of their binary unit. max: where the axis must end.
export function valueTicks(top, { max, binary } = {}) {
  const unit = binary ? 1024 ** Math.floor(Math.log2(Math.max(1, top)) / 10) : 1;
  const most = (max ?? top) / unit;
  let step = 10 ** Math.floor(Math.log10(most / 5));
  step *= [1, 2, 5, 10].find(s => most / (step * s) <= 5 + 1e-9);
  const end = max === undefined ? Math.ceil(most / step - 1e-9) : most / step;
  return { top: end * step * unit, ticks: Array.from({ length: Math.floor(end + 1e-9) + 1 }, (_, i) => i * step * unit) };
}

// Where the picture begins: at the asked time, or, where most of that is before anything was measured, at the first sample.
export function begin(from, first, to) {
  return Number.isFinite(first) && first > (from + to) / 2 ? Math.min(first, to - 2 * MINUTE) : from;
}

// The frame that the lines are drawn in, with functions of place: {from, to, left, right, top, bottom, x(ms), y(value), values, times}.
export function frame({ series, width, height, format, max, least = 1, binary, from, to, names }) {
  const points = series.flatMap(s => s.points);
  const known = points.filter(p => p[1] !== null);
  const until = to ?? Math.max(...points.map(p => p[0]));
  const since = begin(from ?? Math.min(...points.map(p => p[0])), Math.min(...known.map(p => p[0])), until);
  const scale = valueTicks(Math.max(least, ...known.map(p => p[1])), { max, binary });
  const texts = scale.ticks.map(format);
  const values = scale.ticks.map((at, i) => ({ at, text: i > 0 && texts[i] === texts[i - 1] ? "" : texts[i] }));
  const longest = Math.max(4, ...series.map(s => s.name.length + format(valueAt(s.points, null) ?? 0).length + 1));
  const left = names ? 52 : Math.ceil(Math.max(...texts.map(t => t.length)) * 6.3) + 8;
  const right = width - (names ?? Math.min(130, longest * 6.6 + 10)), top = 8, bottom = height - 20;
  const x = at => left + (at - since) / Math.max(1, until - since) * (right - left);
  const y = value => bottom - value / scale.top * (bottom - top);
  return { from: since, to: until, left, right, top, bottom, x, y, values, times: timeTicks(since, until, Math.max(2, Math.floor((right - left) / 80))) };
}

// One series -> {line, area}: paths of steps. What lies before the frame begins at its edge.
export function paths(points, f) {
  const line = [], area = [];
  let run = null;
  const close = end => {
    if (!run) return;
    const d = run.join("") + `H${fixed(end)}`;
    line.push(d);
    area.push(`${d}V${fixed(f.bottom)}H${run.x}Z`);
    run = null;
  };
  const inside = points.filter((p, i) => p[0] <= f.to && (p[0] >= f.from || (points[i + 1]?.[0] ?? 0) > f.from));
  for (const [at, value] of inside) {
    const x = fixed(Math.max(f.left, f.x(at)));
    if (value === null) close(x);
    else if (run) run.push(`H${x}V${fixed(f.y(value))}`);
    else {
      run = [`M${x} ${fixed(f.y(value))}`];
      run.x = x;
    }
  }
  close(inside.length ? Math.max(f.left, f.x(inside.at(-1)[0])) : f.left);
  return { line: line.join(""), area: area.join("") };
}

// Names with the value at a time, at the height of the line's end: [{text, y, tone}].
export function endNames(series, f, format, at) {
  const names = series.map(s => ({ s, last: valueAt(s.points, null) })).filter(n => n.last !== null)
    .map(({ s, last }) => ({ text: `${format(valueAt(s.points, at))} ${s.name}`, y: Math.max(f.top + 6, f.y(last)), tone: s.tone })).sort((a, b) => a.y - b.y);
  for (let i = 1; i < names.length; i++) names[i].y = Math.max(names[i].y, names[i - 1].y + LINE);
  for (let i = names.length - 1, limit = f.bottom - 4; i >= 0 && names[i].y > limit; i--, limit -= LINE) names[i].y = limit;
  return names.map(n => ({ ...n, y: fixed(n.y) }));
}
