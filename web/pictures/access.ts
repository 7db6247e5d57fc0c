// Access rules as a form has them: names of subjects and scopes, and what the API makes of them.
import type { ServiceAccount } from "../types";

export const MOST = 10; // subjects and scopes in one request

export interface Scope {
  name: string;
  scopeId: string;
  scopeType: "tenant" | "cluster" | "department" | "project";
}
export interface Subject {
  subjectId: string;
  subjectType: "user" | "service-account" | "group";
}
/** What can be chosen. */
export interface Choices {
  users: string[];
  /** Are these all users? Who manages less than the tenant sees only himself. */
  seesAll: boolean;
  /** null where they may not be read. */
  accounts: Pick<ServiceAccount, "name" | "clientId">[] | null;
  scopes: Scope[];
}
export interface Values {
  role: string;
  subjects: string[];
  scopes: string[];
  /** The local time when it ends by itself, as the field has it; empty: never. */
  ends: string;
}
interface Unit {
  id: string;
  name: string;
  parentId?: string | null;
}
interface Places {
  departments: Unit[];
  projects: Unit[];
  clusters: { uuid?: string; name?: string }[];
  permitted: { tenants?: string[]; clusters?: string[]; departments?: string[]; projects?: string[] };
}

/** The scopes where rules may be made, widest first. A permitted scope holds what is below it. */
export function scopesOf({ departments, projects, clusters, permitted }: Places): Scope[] {
  const [tenant] = permitted.tenants ?? [];
  const wide = Boolean(tenant || permitted.clusters?.length);
  const inDepartment = (id: string | null | undefined) => wide || Boolean(permitted.departments?.includes(id ?? ""));
  return [
    ...(tenant ? [{ name: "Everywhere", scopeId: tenant, scopeType: "tenant" as const }] : []),
    ...clusters
      .filter(c => tenant || permitted.clusters?.includes(c.uuid ?? ""))
      .map(c => ({ name: `Cluster ${c.name}`, scopeId: c.uuid ?? "", scopeType: "cluster" as const })),
    ...departments
      .filter(d => inDepartment(d.id))
      .map(d => ({ name: `Department ${d.name}`, scopeId: d.id, scopeType: "department" as const })),
    ...projects
      .filter(p => inDepartment(p.parentId) || permitted.projects?.includes(p.id))
      .map(p => ({ name: `Project ${p.name}`, scopeId: p.id, scopeType: "project" as const })),
  ];
}

// A name as typed -> the subject, or null where nobody is called so.
function subjectOf(name: string, { users, seesAll, accounts }: Choices): Subject | null {
  const account = accounts?.find(a => a.name === name);
  if (/^group:./.test(name)) return { subjectId: name.slice("group:".length), subjectType: "group" };
  if (account) return { subjectId: account.clientId, subjectType: "service-account" };
  return !seesAll || users.includes(name) ? { subjectId: name, subjectType: "user" } : null;
}

/** The subjects that are named; check them first. */
export const subjectsOf = (names: string[], choices: Choices) =>
  names.map(n => subjectOf(n, choices)).filter(s => s !== null);

function wrongList(names: string[], none: string, unknown: (name: string) => string | false) {
  if (!names.length) return none;
  if (names.length > MOST) return `At most ${MOST} at once; these are ${names.length}.`;
  return names.map(unknown).find(Boolean) || "";
}

/** What is wrong with the form, by field. */
export const checkRule = (v: Values, choices: Choices, now = Date.now()) => ({
  ends: v.ends && !(new Date(v.ends).getTime() > now) ? "That time is past." : "",
  role: v.role ? "" : "Choose a role.",
  subjects: wrongList(v.subjects, "Who gets the role?", n => !subjectOf(n, choices) && `Nobody is called ${n}.`),
  scopes: wrongList(
    v.scopes,
    "Where does the role hold?",
    n => !choices.scopes.some(s => s.name === n) && `There is no ${n}.`,
  ),
});

/** "6 rules: 2 × 3", where it is more than one. */
export function pairsSaid({ subjects, scopes }: Pick<Values, "subjects" | "scopes">) {
  const number = subjects.length * scopes.length;
  return number > 1 ? `${number} rules: ${subjects.length} × ${scopes.length}` : "";
}
