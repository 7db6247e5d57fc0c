// The rows of one page of a table. The server pages, sorts, searches and filters. Cells change, rows don't move: a live
// change updates the rows that are shown, in place; what is new or gone is only counted, until the person asks to see it,
// pages, or has touched nothing for 30 s.
import { signal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { getList, queryString } from "../api";
import { onChange, paced } from "../live";
import { localPage } from "./local_rows";
import type { Source } from "./table";

export interface Question {
  limit: number;
  offset: number;
  sort?: string;
  filters: string[];
  search: string;
}
interface Fresh<R> {
  rows: R[];
  total: number;
  url: string;
  /** There are more, nobody says how many. */
  isMore?: boolean;
}
interface Shown<R> extends Partial<Fresh<R>> {
  key: string | null;
  /** Rows that are not on this page any more. */
  left?: Set<string>;
  /** The page has all rows there are: what left it is gone, and not on the next page. */
  isAll?: boolean;
  fresh?: Fresh<R>;
  /** How many rows are new. */
  news?: number;
  error?: Error | null;
  stale?: boolean;
}
export interface List<R> extends Shown<R> {
  loading: boolean;
  show: () => void;
  retry: () => void;
}
interface Asking<R> {
  /** What the page says of it by now. */
  latest: { current: Source };
  question: Question;
  key: string;
  idOf: (row: R) => string;
}
type Setter<R> = (next: Shown<R>) => void;

const UNTOUCHED_MS = 30000,
  LONGEST_GAP_MS = 2000;
let touched = Date.now();
for (const type of ["pointerdown", "keydown", "wheel"])
  addEventListener(type, () => (touched = Date.now()), { passive: true, capture: true });

// After one's own write: every table takes its new order at once.
const renewed = signal(0);
export function renewTables() {
  renewed.value += 1;
}

// Rows that the person took away: they go at once, and needn't be shown as gone.
const taken = new Set<string>();
export const take = (ids: string[]) => ids.forEach(id => taken.add(id));

// Something the person is in the middle of: a menu, a dialog, a drag, marked text.
const busy = () =>
  document.querySelector("[data-hold], dialog[open], .dragging") || String(getSelection() ?? "").length > 0;

/** Has nobody touched anything for half a minute? */
export const atRest = () => !busy() && Date.now() - touched >= UNTOUCHED_MS;

/** A person's filters and those of the page. */
export const filterBy = ({ query }: Source, filters: string[]) => [...filters, ...(query?.filterBy ?? [])];

// The page's answer and the number of all rows, as one.
async function ask<R>(source: Source, question: Question, abort: AbortSignal): Promise<Fresh<R>> {
  const { path, key, countPath, query } = source,
    { limit, offset, sort, filters, search } = question;
  if (source.local) {
    const answer = source.given ?? (await getList(path, query ?? {}, { signal: abort }));
    return {
      ...localPage((source.rows?.(answer) ?? answer) as R[], question),
      url: path + queryString(query),
    };
  }
  const conditions = filterBy(source, filters);
  const params = {
    ...query,
    offset,
    [source.limitAs ?? "limit"]: limit,
    sortBy: sort?.replace(/^-/, ""),
    sortOrder: sort ? (sort.startsWith("-") ? "desc" : "asc") : undefined,
    filterBy: conditions,
    search,
  };
  const [page, number] = await Promise.all([
    getList(path, params, { signal: abort }),
    countPath ? getList(countPath, { filterBy: conditions, search, deleted: query?.deleted }, { signal: abort }) : null,
  ]);
  const answer = page as { next?: number; [key: string]: unknown } | null;
  const rows = ((key ? answer?.[key] : answer) ?? []) as R[];
  const all = number as { count?: number } | null;
  const isMore = !all && Boolean(answer?.next);
  return {
    rows,
    total: all?.count ?? offset + rows.length + Number(isMore),
    isMore,
    url: path + queryString(params),
  };
}

// Shown rows in their order with the new content; rows that left keep their last content and are marked.
function merge<R>(shown: Shown<R>, fresh: Fresh<R>, offset: number, idOf: (row: R) => string): Shown<R> {
  const now = new Map(fresh.rows.map(r => [idOf(r), r]));
  const old = shown.rows!.filter(r => now.has(idOf(r)) || !taken.has(idOf(r)));
  const rows = old.map(r => now.get(idOf(r)) ?? r);
  const before = new Set(old.map(idOf));
  return {
    ...shown,
    rows,
    total: fresh.total,
    isMore: fresh.isMore,
    isAll: !offset && !fresh.isMore && fresh.rows.length >= fresh.total,
    left: new Set([...before].filter(id => !now.has(id))),
    fresh,
    news: fresh.rows.filter(r => !before.has(idOf(r))).length,
  };
}

// Asks at once and on every change; answers come one after the other. A row that is shown stays where it is until the
// person has touched nothing for a while, or `apply` says so.
function keepAsking<R>({ latest, question, key, idOf }: Asking<R>, current: RefObject<Shown<R>>, set: Setter<R>) {
  const abort = new AbortController();
  let asking = false,
    again: { apply: boolean } | null = null, // what was asked for meanwhile
    later: ReturnType<typeof setTimeout> | undefined;
  const answer = async (apply: boolean) => {
    const fresh = await ask<R>(latest.current, question, abort.signal);
    const shown = current.current;
    const still = shown.key === key && shown.rows?.length && !apply && !atRest();
    set(
      still
        ? { ...merge(shown, fresh, question.offset, idOf), error: null }
        : { key, ...fresh, left: new Set(), news: 0, error: null },
    );
    clearTimeout(later);
    if (still) later = setTimeout(load, Math.max(touched + UNTOUCHED_MS - Date.now(), 1000), false); // nobody may change anything by then
  };
  const load = async (apply: boolean) => {
    if (asking) {
      again = { apply: apply || Boolean(again?.apply) };
      return;
    }
    asking = true;
    try {
      await answer(apply);
    } catch (error) {
      const kept = current.current.key === key ? current.current : { key };
      if (!abort.signal.aborted) set({ ...kept, error: error as Error });
    }
    asking = false;
    if (again && !abort.signal.aborted) {
      const { apply: wanted }: { apply: boolean } = again;
      again = null;
      load(wanted);
    }
  };
  const stop = () => {
    abort.abort();
    clearTimeout(later);
  };
  return { load, stop };
}

/** The rows of one page, kept up to date in place. `show` takes what is new at once. */
export function useRows<R>(source: Source, question: Question, kinds: string[], idOf: (row: R) => string): List<R> {
  const key = JSON.stringify([source.path, source.query ?? null, question]);
  const [state, setState] = useState<Shown<R>>({ key: null });
  const current = useRef(state),
    latest = useRef(source),
    reload = useRef<(() => void) | null>(null);
  latest.current = source;
  const set: Setter<R> = next => {
    current.current = next;
    setState(next);
  };
  useEffect(() => {
    const { load, stop } = keepAsking({ latest, question, key, idOf }, current, set);
    load(true);
    reload.current = () => load(false);
    const pace = paced(() => load(false), LONGEST_GAP_MS);
    const stops = [stop, pace.stop, onChange(kinds, pace.soon), renewed.subscribe(n => void (n && load(true)))];
    return () => stops.forEach(end => end());
  }, [key]);
  useEffect(() => {
    if (source.given && current.current.key === key) reload.current!();
  }, [source.given]);
  const shown = state.key === key ? state : { ...state, stale: true };
  return {
    ...shown,
    loading: state.key !== key,
    show: () => set({ key, ...current.current.fresh!, left: new Set(), news: 0, error: null }),
    retry: () => renewTables(),
  };
}
