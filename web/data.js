// Data of a page: asked for when it opens, asked for again when a change of its kinds arrives. Old data stay while new
// ones load; an answer that comes late, after a newer question, is dropped.
import { useEffect, useRef, useState } from "preact/hooks";
import { minute } from "./clock.js";
import { onChange } from "./live.js";

const GAP_MS = 1000;

// load(abortSignal) -> promise. `key` says which question it is: another key asks at once and forgets the old answer.
// {data, error, loading, reload}: loading is true only while there is nothing to show.
export function useData(key, load, kinds = []) {
  const [state, setState] = useState({ key: null, data: null, error: null });
  const latest = useRef(0);
  const again = useRef(null);
  useEffect(() => {
    if (key === null) return undefined;
    let abort = null, busy = false, dirty = false, later = 0, asked = 0;
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
        if (turn === latest.current && !abort.signal.aborted) setState(old => ({ key, data: old.key === key ? old.data : null, error }));
      }
      busy = false;
      if (dirty && !abort.signal.aborted) {
        dirty = false;
        soon();
      }
    };
    const soon = () => { // in a storm of changes, once a second
      clearTimeout(later);
      later = setTimeout(ask, Math.max(0, asked + GAP_MS - Date.now()));
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
  return { data: mine ? state.data : null, error: mine ? state.error : null, loading: !mine || (!state.data && !state.error), reload: () => again.current?.() };
}

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
