// Who waits for the same reason stands in one group. Pure.
import type { Waiting } from "../types";
import { closed } from "./what_if";

const whyOf = (w: Waiting) => (w.sentence ? closed(w.sentence) : (w.phaseMessage ?? ""));

// "Needs 4 pods of 8 GPUs in b200; none found a place: no GPU is free." -> what others that need more or less share with it.
const causeOf = (why: string) => /^Needs [^;]*; (.+)$/s.exec(why)?.[1] ?? why;
const capital = (text: string) => text && text[0].toUpperCase() + text.slice(1);

/** Workloads that wait for the same reason. */
export interface Group {
  why: string;
  workloads: Waiting[];
}

// Waiting workloads of the overview -> [{workloads, why}], in the order of each group's first; why is the whole sentence
// where it is the same for all.
export function groupsOf(workloads: Waiting[]) {
  const groups = new Map<string, Group>();
  for (const w of workloads) {
    const why = whyOf(w),
      key = JSON.stringify([w.nodePool, w.owed, w.phaseReason, w.forecast?.kind, w.forecast?.at, causeOf(why)]);
    const group = groups.get(key);
    if (!group) groups.set(key, { why, workloads: [w] });
    else group.workloads.push(w);
    if (group && group.why !== why) group.why = capital(causeOf(why));
  }
  return [...groups.values()];
}

// The groups in the places of a list, so that no row moves: one that shares a workload with what stood in a place stays
// there; a place that came free is taken by a new one, else by one from beyond the end. kept: the ids of each place's workloads.
export function inPlaces(kept: string[][], groups: Group[]) {
  const left = new Set(groups);
  const stays = (ids: string[]) => {
    const group = [...left].find(g => g.workloads.some(w => ids.includes(w.id)));
    if (group) left.delete(group);
    return group;
  };
  const places = kept.map(stays),
    late = [...left, ...places.slice(groups.length).filter(g => g !== undefined)];
  return groups.map((_, place) => places[place] ?? late.shift()!);
}
