// What a form of workloads offers: node pools with what is free in them, node types, sizes in order. Pure.
import { gpus } from "../format";
import type { ComputeAsset, Nodepool, Telemetry } from "../types";
import { type Unit, sharesByPool } from "./shares";
import { fromCompute } from "./asset_values";
import type { FormKind } from "./submission";
import { type Said, TYPE_LISTS, typesOf } from "./unit_rules";

/** As much of a project as its choices need. */
export type Offered = (Unit & Said & { effective?: Said }) | null | undefined;
type Pools = Pick<Nodepool, "name" | "isDefault">[] | null | undefined;
/** GPUs by pool. */
export type Gpus = Record<string, number> | null | undefined;

// Names of the pools a project can use: all there are, or, for who may not read them, those that the project tells of.
export const poolNames = (project: Offered, pools: Pick<Nodepool, "name">[] | null | undefined) =>
  (pools ?? (project?.resources ?? []).map(r => ({ name: r.nodePool?.name ?? "" }))).map(p => p.name).filter(Boolean);

// Where a workload goes that names no node pools: its project's, its department's, else the default one.
export function standardPools(project: Offered, pools: Pools) {
  const all = pools ?? [];
  const lists = [
    project?.effective?.defaultNodePools,
    project?.defaultNodePools,
    [(all.find(p => p.isDefault) ?? all[0])?.name ?? "default"],
  ];
  return lists.find(list => list?.length) ?? [];
}

// GPUs by node pool of a telemetry answer: {h100: 19}.
export const byPool = (telemetry: Telemetry | null): Record<string, number> =>
  Object.fromEntries(
    (telemetry?.values ?? []).map(v => [v.groups?.find(g => g.key === "Nodepool")?.value, Number(v.value)]),
  );

// The node pools that a form starts with: none where the standard ones have GPUs, or none are asked for; else the pool where
// the project has the most quota left, then the one with the most free GPUs. free, total: by pool, null where unknown.
export function startPools(
  project: Offered,
  pools: Pools,
  { free, total }: { free?: Gpus; total?: Gpus },
  wantsGpus: boolean,
) {
  const shares = project ? sharesByPool(project) : {};
  const has = (name: string) => (total ? total[name] > 0 : shares[name]?.quota > 0 || shares[name]?.held > 0);
  if (!wantsGpus || standardPools(project, pools).some(has)) return [];
  const left = (name: string) => (shares[name]?.quota ?? 0) - (shares[name]?.held ?? 0);
  const able = poolNames(project, pools).filter(name => has(name) && shares[name]?.limit !== 0);
  return able.sort((a, b) => left(b) - left(a) || (free?.[b] ?? 0) - (free?.[a] ?? 0)).slice(0, 1);
}

export const freeText = (free: Gpus, name: string) => (free?.[name] === undefined ? "" : `${gpus(free[name])} free`);

// A project's list of node types for this kind; {list, options}: without a list, the types that nodes have.
export function typeChoice(project: Offered, kind: FormKind, known: string[]) {
  const types = project?.effective?.nodeTypes ?? project?.nodeTypes,
    key = TYPE_LISTS[kind === "workspace" ? 1 : 0].key;
  const list = typesOf(types, key);
  return {
    list,
    options: (list.length ? list : known).map(value => ({ value, label: types?.names?.[value] ?? value })),
  };
}

// Sizes from small to large: by GPUs, then by CPU, then by name.
export function sorted(computes: ComputeAsset[]) {
  const size = (c: ComputeAsset) => fromCompute(c.spec);
  return [...computes].sort(
    (a, b) =>
      Number(size(a).gpus) - Number(size(b).gpus) ||
      Number(size(a).cpu) - Number(size(b).cpu) ||
      a.meta.name.localeCompare(b.meta.name, "en", { numeric: true }),
  );
}
