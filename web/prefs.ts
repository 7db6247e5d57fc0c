// What a person chose in this browser: theme, keys, row height, columns. Kept per account; private mode forgets.
import { signal } from "@preact/signals";

const boxes = new Map();
let account = "";

function read(key) {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "null");
  } catch {
    return null;
  }
}

// A signal bound to a key; setting it through .value and calling keep() writes it.
export function pref(name, fallback) {
  const key = `${account}:${name}`;
  if (!boxes.has(key)) boxes.set(key, signal(read(key) ?? fallback));
  return boxes.get(key);
}

export function keep(name, value) {
  pref(name, value).value = value;
  try {
    if (value === null || value === undefined) localStorage.removeItem(`${account}:${name}`);
    else localStorage.setItem(`${account}:${name}`, JSON.stringify(value));
  } catch {
    // private mode
  }
}

export function useAccount(name) {
  account = name;
}

export const theme = signal(document.documentElement.dataset.theme);
export function setTheme(value) {
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
