// Data of a page: asked for when it opens, asked for again when a change of its kinds arrives. Old data stay while new
// ones load; an answer that comes late, after a newer question, is dropped.
import { useEffect, useRef, useState } from "preact/hooks";
import { get } from "./api";
import { minute } from "./clock";
import { onChange } from "./live";
import { scope } from "./session";

const GAP_MS = 1000,
  LONGEST_GAP_MS = 8000;

// load(abortSignal) -> promise. `key` says which question it is: another key asks at once and forgets the old answer.
// {data, error, loading, reload}: loading is true only while there is nothing to show.
export function useData(key, load, kinds = []) {
  const [state, setState] = useState({ key: null, data: null, error: null });
  const latest = useRef(0);
  const again = useRef(null);
  useEffect(() => {
    if (key === null) return undefined;
    let abort = null,
      busy = false,
      dirty = false,
      later = 0,
      asked = 0,
      gap = GAP_MS,
      run = 0; // run: how often in a row without a quiet time
    const ask = async () => {
      if (busy) {
        dirty = true;
        return;
      }
      busy = true;
      asked = Date.now();
      abort = new AbortController();
      const turn = ++latest.current;
      try {
        const data = await load(abort.signal);
        if (turn === latest.current) setState({ key, data, error: null });
      } catch (error) {
        if (turn === latest.current && !abort.signal.aborted)
          setState(old => ({ key, data: old.key === key ? old.data : null, error }));
      }
      busy = false;
      if (dirty && !abort.signal.aborted) {
        dirty = false;
        soon();
      }
    };
    const soon = () => {
      // at once after a quiet time; in a storm of changes less and less often
      if (later) return;
      const passed = Date.now() - asked;
      run = passed > 2 * gap ? 0 : run + 1;
      gap = Math.min(LONGEST_GAP_MS, GAP_MS * 2 ** Math.max(0, run - 2));
      later = setTimeout(
        () => {
          later = 0;
          ask();
        },
        Math.max(0, gap - passed),
      );
    };
    again.current = ask;
    ask();
    const stop = kinds.length ? onChange(kinds, soon) : () => {};
    return () => {
      stop();
      clearTimeout(later);
      latest.current += 1;
      abort?.abort();
    };
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
const inScope = at => (!at ? {} : at.projectId ? { projectId: at.projectId } : { departmentId: at.departmentId });

// The server's sums over all that the scope holds, and every node in brief; parts that the account may not read are absent.
export const useOverview = () =>
  useData(
    `overview/${JSON.stringify(scope.value)}`,
    abort => get("/api/v1/overview", inScope(scope.peek()), { signal: abort }),
    OF_THE_OVERVIEW,
  );
export const useNodesInBrief = on =>
  useData(on ? "overview/nodes" : null, abort => get("/api/v1/overview/nodes", {}, { signal: abort }), [
    "node",
    "nodepool",
    "pod",
    "workload",
  ]);

// Asks again each minute: what changes without an event.
export function useEachMinute({ reload }, on = true) {
  const opened = useRef(minute.peek());
  useEffect(() => {
    if (minute.value === opened.current) return;
    opened.current = null;
    if (on) reload();
  }, [minute.value]);
}

// The width of an element in pixels, 0 until it is laid out. [ref, width]
export function useWidth() {
  const ref = useRef(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (!ref.current) return undefined;
    const watch = new ResizeObserver(([entry]) => setWidth(Math.round(entry.contentRect.width)));
    watch.observe(ref.current);
    return () => watch.disconnect();
  }, [ref.current]);
  return [ref, width];
}
