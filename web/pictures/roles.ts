// A role as a matrix: entities in groups, and what may be done to each.
import type { Role } from "../types";

type Permission = Role["permissions"][number];
export type Action = "create" | "read" | "update" | "delete";
/** What a role allows: resource type -> actions. */
export type Allowed = Record<string, Action[]>;

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

type Grant = { resourceType: Permission["resourceType"]; actions: Permission["actions"] };
const KNOWN: string[] = ACTIONS.map(([action]) => action);
const ours = (actions: string[]) => actions.filter((a): a is Action => KNOWN.includes(a));

/** A row: an entity with what the role allows. */
export interface Line {
  type: Permission["resourceType"];
  name: string;
  actions: Action[];
}

/** Groups with their rows, in one order for all roles; an entity that some role knows has a row in each. */
export function matrixOf(
  role: { permissions: Grant[] },
  all: Pick<Role, "permissions">[],
): [name: string, lines: Line[]][] {
  const known = new Map(all.flatMap(r => r.permissions).map(p => [p.resourceType, p]));
  const own = new Map(role.permissions.map(p => [p.resourceType, p.actions]));
  return Object.entries(GROUPS)
    .map(([id, name]): [string, Line[]] => [
      name,
      [...known.values()]
        .filter(p => p.groupId === id)
        .map(p => ({ type: p.resourceType, name: p.displayName, actions: ours(own.get(p.resourceType) ?? []) }))
        .sort((a, b) => a.name.localeCompare(b.name, "en")),
    ])
    .filter(([, lines]) => lines.length);
}

/** What a role allows, to be changed by a form. */
export const allowedOf = (role: { permissions: Grant[] }): Allowed =>
  Object.fromEntries(role.permissions.map(p => [p.resourceType, ours(p.actions)]));

/** Back to the API's list, without what allows nothing. */
export const permissionsOf = (allowed: Allowed) =>
  Object.entries(allowed)
    .filter(([, actions]) => actions.length)
    .map(([type, actions]) => ({ resourceType: type as Permission["resourceType"], actions }));

/** One box ticked or cleared. Whoever changes something sees it: ticking any also ticks View, clearing View clears all. */
export function toggled(allowed: Allowed, type: string, action: Action): Allowed {
  const before = allowed[type] ?? [];
  if (before.includes(action)) return { ...allowed, [type]: action === "read" ? [] : before.filter(a => a !== action) };
  return { ...allowed, [type]: [...new Set<Action>([...before, "read", action])] };
}
