// Keys: / find, n new workload, g + letter go to, j k rows, Enter open, x select, s stop or run, Esc close, ? all of them.
// Never while typing, never with a modifier, and off when the person says so.
import { pref } from "./prefs";

export interface Key {
  say: string;
  run: (event: KeyboardEvent) => void;
}
export type Keys = Record<string, Key>;

const handlers = new Map<string, Key[]>(); // key or "g o" -> [{say, run}], the last registered first
let before = "";
let at = 0;

export const keysOn = () => pref("keys", true);

// Registers keys while a page or part is there: {"j": {say: "next row", run}}. Returns how to take them back.
export function keys(map: Keys) {
  for (const [key, entry] of Object.entries(map)) handlers.set(key, [entry, ...(handlers.get(key) ?? [])]);
  return () => {
    for (const [key, entry] of Object.entries(map))
      handlers.set(
        key,
        (handlers.get(key) ?? []).filter(e => e !== entry),
      );
  };
}

export const known = () =>
  [...handlers].filter(([, list]) => list.length).map(([key, [first]]) => [key, first.say] as const);

const typing = (target: EventTarget | null) =>
  (target as Element).closest?.("input:not([type=checkbox]), textarea, select, [contenteditable], [role=menu]");

document.addEventListener("keydown", event => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || !keysOn().peek()) return;
  if (typing(event.target) || document.querySelector("dialog[open]")) return;
  const pair = before && event.timeStamp - at < 1500 ? `${before} ${event.key}` : "";
  const entry = handlers.get(pair)?.[0] ?? handlers.get(event.key)?.[0];
  before = event.key === "g" ? "g" : "";
  at = event.timeStamp;
  if (!entry) return;
  if (
    (event.key === "Enter" || event.key === " ") &&
    (event.target as Element).closest?.("a, button, summary, [role=tab]")
  )
    return;
  event.preventDefault();
  entry.run(event);
});

/** What a pressed key means in a table of keys: ofKey(event, { ArrowDown: 1, ArrowUp: -1 }). */
export const ofKey = <T>(event: { key: string }, meanings: Record<string, T>): T | undefined => meanings[event.key];
