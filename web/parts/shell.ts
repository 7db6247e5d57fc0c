// A session in a pod, as `prorata bash` has it: opened by a call, read as a stream, told by calls, one after the other.
import { ApiError, del, post, signedOut } from "../api";
import { cut, ending, join } from "../pictures/frames";

const AGAIN_MS = 1000,
  KEPT_MS = 60000, // the server keeps a session for so long while nobody reads it
  PIECE = 48 * 1024; // of what is pasted

export interface Wish {
  pod: string;
  command: string[];
  rows: number;
  columns: number;
}
export interface Heard {
  opened: () => void;
  /** Resolves when there is room for more. */
  output: (bytes: Uint8Array) => Promise<void>;
  /** Something is in the way; "" when it no longer is. */
  trouble: (text: string) => void;
  /** status is null where the command's end is not known. */
  ended: (status: number | null, words: string) => void;
}

const base64 = (bytes: Uint8Array) => btoa(Array.from(bytes, b => String.fromCharCode(b)).join(""));
const passes = (error: unknown) => !(error instanceof ApiError) || [0, 409, 429, 503].includes(error.status);
const textOf = (error: unknown) => (error instanceof ApiError ? error.message : "The connection is lost.");

// What is typed and how large the terminal is, sent one after the other in the order of the calls.
function typist(tell: (body: { data: string; rows?: number; columns?: number }) => Promise<unknown>) {
  let typed = new Uint8Array();
  let size: { rows: number; columns: number } | null = null;
  let isSending = false;
  const send = async () => {
    if (isSending) return;
    isSending = true;
    try {
      while (typed.length || size) {
        const body = { ...size, data: base64(typed.subarray(0, PIECE)) };
        typed = typed.slice(PIECE);
        size = null;
        await tell(body);
      }
    } catch {
      typed = new Uint8Array(); // `tell` has said so
    }
    isSending = false;
  };
  return {
    type(bytes: Uint8Array) {
      typed = join(typed, bytes);
      send();
    },
    resize(rows: number, columns: number) {
      size = { rows, columns };
      send();
    },
  };
}

// True at the end of the session; false where the stream broke off, or has had its time: it is asked for again.
async function read(path: string, heard: Heard, abort: AbortSignal) {
  const response = await fetch(path, { signal: abort });
  if (response.status === 401) signedOut.value = true;
  if (!response.ok) throw new ApiError(response.status, await response.json().catch(() => ({})));
  heard.trouble("");
  const reader = response.body!.getReader();
  for (let rest: Uint8Array = new Uint8Array(); ;) {
    const { value, done } = await reader.read();
    if (done) return false;
    const got = cut(join(rest, value));
    rest = got.rest;
    for (const { kind, data } of got.frames) {
      if (kind === "1" || kind === "2") await heard.output(data);
      if (kind !== "x") continue;
      heard.ended(...ending(data));
      return true;
    }
  }
}

async function follow(path: string, heard: Heard, abort: AbortSignal) {
  for (let lost = 0; !abort.aborted;) {
    try {
      if (await read(path, heard, abort)) return;
      lost = 0;
    } catch (error) {
      if (abort.aborted) return;
      lost ||= Date.now();
      if (!passes(error) || Date.now() - lost > KEPT_MS) return heard.ended(null, textOf(error));
      heard.trouble(textOf(error));
    }
    await new Promise(done => setTimeout(done, AGAIN_MS));
  }
}

/** Opens a session; what becomes of it is told, until it is hung up. */
export function openShell(workloadId: string, wish: Wish, told: Heard) {
  const sessions = `/api/v1/workloads/${workloadId}/exec` as const;
  const abort = new AbortController();
  const ended: Heard["ended"] = (status, words) => {
    abort.abort();
    told.ended(status, words);
  };
  const heard = { ...told, ended };
  const drop = (path: `${typeof sessions}/${string}`) => del(path).catch(() => {}); // it may be over
  const opened = post(sessions, { ...wish, terminal: true }).then(
    ({ sessionId }) => `${sessions}/${sessionId}` as const,
  );
  opened.then(
    path => {
      if (abort.signal.aborted) return drop(path);
      heard.opened();
      return follow(path, heard, abort.signal);
    },
    error => abort.signal.aborted || heard.ended(null, textOf(error)),
  );
  const input = typist(async body => {
    const path = await opened;
    if (abort.signal.aborted) return;
    await post(`${path}/input`, body).catch(error => {
      if (!abort.signal.aborted) heard.trouble(`What you typed was not sent. ${textOf(error)}`);
      throw error;
    });
  });
  const hangUp = () => {
    if (abort.signal.aborted) return;
    abort.abort();
    opened.then(drop, () => {});
  };
  return { ...input, hangUp };
}
