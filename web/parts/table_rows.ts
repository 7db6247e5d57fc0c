// The rows of one page of a table. The server pages, sorts, searches and filters. Cells change, rows don't move: a live
// change updates the rows that are shown, in place; what is new or gone is only counted, until the person asks to see it,
// pages, or has touched nothing for 30 s.
import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { get, queryString } from "../api";
import { onChange } from "../live";

const UNTOUCHED_MS = 30000;
let touched = Date.now();
for (const type of ["pointerdown", "keydown", "wheel"])
  addEventListener(type, () => (touched = Date.now()), { passive: true, capture: true });

// After one's own write: every table takes its new order at once.
const renewed = signal(0);
export function renewTables() {
  renewed.value += 1;
}

// Rows that the person took away: they go at once, and needn't be shown as gone.
const taken = new Set();
export const take = ids => ids.forEach(id => taken.add(id));

// Something the person is in the middle of: a menu, a dialog, a drag, marked text.
const busy = () =>
  document.querySelector("[data-hold], dialog[open], .dragging") || String(getSelection() ?? "").length > 0;

// The page's answer and the number of all rows, as one.
async function ask({ path, key, countPath, query }, { limit, offset, sort, filters, search }, abort) {
  const filterBy = [...filters, ...(query?.filterBy ?? [])];
  const params = {
    ...query,
    offset,
    limit,
    sortBy: sort?.replace(/^-/, ""),
    sortOrder: sort ? (sort.startsWith("-") ? "desc" : "asc") : undefined,
    filterBy,
    search,
  };
  const [page, number] = await Promise.all([
    get(path, params, { signal: abort }),
    countPath ? get(countPath, { filterBy, search, deleted: query?.deleted }, { signal: abort }) : null,
  ]);
  const rows = key ? (page?.[key] ?? []) : (page ?? []);
  return { rows, total: number?.count ?? offset + rows.length + (page?.next ? 1 : 0), url: path + queryString(params) };
}

// Shown rows in their order with the new content; rows that left keep their last content and are marked.
function merge(shown, fresh, idOf) {
  const now = new Map(fresh.rows.map(r => [idOf(r), r]));
  const old = shown.rows.filter(r => now.has(idOf(r)) || !taken.has(idOf(r)));
  const rows = old.map(r => now.get(idOf(r)) ?? r);
  const before = new Set(old.map(idOf));
  return {
    ...shown,
    rows,
    total: fresh.total,
    left: new Set([...before].filter(id => !now.has(id))),
    fresh,
    news: fresh.rows.filter(r => !before.has(idOf(r))).length,
  };
}

export function useRows(source, question, kinds, idOf) {
  const key = JSON.stringify([source.path, source.query ?? null, question]);
  const [state, setState] = useState({ key: null });
  const current = useRef(state);
  const set = next => {
    current.current = next;
    setState(next);
  };
  useEffect(() => {
    const abort = new AbortController();
    let asking = false,
      again = null,
      later; // again: what was asked for meanwhile
    const load = async apply => {
      if (asking) {
        again = { apply: apply || Boolean(again?.apply) };
        return;
      }
      asking = true;
      try {
        const fresh = await ask(source, question, abort.signal);
        const shown = current.current;
        const still =
          shown.key === key && shown.rows?.length && !apply && (busy() || Date.now() - touched < UNTOUCHED_MS);
        set(
          still
            ? { ...merge(shown, fresh, idOf), error: null }
            : { key, ...fresh, left: new Set(), news: 0, error: null },
        );
        clearTimeout(later);
        if (still) later = setTimeout(load, Math.max(touched + UNTOUCHED_MS - Date.now(), 1000), false); // nobody may change anything by then
      } catch (error) {
        if (!abort.signal.aborted) set({ ...(current.current.key === key ? current.current : { key }), error });
      }
      asking = false;
      if (again && !abort.signal.aborted) {
        const { apply: wanted } = again;
        again = null;
        load(wanted);
      }
    };
    load(true);
    const stops = [onChange(kinds, () => load(false)), renewed.subscribe(n => n && load(true))];
    return () => {
      abort.abort();
      clearTimeout(later);
      for (const stop of stops) stop();
    };
  }, [key]);
  const shown = state.key === key ? state : { ...state, stale: true };
  return {
    ...shown,
    loading: state.key !== key,
    show: () => set({ key, ...current.current.fresh, left: new Set(), news: 0, error: null }),
    retry: () => renewTables(),
  };
}
