// What submissions choose from and are held to, on a real server: each page of it in both themes at three widths. axe finds
// nothing, nothing scrolls sideways, and a picture is kept. Then the same pages as people with fewer rights.
import assert from "node:assert/strict";
import { join } from "node:path";
import { before, test } from "node:test";
import { SHOTS, axe, open } from "../browser.mjs";
import { ask, onServer } from "../real_server.mjs";

const site = onServer();
const WIDTHS = [390, 1024, 1440];
const IMAGE = "registry.lab.example/team-vision/base:2026.11-cuda13";
let server, page, team;

const call = (on, method, path, body) => on.evaluate(async ([m, p, b]) => {
  const answer = await fetch(p, { method: m, headers: { "Content-Type": "application/json", "X-Prorata-Request": "1" }, body: JSON.stringify(b) });
  return { status: answer.status, answer: await answer.json().catch(() => null) };
}, [method, path, body]);
const send = async (method, path, body) => {
  const { status, answer } = await call(page, method, path, body);
  assert.ok(status < 300, `${method} ${path}: ${status} ${JSON.stringify(answer)}`);
  return answer;
};

before(async () => {
  ({ server, page } = await site.ready);
  team = (await ask(page, "/api/v1/org-unit/projects")).projects.find(p => p.name === "team-a");
  const inTeam = { scope: "project", projectId: Number(team.id) }, everywhere = { scope: "tenant" };
  const asset = (kind, name, spec, scope = inTeam, more = {}) => send("POST", `/api/v1/asset/${kind}`, { meta: { name, ...scope, ...more }, spec });
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
  await send("POST", "/api/v1/workload-templates/trainings", { meta: { name: "fine-tune", scopeType: "project", scopeId: String(team.id) }, spec: { image: IMAGE, compute: { gpuDevicesRequest: 2 } } });
  await send("PUT", "/api/v2/policy/trainings", {
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

async function look(on, name) {
  await quiet(on);
  for (const theme of ["dark", "light"]) for (const width of WIDTHS) {
    await on.setViewportSize({ width, height: 900 });
    await on.evaluate(t => (document.documentElement.dataset.theme = t), theme);
    await quiet(on);
    assert.deepEqual(await axe(on), [], `${name} ${width} ${theme}`);
    assert.ok(await on.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} ${width}: nothing stands beside the page`);
    await on.screenshot({ path: join(SHOTS, `${name}-${width}-${theme}.png`), fullPage: true });
  }
}

for (const [name, path] of Object.entries(PAGES)) {
  test(`${name}: the table, the pane of its first row and the form`, async () => {
    await page.goto(server.url + path);
    await look(page, name);
    const first = page.locator("main tbody tr a").first();
    if (await first.count()) {
      await first.click();
      await page.waitForSelector("#pane-title");
      await look(page, `${name}-pane`);
    }
    const fresh = page.getByRole("link", { name: /^New / }).last();
    await page.goto(server.url + path);
    await quiet(page);
    if (name !== "settings" && (await fresh.count())) {
      await fresh.click();
      await page.waitForSelector("form");
      await look(page, `${name}-new`);
    }
  });
}

// A person with one role in team-a, signed in by the form.
const ROLES = { viewer: 12, researcher: 9 };
async function signInAs(t, role) {
  const username = `${role}@lab.example`, password = "correct horse battery too";
  const made = await send("POST", "/api/v1/users", { email: username });
  await send("POST", "/api/v1/authorization/access-rules", { subjectId: username, subjectType: "user", roleId: ROLES[role], scopeType: "project", scopeId: String(team.id) });
  const opened = await open(site.browser, server.url);
  t.after(() => opened.context.close());
  await opened.page.goto(server.url + "/");
  const first = await call(opened.page, "POST", "/api/v1/session", { username, password: made.tempPassword });
  assert.equal(first.status, 200, JSON.stringify(first));
  const changed = await call(opened.page, "POST", "/api/v1/me/password", { currentPassword: made.tempPassword, newPassword: password });
  assert.ok(changed.status < 300, JSON.stringify(changed));
  return opened.page;
}

// It stands there, does nothing, and says why.
async function refuses(button) {
  assert.equal(await button.getAttribute("aria-disabled"), "true");
  assert.match(await button.getAttribute("data-tip"), /^Your roles don't allow it: (create|delete|update) [a-z-]+ is missing\.$/);
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
      assert.deepEqual(await axe(own), [], `${role} ${name}`);
      if (name === "settings") for (const channel of ["E-mail", "Slack", "Webhook"]) await refuses(own.getByRole("button", { name: channel, exact: true }));
      else if (what === "read" && name !== "policies") {
        await own.locator("main tbody tr a").first().click();
        await own.waitForSelector("#pane-title");
        await refuses(own.locator(".pane").getByRole("button", { name: "Delete" }));
      }
    }
  });
}
