// What changed, as it happens. One tab of the browser holds the stream (a stream holds a thread of the server): the tab
// that wins the lock reads GET /api/v1/events/stream and passes events on to the others. An event says what changed, not
// the new content; who shows it asks again. Without a stream every page asks every 5 seconds, hidden ones every 30.
import { signal } from "@preact/signals";
import { connection, get, leaving, signedOut } from "./api";
import { session } from "./session";

export const stream = signal<State>("starting"); // starting, live, polling

/** What changed; kind "*": anything may have. */
export interface Change {
  kind: string;
  id?: string;
  revision?: number;
}
type State = "starting" | "live" | "polling";
interface Message {
  change?: Change;
  state?: State;
  forgets?: boolean; // the server counts from another number: what was shown means nothing
}
interface Listener {
  kinds: Set<string>;
  callback: (changes: Change[]) => void;
}

const GATHER_MS = 250,
  GAP_MS = 1000;
const listeners = new Set<Listener>();
const shown = new Map<string, number>(); // kind/id -> revision last passed on, so that older ones are dropped
let pending = new Map<string, Change>();
let gathering: ReturnType<typeof setTimeout> | 0 = 0;
let channel: BroadcastChannel | null = null;

// Calls back with a list of {kind, id, revision} after 250 ms of gathering; kind "*" means "anything may have changed".
export function onChange(kinds: string | string[], callback: Listener["callback"]) {
  const wanted = { kinds: new Set([kinds].flat()), callback };
  listeners.add(wanted);
  return () => {
    listeners.delete(wanted);
  };
}

/** What asks again when it is told of a change: soon after a quiet time, in a storm of changes less and less often. */
export function paced(ask: () => void, longestMs: number) {
  let later: ReturnType<typeof setTimeout> | 0 = 0,
    asked = 0,
    gap = GAP_MS,
    run = 0; // how often in a row without a quiet time
  const now = () => {
    later = 0;
    asked = Date.now();
    ask();
  };
  const soon = () => {
    if (later) return;
    const passed = Date.now() - asked;
    run = passed > 2 * gap ? 0 : run + 1;
    gap = Math.min(longestMs, GAP_MS * 2 ** Math.max(0, run - 2));
    later = setTimeout(now, Math.max(0, gap - passed));
  };
  return { now, soon, stop: () => clearTimeout(later) };
}

function flush() {
  gathering = 0;
  if (document.hidden) return; // asked again when the tab is looked at
  const changes = [...pending.values()];
  pending = new Map();
  for (const { kinds, callback } of [...listeners]) {
    const mine = changes.filter(c => c.kind === "*" || kinds.has("*") || kinds.has(c.kind));
    if (mine.length) callback(mine);
  }
}

function take(change: Change) {
  const key = `${change.kind}/${change.id ?? ""}`;
  if (change.revision !== undefined && change.revision <= (shown.get(key) ?? -1)) return;
  if (change.revision !== undefined) shown.set(key, change.revision);
  if (shown.size > 5000) shown.delete(shown.keys().next().value!);
  pending.set(key, change);
  if (!gathering) gathering = setTimeout(flush, GATHER_MS);
}

// Anything may have changed: after a gap in the stream, on polling, and after one's own write.
export function refreshAll() {
  take({ kind: "*" });
}

function tell(message: Message) {
  channel?.postMessage(message);
  hear(message);
}

function hear({ change, state, forgets }: Message) {
  if (forgets) shown.clear();
  if (change) take(change);
  if (state) stream.value = state;
}

const wait = (ms: number) => new Promise(done => setTimeout(done, ms));

// Reads the stream until it ends for good. After a mere break, or when the server ends it after its five minutes, the
// browser reconnects by itself with Last-Event-ID; only a gap of some seconds is worth telling. It begins where the
// session's answer was: what changed before the stream stood is told, too.
let lastEvent = "";
function read() {
  return new Promise<void>(done => {
    lastEvent ||= String(session.peek().who?.revision ?? "");
    const source = new EventSource("/api/v1/events/stream" + (lastEvent && `?lastEventId=${lastEvent}`));
    let gap: ReturnType<typeof setTimeout> | 0 = 0;
    const end = () => {
      clearTimeout(gap);
      source.close();
      left();
      done();
    };
    const left = leaving.subscribe(answer => answer && end());
    source.addEventListener("open", () => {
      clearTimeout(gap);
      gap = 0;
      tell({ state: "live" });
      if (connection.peek().lost) connection.value = { lost: false, seen: Date.now() };
    });
    source.addEventListener("change", event => {
      lastEvent = event.lastEventId;
      try {
        const { kind, id, revision } = JSON.parse(event.data);
        tell({ change: { kind, id, revision } });
      } catch {
        tell({ change: { kind: "*" } });
      }
    });
    source.addEventListener("reset", event => {
      lastEvent = event.lastEventId;
      tell({ change: { kind: "*" }, forgets: true });
    });
    source.addEventListener("error", () => {
      if (source.readyState === EventSource.CLOSED) {
        end();
      } else if (!gap) {
        gap = setTimeout(() => tell({ state: "polling" }), 4000);
        look(); // a break may be the end of the connection, which is to be said at once
      }
    });
  });
}

const signedIn = () => session.peek().state === "in" && !leaving.peek();

// Is the server there, and are we still signed in?
const look = async () => signedIn() && get("/api/v1/session").catch(() => {});

async function lead() {
  for (let pause = 1000; ; pause = Math.min(30000, pause * 2)) {
    const began = Date.now();
    if (signedIn() && !signedOut.peek()) {
      await read();
      await look();
    }
    if (Date.now() - began > 60000) pause = 1000;
    tell({ state: "polling", change: { kind: "*" } });
    await wait(pause * (0.75 + Math.random() / 2));
  }
}

async function poll() {
  for (;;) {
    await wait(document.hidden ? 30000 : connection.peek().lost ? 2000 : 5000);
    if (stream.peek() === "live" && !connection.peek().lost) continue;
    if (signedOut.peek()) continue;
    if (connection.peek().lost) await look();
    if (!connection.peek().lost) take({ kind: "*" });
  }
}

let started = false;
export function start() {
  if (started) return;
  started = true;
  channel = new BroadcastChannel("prorata-live");
  let leading = false;
  channel.onmessage = ({ data }) => {
    if (data.hello && leading) channel?.postMessage({ state: stream.peek() });
    else hear(data);
  };
  channel.postMessage({ hello: true });
  if (navigator.locks) {
    navigator.locks.request("prorata-live", () => {
      leading = true;
      return lead();
    });
  } else {
    lead();
  }
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) take({ kind: "*" });
  });
  addEventListener("offline", look);
  addEventListener("online", () => take({ kind: "*" }));
  poll();
}
