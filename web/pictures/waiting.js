// Who waits for the same reason stands in one group. Pure.
import { closed } from "./what_if.js";

const whyOf = w => w.sentence ? closed(w.sentence) : w.phaseMessage ?? "";

// Waiting workloads of the overview -> [{workloads, why}], in the order of each group's first.
export function groupsOf(workloads) {
  const groups = new Map();
  for (const w of workloads) {
    const why = whyOf(w), key = JSON.stringify([w.nodePool, w.owed, w.phaseReason, w.forecast?.kind, w.forecast?.at, why]);
    if (groups.has(key)) groups.get(key).workloads.push(w);
    else groups.set(key, { why, workloads: [w] });
  }
  return [...groups.values()];
}
