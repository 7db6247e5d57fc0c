// Made-up people for the mock server: 200 users, service accounts, access rules and roles, in the shapes of the API.
const AT = "2026-11-20T10:00:00.000Z";
const ACTIONS = ["create", "read", "update", "delete"];
const TYPES = [
  ["department", "Departments", "organization"],
  ["project", "Projects", "organization"],
  ["nodes", "Nodes", "physical-resource"],
  ["users", "Users", "iam"],
  ["access_rules", "Access rules", "iam"],
  ["dashboards-overview", "Overview dashboard", "dashboard"],
  ["workloads", "Workloads", "workload"],
  ["environments", "Environments", "workload-asset"],
];
const LONG = "bartholomew.featherstonehaugh-cholmondeley@computational-linguistics.example.org";

const role = (id, name, description, allowed) => ({
  id,
  name,
  description,
  createdAt: AT,
  updatedAt: AT,
  createdBy: "prorata",
  custom: false,
  enabled: true,
  effectiveEnabled: true,
  permissions: TYPES.map(([resourceType, displayName, groupId]) => ({ resourceType, displayName, groupId, actions: allowed(groupId) })).filter(p => p.actions.length),
});
const ROLES = [
  role(1, "System administrator", "Everything, in every scope", () => ACTIONS),
  role(5, "L1 researcher", "Manages workloads and workload assets", group => (group.startsWith("workload") ? ACTIONS : group === "organization" ? ["read"] : [])),
  role(7, "Viewer", "Views everything in the scope", () => ["read"]),
  { ...role(20, "Night shift", "Looks after the nodes", group => (group === "physical-resource" ? ACTIONS : [])), custom: true },
];
const USERS = Array.from({ length: 200 }, (_, i) => ({
  id: `u-${i}`,
  username: i === 0 ? "mira@lab.example" : i === 1 ? LONG : `person${i}@lab.example`,
  createdBy: "admin@lab.example",
  createdAt: AT,
  updatedAt: AT,
  lastLogin: i % 3 ? AT : null,
  isLocal: i % 4 !== 3, hasSecondFactor: i % 4 === 1, groups: i % 4 === 3 ? ["gpu-users"] : [],
}));
const ACCOUNTS = ["ci-pipeline", "nightly-evaluation", "sweeper"].map((name, i) => ({ id: `s-${i}`, name, clientId: `c11e4700-0000-4000-8000-00000000000${i}`, enabled: i !== 2, createdBy: "mira@lab.example", createdAt: AT, updatedAt: AT, lastLogin: i ? null : AT, tenantId: "1" }));
const rule = (id, subjectId, subjectType, { id: roleId, name: roleName }, scopeType, scopeId, scopeName) => ({ id, subjectId, subjectType, roleId, roleName, scopeType, scopeId, scopeName, tenantId: 1, createdBy: "admin@lab.example", createdAt: AT, updatedAt: AT, deletedAt: null, status: { phase: "Ready" } });
const RULES = [
  rule(1, "mira@lab.example", "user", ROLES[0], "tenant", "1", "prorata"),
  rule(2, LONG, "user", ROLES[1], "department", "1", "Research"),
  rule(3, ACCOUNTS[0].clientId, "service-account", ROLES[1], "project", "2", "vision"),
  rule(4, "engineers", "group", ROLES[2], "department", "2", "Applied"),
  ...USERS.slice(4, 60).map((u, i) => rule(5 + i, u.username, "user", ROLES[1], "project", "1", "language")),
];

const RECORDS = Array.from({ length: 60 }, (_, i) => ({
  id: `r-${i}`,
  timestamp: new Date(Date.parse(AT) - i * 61000).toISOString(),
  tenant_id: "1",
  subject: i % 7 ? USERS[i].username : "mira@lab.example",
  subject_type: "User",
  source_ip: "10.1.2.3",
  action: ["update", "create", "delete", "sign-in"][i % 4],
  http_method: "PUT",
  url: "/api/v1/org-unit/projects/2",
  entity_type: "project",
  entity_name: "vision",
  entity_id: "2",
  result: i % 9 ? "Succeeded" : "Failed",
  http_status_code: i % 9 ? 200 : 403,
  metadata: { operation: "update_project" },
  changes: [{ field: "resources[1].gpu.deserved", before: 8, after: 12 }, { field: "description", after: "People who see" }],
}));

const SESSIONS = ["browser", "token", "access-key", "socket"].map((kind, i) => ({ id: `session-${i}`, kind, current: i === 0, address: i === 3 ? "" : `2001:db8:85a3::8a2e:370:733${i}`, userAgent: ["Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", "a-robot-with-a-name-that-does-not-end/1.0-".repeat(5).slice(0, 200), "curl/8.9", ""][i], accessKey: i === 2 ? "laptop" : undefined, createdAt: AT, lastUsedAt: i ? AT : null, expiresAt: AT }));

/** How many subjects have a rule in one of these [scope type, id]. */
export const subjectsIn = places => new Set(RULES.filter(r => places.some(([type, id]) => r.scopeType === type && r.scopeId === id)).map(r => r.subjectId)).size;

const LISTS = { "/api/v1/users": USERS, "/api/v1/service-accounts": ACCOUNTS, "/api/v1/authorization/access-rules": RULES };

// The answer to a read of these, or undefined. list: what a list operation does with its query.
export function access(path, query, list) {
  if (path === "/api/v1/authorization/roles") return ROLES;
  if (path === "/api/v1/security/settings") return { browserSessionTimeout: { idleTimeout: 60 }, logoutRedirectUri: { uri: "" } };
  if (path === "/api/v1/audit/log") return { audit_logs: RECORDS.slice(0, 20), logs: [], next: 20 };
  if (path === "/api/v1/authentication/openid") return { enabled: true, name: "Lab account" };
  if (path === "/api/v1/authentication/openid/provider") return { name: "Lab account", issuer: "https://id.lab.example/realms/lab", clientId: "prorata", hasClientSecret: true, scopes: "openid profile email", groupsClaim: "groups", usernameClaim: "email", redirectUrl: "https://gpu.lab.example/api/v1/authentication/openid/callback", refreshSeconds: 600, updatedBy: "mira@lab.example", updatedAt: AT };
  if (path === "/api/v1/me/sessions") return { sessions: SESSIONS };
  if (path === "/api/v1/me/second-factor") return { enabled: true, enabledAt: AT, recoveryCodes: 1 };
  if (path === "/api/v1/access-keys") return { accessKeys: ACCOUNTS.map(({ id, name, clientId, createdAt, lastLogin }) => ({ id, name, clientId, createdAt, lastLogin })) };
  if (path === "/api/v1/authorization/me/access-rules") return { accessRules: { totalRecords: 2, displayRecords: 2, accessRules: RULES.slice(0, 2) } };
  const subjects = (query.get("subjectIds") ?? "").split(",").filter(Boolean);
  const rows = LISTS[path.replace(/\/count$/, "")];
  if (rows) {
    const { count, body } = list(subjects.length ? rows.filter(r => subjects.includes(r.subjectId)) : rows, query, null);
    if (path.endsWith("/count")) return { count };
    return rows === RULES ? { totalRecords: count, displayRecords: body.length, accessRules: body } : rows === ACCOUNTS ? rows : body;
  }
  const [, at, id] = /^(.*)\/([^/]+)$/.exec(path) ?? [];
  return LISTS[at]?.find(r => String(r.id) === id);
}
