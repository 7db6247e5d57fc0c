// Where an asset or a policy holds, in words; and what tells assets of one name apart.
import { get, getAll } from "../api";
import { useData } from "../data";
import { may } from "../session";
import type { AccessRule } from "../types";

const MOST = 2000;

/** "Project vision"; the whole tenant is "Everywhere". */
export function scopeWords({ scopeType, scopeName }: Pick<AccessRule, "scopeType" | "scopeName">) {
  if (scopeType === "tenant" || scopeType === "system") return "Everywhere";
  return `${scopeType[0].toUpperCase()}${scopeType.slice(1)} ${scopeName}`;
}

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

/** What an account sees of the tree. */
export const units = async (abort: AbortSignal) => {
  const at = { signal: abort, most: MOST };
  const [departments, projects, clusters] = await Promise.all([
    may("read", "department") ? getAll("/api/v1/org-unit/departments", "departments", { sortBy: "name" }, at) : [],
    may("read", "project") ? getAll("/api/v1/org-unit/projects", "projects", { sortBy: "name" }, at) : [],
    may("read", "cluster") ? get("/api/v1/clusters", {}, at) : [],
  ]);
  return { departments, projects, clusters };
};

/** "Project vision" for a thing that has a place; the whole tenant is "Everywhere". */
export function usePlaceWords(wanted = true) {
  const found = useData(wanted ? "units-by-id" : null, units, ["project", "department"]).data;
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

interface Named {
  meta: Placed & { id: string; name: string };
}
/** What lists call an asset: its name, and where it holds if another in its list has the same name. */
export function useLabels(...lists: Named[][]) {
  const several = new Set(
    lists.flatMap(list =>
      list.filter(a => list.some(b => b !== a && b.meta.name === a.meta.name)).map(({ meta }) => meta.id),
    ),
  );
  const where = usePlaceWords(several.size > 0);
  return ({ meta }: Named) => (several.has(meta.id) ? `${meta.name} · ${where(meta)}` : meta.name);
}
