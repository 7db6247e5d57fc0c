// Who gets how much of his quota, node pool by node pool: rows for a table, sums, and the answer in words. Pure. Amounts are GPUs.
import { gpuCount, gpus, plural } from "../format";
import { type Shares, sumParts } from "./shares";

/** A project or department with its shares. */
export interface UnitShares {
  id: string;
  name: string;
  department: string;
  shares: Shares;
}
/** A quota: whose, where, and what becomes of it. */
export interface Entitled {
  id: string;
  unit: string;
  name: string;
  department: string;
  nodePool: string;
  quota: number;
  held: number;
  ratio: number;
  owed: number;
  /** Neither held nor waited for. */
  unused: number;
  over: number;
}

// A row for each quota that is a number above 0; pool: "all" or a name.
export const entitledOf = (units: UnitShares[], pool: string): Entitled[] =>
  units.flatMap(({ id, name, department, shares }) =>
    Object.entries(shares)
      .filter(([p, s]) => (pool === "all" || p === pool) && s.quota > 0 && Number.isFinite(s.quota))
      .map(([nodePool, { quota, held, inQuota, owed, over }]) => ({
        id: `${id}/${nodePool}`,
        unit: id,
        name,
        department,
        nodePool,
        quota,
        held,
        ratio: held / quota,
        owed,
        unused: Math.round((quota - inQuota - owed) * 1000) / 1000,
        over,
      })),
  );

// {poolName: what all of them hold, wait for and are owed there}.
export function poolSums(units: UnitShares[]): Shares {
  const pools = new Set(units.flatMap(u => Object.keys(u.shares)));
  return Object.fromEntries(
    [...pools].map(pool => [pool, sumParts(units.filter(u => u.shares[pool]).map(u => u.shares[pool]))]),
  );
}

const NAMED = 3;

// "vision 8 in h100, speech 2 in a100 and 4 more": the largest first.
function largest(rows: Entitled[], key: "owed" | "unused") {
  const sorted = rows.filter(r => r[key] > 0).sort((a, b) => b[key] - a[key] || a.name.localeCompare(b.name)),
    more = sorted.length - NAMED;
  const names = sorted.slice(0, NAMED).map(r => `${r.name} ${gpus(r[key])} in ${r.nodePool}`);
  return names.join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/** Who doesn't get his quota; where quota is unused. */
export function quotaSentences(rows: Entitled[]): [one: string, two: string] {
  const sum = (key: "owed" | "unused") => gpuCount(rows.reduce((all, r) => all + r[key], 0));
  const who = new Set(rows.filter(r => r.owed > 0).map(r => r.unit)).size;
  if (!rows.length) return ["Nobody has a quota here.", ""];
  return [
    who
      ? `${plural(who, "project")} ${who === 1 ? "waits" : "wait"} for ${sum("owed")} of quota: ${largest(rows, "owed")}.`
      : "Nobody waits for quota: each project has what it asks for of its own.",
    rows.some(r => r.unused > 0)
      ? `${sum("unused")} of quota ${rows.reduce((all, r) => all + r.unused, 0) === 1 ? "is" : "are"} unused: ${largest(rows, "unused")}. Others may borrow them until their owners ask.`
      : "All quota is used or waited for.",
  ];
}
