// The lines behind a log view: reads the stream of a container, keeps the newest 5,000, and tells at most once per frame.
import type { AnyQuery } from "../types";
import { ApiError, queryString, signedOut } from "../api";

export const KEEP = 5000;

/** What was read so far; first: the number of the first kept line. */
export interface Log {
  lines: string[];
  first: number;
  ended: boolean;
  error: Error | null;
}
interface LogQuestion extends AnyQuery {
  workloadId: string;
  pod: string;
  container: string;
  previous?: boolean;
  follow: boolean;
  tail: number;
}

// ask: {workloadId, pod, container, previous, follow, tail}; tell({lines, first, ended, error}); returns stop().
// `first` is the number of the first kept line, so that a line keeps its number when older ones are dropped.
export function readLog({ workloadId, ...query }: LogQuestion, tell: (log: Log) => void) {
  const abort = new AbortController();
  let lines: string[] = [],
    first = 1,
    open = "",
    frame = 0;
  const state: Pick<Log, "ended" | "error"> = { ended: false, error: null };
  const soon = () => {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      tell({ lines, first, ...state });
    });
  };
  const take = (text: string) => {
    const parts = (open + text).split("\n");
    open = parts.pop() ?? "";
    lines = lines.concat(parts);
    if (lines.length > KEEP) {
      first += lines.length - KEEP;
      lines = lines.slice(-KEEP);
    }
    soon();
  };
  const read = async () => {
    const url = `/api/v1/workloads/${workloadId}/logs${queryString({ timestamps: true, ...query })}`;
    const response = await fetch(url, { signal: abort.signal, headers: { Accept: "text/plain" } });
    if (response.status === 401) signedOut.value = true;
    if (!response.ok) throw new ApiError(response.status, await response.json().catch(() => ({})), `GET ${url}`);
    const decoder = new TextDecoder();
    const reader = response.body!.getReader();
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      take(decoder.decode(value, { stream: true }));
    }
    if (open) take("\n");
  };
  read()
    .catch(error => {
      if (!abort.signal.aborted) state.error = error;
    })
    .finally(() => {
      state.ended = true;
      if (!abort.signal.aborted) soon();
    });
  return () => {
    abort.abort();
    cancelAnimationFrame(frame);
  };
}

// "2026-01-01T12:00:00.123Z text" -> [time, text]; a line without a time keeps its text.
export function splitTime(line: string): [time: string, text: string] {
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z) ?(.*)$/s.exec(line);
  return match ? [match[1], match[2]] : ["", line];
}
