import type { OverviewProject, Resources, QuotaStatus } from "../types";

// What a project holds of what it is owed, from the API's objects. Pure. All amounts are GPUs.
//
// Each pool is reckoned by itself and only then summed, so a project can show idle quota in one pool and borrowed GPUs in
// another at once. A request that can't be served as asked (refused) is more wanted, never owed.

/** What is held of what is owed, in GPUs. quota: Infinity is unlimited; limit: null is none. */
export interface Parts {
  quota: number;
  held: number;
  firm: number;
  limit: number | null;
  inQuota: number;
  over: number;
  owed: number;
  more: number;
}
export type Shares = Record<string, Parts>;
type ByPool = Record<string, number>;

const unlimited = (value: number | null | undefined) => value === null || value === undefined || value < 0;

interface Figures {
  quota?: number;
  held?: number;
  firm?: number;
  waiting?: number;
  refused?: number;
  limit?: number | null;
}

// One pool's figures -> its parts. quota may be Infinity; limit null is none.
export function poolParts({ quota = 0, held = 0, firm = 0, waiting = 0, refused = 0, limit = null }: Figures): Parts {
  const inQuota = Math.min(held, quota);
  const owed = Math.min(waiting, Math.max(0, quota - held));
  return { quota, held, firm, limit, inQuota, over: Math.max(0, held - quota), owed, more: waiting - owed + refused };
}

// Sums the parts of the chosen pools. The limit is a sum only where every pool has one.
export function sumParts(list: Parts[]): Parts {
  const total: Parts = {
    quota: 0,
    held: 0,
    firm: 0,
    limit: list.length ? 0 : null,
    inQuota: 0,
    over: 0,
    owed: 0,
    more: 0,
  };
  for (const parts of list) {
    for (const key of ["quota", "held", "firm", "inQuota", "over", "owed", "more"] as const) total[key] += parts[key];
    total.limit = total.limit === null || parts.limit === null ? null : total.limit + parts.limit;
  }
  return round(total);
}

function round(parts: Parts) {
  return Object.fromEntries(
    Object.entries(parts).map(([key, v]) => [
      key,
      typeof v === "number" && Number.isFinite(v) ? Math.round(v * 1000) / 1000 : v,
    ]),
  ) as unknown as Parts;
}

/** As much of a project or department as its shares need. */
export interface Unit {
  resources?: Resources[];
  status?: {
    nodePoolQuotaStatuses?: (QuotaStatus & { nodePoolName?: string; nodePoolId?: string })[];
    quotaStatus?: QuotaStatus;
  } | null;
}

// A project or department of the API -> {poolName: parts}. `refused` is {poolName: GPUs} of what can't be served as asked.
export function sharesByPool(unit: Unit, refused: ByPool = {}) {
  const statuses = new Map(
    (unit.status?.nodePoolQuotaStatuses ?? []).map(s => [s.nodePoolName ?? s.nodePoolId, s] as const),
  );
  const shares: Shares = {};
  const add = (name: string, resource: Resources | null, status?: QuotaStatus) => {
    const held = status?.allocated?.gpu ?? 0;
    const no = Math.min(refused[name] ?? 0, Math.max(0, (status?.requested?.gpu ?? 0) - held));
    shares[name] = poolParts({
      quota: resource && unlimited(resource.gpu?.deserved) ? Infinity : (resource?.gpu?.deserved ?? 0),
      limit: unlimited(resource?.gpu?.limit) ? null : resource!.gpu.limit,
      held,
      firm: status?.allocatedNonPreemptible?.gpu ?? 0,
      waiting: Math.max(0, (status?.requested?.gpu ?? 0) - held - no),
      refused: no,
    });
  };
  for (const resource of unit.resources ?? []) {
    const name = resource.nodePool?.name ?? "default";
    add(
      name,
      resource,
      statuses.get(name) ??
        statuses.get(resource.nodePool?.id) ??
        (unit.resources!.length === 1 ? unit.status?.quotaStatus : undefined),
    );
  }
  for (const [name, status] of statuses)
    if (name !== undefined && !(name in shares) && !(unit.resources ?? []).some(r => r.nodePool?.id === name))
      add(name, null, status);
  return shares;
}

// A project of the overview -> {poolName: parts}.
export const sharesInBrief = (project: OverviewProject): Shares =>
  Object.fromEntries(
    project.nodePools.map(p => [
      p.name,
      poolParts({
        quota: p.quota ?? Infinity,
        limit: p.limit,
        held: p.held,
        firm: p.nonPreemptible,
        waiting: p.waiting,
        refused: p.refused,
      }),
    ]),
  );

export const poolNames = (projects: OverviewProject[]) => [
  ...new Set(projects.flatMap(p => p.nodePools.map(r => r.name))),
];

// Parts over the chosen pools ("all" or a name).
export const shareOf = (shares: Shares, pool = "all") =>
  sumParts(pool === "all" ? Object.values(shares) : shares[pool] ? [shares[pool]] : []);

// What can't be served as asked, of projects of the overview, by a unit's id -> {id: {poolName: GPUs}}.
export function refusedBy(projects: OverviewProject[], idOf: (project: OverviewProject) => string) {
  const refused: Record<string, ByPool> = {};
  for (const project of projects)
    for (const pool of project.nodePools) {
      const mine = (refused[idOf(project)] ??= {});
      mine[pool.name] = (mine[pool.name] ?? 0) + pool.refused;
    }
  return refused;
}

// Has it anything to show here?
export const isEmpty = (parts: Parts) => !(parts.quota > 0 || parts.held > 0 || parts.owed > 0 || parts.more > 0);

/** A row of the picture of quotas. */
export interface ShareRow {
  name: string;
  parts: Parts;
}
interface Order {
  label?: string;
  compare: (a: ShareRow, b: ShareRow) => number;
}

// The orders of the picture, those with a label to choose from; ties go by name.
export const ORDERS: Record<string, Order> = {
  held: { label: "Held", compare: (a, b) => b.parts.held - a.parts.held },
  ratio: { label: "Held / quota", compare: (a, b) => ratioOf(b.parts) - ratioOf(a.parts) },
  owed: { label: "Owed", compare: (a, b) => b.parts.owed - a.parts.owed || b.parts.over - a.parts.over },
  name: { label: "Name", compare: () => 0 },
  need: {
    compare: (a, b) => b.parts.owed - a.parts.owed || b.parts.over - a.parts.over || b.parts.held - a.parts.held,
  },
};
const ratioOf = (parts: Parts) => (parts.quota > 0 ? parts.held / parts.quota : parts.held > 0 ? Infinity : -1);
export function sortShares<R extends ShareRow>(rows: R[], order: string) {
  const compare = (ORDERS[order] ?? ORDERS.held).compare;
  return [...rows].sort((a, b) => compare(a, b) || a.name.localeCompare(b.name));
}
