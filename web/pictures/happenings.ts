// What happened, as facts: the steps of a start are one fact, and so is what repeats; nothing is said twice. Pure.
import { clock, duration, localTimes, plural } from "../format";

/** An event of the API. */
export interface Happening {
  createdAt: string;
  id?: string;
  type?: string;
  reason?: string;
  message?: string;
  workloadId?: string | null;
  workloadName?: string | null;
  projectName?: string | null;
  nodeName?: string | null;
  involvedObject?: { kind?: string; name?: string };
  objectId?: string | null;
}

/** One thing that happened to a workload, a node or the organisation. */
export interface Fact {
  kind: string; // start, end, fail, leave, wait, or the reason
  steps: Happening[]; // oldest first
  tells: Happening; // whose icon and sentence count
  times: number; // how often it happened
  ran?: string; // of an end: when it had started
}

const START = "start",
  FAIL = "fail",
  LEAVE = "leave",
  WAIT = "wait";
const KINDS: Record<string, string> = {
  Pipelined: START,
  Scheduled: START,
  Pulling: START,
  Pulled: START,
  Created: START,
  Started: START,
  Completed: "end",
  Failed: FAIL,
  Preempted: LEAVE,
  Consolidated: LEAVE,
  Drained: LEAVE,
  StaleJob: LEAVE,
  NodeLost: LEAVE,
  Unschedulable: WAIT,
  NotReady: WAIT,
};
// What happens to many nodes at once is one fact: what is said of them.
const OF_NODES: Record<string, string> = {
  NodeNotReady: "are not ready",
  NodeReady: "are ready again",
  RegisteredNode: "joined the cluster",
  RemovingNode: "left the cluster",
  NodeNotSchedulable: "were cordoned",
  NodeSchedulable: "were uncordoned",
  NodeDraining: "are being drained",
  NodeDrained: "are drained",
  GPUsLost: "lost GPUs",
  GPUsAdded: "have more GPUs",
};
const NAMED = 3; // of many nodes
// Where what is no workload is shown, and the word before its name in sentences.
const PAGES: Record<string, [path: string, word: string]> = {
  Node: ["nodes", ""],
  Project: ["projects", "project "],
  Department: ["departments", "department "],
  NodePool: ["nodepools", "node pool "],
};
const TOGETHER_MS = 60000; // what is further apart is a fact of its own
const HOUR_MS = 3600000,
  GAP_MS = HOUR_MS / 2;

const at = (e: Happening) => Date.parse(e.createdAt);
const kindOf = (e: Happening) => KINDS[e.reason ?? ""] ?? e.reason ?? "";
const nameOf = (e: Happening) => e.involvedObject?.name ?? "";
const isPod = (e: Happening) => e.involvedObject?.kind === "Pod";
const last = (fact: Fact) => fact.steps[fact.steps.length - 1];
const having = (fact: Fact, reason?: string) => fact.steps.filter(e => e.reason === reason);
const different = (values: (string | null | undefined)[]) => [...new Set(values.filter(Boolean))] as string[];

// Its sentence without the name in front, which stands before it as a link.
function said(e: Happening) {
  const text = localTimes(e.message || e.reason || "", at(e));
  for (const name of e.workloadId ? [nameOf(e), e.workloadName ?? ""] : []) {
    const rest = name && text.startsWith(name) ? /^:? (.*)$/s.exec(text.slice(name.length))?.[1] : "";
    if (rest) return small(rest);
  }
  return text;
}
const small = (text: string) => (/^[A-Z][a-z]/.test(text) ? text[0].toLowerCase() + text.slice(1) : text);

// Does the event go on with the latest fact of the same thing?
function goesOn(fact: Fact, e: Happening) {
  const kind = kindOf(e),
    isSoon = at(e) - at(last(fact)) < TOGETHER_MS;
  if (e.reason === "Killing") return isSoon;
  if (kind !== fact.kind) return false;
  if (kind in OF_NODES) return isSoon;
  if (kind === START) return isSoon || fact.steps.some(o => nameOf(o) === nameOf(e));
  if (kind === LEAVE) return isSoon && e.reason === fact.tells.reason;
  return kind === "end" || kind === FAIL || kind === WAIT || said(e) === said(fact.tells);
}

function add(fact: Fact, e: Happening) {
  fact.steps.push(e);
  if (e.reason === "Killing" || fact.kind === LEAVE) return;
  if (fact.kind === FAIL) {
    if (isPod(e)) fact.tells = e; // the cause; the workload's own word is how often
    if (isPod(e)) fact.times += 1;
  } else if (fact.kind === START) {
    if (fact.tells.reason !== "Started") fact.tells = e;
    fact.times = Math.max(1, having(fact, "Pipelined").length);
  } else {
    fact.tells = e;
    if (fact.kind !== "end") fact.times += 1;
  }
}

// The failure before, with the start that ended in the next one, and what lay between.
function takeFailures(facts: Fact[]) {
  const from = facts.findLastIndex(f => f.kind !== START && f.kind !== WAIT);
  return facts[from]?.kind === FAIL ? facts.splice(from) : [];
}

// Events of one thing, oldest first -> its facts, oldest first.
function factsOf(events: Happening[]) {
  const facts: Fact[] = [];
  for (const e of events) {
    const before = facts[facts.length - 1];
    if (before && goesOn(before, e)) {
      add(before, e);
      continue;
    }
    const kind = kindOf(e);
    const [failed, ...between] = kind === FAIL ? takeFailures(facts) : [];
    if (failed) {
      failed.steps.push(...between.flatMap(f => f.steps));
      add(failed, e);
    }
    const ran = kind === "end" && before?.kind === START ? before.tells.createdAt : undefined;
    facts.push(failed ?? { kind, steps: [e], tells: e, times: 1, ran });
  }
  return facts;
}

/** Events, newest first -> facts, newest first. */
export function factsIn(events: Happening[]) {
  const things = new Map<string, Happening[]>();
  for (const e of [...events].reverse()) {
    const kind = kindOf(e),
      thing = e.workloadId ?? (kind in OF_NODES ? kind : `${e.involvedObject?.kind}/${nameOf(e)}`);
    things.set(thing, [...(things.get(thing) ?? []), e]);
  }
  const place = new Map(events.map((e, i) => [e, i]));
  return [...things.values()].flatMap(factsOf).sort((a, b) => place.get(last(a))! - place.get(last(b))!);
}

/**
 * A page of facts. events: the server's rows from `lead` before the page's first one to `beside` beyond its last. A fact
 * stands on the page that its newest event is on: none is shown twice, and the steps of a start are not parted. What happened
 * to more nodes than that page sees goes on here.
 */
export function pageOf(events: Happening[], lead: number, size: number, beside: number) {
  const mine = new Set(events.slice(lead, lead + size)),
    seen = new Set(events.slice(0, lead && lead + beside));
  return factsIn(events).flatMap(f => {
    if (mine.has(last(f))) return f;
    const steps = f.kind in OF_NODES ? f.steps.filter(e => !seen.has(e)) : [];
    return steps.some(e => mine.has(e)) ? { ...f, steps, tells: steps[steps.length - 1] } : [];
  });
}

function places(steps: Happening[]) {
  const [first, ...more] = different(steps.map(e => e.nodeName));
  return first ? ` on ${first}${more.length ? ` and ${plural(more.length, "more node")}` : ""}` : "";
}

function started(fact: Fact, again: string) {
  const runs = having(fact, "Started"),
    from = having(fact, "Scheduled");
  if (!runs.length) return from.length ? `got a place${places(from)} and is starting` : said(fact.tells) + again;
  const pods = different(fact.steps.map(nameOf)).length;
  const seconds = from.length ? (at(runs[runs.length - 1]) - at(from[0])) / 1000 : NaN;
  const took = seconds < 1 ? " at once" : seconds ? ` in ${duration(seconds)}` : "";
  const some = pods > 1 ? ` ${runs.length < pods ? `${runs.length} of ` : ""}${pods} pods` : "";
  return `started${some}${took}${places(runs)}`;
}

function nodes(steps: Happening[], what: string) {
  const names = different(steps.map(nameOf)),
    more = names.length - NAMED;
  const named = names.slice(0, more === 1 ? NAMED + 1 : NAMED).join(", ");
  return `${plural(names.length, "node")} ${what}: ${named}${more > 1 ? ` and ${more} more` : ""}`;
}

/** What a fact says, to follow the name of whom it is about. */
export function sentenceOf(fact: Fact, now: number) {
  const { kind, tells, steps, times } = fact;
  if (kind in OF_NODES && different(steps.map(nameOf)).length > 1) return nodes(steps, OF_NODES[kind]);
  const since = `${times} times since ${clock(steps[0].createdAt, now - at(steps[0]) < HOUR_MS)}`,
    again = times > 1 ? ` (${since})` : "";
  if (kind === START) return started(fact, again);
  if (kind === "end")
    return "completed" + (fact.ran ? ` after ${duration((at(tells) - Date.parse(fact.ran)) / 1000)}` : "");
  if (kind === WAIT) {
    const why = small(said(tells));
    return `${why.startsWith("waits ") ? why : `waits: ${why}`}${again}`;
  }
  if (kind === FAIL && isPod(tells)) {
    const forGood = steps.some(e => e.reason === "Failed" && !isPod(e));
    return `failed${forGood ? " for good" : ""}${times > 1 ? (forGood ? ", " : " ") + since : ""}: ${said(tells)}`;
  }
  const pods = different(having(fact, tells.reason).map(nameOf)).length;
  return said(tells) + (kind === LEAVE && pods > 1 ? ` (${pods} pods)` : again);
}

/** A piece of a sentence; with an href, a link. */
export type Piece = string | { text: string; href: string };

// The text with a link where it says the name, behind the word. Names hold letters, digits, dashes and dots.
function linked(text: string, word: string, name: string, href: string): Piece[] {
  const found = new RegExp(`(?<![\\w.-])${word}${name.replace(/\./g, "\\.")}(?![\\w@-]|\\.\\w)`).exec(text);
  if (!found) return [text];
  const cut = found.index + word.length;
  return [text.slice(0, cut), { text: name, href }, text.slice(cut + name.length)];
}

function ofObject({ tells, steps }: Fact, text: string): Piece[] {
  const [path, word] = PAGES[tells.involvedObject?.kind ?? ""] ?? [];
  const pieces: Piece[] = [text];
  if (!path || tells.reason?.endsWith("Deleted")) return pieces;
  for (const name of different(steps.map(nameOf)).slice(0, NAMED + 1)) {
    const id = path === "nodes" ? name : (tells.objectId ?? "");
    pieces.push(...linked(pieces.pop() as string, word, name, `/${path}?open=${encodeURIComponent(id)}`));
  }
  return pieces;
}

/** The sentence with links: whose it is in front, or where it ends with the name; its node; what it happened to. */
export function piecesOf(fact: Fact, now: number, named: boolean): Piece[] {
  const { tells, steps } = fact,
    { workloadId, workloadName: name, projectName } = tells,
    text = sentenceOf(fact, now);
  if (!workloadId) return ofObject(fact, text);
  const whose = {
    text: (projectName ? projectName + "/" : "") + name,
    href: `/workloads?open=${workloadId}&tab=events`,
  };
  if (name && text.endsWith(" " + name) && !isPod(tells)) return named ? [text.slice(0, -name.length), whose] : [text];
  const inFront = named && name ? [whose, " "] : [];
  const whole = inFront.length ? text : (text[0] ?? "").toUpperCase() + text.slice(1);
  const node = different(steps.map(e => e.nodeName)).find(n => whole.includes(n));
  return [...inFront, ...(node ? linked(whole, "", node, `/nodes?open=${node}`) : [whole])];
}

/** What stands above a fact of this time, after one of the time before: a day, or how long nothing happened. */
export function breakBefore(before: string | undefined, time: string, now: number, day: (t: string) => string) {
  const date = (t: string | number) => new Date(t).toDateString();
  if (date(before ?? now) !== date(time)) return day(time);
  const gap = before ? Date.parse(before) - Date.parse(time) : 0;
  return gap >= GAP_MS ? `${duration(gap / 1000)} before` : "";
}
