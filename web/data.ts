// Data of a page: asked for when it opens, asked for again when a change of its kinds arrives. Old data stay while new
// ones load; an answer that comes late, after a newer question, is dropped.
import { useEffect, useRef, useState } from "preact/hooks";
import { get } from "./api";
import { minute } from "./clock";
import { onChange, paced } from "./live";
import { type Scope, scope } from "./session";

const LONGEST_GAP_MS = 8000;

type Load<T> = (abort: AbortSignal) => Promise<T> | T;

/** What a part knows of its question. loading is true only while there is nothing to show. */
export interface Data<T> {
  data: T | null;
  error: Error | null;
  loading: boolean;
  reload: () => void;
}

// Asks at once, and again on changes of `kinds`.
function keepAsking(question: (abort: AbortSignal) => Promise<void>, kinds: string[]) {
  const abort = new AbortController();
  let busy = false,
    dirty = false;
  const ask = async () => {
    if (busy) {
      dirty = true;
      return;
    }
    busy = true;
    await question(abort.signal);
    busy = false;
    if (dirty && !abort.signal.aborted) {
      dirty = false;
      pace.soon();
    }
  };
  const pace = paced(ask, LONGEST_GAP_MS);
  const deafen = kinds.length ? onChange(kinds, pace.soon) : () => {};
  pace.now();
  const stop = () => {
    deafen();
    pace.stop();
    abort.abort();
  };
  return { ask: pace.now, stop };
}

/**
 * Data of the server, asked for by load(abortSignal) when the part opens and again on live changes of `kinds`. `key` says
 * which question it is: another key asks at once and forgets the old answer; null asks nothing.
 */
export function useData<T>(key: string | null, load: Load<T>, kinds: string[] = []): Data<T> {
  const [state, setState] = useState<{ key: string | null; data: T | null; error: Error | null }>({
    key: null,
    data: null,
    error: null,
  });
  const again = useRef<(() => void) | null>(null);
  useEffect(() => {
    if (key === null) return undefined;
    const question = async (abort: AbortSignal) => {
      try {
        const data = await load(abort);
        if (!abort.aborted) setState({ key, data, error: null });
      } catch (error) {
        if (!abort.aborted) setState(old => ({ key, data: old.key === key ? old.data : null, error: error as Error }));
      }
    };
    const { ask, stop } = keepAsking(question, kinds);
    again.current = ask;
    return stop;
  }, [key]);
  const mine = state.key === key;
  return {
    data: mine ? state.data : null,
    error: mine ? state.error : null,
    loading: !mine || (!state.data && !state.error),
    reload: () => again.current?.(),
  };
}

const OF_THE_OVERVIEW = ["project", "department", "nodepool", "node", "workload", "pod"];
export const inScope = (at: Scope | null) =>
  !at ? {} : at.projectId ? { projectId: at.projectId } : { departmentId: at.departmentId };

// The server's sums over all that the scope holds, and every node in brief; parts that the account may not read are absent.
export const useOverview = () =>
  useData(
    `overview/${JSON.stringify(scope.value)}`,
    abort => get("/api/v1/overview", inScope(scope.peek()), { signal: abort }),
    OF_THE_OVERVIEW,
  );
export const useNodesInBrief = (on: unknown) =>
  useData(on ? "overview/nodes" : null, abort => get("/api/v1/overview/nodes", {}, { signal: abort }), [
    "node",
    "nodepool",
    "pod",
    "workload",
  ]);

// Asks again each minute: what changes without an event.
export function useEachMinute({ reload }: { reload: () => void }, on = true) {
  const opened = useRef<number | null>(minute.peek());
  useEffect(() => {
    if (minute.value === opened.current) return;
    opened.current = null;
    if (on) reload();
  }, [minute.value]);
}

// The width of an element in pixels, 0 until it is laid out. [ref, width]
export function useWidth() {
  const ref = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (!ref.current) return undefined;
    const watch = new ResizeObserver(([entry]) => setWidth(Math.round(entry.contentRect.width)));
    watch.observe(ref.current);
    return () => watch.disconnect();
  }, [ref.current]);
  return [ref, width] as const;
}
