// A role as a matrix: entities in groups, and what may be done to each.
import type { Role } from "../types";

type Permission = Role["permissions"][number];
export type Action = Permission["actions"][number];

/** The columns: the API's action and our word. */
export const ACTIONS: [action: Action, word: string][] = [
  ["read", "View"],
  ["update", "Edit"],
  ["create", "Create"],
  ["delete", "Delete"],
];
const GROUPS: Record<string, string> = {
  organization: "Organisation",
  "physical-resource": "Hardware",
  iam: "People and access",
  dashboard: "Dashboards",
  workload: "Workloads",
  "workload-asset": "Assets",
};

/** A row: an entity with what the role allows. */
export interface Line {
  type: Permission["resourceType"];
  name: string;
  actions: Action[];
}

/** Groups with their rows, in one order for all roles; an entity that some role knows has a row in each. */
export function matrixOf(role: Role, all: Role[]): [name: string, lines: Line[]][] {
  const known = new Map(all.flatMap(r => r.permissions).map(p => [p.resourceType, p]));
  const own = new Map(role.permissions.map(p => [p.resourceType, p.actions]));
  return Object.entries(GROUPS)
    .map(([id, name]): [string, Line[]] => [
      name,
      [...known.values()]
        .filter(p => p.groupId === id)
        .map(p => ({ type: p.resourceType, name: p.displayName, actions: own.get(p.resourceType) ?? [] }))
        .sort((a, b) => a.name.localeCompare(b.name, "en")),
    ])
    .filter(([, lines]) => lines.length);
}
