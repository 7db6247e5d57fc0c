// People and what they may do, on a real server: users, service accounts, access rules and roles by mouse and by keyboard,
// and what the server then holds.
import assert from "node:assert/strict";
import { test } from "node:test";
import { axe, open } from "../browser.mjs";
import { ADMIN, ask, fetchAlone, onServer, send } from "../real_server.mjs";

const site = onServer();
const ready = async () => (await site.ready).page;
const button = (page, name) => page.getByRole("button", { name, exact: true });
const USERS = "/api/v1/users",
  ACCOUNTS = "/api/v1/service-accounts",
  RULES = "/api/v1/authorization/access-rules";
const rulesOf = async (page, subject) => (await ask(page, `${RULES}?subjectIds=${encodeURIComponent(subject)}`)).accessRules.map(r => `${r.roleName} ${r.scopeType} ${r.scopeName}`).sort();
const toast = (page, text) => page.waitForSelector(`.toast:has-text("${text}")`);
const grant = (body, url) => fetchAlone(url + "/api/v1/token", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }).then(a => a.status);
let password;

test("a user is made, the temporary password is shown once and works", async () => {
  const page = await ready();
  await page.goto(site.server.url + "/access/users");
  await page.getByRole("link", { name: "New local user" }).click();
  await page.waitForSelector("#f-email:focus");
  assert.deepEqual(await axe(page), []);
  await page.keyboard.type("not an address");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#f-email[aria-invalid=true]");
  await page.fill("#f-email", "ana@lab.example");
  await page.keyboard.press("Enter");
  await page.waitForSelector("dialog h2:has-text('Temporary password of ana@lab.example')");
  password = await page.textContent(".secret code");
  assert.deepEqual(await axe(page), []);
  await page.keyboard.press("Escape"); // neither a key nor a click beside it loses the password
  await page.mouse.click(5, 5);
  assert.equal(await page.textContent(".secret code"), password);
  await button(page, "Done").click();
  await page.waitForSelector("#pane-title:has-text('ana@lab.example')");
  assert.ok(!(await page.content()).includes(password), "it is gone");
  assert.equal(await grant({ grantType: "password", username: "ana@lab.example", password }, site.server.url), 200);
});

test("a name that is taken is said at its field, and what was typed stays", async () => {
  const page = await ready();
  await page.goto(site.server.url + "/access/users?new=1");
  await page.fill("#f-email", "ana@lab.example");
  await button(page, "Create user").click();
  await page.waitForSelector("dialog .fault, #f-email[aria-invalid=true]");
  assert.equal(await page.inputValue("#f-email"), "ana@lab.example");
  await button(page, "Cancel").click();
  await page.waitForURL(url => !/new=/.test(url));
});

test("a role is given in the user's pane by keys alone, and taken back", async () => {
  const page = await ready();
  const { id } = (await ask(page, `${USERS}?search=ana`))[0];
  await page.goto(`${site.server.url}/access/users?open=${id}`);
  await button(page, "Give a role").focus();
  await page.keyboard.press("Enter");
  await page.waitForSelector("#f-role:focus");
  assert.deepEqual(await axe(page), []);
  await page.keyboard.type("L1 res");
  await page.keyboard.press("Tab"); // past the chip of ana, which is there already
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  for (const scope of ["Project team-a", "Project team-b"]) {
    await page.keyboard.type(scope);
    await page.keyboard.press("Enter");
  }
  await page.waitForSelector(".pairs:has-text('2 rules: 1 × 2')");
  await page.keyboard.press("Enter");
  await toast(page, "Made 2 access rules.");
  assert.deepEqual(await rulesOf(page, "ana@lab.example"), ["L1 researcher project team-a", "L1 researcher project team-b"]);
  await page.waitForSelector(".rules li >> nth=1");
  assert.deepEqual(await page.locator(".rules li > span").allInnerTexts(), ["L1 researcher Project team-a", "L1 researcher Project team-b"]);
  await button(page, "Delete the rule L1 researcher, Project team-b").click();
  await button(page, "Delete access rule").click();
  await toast(page, "Deleted the rule of ana@lab.example.");
  assert.deepEqual(await rulesOf(page, "ana@lab.example"), ["L1 researcher project team-a"]);
  await page.waitForSelector("tr:has-text('ana@lab.example'):has-text('L1 researcher · Project team-a')");
});

test("a password is reset, and its user is signed out everywhere", async () => {
  const page = await ready();
  const login = await fetchAlone(site.server.url + "/api/v1/token", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ grantType: "password", username: "ana@lab.example", password }) });
  const token = (await login.json()).accessToken;
  const me = () => fetchAlone(site.server.url + "/api/v1/authorization/me/access-rules", { headers: { Authorization: `Bearer ${token}` } }).then(a => a.status);
  await button(page, "Sign out").click();
  await button(page, "End all sessions").click();
  await toast(page, "ana@lab.example is signed out everywhere.");
  assert.equal(await me(), 401);
  await button(page, "Reset password").click();
  await page.getByRole("dialog").getByRole("button", { name: "Reset password" }).click();
  await page.waitForSelector(".secret code");
  assert.notEqual(await page.textContent(".secret code"), password);
  await button(page, "Done").click();
  assert.equal(await grant({ grantType: "password", username: "ana@lab.example", password }, site.server.url), 400);
});

test("one's own account can't be deleted or reset, and each button says why", async () => {
  const page = await ready();
  const { id } = (await ask(page, `${USERS}?search=${ADMIN}`))[0];
  await page.goto(`${site.server.url}/access/users?open=${id}`);
  await page.waitForSelector("aside p:has-text('This is you.')");
  for (const name of ["Reset password", "Delete"]) {
    assert.equal(await button(page, name).getAttribute("aria-disabled"), "true");
    assert.match(await button(page, name).getAttribute("data-tip"), /Not your own/);
  }
});

test("a service account: its secret once, disabled and enabled, a new secret, deleted", async () => {
  const page = await ready();
  await page.goto(site.server.url + "/access/service-accounts");
  await page.waitForSelector(".empty:has-text('No service accounts yet.')");
  await page.getByRole("link", { name: "New service account" }).click();
  await page.fill("#f-name", "CI");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#f-name[aria-invalid=true]");
  await page.fill("#f-name", "ci-bot");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".secret code >> nth=1");
  const [clientId, clientSecret] = await page.locator(".secret code").allTextContents();
  assert.deepEqual(await axe(page), []);
  await button(page, "Done").click();
  const sign = secret => grant({ grantType: "client_credentials", clientId, clientSecret: secret }, site.server.url);
  assert.equal(await sign(clientSecret), 200);
  await button(page, "Disable").click();
  await page.waitForSelector("aside .st:has-text('Disabled')");
  assert.equal(await sign(clientSecret), 400);
  await button(page, "Enable").click();
  await page.waitForSelector("aside .st:has-text('Enabled')");
  await button(page, "New secret").click();
  await button(page, "Make a new secret").click();
  await page.waitForSelector(".secret code >> nth=1");
  const [, renewed] = await page.locator(".secret code").allTextContents();
  await button(page, "Done").click();
  assert.deepEqual([await sign(clientSecret), await sign(renewed)], [400, 200]);
  await button(page, "Delete").click();
  await button(page, "Delete service account").click();
  await toast(page, "Deleted ci-bot.");
  assert.deepEqual(await ask(page, ACCOUNTS), []);
});

test("two subjects in two scopes are four rules; what is refused is said; several are deleted at once", async () => {
  const page = await ready();
  await page.goto(site.server.url + "/access/rules");
  await page.getByRole("link", { name: "New access rule" }).click();
  await page.selectOption("#f-role", { label: "Viewer" });
  await page.fill("#f-subjects", "nobody@lab.example");
  await page.keyboard.press("Enter");
  await button(page, "Make the rule").click();
  await page.waitForSelector("#f-subjects-hint:has-text('Nobody is called nobody@lab.example.')");
  await button(page, "Remove nobody@lab.example").click();
  for (const name of ["ana@lab.example", "group:guests"]) {
    await page.fill("#f-subjects", name);
    await page.keyboard.press("Enter");
  }
  for (const name of ["Department default", "Project team-a"]) {
    await page.fill("#f-scopes", name);
    await page.keyboard.press("Enter");
  }
  await button(page, "Make the rule").click();
  await toast(page, "Made 4 access rules.");
  assert.equal((await rulesOf(page, "guests")).length, 2);
  await page.getByRole("link", { name: "New access rule" }).click();
  await page.selectOption("#f-role", { label: "Viewer" });
  await page.fill("#f-subjects", "group:guests");
  await page.keyboard.press("Enter");
  await page.fill("#f-scopes", "Project team-a");
  await page.keyboard.press("Enter");
  await button(page, "Make the rule").click(); // it is there already
  await page.waitForSelector("dialog .fault, dialog [aria-invalid=true]");
  assert.deepEqual(await axe(page), []);
  await button(page, "Cancel").click();
  await page.fill("input[type=search]", "guests");
  await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 2);
  await page.getByLabel("Select all on this page").check();
  await button(page, "Delete").click();
  await page.waitForSelector("dialog h2:has-text('Delete 2 access rules?')");
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await toast(page, "Deleted 2 access rules.");
  assert.deepEqual(await rulesOf(page, "guests"), []);
});

test("a rule's pane leads to its role, whose matrix says what the server says", async () => {
  const page = await ready();
  const [rule] = (await ask(page, `${RULES}?subjectIds=ana@lab.example`)).accessRules;
  await page.goto(`${site.server.url}/access/rules?open=${rule.id}`);
  await page.locator("aside").getByRole("link", { name: rule.roleName }).click();
  await page.waitForSelector(".matrix");
  const role = (await ask(page, "/api/v1/authorization/roles")).find(r => r.id === rule.roleId);
  const said = await page.locator(".matrix tbody tr:not(.group)").evaluateAll(rows => Object.fromEntries(rows.map(r => [r.querySelector("th").textContent, [...r.querySelectorAll("td")].map(c => c.querySelector(".sr").textContent === "yes")])));
  for (const p of role.permissions) assert.deepEqual(said[p.displayName], ["read", "update", "create", "delete"].map(a => p.actions.includes(a)), p.displayName);
  assert.equal(Object.values(said).flat().filter(Boolean).length, role.permissions.flatMap(p => p.actions).filter(a => a !== "sync").length);
  await page.getByRole("tab", { name: "Who has it" }).click();
  await page.waitForSelector(".rules li:has-text('ana@lab.example')");
  await page.keyboard.press("Escape");
  await page.keyboard.press("/");
  await page.keyboard.type("Users");
  await page.waitForSelector("#found [aria-selected=true]:has-text('Users')");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/access/users");
  await page.waitForSelector("tbody tr");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#pane-title");
});

test("a role is made from another by its boxes, given, changed, and deleted when nobody has it", async () => {
  const page = await ready();
  const roles = async () => (await ask(page, "/api/v1/authorization/roles")).filter(r => r.custom);
  await page.goto(site.server.url + "/access/roles?open=7");
  assert.match(await button(page, "Edit").getAttribute("data-tip"), /predefined role stays/);
  await page.getByRole("link", { name: "Copy" }).click();
  await page.fill("#f-name", "Viewer");
  await page.getByLabel("Edit: Workloads", { exact: true }).check();
  await button(page, "Create role").click();
  await page.waitForSelector("#f-name[aria-invalid=true], form .fault"); // the name is taken
  assert.deepEqual(await axe(page), []);
  await page.fill("#f-name", "Night operator");
  await page.getByLabel("View: Users", { exact: true }).uncheck();
  await button(page, "Create role").click();
  await page.waitForSelector("#pane-title:has-text('Night operator')");
  const [made] = await roles();
  assert.deepEqual(made.permissions.find(p => p.resourceType === "workloads").actions.sort(), ["read", "update"]);
  assert.equal(made.permissions.find(p => p.resourceType === "users"), undefined);
  await page.getByRole("link", { name: "Edit", exact: true }).click();
  await page.waitForSelector("#f-name");
  assert.equal(await page.getByLabel("Edit: Workloads", { exact: true }).isChecked(), true);
  await page.getByLabel("Delete: Workloads", { exact: true }).focus();
  await page.keyboard.press("Space");
  await button(page, "Save").click();
  await page.waitForSelector("#pane-title:has-text('Night operator')");
  assert.deepEqual((await roles())[0].permissions.find(p => p.resourceType === "workloads").actions.sort(), ["delete", "read", "update"]);
  await page.goto(site.server.url + "/access/rules?new=1");
  await page.selectOption("#f-role", { label: "Night operator" });
  await page.fill("#f-subjects", "ana@lab.example");
  await page.keyboard.press("Enter");
  await page.fill("#f-scopes", "Everywhere");
  await page.keyboard.press("Enter");
  await page.fill("#f-ends", "2020-01-01T00:00");
  await button(page, "Make the rule").click();
  await page.waitForSelector("#f-ends-hint:has-text('That time is past.')");
  await page.fill("#f-ends", "2099-01-01T00:00");
  await button(page, "Make the rule").click();
  await toast(page, "Made 1 access rule.");
  const rule = (await ask(page, `${RULES}?subjectIds=ana@lab.example`)).accessRules.find(r => r.roleName === "Night operator");
  assert.match(rule.expiresAt, /^(2098-12-31|2099-01-01)T/);
  await page.goto(`${site.server.url}/access/roles?open=${made.id}`);
  const drop = async () => {
    await button(page, "Delete").click();
    await button(page, "Delete role").click();
  };
  await drop();
  await page.waitForSelector(".toast .i.bad, .toast.bad"); // a rule gives it
  assert.equal((await roles()).length, 1);
  await page.goto(`${site.server.url}/access/rules?open=${rule.id}`);
  await button(page, "Delete").click();
  await button(page, "Delete access rule").click();
  await toast(page, "Deleted the rule");
  await page.goto(`${site.server.url}/access/roles?open=${made.id}`);
  await drop();
  await toast(page, "Deleted Night operator.");
  assert.deepEqual(await roles(), []);
});

test("an access key signs a program in as its owner until it is deleted", async () => {
  const page = await ready();
  await page.goto(site.server.url + "/account");
  await button(page, "New access key").click();
  await page.fill("#f-name", "laptop");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".secret code >> nth=1");
  const [clientId, clientSecret] = await page.locator(".secret code").allTextContents();
  await button(page, "Done").click();
  const sign = secret => grant({ grantType: "client_credentials", clientId, clientSecret: secret }, site.server.url);
  assert.equal(await sign(clientSecret), 200);
  await button(page, "New secret for laptop").click();
  await button(page, "Make a new secret").click();
  await page.waitForSelector(".secret code >> nth=1");
  const [, renewed] = await page.locator(".secret code").allTextContents();
  await button(page, "Done").click();
  assert.deepEqual([await sign(clientSecret), await sign(renewed)], [400, 200]);
  await button(page, "Delete laptop").click();
  await button(page, "Delete access key").click();
  await toast(page, "Deleted laptop.");
  assert.equal(await sign(renewed), 400);
  await page.waitForSelector(".empty:has-text('No access keys yet.')");
});

test("the audit says who did what and what changed, by filter and as the server's file", async () => {
  const page = await ready();
  const accounts = await page.evaluate(async path => {
    const send = (p, method, body) => fetch(p, { method, headers: { "Content-Type": "application/json", "X-Prorata-Request": "1" }, body: JSON.stringify(body) });
    const made = await (await send(path, "POST", { name: "seen-bot" })).json();
    return send(`${path}/${made.id}`, "PATCH", { enabled: false }).then(a => a.status);
  }, ACCOUNTS);
  assert.ok(accounts < 300);
  await page.goto(`${site.server.url}/audit?f=entity_type==service-account`);
  await page.waitForSelector("tbody tr");
  assert.ok((await page.locator("tbody tr").count()) > 1);
  await page.goto(`${site.server.url}/audit?f=action==update&days=1`);
  await page.locator("tbody tr").filter({ hasText: "seen-bot" }).getByRole("link").first().click();
  await page.waitForSelector(".changes li:has-text('enabled')");
  assert.match(await page.locator(".changes li:has-text('enabled')").innerText(), /true[^]*false/);
  assert.deepEqual(await axe(page), []);
  await button(page, "More for this table").click();
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("menuitem", { name: "Download as CSV" }).click()]);
  const { readFile } = await import("node:fs/promises");
  const text = await readFile(await file.path(), "utf8");
  assert.match(text, /seen-bot/);
  assert.doesNotMatch(text, /sign-in/);
  await page.getByRole("group", { name: "How far back" }).getByRole("button", { name: "30 d" }).click();
  await page.waitForURL(/days=30/);
});

test("an identity provider that does not answer is not taken, and groups have roles", async () => {
  const page = await ready();
  await page.goto(site.server.url + "/access/identity");
  await page.fill("#f-name", "Lab account");
  await button(page, "Test and save").click();
  await page.waitForSelector("#f-issuer[aria-invalid=true]");
  await page.fill("#f-issuer", "https://127.0.0.1:9/realms/lab");
  await page.fill("#f-clientId", "prorata");
  assert.match(await page.inputValue("#f-redirectUrl"), /openid\/callback$/);
  await button(page, "Test and save").click();
  await page.waitForSelector("form .fault, #f-issuer[aria-invalid=true], #f-redirectUrl[aria-invalid=true]");
  assert.equal(await page.inputValue("#f-clientId"), "prorata");
  assert.equal((await ask(page, "/api/v1/authentication/openid")).enabled, false);
  assert.deepEqual(await axe(page), []);
  await button(page, "Give a role").click();
  await page.selectOption("#f-role", { label: "Viewer" });
  await page.fill("#f-subjects", "group:engineers");
  await page.keyboard.press("Enter");
  await page.fill("#f-scopes", "Project team-a");
  await page.keyboard.press("Enter");
  await button(page, "Make the rule").click();
  await page.waitForSelector(".rules li:has-text('engineers'):has-text('Viewer, Project team-a')");
});

test("the account says its own roles; the menu leads there", async () => {
  const page = await ready();
  await page.click(".account button");
  await page.getByRole("menuitem", { name: "Account" }).click();
  await page.waitForSelector("h2:has-text('admin@prorata.local')");
  await page.waitForSelector("[aria-labelledby=h-rules] li > span");
  assert.deepEqual(await page.locator("[aria-labelledby=h-rules] li > span").allInnerTexts(), ["System administrator Everywhere"]);
});

test("who may not manage people has no such pages, and is told so at their addresses", async t => {
  const { user, word } = await newcomer();
  const { page, troubles, context } = await open(site.browser, site.server.url);
  t.after(() => context.close());
  await page.goto(site.server.url + "/");
  await page.fill("#username", user);
  await page.fill("#password", word);
  await page.keyboard.press("Enter");
  await page.waitForSelector("nav.side");
  const seen = await page.locator("nav.side a.nav .txt").allTextContents();
  for (const label of ["Users", "Service accounts"]) assert.ok(!seen.includes(label), label);
  await page.goto(site.server.url + "/access/service-accounts");
  await page.waitForSelector(".fault");
  assert.equal(await page.getByRole("link", { name: "New service account" }).count(), 0);
  await page.goto(site.server.url + "/account");
  await page.waitForSelector(".rules li:has-text('L1 researcher'):has-text('Project team-a')");
  assert.deepEqual(troubles.violations, []);
});

// An L1 researcher of team-a with a password of his own.
async function newcomer() {
  const page = await ready();
  const made = await send(page, "POST", USERS, { email: "bo@lab.example", resetPassword: false });
  const project = (await ask(page, "/api/v1/org-unit/projects?search=team-a")).projects[0];
  await send(page, "POST", RULES, { subjectId: "bo@lab.example", subjectType: "user", roleId: 5, scopeType: "project", scopeId: project.id });
  return { user: "bo@lab.example", word: made.tempPassword };
}
