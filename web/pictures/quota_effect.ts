// Who gains and who loses by a change of quotas, from the scheduler's answer. Pure.
import { gpuCount, plural } from "../format";
import type { Resources, WhatIfQuotaAnswer } from "../types";
import { type QuotaRow, changes } from "./quota_form";

type Outcome = WhatIfQuotaAnswer["workloads"][number]["outcome"];
/** What becomes of a project in a node pool; gpus: more than without the change, or less. */
export interface Effect {
  pool: string;
  name: string;
  gpus: number;
  outcomes: Partial<Record<Outcome, string[]>>;
}

const WORDS: [outcome: Outcome, one: string, many: string][] = [
  ["GivesWay", "gives way", "give way"],
  ["StaysPending", "stays pending", "stay pending"],
  ["Restarts", "restarts", "restart"],
  ["Starts", "starts", "start"],
  ["Keeps", "keeps its place", "keep their places"],
];

// The question as text, so that equal ones are one: the rows that differ. null where none does.
export function quotaQuestion(
  word: "project" | "department",
  id: string,
  before: QuotaRow[],
  rows: QuotaRow[],
  resources: Resources[],
) {
  const changed = resources.filter((_, i) => changes([before[i]], [rows[i]]).length);
  return changed.length ? JSON.stringify({ [`${word}s`]: [{ id, resources: changed }] }) : null;
}

// By pool and project, who loses most first. Projects without a name are one.
export function effectsOf({ queues, workloads }: Pick<WhatIfQuotaAnswer, "queues" | "workloads">) {
  const effects = new Map<string, Effect>();
  const of = (pool: string, id: string | null, name: string) => {
    const key = `${pool} ${id}`,
      known = effects.get(key) ?? { pool, name, gpus: 0, outcomes: {} };
    effects.set(key, known);
    return known;
  };
  for (const q of queues)
    if (q.kind === "project") of(q.nodePool, q.id, q.name).gpus += (q.after.allocated ?? 0) - (q.before.allocated ?? 0);
  for (const w of workloads) (of(w.nodePool ?? "", w.projectId, w.project).outcomes[w.outcome] ??= []).push(w.workload);
  return [...effects.values()]
    .filter(e => e.gpus || Object.keys(e.outcomes).length)
    .sort((a, b) => a.gpus - b.gpus || a.name.localeCompare(b.name));
}

/** "vision loses 12 GPUs: 2 workloads give way" */
export function sayEffect({ name, gpus, outcomes }: Effect) {
  const verb = gpus < 0 ? ` loses ${gpuCount(-gpus)}` : gpus > 0 ? ` gains ${gpuCount(gpus)}` : "";
  const said = WORDS.filter(([key]) => outcomes[key]).map(([key, one, many]) => {
    const n = outcomes[key]!.length;
    return `${plural(n, "workload")} ${n === 1 ? one : many}`;
  });
  return `${name}${verb}${said.length ? `: ${said.join(", ")}` : ""}`;
}

/** Does anybody lose by it? */
export const isLoss = (e: Effect) =>
  e.gpus < 0 || !!(e.outcomes.GivesWay ?? e.outcomes.StaysPending ?? e.outcomes.Restarts);

/** The names of those that it hits, a few of them. */
export function hit({ outcomes }: Effect, most = 3) {
  const names = WORDS.slice(0, 3).flatMap(([key]) => outcomes[key] ?? []);
  return names.slice(0, most).join(", ") + (names.length > most ? ` and ${names.length - most} more` : "");
}
