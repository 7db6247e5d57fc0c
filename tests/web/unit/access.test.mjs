// What the pages of people and access reckon: rows of short lists, access rules as typed, the matrix of a role.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "../load.mjs";

const { localPage } = await load("parts/local_rows");
const { checkRule, pairsSaid, scopesOf, subjectsOf } = await load("pictures/access");
const { allowedOf, matrixOf, permissionsOf, toggled } = await load("pictures/roles");

const ROWS = [
  { name: "b10", enabled: true },
  { name: "b9", enabled: false },
  { name: "a", enabled: true },
];
const ask = more => localPage(ROWS, { limit: 20, offset: 0, filters: [], search: "", ...more });
const names = answer => answer.rows.map(r => r.name);

test("a short list is sorted, filtered, searched and paged as the server would", () => {
  assert.deepEqual(names(ask({ sort: "name" })), ["a", "b9", "b10"]);
  assert.deepEqual(names(ask({ sort: "-name" })), ["b10", "b9", "a"]);
  assert.deepEqual(names(ask({ filters: ["enabled==true"], sort: "name" })), ["a", "b10"]);
  assert.deepEqual(names(ask({ filters: ["name!=a", "name=@B9"] })), ["b9"]);
  assert.deepEqual(names(ask({ search: "B1" })), ["b10"]);
  assert.deepEqual(ask({ sort: "name", limit: 2, offset: 2 }), { rows: [ROWS[0]], total: 3 });
  assert.deepEqual(ROWS.map(r => r.name), ["b10", "b9", "a"], "what was given stays as it was");
});

const PLACES = {
  departments: [{ id: "1", name: "research" }, { id: "2", name: "applied" }],
  projects: [{ id: "7", name: "vision", parentId: "1" }, { id: "8", name: "speech", parentId: "2" }],
  clusters: [{ uuid: "c", name: "lab" }],
};
const scopes = permitted => scopesOf({ ...PLACES, permitted }).map(s => s.name);

test("rules can be made where the account may, and below", () => {
  assert.deepEqual(scopes({ tenants: ["1"] }), ["Everywhere", "Cluster lab", "Department research", "Department applied", "Project vision", "Project speech"]);
  assert.deepEqual(scopes({ departments: ["2"] }), ["Department applied", "Project speech"]);
  assert.deepEqual(scopes({ projects: ["7"] }), ["Project vision"]);
  assert.deepEqual(scopes({}), []);
});

const choices = { users: ["ana@lab.example"], seesAll: true, accounts: [{ name: "ci", clientId: "c1" }], scopes: scopesOf({ ...PLACES, permitted: { tenants: ["1"] } }) };

test("a name becomes a user, a service account by its client id, or a group", () => {
  assert.deepEqual(subjectsOf(["ana@lab.example", "ci", "group:engineers"], choices), [
    { subjectId: "ana@lab.example", subjectType: "user" },
    { subjectId: "c1", subjectType: "service-account" },
    { subjectId: "engineers", subjectType: "group" },
  ]);
  assert.deepEqual(subjectsOf(["bo@lab.example"], { ...choices, seesAll: false }), [{ subjectId: "bo@lab.example", subjectType: "user" }], "who doesn't see all users may name any");
});

test("what is wrong with a rule is said by field", () => {
  const right = { role: "9", subjects: ["ci"], scopes: ["Project vision"], ends: "" };
  assert.deepEqual(checkRule(right, choices), { role: "", subjects: "", scopes: "", ends: "" });
  assert.equal(checkRule({ ...right, ends: "2020-01-01T00:00" }, choices).ends, "That time is past.");
  assert.deepEqual(checkRule({ role: "", subjects: [], scopes: [], ends: "" }, choices), { ends: "", role: "Choose a role.", subjects: "Who gets the role?", scopes: "Where does the role hold?" });
  assert.equal(checkRule({ ...right, subjects: ["bo"] }, choices).subjects, "Nobody is called bo.");
  assert.equal(checkRule({ ...right, scopes: ["Project nowhere"] }, choices).scopes, "There is no Project nowhere.");
  assert.match(checkRule({ ...right, subjects: Array(11).fill("ci") }, choices).subjects, /At most 10 at once; these are 11/);
  assert.equal(pairsSaid({ subjects: ["a", "b"], scopes: ["x", "y", "z"] }), "6 rules: 2 × 3");
  assert.equal(pairsSaid({ subjects: ["a"], scopes: ["x"] }), "");
});

test("each role has the rows of all roles, in one order", () => {
  const permission = (resourceType, groupId, ...actions) => ({ resourceType, displayName: resourceType.toUpperCase(), groupId, actions });
  const all = [{ permissions: [permission("workloads", "workload", "read", "create"), permission("users", "iam", "read")] }, { permissions: [permission("apps", "iam", "delete")] }];
  assert.deepEqual(matrixOf(all[1], all), [
    ["People and access", [{ type: "apps", name: "APPS", actions: ["delete"] }, { type: "users", name: "USERS", actions: [] }]],
    ["Workloads", [{ type: "workloads", name: "WORKLOADS", actions: [] }]],
  ]);
});

test("ticking a box ticks View too, clearing View clears the row, and the list goes through unchanged", () => {
  const permissions = [{ resourceType: "users", actions: ["read", "update"] }];
  assert.deepEqual(permissionsOf(allowedOf({ permissions })), permissions);
  assert.deepEqual(toggled({}, "users", "delete"), { users: ["read", "delete"] });
  assert.deepEqual(toggled({ users: ["read", "delete"] }, "users", "delete"), { users: ["read"] });
  assert.deepEqual(permissionsOf(toggled({ users: ["read", "delete"] }, "users", "read")), []);
});
