// The shape that a distributed workload gives its gang: as rows of a table, in words, and as the flags that ask for it again. Pure.
import { plural } from "../format";
import type { SubGroup, WorkloadTopology } from "../types";

export interface Shape {
  topology?: WorkloadTopology | null;
  minSubGroups?: number | null;
  subGroups?: SubGroup[] | null;
}
// Of a specification the members that are there.
export const shapeOf = ({ topology, minSubGroups, subGroups }: Shape): Shape => ({
  ...(topology ? { topology } : {}),
  ...(minSubGroups ? { minSubGroups } : {}),
  ...(subGroups?.length ? { subGroups } : {}),
});

// Sub-groups say whether there is a master; without them the form's workloads have one.
export const hasMaster = ({ subGroups }: Shape) => !subGroups?.length || subGroups.some(g => g.master);

export interface ShapeRow {
  group: SubGroup;
  depth: number;
  needs: string;
}

// A tree from the top down, each below its parent in the order of the specification.
export function shapeRows(groups: SubGroup[]): ShapeRow[] {
  const rows: ShapeRow[] = [];
  const waiting = groups.filter(g => !g.parent).map(group => ({ group, depth: 0 }));
  while (waiting.length) {
    const { group, depth } = waiting.shift()!;
    const below = groups.filter(g => g.parent === group.name);
    rows.push({ group, depth, needs: needsOf(group, below.length) });
    waiting.unshift(...below.map(g => ({ group: g, depth: depth + 1 })));
  }
  return rows;
}

function needsOf(group: SubGroup, below: number) {
  if (below) return `${group.minSubGroups ?? below} of ${plural(below, "sub-group")}`;
  const pods = (group.workers ?? 0) + (group.master ? 1 : 0);
  return `${group.minPods ?? pods} of ${plural(pods, "pod")}${group.master ? ", the master" : ""}`;
}

export const topologyWords = (topology?: WorkloadTopology | null) =>
  topology
    ? [
        topology.required && `in one ${topology.required} of ${topology.name}`,
        topology.preferred &&
          `if possible in one ${topology.preferred}${topology.required ? "" : ` of ${topology.name}`}`,
      ]
        .filter(Boolean)
        .join(", ")
    : "";

const parts = (pairs: [string, unknown][]) =>
  pairs
    .filter(([, value]) => value !== undefined && value !== null && value !== false)
    .map(([key, value]) => (value === true ? key : `${key}=${value}`))
    .join(",");

export function shapeFlags({ topology: whole, minSubGroups, subGroups }: Shape): string[] {
  const flags = [];
  if (whole)
    flags.push(
      `--topology ${parts([
        ["name", whole.name],
        ["required", whole.required],
        ["preferred", whole.preferred],
      ])}`,
    );
  if (minSubGroups) flags.push(`--min-sub-groups ${minSubGroups}`);
  for (const g of subGroups ?? [])
    flags.push(
      `--sub-group ${parts([
        ["name", g.name],
        ["parent", g.parent],
        ["workers", g.workers || null],
        ["master", g.master],
        ["min-pods", g.minPods],
        ["min-sub-groups", g.minSubGroups],
        ["topology", g.topology?.name],
        ["required", g.topology?.required],
        ["preferred", g.topology?.preferred],
      ])}`,
    );
  if (!hasMaster({ subGroups })) flags.push("--no-master");
  return flags;
}
