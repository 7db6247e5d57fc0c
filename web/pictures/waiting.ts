// Who waits for the same reason stands in one group. Pure.
import type { Waiting } from "../types";
import { closed } from "./what_if";

const whyOf = (w: Waiting) => (w.sentence ? closed(w.sentence) : (w.phaseMessage ?? ""));

// "Needs 4 pods of 8 GPUs in b200; none found a place: no GPU is free." -> what others that need more or less share with it.
const causeOf = (why: string) => /^Needs [^;]*; (.+)$/s.exec(why)?.[1] ?? why;
const capital = (text: string) => text && text[0].toUpperCase() + text.slice(1);

// Waiting workloads of the overview -> [{workloads, why}], in the order of each group's first; why is the whole sentence
// where it is the same for all.
export function groupsOf(workloads: Waiting[]) {
  const groups = new Map<string, { why: string; workloads: Waiting[] }>();
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
