// The server's time, and one shared timer for all durations that tick. Each answer's Date header tells the skew; below
// two seconds it is noise and ignored.
import { signal } from "@preact/signals";

let skew = 0;
export const now = () => Date.now() + skew;
export const second = signal(now()); // read .value in a component to be drawn again each second
export const minute = signal(now());

export function learn(dateHeader: string | null) {
  const server = Date.parse(dateHeader ?? "");
  if (!Number.isFinite(server)) return;
  const seen = server + 500 - Date.now(); // the header counts whole seconds
  if (Math.abs(seen - skew) > 2000) skew = Math.abs(seen) > 2000 ? seen : 0;
}

setInterval(() => {
  if (document.hidden) return;
  const time = now();
  second.value = time;
  if (Math.floor(time / 60000) !== Math.floor(minute.value / 60000)) minute.value = time;
}, 1000);
