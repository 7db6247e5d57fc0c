// Pages are real paths; filters, sort, page, open row and tab live in the query string. Links are plain <a href>: one
// listener turns clicks on our own pages into history entries.
import { signal } from "@preact/signals";

interface Route {
  path: string;
  query: Record<string, string | undefined>;
}
export type Changes = Record<string, string | number | null | undefined>;

const read = (): Route => ({
  path: location.pathname.replace(/(.)\/+$/, "$1"),
  query: Object.fromEntries(new URLSearchParams(location.search)),
});
export const route = signal(read());

let guard: (() => Promise<boolean> | boolean) | null = null; // asks before a form with changes is left
export function leaveGuard(ask: NonNullable<typeof guard>) {
  guard = ask;
  return () => {
    if (guard === ask) guard = null;
  };
}

// How far each entry of the history is scrolled inside its table: Back comes to where one was.
const scrolled = new Map<number, number>();
const entry = () => (history.state as { entry?: number } | null)?.entry ?? 0;
let entries = entry();
export const noteScroll = (top: number) => scrolled.set(entry(), top);
export const scrollOfEntry = () => scrolled.get(entry()) ?? 0;

export async function go(href: string, { replace = false, keepScroll = false } = {}) {
  const url = new URL(href, location.href);
  if (guard && url.pathname !== location.pathname && !(await guard())) return;
  const same = url.pathname === location.pathname;
  const state = { entry: replace ? entry() : ++entries };
  history[replace ? "replaceState" : "pushState"](state, "", url.pathname + url.search + url.hash);
  route.value = read();
  if (!same && !keepScroll) {
    scrollTo(0, 0);
    requestAnimationFrame(() => {
      const main = document.getElementById("main");
      if (!main?.contains(document.activeElement)) main?.focus({ preventScroll: true }); // a form's first field keeps the focus
    });
  }
}

// Changes some keys of the query string; null, "" and undefined remove one. Replaces the entry unless told to add one.
export function setQuery(changes: Changes, { push = false } = {}) {
  const query = new URLSearchParams(location.search);
  for (const [key, value] of Object.entries(changes)) {
    if (value === null || value === undefined || value === "") query.delete(key);
    else query.set(key, String(value));
  }
  const text = query.toString().replaceAll("%2C", ",").replaceAll("%3A", ":");
  return go(location.pathname + (text ? "?" + text : ""), { replace: !push, keepScroll: true });
}

// The same page with some keys changed, for an href.
export function hrefWith(changes: Changes) {
  const { path, query } = route.value;
  const next = new URLSearchParams(query as Record<string, string>);
  for (const [key, value] of Object.entries(changes)) {
    if (value === null || value === undefined || value === "") next.delete(key);
    else next.set(key, String(value));
  }
  const text = next.toString();
  return path + (text ? "?" + text : "");
}

// {"/projects/:id/edit": Page} and a path -> [Page, {id}, "/projects/:id/edit"]; ":kind(a|b)" takes these words alone.
export function match<T>(routes: Record<string, T>, path: string): [T, Record<string, string>, string] | null {
  for (const [pattern, page] of Object.entries(routes)) {
    const names: string[] = [];
    const form = new RegExp(
      "^" +
        pattern.replace(
          /:(\w+)(\([^)]*\))?/g,
          (_, name: string, words?: string) => (names.push(name), words ?? "([^/]+)"),
        ) +
        "$",
    );
    const hit = form.exec(path);
    if (hit) return [page, Object.fromEntries(names.map((name, i) => [name, decodeURIComponent(hit[i + 1])])), pattern];
  }
  return null;
}

const SERVER_OWN = /^\/((api|docs|healthz|readyz|metrics)(\/|$)|assets\/[^/]*\.)/; // pages of assets have no dot in their names
addEventListener("popstate", () => {
  route.value = read();
});
document.addEventListener("click", event => {
  const link = (event.target as Element).closest?.<HTMLAnchorElement | SVGAElement>("a[href]");
  if (
    !link ||
    event.defaultPrevented ||
    event.button !== 0 ||
    event.metaKey ||
    event.ctrlKey ||
    event.shiftKey ||
    event.altKey
  )
    return;
  const href = link.getAttribute("href") ?? (link as SVGAElement).href?.baseVal ?? "";
  if (!href.startsWith("/") || link.hasAttribute("download") || link.getAttribute("target") || SERVER_OWN.test(href))
    return;
  event.preventDefault();
  go(href);
});
