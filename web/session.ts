// Who is signed in, what they may do, and the scope they look at. The session itself is a cookie that scripts can't see.
import { signal } from "@preact/signals";
import { ApiError, get, leave, post, signedOut } from "./api";
import { useAccount } from "./prefs";
import type { Session } from "./types";
import { WORDS } from "./words";

interface State {
  state: "unknown" | "out" | "in";
  who?: Partial<Session>;
  error?: Error;
}
export interface Scope {
  departmentId: string;
  projectId?: string;
  name: string;
}

export const session = signal<State>({ state: "unknown" }); // unknown, out, in (with the server's answer in .who)

// What the server sets beside that cookie, for scripts: who has none is not signed in, and needs no 401 to know it.
const HINT = "prorata_signed_in";

export async function learnSession() {
  if (!document.cookie.includes(`${HINT}=1`)) {
    session.value = { state: "out" };
    return;
  }
  try {
    enter(await get("/api/v1/session", {}, { quiet401: true }));
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) document.cookie = `${HINT}=; Path=/; Max-Age=0`; // it is over
    if (error instanceof ApiError && (error.status === 401 || error.status === 403)) session.value = { state: "out" };
    else session.value = { state: "unknown", error: error as Error };
  }
}

/** The numbers beside the pages as the session's answer has them: given once, for they grow old. */
export function takeCounts() {
  const { who } = session.peek(),
    counts = who?.counts;
  delete who?.counts;
  return counts;
}

function enter(who: Partial<Session> | null) {
  useAccount(who?.name ?? "");
  signedOut.value = false;
  session.value = { state: "in", who: who ?? {} };
}

// A temporary password is kept until another is chosen, so that it is typed once.
let temporary = "";
export async function signIn(username: string, password: string, otp?: string) {
  const answer = await post("/api/v1/session", { username, password, otp }, { quiet401: true });
  const who = answer?.name ? answer : await get("/api/v1/session");
  temporary = who.mustChangePassword ? password : "";
  enter(who);
}

export const knownPassword = () => temporary;

export async function changePassword(currentPassword: string, newPassword: string) {
  await post("/api/v1/me/password", { currentPassword, newPassword });
  temporary = "";
  enter({ ...session.peek().who, mustChangePassword: false });
}

// Who came from an identity provider is signed out there too.
export async function signOut() {
  const answer = await leave(() =>
    post("/api/v1/authentication/openid/sign-out", undefined, { quiet401: true }).catch(() => null),
  );
  temporary = "";
  if (answer?.url) {
    location.assign(answer.url);
    return;
  }
  session.value = { state: "out" };
}

// May the account do `action` (create, read, update, delete) to a resource type of the API ("project", "workloads", "nodepools")? A server that
// lists no permissions leaves the decision to each call.
export function may(action: "create" | "read" | "update" | "delete", resourceType: string) {
  const list = session.value.who?.permissions;
  if (!Array.isArray(list)) return true;
  return list.some(p => p.resourceType === resourceType && p.actions?.includes(action));
}

/** Why the account may not, or "". */
export const missing = (...what: Parameters<typeof may>) => (may(...what) ? "" : WORDS.noRight(what.join(" ")));

// Kinds of workloads, and what one needs to make one.
const MADE: [kind: string, resourceType: string][] = [
  ["training", "trainings"],
  ["distributed", "trainings"],
  ["workspace", "workspaces"],
  ["inference", "inferences"],
];
/** The kinds of workloads that the account may make somewhere. */
export const kindsToMake = () => MADE.filter(([, type]) => may("create", type)).map(([kind]) => kind);
/** The form of a new workload; "" where the account may make none. */
export function newWorkload() {
  const [kind] = kindsToMake();
  return kind ? `/workloads/new/${kind}` : "";
}

// One scope for all pages, per tab: null, {departmentId, name} or {departmentId, projectId, name}.
function keptScope(): Scope | null {
  try {
    return JSON.parse(sessionStorage.getItem("scope") ?? "null");
  } catch {
    return null;
  }
}
export const scope = signal(keptScope());
export function setScope(value: Scope | null) {
  scope.value = value;
  try {
    sessionStorage.setItem("scope", JSON.stringify(value));
  } catch {
    // private mode
  }
}

/** The path of the scope's project or department under /api/v1/org-unit; null: everything is in it. */
export function scopeUnit() {
  const at = scope.value;
  return at && (at.projectId ? (`projects/${at.projectId}` as const) : (`departments/${at.departmentId}` as const));
}

// The scope as filterBy conditions: "workloads" and "projects" name their fields differently. A filter by name adds no other
// project to the scope's, as a second == would.
export function scopeFilter(of: string) {
  const at = scope.value;
  if (!at) return [];
  if (of === "projects")
    return at.projectId ? [`name>=${at.name}`, `name<=${at.name}`] : [`parentId==${at.departmentId}`];
  return at.projectId ? [`projectId==${at.projectId}`] : [`departmentId==${at.departmentId}`];
}
