// Ticks of an axis from 0: steps of 1, 2, 5 x 10^n, at most 7 ticks. Pure.

export function axis(max) {
  const most = Math.max(1, max);
  for (let power = 1; ; power *= 10) {
    for (const unit of [1, 2, 5]) {
      const step = unit * power, steps = Math.ceil(most / step - 1e-9);
      if (steps <= 6) return { step, top: steps * step, ticks: Array.from({ length: steps + 1 }, (_, i) => i * step) };
    }
  }
}

// The ticks that get a number: the last one carries the unit, so its neighbour stays silent when it comes too close.
export function labels({ ticks, top }, width, unit) {
  const room = 8 * (unit.length + String(top).length + 1);
  return ticks.filter(v => v === top || v === 0 || (top - v) / top * width > room)
    .map(v => ({ at: v, text: v === top ? `${v} ${unit}` : String(v), anchor: v === top ? "end" : v === 0 ? "start" : "middle" }));
}
