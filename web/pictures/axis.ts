// The axis of the quota bars, from 0: how far it goes, and its ticks. Pure.

const OUTLIER = 4,
  ROOM = 1.15,
  STRETCH = 2;

// How far rows reach with what they have and are promised -> the axis' top. A row of more than 4 times the 90th percentile
// doesn't count: it is cut and labelled. What is only wanted stretches the axis to twice that at most, so that it never
// presses the marks into a corner; what goes further is cut as well.
export function axisTop(reaches: number[], wanted: number[] = []) {
  const sorted = [...reaches].sort((a, b) => a - b),
    most = sorted.at(-1) ?? 0;
  const usual = OUTLIER * (sorted[Math.floor((sorted.length - 1) * 0.9)] ?? 0);
  const counted = sorted.length > 2 && usual > 0 ? (sorted.filter(v => v <= usual).at(-1) ?? most) : most;
  const usualTop = axis(ROOM * counted).top;
  return axis(Math.max(usualTop, ...[...sorted, ...wanted].filter(v => v <= STRETCH * usualTop)));
}

export interface Axis {
  step: number;
  top: number;
  ticks: number[];
}

// Ticks in steps of 1, 2, 5 x 10^n, at most 7.
export function axis(max: number): Axis {
  const most = Math.max(1, max);
  for (let power = 1; ; power *= 10) {
    for (const unit of [1, 2, 5]) {
      const step = unit * power,
        steps = Math.ceil(most / step - 1e-9);
      if (steps <= 6) return { step, top: steps * step, ticks: Array.from({ length: steps + 1 }, (_, i) => i * step) };
    }
  }
}

// The ticks that get a number: the last one carries the unit, so its neighbour stays silent when it comes too close.
export function labels({ ticks, top }: Axis, width: number, unit: string) {
  const room = 8 * (unit.length + String(top).length + 1);
  return ticks
    .filter(v => v === top || v === 0 || ((top - v) / top) * width > room)
    .map(v => ({
      at: v,
      text: v === top ? `${v} ${unit}` : String(v),
      anchor: v === top ? "end" : v === 0 ? "start" : "middle",
    }));
}
