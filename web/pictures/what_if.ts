// What the scheduler says would happen, as things that pages show: verdicts, what a fix changes in a form, cells of a node,
// receipts of one decision as one. Pure.
import { localTimes } from "../format";
import type { Forecast, Receipt, ShareNode, WhatIfAnswer, WhatIfFix } from "../types";
import type { IconName } from "../icons";
import { type FormKind, type FormValues, KINDS } from "./submission";

interface Verdict {
  icon: IconName;
  tone: string;
  short: string;
}
/** What a fix changes; which of them depends on its kind. */
interface FixChange {
  gpuDevicesRequest?: number;
  nodePools?: string[];
  preemptibility?: string;
  priority?: string | number;
  pods?: number;
  nodePool?: string;
  project?: string;
  department?: string;
  quotaGpus?: number | null;
  limitGpus?: number | null;
  departmentQuotaGpus?: number | null;
  departmentLimitGpus?: number | null;
}
const changeOf = (fix: Pick<WhatIfFix, "change">) => (fix.change ?? {}) as FixChange;

// The verdict -> icon, tone and the fewest words.
const VERDICTS: Record<WhatIfAnswer["verdict"], Verdict> = {
  Starts: { icon: "play", tone: "ok", short: "Starts at once" },
  StartsAfterRelease: { icon: "half", tone: "info", short: "Starts when a place is free" },
  StartsByEviction: { icon: "back", tone: "info", short: "Starts, others give way" },
  Waits: { icon: "wait", tone: "warn", short: "Waits" },
};
export function verdictOf(answer: Pick<WhatIfAnswer, "verdict" | "forecast">): Verdict {
  if (answer.verdict === "Waits" && answer.forecast?.kind === "never")
    return { icon: "no", tone: "bad", short: "Not as asked" };
  return VERDICTS[answer.verdict] ?? VERDICTS.Waits;
}

// A sentence of the scheduler ends as sentences do.
export function closed(text: string | null | undefined, now = Date.now()) {
  const said = localTimes(text ?? "", now);
  return !said || /[.!?]$/.test(said) ? said : said + ".";
}

// Is there an expectation at all? What nobody knows is left out.
export const isExpected = (forecast: Forecast | undefined) =>
  forecast ? forecast.kind !== "unknown" && !(forecast.kind === "rule" && !forecast.at) : false;

const PRIORITY_VALUES: Record<number, string> = {
  25: "very-low",
  40: "low",
  65: "medium-low",
  80: "medium",
  90: "medium-high",
  125: "high",
  150: "very-high",
};

// A fix -> the form's values that it changes; null where no form of workloads has them (a quota).
export function valuesOfFix(fix: WhatIfFix, kind: FormKind | undefined): Partial<FormValues> | null {
  const c = changeOf(fix);
  switch (fix.kind) {
    case "FewerGpus":
      return { gpus: c.gpuDevicesRequest };
    case "OtherNodePool":
      return { pools: c.nodePools };
    case "OtherPreemptibility":
      return { preemptibility: c.preemptibility };
    case "OtherPriority":
      return { priority: typeof c.priority === "number" ? PRIORITY_VALUES[c.priority] : c.priority };
    case "FewerPods":
      return kind && KINDS[kind]?.type === "Distributed"
        ? { workers: Math.max(1, c.pods! - 1) }
        : { parallelism: c.pods };
    default:
      return null;
  }
}

// The form of a copy with the fix in it, as its address; null where there is none.
export function hrefOfFix(fix: WhatIfFix, kind: FormKind | undefined, id: string) {
  const values = kind && valuesOfFix(fix, kind);
  if (!values || Object.values(values).some(v => v === undefined)) return null;
  const query = Object.entries(values)
    .map(
      ([key, v]) =>
        `${key}=${[v]
          .flat()
          .map(word => encodeURIComponent(String(word)))
          .join(",")}`,
    )
    .join("&");
  return `/workloads/new/${kind}?copy=${id}&replace=1&${query}`;
}

const NUMBERS = ["gpus", "workers", "parallelism"] as const,
  TEXTS = ["preemptibility", "priority"] as const;

// What an address of hrefOfFix says for the form.
export function valuesOfQuery(query: Record<string, string | undefined>) {
  const values: Partial<FormValues> = {};
  for (const key of NUMBERS) if (query[key] && Number.isFinite(Number(query[key]))) values[key] = Number(query[key]);
  for (const key of TEXTS) if (query[key]) values[key] = query[key];
  if (query.pools) values.pools = query.pools.split(",").filter(Boolean);
  return values;
}

// The quota forms that a fix asks for: [{word, name, href}], the department's first, because a project's fits into it.
export function quotaForms(fix: WhatIfFix, { projectId, departmentId }: { projectId: string; departmentId: string }) {
  const c = changeOf(fix),
    forms: { word: string; name?: string; href: string }[] = [];
  const address = (path: string, id: string, quota: number, limit?: number | null) =>
    `/${path}/${id}/edit?pool=${encodeURIComponent(c.nodePool ?? "default")}&quota=${quota}${limit === undefined ? "" : `&limit=${limit ?? ""}`}`;
  if (c.departmentQuotaGpus !== undefined && c.departmentQuotaGpus !== null)
    forms.push({
      word: "department",
      name: c.department,
      href: address("departments", departmentId, c.departmentQuotaGpus, c.departmentLimitGpus),
    });
  if (c.quotaGpus !== undefined && c.quotaGpus !== null)
    forms.push({ word: "project", name: c.project, href: address("projects", projectId, c.quotaGpus, c.limitGpus) });
  return forms;
}

interface Device {
  state: string;
  workloads?: { id: string | null; share?: number; projectId?: string | null }[];
}

// A node's devices, with what the request would take of it: free ones first, then those of who gives way.
// -> [{state: "new" | "held" | "free" | "down", share, projectId}]
export function cellsOf(devices: Device[], asked: number, givesWay = new Set<string | null | undefined>()) {
  const held = (d: Device) =>
    (d.workloads ?? []).reduce((sum, w) => sum + (givesWay.has(w.id) ? 0 : (w.share ?? 1)), 0);
  const cells = devices.map(d => ({
    state: d.state === "down" ? "down" : d.workloads?.length ? "held" : "free",
    share: 0,
    projectId: d.workloads?.[0]?.projectId,
    room: d.state === "down" ? 0 : 1 - held(d),
    gives: (d.workloads ?? []).some(w => givesWay.has(w.id)),
  }));
  let left = asked;
  const part = asked < 1; // joins the fullest device that has room
  const order = [...cells].sort((a, b) =>
    part
      ? (a.room >= asked - 1e-9 ? a.room : 9) - (b.room >= asked - 1e-9 ? b.room : 9)
      : Number(a.gives) - Number(b.gives),
  );
  for (const cell of order) {
    const take = Math.min(1, left);
    if (left <= 1e-9 || cell.room + 1e-9 < take) continue;
    cell.state = "new";
    cell.share = take;
    left -= take;
  }
  return cells.map(({ state, share, projectId }) => ({ state, share, projectId }));
}

/** What one decision took from one workload. */
export type JoinedReceipt = Receipt & { pods: number; nodes: (string | undefined)[] };

// Receipts are kept for each pod; what one decision took from one workload is told once.
export function joinReceipts(receipts: Receipt[]) {
  const joined = new Map<string, JoinedReceipt>();
  for (const r of receipts) {
    const key = [r.workloadId ?? r.workload, r.time, r.action, r.beneficiaryId ?? r.beneficiary].join(" ");
    const known = joined.get(key);
    if (known) {
      known.gpus = (known.gpus ?? 0) + (r.gpus ?? 0);
      known.pods += 1;
      known.lostSeconds = Math.max(known.lostSeconds ?? 0, r.lostSeconds ?? 0);
      known.moved = known.moved && r.moved;
      if (!known.nodes.includes(r.node)) known.nodes.push(r.node);
    } else {
      joined.set(key, { ...r, pods: 1, nodes: [r.node] });
    }
  }
  return [...joined.values()];
}

// The way from a pool to one queue of the tree, the pool first; [] where it is not in it.
export function pathTo(node: ShareNode | null | undefined, kind: string, name: string): ShareNode[] {
  if (!node) return [];
  if (node.kind === kind && node.name === name) return [node];
  for (const child of (node.children ?? []) as ShareNode[]) {
    const rest = pathTo(child, kind, name);
    if (rest.length) return [node, ...rest];
  }
  return [];
}
