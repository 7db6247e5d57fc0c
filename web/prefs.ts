// What a person chose in this browser: theme, keys, row height, columns. Kept per account; private mode forgets.
import { type Signal, signal } from "@preact/signals";

const boxes = new Map<string, Signal<unknown>>();
let account = "";

function read(key: string) {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "null");
  } catch {
    return null;
  }
}

// A signal bound to a key; setting it through .value and calling keep() writes it.
export function pref<T>(name: string, fallback: T): Signal<T> {
  const key = `${account}:${name}`;
  if (!boxes.has(key)) boxes.set(key, signal<unknown>(read(key) ?? fallback));
  return boxes.get(key) as Signal<T>;
}

export function keep(name: string, value: unknown) {
  pref(name, value).value = value;
  try {
    if (value === null || value === undefined) localStorage.removeItem(`${account}:${name}`);
    else localStorage.setItem(`${account}:${name}`, JSON.stringify(value));
  } catch {
    // private mode
  }
}

export function useAccount(name: string) {
  account = name;
}

export const theme = signal(document.documentElement.dataset.theme);
export function setTheme(value: string) {
  document.documentElement.dataset.theme = value;
  theme.value = value;
  try {
    localStorage.setItem("theme", value);
  } catch {
    // private mode
  }
}
new MutationObserver(() => {
  theme.value = document.documentElement.dataset.theme;
}).observe(document.documentElement, { attributeFilter: ["data-theme"] });
