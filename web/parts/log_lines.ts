// The lines behind a log view: reads the stream of a container, keeps the newest 5,000, and tells at most once per frame.
// A log that is followed comes as frames, each with its place: after a break it goes on from the last one.
import type { AnyQuery } from "../types";
import { ApiError, queryString, signedOut } from "../api";
import { cut, join } from "../pictures/frames";

export const KEEP = 5000;
const AGAIN_MS = 1000,
  AGAIN_FOR_MS = 120000,
  LINE_FEED = 10;

/** What was read so far; first: the number of the first kept line. */
export interface Log {
  lines: string[];
  first: number;
  ended: boolean;
  error: Error | null;
}
interface LogQuestion extends AnyQuery {
  workloadId: string;
  /** Left out: the newest, and what takes its place. */
  pod?: string;
  container: string;
  previous?: boolean;
  follow: boolean;
  tail: number;
}

const passes = (error: unknown) => !(error instanceof ApiError) || error.status >= 500;

function signedIn(abort: AbortSignal) {
  return new Promise<void>(done => {
    const stop = signedOut.subscribe(out => {
      if (!out) done();
    });
    abort.addEventListener("abort", () => done());
    abort.addEventListener("abort", stop);
  });
}

type Ask = (more: AnyQuery) => Promise<ReadableStreamDefaultReader<Uint8Array>>;
type Take = (text: string) => void;

async function readText(ask: Ask, take: Take) {
  const decoder = new TextDecoder();
  const reader = await ask({});
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    take(decoder.decode(value, { stream: true }));
  }
}

// What was read of a log that is followed, and from where to go on.
function follower(ask: Ask, take: Take, note: Take) {
  const decoder = new TextDecoder();
  const state = { place: "", heard: Date.now() };
  const hear = (kind: string, data: Uint8Array) => {
    if (kind !== "l" && kind !== "n") return;
    const end = data.indexOf(LINE_FEED),
      bytes = data.subarray(end + 1);
    state.place = new TextDecoder().decode(data.subarray(0, end));
    if (kind === "l") take(decoder.decode(bytes, { stream: true }));
    else note(new TextDecoder().decode(bytes));
  };
  // True at the end of the log; false where the stream broke off.
  const read = async () => {
    const reader = await ask({ frames: true, position: state.place || undefined });
    for (let rest: Uint8Array = new Uint8Array(); ;) {
      const { value, done } = await reader.read();
      if (done) return false;
      state.heard = Date.now();
      const got = cut(join(rest, value));
      rest = got.rest;
      for (const { kind, data } of got.frames) {
        if (kind === "x") return true;
        hear(kind, data);
      }
    }
  };
  return { state, read };
}

async function followText(ask: Ask, take: Take, note: Take, abort: AbortSignal) {
  const { state, read } = follower(ask, take, note);
  while (!abort.aborted) {
    try {
      if (await read()) return;
    } catch (error) {
      if (abort.aborted) return;
      if (error instanceof ApiError && error.status === 401) await signedIn(abort);
      else if (!state.place || !passes(error) || Date.now() - state.heard > AGAIN_FOR_MS) throw error;
    }
    await new Promise(done => setTimeout(done, AGAIN_MS));
  }
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
  const ask = async (more: AnyQuery) => {
    const url = `/api/v1/workloads/${workloadId}/logs${queryString({ timestamps: true, ...query, ...more })}`;
    const response = await fetch(url, { signal: abort.signal });
    if (response.status === 401) signedOut.value = true;
    if (!response.ok) throw new ApiError(response.status, await response.json().catch(() => ({})), `GET ${url}`);
    return response.body!.getReader();
  };
  const note = (text: string) => take(`${open && "\n"}--- ${text} ---\n`);
  (query.follow ? followText(ask, take, note, abort.signal) : readText(ask, take))
    .then(() => {
      if (open) take("\n");
    })
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
