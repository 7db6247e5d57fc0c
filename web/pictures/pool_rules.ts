// The rules of a node pool: from the API's object to a form's values and back, and in words. Pure.
import { clock, day, duration, goSeconds } from "../format";
import type { Nodepool, SchedulingConfiguration } from "../types";

type Configuration = NonNullable<SchedulingConfiguration>;
type FairShare = NonNullable<Configuration["timeBasedFairShare"]>;
type Pool =
  | Partial<
      Pick<
        Nodepool,
        | "schedulingConfiguration"
        | "placementStrategy"
        | "gpuNetworkAccelerationDetection"
        | "gpuNetworkAccelerationLabelKey"
      >
    >
  | null
  | undefined;
/** The rules as the form's values. */
export type PoolValues = ReturnType<typeof valuesOfPool>;

export const STRATEGIES: Record<string, string> = {
  binpack: "bin-pack",
  spread: "spread",
  fragmentation: "fragmentation",
};
// Of NVLink between nodes, by the API's word.
export const NVLINK: Record<string, string> = { Auto: "Auto-detect", Use: "Present", DontUse: "Not present" };
const DAY = /^\d{4}-\d\d-\d\d$/,
  WINDOW = "A duration such as 12h, 7d or 2w, more than 0.",
  DURATION = "A duration such as 30m, 4h or 1d12h; 0 for none.";

const placementOf = (pool: Pool): { gpu?: string | null; cpu?: string | null } =>
  pool?.schedulingConfiguration?.placementStrategy ?? pool?.placementStrategy ?? {};
const shareOf = (pool: Pool) => pool?.schedulingConfiguration?.timeBasedFairShare ?? null;

export function valuesOfPool(pool: Pool) {
  const placement = placementOf(pool),
    share = shareOf(pool);
  return {
    nvlink: pool?.gpuNetworkAccelerationDetection ?? "Auto",
    clique: pool?.gpuNetworkAccelerationLabelKey ?? "",
    gpu: placement.gpu ?? "binpack",
    cpu: placement.cpu ?? "binpack",
    guaranteed: pool?.schedulingConfiguration?.minGuaranteedRuntime ?? "0",
    reservation: pool?.schedulingConfiguration?.reservation === true,
    byRank: pool?.schedulingConfiguration?.reclaimByRank !== false,
    pastUse: share?.enabled ? (share.windowType ?? "sliding") : "off",
    window: share?.windowDuration ?? "7d",
    halfLife: share?.decayHalfLife ?? "0h",
    weight: String(share?.historicalUsageWeight ?? 1),
    begin: (share?.tumblingWindowStartTime ?? "").slice(0, 10),
  };
}

export function checkRules(v: PoolValues) {
  const wrong: Record<string, string> = {};
  if (goSeconds(v.guaranteed) === null) wrong.guaranteed = DURATION;
  if (v.pastUse === "off") return wrong;
  if (!((goSeconds(v.window) ?? 0) > 0)) wrong.window = WINDOW;
  if (goSeconds(v.halfLife) === null) wrong.halfLife = DURATION;
  if (!(Number(v.weight) >= 0 && Number(v.weight) <= 1000) || !String(v.weight).trim())
    wrong.weight = "A number from 0 to 1000.";
  if (v.pastUse === "tumbling" && !(DAY.test(v.begin) && Number.isFinite(Date.parse(v.begin))))
    wrong.begin = "A day, as 2026-01-01.";
  return wrong;
}

// What was said for past use before stays where it is switched off; a pool that never had any says nothing of it.
function fairShareOf(v: PoolValues, before: FairShare | null): FairShare | undefined {
  if (v.pastUse === "off") return before ? { ...before, enabled: false } : undefined;
  const begin = before?.tumblingWindowStartTime?.startsWith(v.begin)
    ? before.tumblingWindowStartTime
    : `${v.begin}T00:00:00Z`;
  return {
    enabled: true,
    historicalUsageWeight: Number(v.weight),
    decayHalfLife: v.halfLife || "0h",
    windowType: v.pastUse as FairShare["windowType"],
    windowDuration: v.window,
    ...(v.pastUse === "tumbling" && v.begin ? { tumblingWindowStartTime: begin } : {}),
  };
}

export function configurationOf(v: PoolValues, pool: Pool): Configuration {
  const share = fairShareOf(v, shareOf(pool));
  return {
    placementStrategy: { gpu: v.gpu, cpu: v.cpu } as Configuration["placementStrategy"],
    minGuaranteedRuntime: v.guaranteed || "0",
    reservation: v.reservation,
    reclaimByRank: v.byRank,
    ...(share ? { timeBasedFairShare: share } : {}),
  };
}

export function rulesInWords(pool: NonNullable<Pool>): [string, string][] {
  const share = shareOf(pool),
    placement = placementOf(pool),
    least = goSeconds(pool.schedulingConfiguration?.minGuaranteedRuntime ?? "0");
  return [
    ["GPU placement", STRATEGIES[placement.gpu ?? ""] ?? "bin-pack"],
    ["CPU placement", STRATEGIES[placement.cpu ?? ""] ?? "bin-pack"],
    ["Minimum run time", least ? duration(least) : "none: borrowed GPUs can be asked back at once"],
    ["Past use", share?.enabled ? pastUse(share) : "doesn't count"],
    [
      "Quotas beyond what there is",
      pool.schedulingConfiguration?.reclaimByRank === false
        ? "nobody takes from within a quota"
        : "higher ranks come first, within quotas too",
    ],
    [
      "Largest waiting gang",
      pool.schedulingConfiguration?.reservation ? "free GPUs are kept for it" : "no room is kept for it",
    ],
  ];
}

function pastUse(share: FairShare) {
  const window = duration(goSeconds(share.windowDuration ?? "7d")),
    half = goSeconds(share.decayHalfLife ?? "0h"),
    begin = share.tumblingWindowStartTime;
  const since =
    share.windowType === "tumbling"
      ? `since the present window of ${window} began${begin ? `, counted from ${day(begin)} ${clock(begin)}` : ""}`
      : `of the latest ${window}`;
  return `counts with weight ${share.historicalUsageWeight ?? 1}: ${since}${half ? `; after ${duration(half)} it counts half` : ""}`;
}
