// Where a quota form promises more GPUs than there are, and who would lose by it today. Pure.
import { gpuCount, gpus } from "../format";
import { type Unit, sharesByPool } from "./shares";
import type { QuotaRow } from "./quota_form";

type Pool = { id: string; name: string };
/** A project or department, as far as its promises go. */
export type Promised = Unit & { id: string; name: string; parentId?: string };
/** GPUs of each pool by its name. */
export type Sizes = Record<string, number>;
export interface Bound {
  what: string;
  has: string;
  total: number;
  others: number;
  /** Whose quota it is; left out where it is the pool's GPUs. */
  department?: Promised;
}

// GPUs that a unit is promised in a pool; unlimited is Infinity.
export function quotaIn(unit: Unit | null | undefined, pool: Pool) {
  const resource = unit?.resources?.find(r => r.nodePool?.id === pool.id);
  const deserved = resource?.gpu?.deserved ?? 0;
  return deserved < 0 || resource?.gpu?.deserved === null ? Infinity : deserved;
}

const sumIn = (units: Unit[], pool: Pool) => units.reduce((sum, u) => sum + quotaIn(u, pool), 0);

const ofPool = (pool: Pool, size: Sizes, others: Unit[]): Bound => ({
  what: "GPUs of the pool",
  has: `the pool has ${gpuCount(size[pool.name])}`,
  total: size[pool.name],
  others: sumIn(others, pool),
});

// What holds a project's quota in: its department's quota, and the GPUs of the pool. -> [{what, has, total, others}]
export function boundsOfProject(
  pool: Pool,
  id: string | undefined,
  department: Promised | null | undefined,
  projects: Promised[],
  size: Sizes,
): Bound[] {
  const others = projects.filter(p => p.id !== id);
  const given = department ? quotaIn(department, pool) : 0;
  const bounds = department
    ? [
        {
          what: `Quota of department ${department.name}`,
          has: `department ${department.name} has a quota of ${gpus(given)}`,
          department,
          total: given,
          others: sumIn(
            others.filter(p => p.parentId === department.id),
            pool,
          ),
        },
      ]
    : [];
  return size[pool.name] === undefined ? bounds : [...bounds, ofPool(pool, size, others)];
}

export function boundsOfDepartment(pool: Pool, id: string | undefined, departments: Promised[], size: Sizes): Bound[] {
  return size[pool.name] === undefined
    ? []
    : [
        ofPool(
          pool,
          size,
          departments.filter(d => d.id !== id),
        ),
      ];
}

/** What a department's quota in a pool has to be so that its projects' quotas fit into it. */
export interface Raise {
  department: Promised;
  pool: QuotaRow;
  to: number;
}

// The departments' quotas that are too small for what is raised.
export const raisesOf = (before: QuotaRow[], after: QuotaRow[], boundsOf: (row: QuotaRow) => Bound[]): Raise[] =>
  after.flatMap((pool, i) =>
    Number(pool.quota) <= Number(before[i].quota)
      ? []
      : boundsOf(pool).flatMap(({ department, total, others }) => {
          const to = others + Number(pool.quota);
          return department && to > total && Number.isFinite(to) ? [{ department, pool, to }] : [];
        }),
  );

// Is any of it more than the GPUs of its pool?
export const isOverPools = (before: QuotaRow[], after: QuotaRow[], boundsOf: (row: QuotaRow) => Bound[]) =>
  after.some(
    (row, i) =>
      Number(row.quota) > Number(before[i].quota) &&
      boundsOf(row).some(b => !b.department && b.others + Number(row.quota) > b.total),
  );

// A raise as the API takes it; the limit goes along where it would be below.
export function raised({ department, pool, to }: Raise) {
  const gpu = department.resources?.find(r => r.nodePool?.id === pool.id)?.gpu,
    limit = gpu?.limit ?? null;
  return [
    { nodePool: { id: pool.id }, gpu: { ...gpu, deserved: to, limit: limit === null ? null : Math.max(limit, to) } },
  ];
}

// Who holds more than the own quota in a pool today, most first: [{name, over}].
export function borrowers(pool: Pool, projects: Promised[]) {
  return projects
    .map(p => ({ name: p.name, over: sharesByPool(p)[pool.name]?.over ?? 0 }))
    .filter(p => p.over > 0)
    .sort((a, b) => b.over - a.over || a.name.localeCompare(b.name));
}

export function lenders(list: { name: string; over: number }[], most = 4) {
  return (
    list
      .slice(0, most)
      .map(p => `${p.name} ${gpus(p.over)}`)
      .join(", ") + (list.length > most ? ` and ${list.length - most} more` : "")
  );
}

interface Promises {
  name: string;
  before: QuotaRow[];
  after: QuotaRow[];
  boundsOf: (row: QuotaRow) => Bound[];
  projects: Promised[];
  children?: Unit[];
  heldIn?: (row: QuotaRow) => number;
}

// Sentences that a person must confirm; none where nothing is promised twice. boundsOf(row) -> bounds; projects: of others;
// children: those that divide this unit's quota; held: what the unit holds in the pool.
export function warnings({ name, before, after, boundsOf, projects, children = [], heldIn = () => 0 }: Promises) {
  return after.flatMap((row, i) => {
    const mine = Number(row.quota),
      old = Number(before[i].quota),
      said: string[] = [];
    const inside = sumIn(children, row);
    if (mine < old && inside > mine)
      said.push(
        `${row.name}: its projects have ${gpuCount(inside)} of quota, ${gpus(inside - mine)} more than ${gpus(mine)}.`,
      );
    if (mine <= old) return said;
    for (const { has, total, others, department } of boundsOf(row)) {
      const over = others + mine - total;
      if (over > 0)
        said.push(`${row.name}: ${gpuCount(others + mine)} of quota in all, and ${has}: ${gpus(over)} too many.`);
      if (over > 0 && department && total === 0)
        said.push(
          `Non-preemptible work, such as a workspace, must fit the department's quota too: with 0 in ${row.name} it never starts there.`,
        );
    }
    if (!said.length) return said;
    const lose = borrowers(row, projects),
      sum = lose.reduce((total, p) => total + p.over, 0);
    said.push(
      `${name || "It"} holds ${gpuCount(heldIn(row))} in ${row.name} today. ${lose.length ? `Others borrow ${gpuCount(sum)} there and give them back when it asks: ${lenders(lose)}.` : "Nobody borrows there, so all that others hold is within their own quota."}`,
    );
    return said;
  });
}
