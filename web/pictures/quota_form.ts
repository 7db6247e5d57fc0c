// The quota form's rows -> the API's resources, what changes, and how a pool's GPUs are divided. Pure.
import { bytes } from "../format";
import type { Resources } from "../types";
import { rankWord } from "../words";

/** What a field of numbers holds: "" where nothing is typed. */
export type Typed = number | string;
/** A pool's row of the quota form. */
export interface QuotaRow {
  id: string;
  name: string;
  quota: Typed;
  exceed: boolean;
  limit: Typed;
  weight: Typed;
  rank: string;
  cpu: Typed;
  memory: string;
}
export type CellName = Exclude<keyof QuotaRow, "id" | "name">;
type Memory = NonNullable<Resources["memory"]>;
type Bound = { deserved?: number | null; limit?: number | null } | null;

const none = (value: number | null | undefined): value is null | undefined =>
  value === null || value === undefined || value < 0;
const shown = (value: number | null | undefined) => (none(value) ? "" : value);

// Memory as a person types it: 64G, 512M, 512Mi; "" is unlimited.
function memoryText(memory?: Resources["memory"]) {
  if (none(memory?.deserved)) return "";
  const { deserved, units } = memory!;
  if (units === "GB") return `${deserved}G`;
  const step = units === "Mib" ? 1024 : 1000,
    tail = units === "Mib" ? "i" : "";
  return deserved && deserved % step === 0 ? `${deserved / step}G${tail}` : `${deserved}M${tail}`;
}

function memoryOf(text: string): Memory {
  if (text === "") return { deserved: null, units: "MB" };
  const amount = bytes(text)!;
  return /i$/.test(text) && amount % 2 ** 20 === 0
    ? { deserved: amount / 2 ** 20, units: "Mib" }
    : { deserved: amount / 1e6, units: "MB" };
}

// A row per pool from what exists (or nothing), pools with GPUs first: {id, name, quota, exceed, limit, weight, rank, cpu,
// memory}. exceed: may it hold more than its quota? A limit equal to the quota says no. limit, cpu, memory "": none.
export function rowsOf(
  pools: { id: string; name: string }[],
  resources: Resources[] | null | undefined,
  defaultRank: string,
  size: Record<string, number> = {},
) {
  const rows = pools.map((pool): QuotaRow => {
    const r = (resources ?? []).find(o => o.nodePool?.id === pool.id || o.nodePool?.name === pool.name);
    const quota = r?.gpu?.deserved ?? 0,
      exceed = r?.gpu?.limit !== quota;
    return {
      id: pool.id,
      name: pool.name,
      quota,
      exceed,
      limit: exceed ? shown(r?.gpu?.limit) : "",
      weight: r?.gpu?.overQuotaWeight ?? 2,
      rank: r?.priority ?? r?.rank ?? defaultRank,
      cpu: none(r?.cpu?.deserved) ? "" : r!.cpu!.deserved! / 1000,
      memory: memoryText(r?.memory),
    };
  });
  const without = (row: QuotaRow) => Number(!(size[row.name] ?? row.quota));
  return rows.sort((a, b) => without(a) - without(b));
}

// The rows as an address fills them: ?pool=h100&quota=12&limit=16, the way out of an explanation.
export function withAddress(rows: QuotaRow[], { pool, quota, limit }: Record<string, string | undefined>) {
  const fill = (value: string) => (value === "null" ? "" : value);
  return rows.map(r =>
    r.name !== pool
      ? r
      : {
          ...r,
          ...(quota === undefined ? {} : { quota: fill(quota) }),
          ...(limit === undefined ? {} : { exceed: true, limit: fill(limit) }),
        },
  );
}

// The fields of a row, and the name of each in a form's values.
export const CELLS = ["quota", "exceed", "limit", "weight", "rank", "cpu", "memory"] as const;
export const cellPath = (key: CellName, row: { id: string }) => `${key}-${row.id}`;
export const valuesOfRows = (rows: QuotaRow[]): Record<string, unknown> =>
  Object.fromEntries(rows.flatMap(r => CELLS.map(key => [cellPath(key, r), r[key]])));
export const rowsOfValues = (rows: QuotaRow[], values: Record<string, unknown>): QuotaRow[] =>
  rows.map(r => ({ ...r, ...Object.fromEntries(CELLS.map(key => [key, values[cellPath(key, r)]])) }));

const isAmount = (value: Typed) => value !== "" && Number.isFinite(Number(value)) && Number(value) >= 0;

export function checkRows(rows: QuotaRow[]) {
  const wrong: Record<string, string> = {};
  for (const r of rows) {
    const say = (key: CellName, text: string) => {
      wrong[cellPath(key, r)] = text;
    };
    if (!isAmount(r.quota)) say("quota", "The quota is a number from 0.");
    if (!isAmount(r.weight)) say("weight", "The weight is a number from 0.");
    if (r.exceed && r.limit !== "" && !isAmount(r.limit)) say("limit", "The limit is a number, or nothing for none.");
    else if (r.exceed && r.limit !== "" && isAmount(r.quota) && Number(r.limit) < Number(r.quota))
      say("limit", `The limit is at least the quota of ${r.quota}.`);
    if (r.cpu !== "" && !isAmount(r.cpu)) say("cpu", "CPU is a number of cores, or nothing for no bound.");
    if (r.memory !== "" && !((bytes(r.memory) ?? -1) >= 0))
      say("memory", "Memory is an amount such as 64G or 512Mi, or nothing for no bound.");
  }
  return wrong;
}

// A limit of CPU or memory follows the switch where there is a quota; else it stays as it was.
function boundOf(old: Bound | undefined, deserved: number | null | undefined, exceed: boolean) {
  if (deserved !== null && !exceed) return deserved;
  return none(old?.limit) || old!.limit === old!.deserved ? null : old!.limit;
}

export function resourcesOf(rows: QuotaRow[], before?: Resources[] | null): Resources[] {
  return rows.map(r => {
    const old = (before ?? []).find(o => o.nodePool?.id === r.id),
      cpu = r.cpu === "" ? null : Math.round(Number(r.cpu) * 1000);
    const memory = memoryText(old?.memory) === r.memory && old?.memory ? old.memory : memoryOf(r.memory),
      kept = { overQuotaWeight: 1 };
    const oldMemory = memory.units === old?.memory?.units ? old.memory : null;
    return {
      nodePool: { id: r.id, name: r.name },
      priority: r.rank,
      gpu: {
        deserved: Number(r.quota),
        limit: !r.exceed ? Number(r.quota) : r.limit === "" ? null : Number(r.limit),
        overQuotaWeight: Number(r.weight),
      },
      cpu: { ...kept, ...old?.cpu, deserved: cpu, limit: boundOf(old?.cpu, cpu, r.exceed) },
      memory: {
        ...kept,
        ...old?.memory,
        deserved: memory.deserved,
        limit: boundOf(oldMemory, memory.deserved, r.exceed),
        units: memory.units,
      },
    };
  });
}

// "h100: 8 → 12, limit none → 16": what a save would change.
export function changes(before: QuotaRow[], after: QuotaRow[]) {
  return after.flatMap((row, i) => {
    const old = before[i],
      parts: string[] = [],
      said = (value: Typed, word = "none") => (value === "" ? word : value);
    if (Number(old.quota) !== Number(row.quota)) parts.push(`${old.quota} → ${row.quota}`);
    if (old.exceed !== row.exceed) parts.push(row.exceed ? "may exceed its quota" : "may not exceed its quota");
    if (Number(old.weight) !== Number(row.weight)) parts.push(`weight ${old.weight} → ${row.weight}`);
    if (old.rank !== row.rank) parts.push(`rank ${rankWord(old.rank)} → ${rankWord(row.rank)}`);
    if (row.exceed && String(old.limit) !== String(row.limit))
      parts.push(`limit ${said(old.limit)} → ${said(row.limit)}`);
    for (const [key, word] of [
      ["cpu", "CPU"],
      ["memory", "memory"],
    ] as const)
      if (String(old[key]) !== String(row[key]))
        parts.push(`${word} ${said(old[key], "unlimited")} → ${said(row[key], "unlimited")}`);
    return parts.length ? [`${row.name}: ${parts.join(", ")}`] : [];
  });
}

// One pool: this unit, the others, what is left of `total`; over is what is promised beyond it.
export function division(total: number, others: number, mine: number) {
  const given = others + mine;
  return {
    total,
    others,
    mine,
    free: Math.max(0, total - given),
    over: Math.max(0, given - total),
    top: Math.max(total, given, 1),
  };
}
