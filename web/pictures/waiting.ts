// Who waits for the same reason in the same node pool stands in one group, as the server tells them. Pure.
import { count, gpuCount, gpus, plural, time } from "../format";
import type { OverviewProject, WaitingGroup } from "../types";
import { WORDS } from "../words";
import { closed } from "./what_if";

export const keyOf = (g: WaitingGroup) => `${g.nodePool}/${g.code}`;

// "Needs 4 pods of 8 GPUs in b200; none found a place: no GPU is free." -> what others that need more or less share with it.
const causeOf = (why: string) => /^Needs [^;]*; (.+)$/s.exec(why)?.[1] ?? why;
const capital = (text: string) => text && text[0].toUpperCase() + text.slice(1);

interface Holder {
  project?: string;
  gpusHeld?: number;
  endsAt?: string;
}

// Who is named by the scheduler, else who holds most in the pool.
function holdersOf(g: WaitingGroup, projects: OverviewProject[]) {
  const named = g.holders as Holder[];
  const most = projects.map(p => ({
    project: p.name,
    gpusHeld: p.nodePools.find(q => q.name === g.nodePool)?.held ?? 0,
  }));
  return (named.length ? named : (most.sort((a, b) => b.gpusHeld - a.gpusHeld) as Holder[]))
    .filter(h => h.project && h.gpusHeld)
    .slice(0, 3);
}

/** What they want, why they don't get it, and who holds it. projects: who holds what, of the overview. */
export function wordsOf(g: WaitingGroup, now: number, projects: OverviewProject[]) {
  const several = g.count > 1,
    sentence = g.sentence ? closed(g.sentence) : "The scheduler has not looked at it yet.";
  const never = g.code && WORDS.never[g.code];
  const holders = holdersOf(g, never ? [] : projects).map(
    h => `${h.project} ${gpus(h.gpusHeld)}${h.endsAt ? `, the first until ${time(h.endsAt, now)}` : ""}`,
  );
  const owed = !g.countOwed ? "" : g.countOwed < g.count ? `${count(g.countOwed)} owed by quota. ` : "Owed by quota. ";
  return {
    who: several ? plural(g.count, "workload") : g.longest.name,
    wants: `${gpuCount(g.gpus)} in ${g.nodePool}`,
    why: (/^owed/i.test(sentence) ? "" : owed) + (several ? never || capital(causeOf(sentence)) : sentence),
    held: holders.length ? `Held by ${holders.join("; ")}` : "",
    never,
  };
}

/** The address of its rows: the one that waits, or the table of all of them. */
export function hrefOf(g: WaitingGroup) {
  if (g.count === 1) return `/workloads?open=${g.longest.id}&tab=why`;
  return `/workloads?f=phase==Pending,${g.code ? `waitsFor==${g.code},waitsIn==` : "nodepool=="}${g.nodePool}`;
}

// The groups in the places of a list, so that no row moves: one that stood in a place stays there; a place that came free is
// taken by a new one, else by one from beyond the end. kept: the key of each place.
export function inPlaces(kept: string[], groups: WaitingGroup[]) {
  const left = new Map(groups.map(g => [keyOf(g), g]));
  const places = kept.map(key => {
    const group = left.get(key);
    left.delete(key);
    return group;
  });
  const late = [...left.values(), ...places.slice(groups.length).filter(g => g !== undefined)];
  return groups.map((_, place) => places[place] ?? late.shift()!);
}
