// Chunks of the bundle: the frame first, then the pages of every day, charts with the first one, and what few open when there is time. A chunk that failed is asked for again as
// soon as the server is back. A server with a newer build has no old chunks any more: that is noticed, said, and the page is
// loaded afresh where nothing typed can be lost.
import { type Signal, effect, signal } from "@preact/signals";
import { connection, get } from "./api";
import { WORDS } from "./words";

export const renewed = signal(false); // the server has another build than this page

interface Loaded<M> {
  module?: M;
  error?: Error;
}
type Load<M> = () => Promise<M>;

const known = new Map<Load<unknown>, Signal<Loaded<unknown>>>(); // load function -> signal of {}, {module} or {error}
const own = document.querySelector("script[type=module]")?.getAttribute("src");
let served = own;

// load: () => import(…), the same function each time. The signal's value is {} until it is there.
export function chunk<M>(load: Load<M>) {
  if (!known.has(load)) {
    const state = signal<Loaded<unknown>>({});
    known.set(load, state);
    fetchInto(state, load);
  }
  return known.get(load) as Signal<Loaded<M>>;
}

// Calls when the browser has nothing else to do, or soon where it does not say.
export const whenIdle = (call: () => void) =>
  "requestIdleCallback" in window ? requestIdleCallback(call, { timeout: 5000 }) : setTimeout(call, 1000);

// Asked for again by a person.
export function ask(load: Load<unknown>) {
  if (renewed.peek()) return location.reload();
  const state = known.get(load)!;
  state.value = {};
  return fetchInto(state, load);
}

async function fetchInto(state: Signal<Loaded<unknown>>, load: Load<unknown>, tries = 2): Promise<void> {
  try {
    state.value = { module: await load() };
  } catch {
    const isThere = await get("/api/v1/session", {}, { quiet401: true }).then(
      () => true,
      error => error.status !== 0,
    );
    if (isThere) await look().catch(() => {});
    if (isThere && !renewed.peek() && tries > 1) return fetchInto(state, load, tries - 1);
    state.value = { error: new Error(renewed.peek() ? WORDS.renewed : isThere ? WORDS.notLoaded : WORDS.loadsLater) };
  }
  return undefined;
}

// Which build does the server have now?
async function look() {
  const page = await (await fetch("/", { headers: { Accept: "text/html" }, cache: "no-store" })).text();
  served = /<script type="module" src="([^"]+)"/.exec(page)?.[1] ?? served;
  renewed.value = served !== own;
}

// Loads the page afresh, once for each build; false where that was tried before.
export function renew() {
  try {
    if (sessionStorage.getItem("renewed") === served) return false;
    sessionStorage.setItem("renewed", served ?? "");
  } catch {
    return false; // private mode: nothing would end a loop
  }
  location.reload();
  return true;
}

let lost = false;
effect(() => {
  const was = lost;
  lost = connection.value.lost;
  if (was && !lost) back();
});

async function back() {
  await look().catch(() => {});
  for (const [load, state] of known) if (state.peek().error) fetchInto(state, load);
}
