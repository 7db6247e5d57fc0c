// What submissions choose from and are held to, on a real server: what pages.test.mjs does not have of it. axe finds nothing,
// nothing scrolls sideways, and a picture is kept. Then each page as people with fewer rights.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { axe, look, open } from "../browser.mjs";
import { ask, onServer, send } from "../real_server.mjs";

const site = onServer();
const IMAGE = "registry.lab.example/team-vision/base:2026.11-cuda13";
let server, page, team;

before(async () => {
  ({ server, page } = await site.ready);
  team = (await ask(page, "/api/v1/org-unit/projects")).projects.find(p => p.name === "team-a");
  const inTeam = { scope: "project", projectId: Number(team.id) }, everywhere = { scope: "tenant" };
  const asset = (kind, name, spec, scope = inTeam, more = {}) => send(page, "POST", `/api/v1/asset/${kind}`, { meta: { name, ...scope, ...more }, spec });
  const sources = {
    nfs: { server: "nfs.lab.example", path: "/export/sets", mountPath: "/data/sets" },
    git: { repository: "https://git.lab.example/team-vision/models-of-the-long-named-kind.git", branch: "main", path: "/src" },
    "host-path": { path: "/mnt/fast", mountPath: "/scratch", readOnly: true },
  };
  await asset("compute", "one-gpu", { gpuDevicesRequest: 1, cpuCoreRequest: 4, cpuMemoryRequest: "32Gi", largeShmRequest: false });
  await asset("environment", "pytorch", { image: IMAGE, command: "python" }, everywhere, { workloadSupportedTypes: { workspace: true, training: true } });
  for (const [kind, spec] of Object.entries(sources)) await asset(`datasource/${kind}`, `of-${kind}`, spec, kind === "nfs" ? everywhere : inTeam, { description: "Read by everybody in the team, written by the nightly job." });
  await asset("credentials/password", "git-robot", { user: "robot", password: "not shown" });
  await asset("credentials/generic-secret", "tokens", { keyValuePairs: [{ key: "WANDB_API_KEY", value: "not shown" }, { key: "HF_TOKEN", value: "nor this" }] }, everywhere);
  await send(page, "POST", "/api/v1/workload-templates/trainings", { meta: { name: "fine-tune", scopeType: "project", scopeId: String(team.id) }, spec: { image: IMAGE, compute: { gpuDevicesRequest: 2 } } });
  await send(page, "PUT", "/api/v2/policy/trainings", {
    meta: { name: "trainings of research", scope: "tenant" },
    policy: { defaults: { image: IMAGE }, rules: { compute: { gpuDevicesRequest: { max: 4 }, cpuCoreRequest: { min: 1 } }, image: { required: true } } },
  });
});

const PAGES = {
  compute: "/assets/compute",
  environments: "/assets/environments",
  templates: "/assets/templates",
  "data-sources": "/assets/data-sources",
  credentials: "/assets/credentials",
  policies: "/policies",
  settings: "/settings",
};

const quiet = async on => {
  await on.waitForFunction(() => document.querySelector("main h2, main form, main table, main .empty") && !document.querySelector(".loading"));
  await on.evaluate(() => document.fonts.ready);
};

for (const [name, path] of Object.entries(PAGES)) {
  const hasForm = ["templates", "policies"].includes(name);
  test(`${name}: what is open on it${hasForm ? ", and the form" : ""}`, async () => {
    await page.goto(server.url + path);
    await quiet(page);
    if (name !== "settings") {
      await page.locator("main tbody tr a").first().click();
      await page.waitForSelector("#pane-title");
    }
    await look(page, `${name}-pane`, { quiet });
    if (!hasForm) return;
    await page.goto(server.url + path);
    await quiet(page);
    await page.getByRole("link", { name: /^New / }).last().click();
    await page.waitForSelector("form");
    await look(page, `${name}-new`, { quiet });
  });
}

// A person with one role, signed in.
const ROLES = { viewer: 7, researcher: 5 };
async function signInAs(t, role, scopeType = "project", scopeId = team.id) {
  const username = `${role}-of-${scopeType}@lab.example`, password = "correct horse battery too";
  const made = await send(page, "POST", "/api/v1/users", { email: username });
  await send(page, "POST", "/api/v1/authorization/access-rules", { subjectId: username, subjectType: "user", roleId: ROLES[role], scopeType, scopeId: String(scopeId) });
  const opened = await open(site.browser, server.url);
  t.after(() => opened.context.close());
  await opened.page.goto(server.url + "/");
  await send(opened.page, "POST", "/api/v1/session", { username, password: made.tempPassword });
  await send(opened.page, "POST", "/api/v1/me/password", { currentPassword: made.tempPassword, newPassword: password });
  return opened.page;
}

// It stands there, does nothing, and says why.
async function refuses(button) {
  assert.equal(await button.getAttribute("aria-disabled"), "true");
  assert.match(await button.getAttribute("data-tip"), /^Your roles don't allow it: (create|delete|update) [a-z_-]+ is missing\.$/);
}

const MAY = {
  viewer: { compute: "read", environments: "read", templates: "read", "data-sources": "read", credentials: "read", policies: "read", settings: "read" },
  researcher: { compute: "make", environments: "make", templates: "make", "data-sources": "make", credentials: "make", policies: "read", settings: "read" },
};
for (const [role, pages] of Object.entries(MAY)) {
  test(`a ${role} of a project sees what he may do, and nothing else`, async t => {
    const own = await signInAs(t, role);
    for (const [name, what] of Object.entries(pages)) {
      await own.goto(server.url + PAGES[name]);
      await quiet(own);
      const made = await own.getByRole("link", { name: /^New (?!workload)/ }).count();
      const listed = await own.locator(`nav.side a[href="${PAGES[name]}"]`).count();
      assert.deepEqual([name, listed, made], [name, 1, what === "make" ? 1 : 0], role);
      if (role === "viewer") assert.deepEqual(await axe(own), [], name); // most is off there
      if (name === "settings") for (const channel of ["E-mail", "Slack", "Webhook"]) await refuses(own.getByRole("button", { name: channel, exact: true }));
      else if (what === "read" && name !== "policies") {
        await own.locator("main tbody tr a").first().click();
        await own.waitForSelector("#pane-title");
        await refuses(own.locator(".pane").getByRole("button", { name: "Delete" }));
      }
    }
  });
}

// A link leads to a form that its reader may not send.
const LINKS = {
  topologies: "/topologies?new=1",
  users: "/access/users?new=1",
  "service accounts": "/access/service-accounts?new=1",
  "access rules": "/access/rules?new=1",
  "a role": "/access/roles/new",
  ...Object.fromEntries(["compute", "environments", "templates", "data-sources", "credentials"].map(kind => [kind, `/assets/${kind}?new=1`])),
  policies: "/policies?new=trainings/tenant/",
  projects: "/projects/new",
  departments: "/departments/new",
  "node pools": "/nodepools/new",
};
test("a form that a viewer may not send says so before he fills it in, and its button is off", async t => {
  const own = await signInAs(t, "viewer", "department", team.parentId);
  for (const [name, path] of Object.entries(LINKS)) {
    await own.goto(server.url + path);
    const said = own.locator("form .fault");
    await said.waitFor().catch(() => assert.fail(`${name}: nothing is said at ${path}`));
    assert.match(await said.innerText(), /^Your roles don't allow it: (create|update) [a-z_-]+ is missing\. Ask an administrator/, name);
    await refuses(own.locator("form button[type=submit]"));
  }
  assert.deepEqual(await axe(own), []);
});
