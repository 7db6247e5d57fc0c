// Where an asset or a policy holds: its name, and the places that the account may choose.
import { get, getAll, post } from "../api";
import { useData } from "../data";
import { type Scope, scopesOf } from "../pictures/access";
import type { Column } from "../parts/table";
import { may } from "../session";
import type { Body } from "../types";
import { scopeWords } from "./subjects";

const PERMITTED = "/api/v1/authorization/permitted-scopes",
  MOST = 2000;
type Permitted = Body<typeof PERMITTED, "post">;

/** Where something holds, in the words of assets, templates and policies. */
export interface Placed {
  scope?: string;
  scopeType?: string;
  scopeId?: string;
  projectId?: string | number | null;
  departmentId?: string | null;
  clusterId?: string | null;
  projectName?: string | null;
}

export const scopeOf = (p: Placed) => p.scope ?? p.scopeType ?? "tenant";
/** The id of the project, department or cluster; nothing for the whole tenant. */
export const scopeIdOf = (p: Placed) =>
  String(p[`${scopeOf(p)}Id` as "projectId"] ?? (["system", "tenant"].includes(scopeOf(p)) ? "" : (p.scopeId ?? "")));

const units = async (abort: AbortSignal) => {
  const at = { signal: abort, most: MOST };
  const [departments, projects, clusters] = await Promise.all([
    may("read", "department") ? getAll("/api/v1/org-unit/departments", "departments", { sortBy: "name" }, at) : [],
    may("read", "project") ? getAll("/api/v1/org-unit/projects", "projects", { sortBy: "name" }, at) : [],
    may("read", "cluster") ? get("/api/v1/clusters", {}, at) : [],
  ]);
  return { departments, projects, clusters };
};

/** "Project vision" for a thing that has a place; the whole tenant is "Everywhere". */
export function usePlaceWords() {
  const found = useData("units-by-id", units, ["project", "department"]).data;
  return (p: Placed) => {
    const scopeType = scopeOf(p),
      id = scopeIdOf(p);
    if (scopeType === "system") return "Predefined";
    const named =
      scopeType === "project"
        ? found?.projects.find(u => u.id === id)?.name
        : scopeType === "department"
          ? found?.departments.find(u => u.id === id)?.name
          : found?.clusters.find(c => c.uuid === id)?.name;
    return scopeWords({ scopeType: scopeType as "project", scopeName: named ?? p.projectName ?? id });
  };
}

/** The places where the account may make things of this resource type, widest first. */
export const usePlaces = (resourceType: string) =>
  useData(`places/${resourceType}`, async abort => {
    const question = { resourceType, action: "create" } as Permitted;
    const [known, permitted] = await Promise.all([units(abort), post(PERMITTED, question, { signal: abort })]);
    return scopesOf({ ...known, permitted: permitted.create });
  });

/** A chosen place as assets and policies say it: {scope, projectId}. */
export const metaOf = ({ scopeType, scopeId }: Scope) => ({
  scope: scopeType,
  ...(scopeType === "tenant" ? {} : { [`${scopeType}Id`]: scopeType === "project" ? Number(scopeId) : scopeId }),
});

/** The column of places. */
export const whereColumn = <R extends Placed>(where: (p: Placed) => string): Column<R> => ({
  id: "scope",
  label: "Where",
  sort: "scope",
  keep: true,
  cap: true,
  text: where,
  cell: r => <span class="brief">{where(r)}</span>,
});
