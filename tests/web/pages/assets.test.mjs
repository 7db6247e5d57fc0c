// Assets on a real server: made, changed, copied, used and deleted by mouse and by keyboard, and what the server then holds.
import assert from "node:assert/strict";
import { test } from "node:test";
import { axe } from "../browser.mjs";
import { ask, onServer, send } from "../real_server.mjs";

const site = onServer();
const ready = async () => (await site.ready).page;
const button = (page, name) => page.getByRole("button", { name, exact: true });
const link = (page, name) => page.getByRole("link", { name, exact: true });
const toast = (page, text) => page.waitForSelector(`.toast:has-text("${text}")`);
const held = async (page, kind) => (await ask(page, `/api/v1/asset/${kind}`)).entries.filter(e => e.meta.scope !== "system");

test("a compute resource is made by keys alone, and what is wrong is said at its field", async () => {
  const page = await ready();
  await page.goto(site.server.url + "/assets/compute");
  await page.waitForSelector("tr:has-text('half-gpu'):has-text('0.5 GPU · 0.1 cores · 100M'):has-text('Predefined')");
  await link(page, "New compute resource").focus();
  await page.keyboard.press("Enter");
  await page.locator("#f-place").focus();
  await page.keyboard.type("Project team-a");
  await page.keyboard.press("Tab");
  await page.keyboard.type("quarter");
  await page.keyboard.press("Enter"); // sends it
  await toast(page, "Created quarter.");
  await page.waitForSelector("#pane-title:has-text('quarter')");
  await link(page, "Edit").click();
  await page.selectOption("#f-gpuRequestType", "portion");
  await page.fill("#f-gpuDevicesRequest", "2");
  await page.fill("#f-cpuMemoryRequest", "plenty");
  await button(page, "Save").click();
  await page.waitForSelector("#f-gpuPortionRequest[aria-invalid=true]");
  assert.equal(await page.locator("#f-cpuMemoryRequest").getAttribute("aria-invalid"), "true");
  assert.deepEqual(await axe(page), []);
  await page.getByLabel("% of its memory", { exact: true }).fill("25");
  await page.fill("#f-cpuMemoryRequest", "4Gi");
  await button(page, "Save").click();
  await page.waitForSelector("#f-gpuDevicesRequest[aria-invalid=true]"); // the server's own word: a part is of one device
  await page.fill("#f-gpuDevicesRequest", "1");
  await button(page, "Save").click();
  await toast(page, "Saved quarter.");
  const [made] = await held(page, "compute");
  assert.deepEqual([made.meta.name, made.meta.scope, made.meta.projectName], ["quarter", "project", "team-a"]);
  assert.deepEqual(made.spec, { gpuDevicesRequest: 1, gpuRequestType: "portion", gpuPortionRequest: 0.25, cpuMemoryRequest: "4Gi", largeShmRequest: false });
});

test("it is used at once in a new workload, in its project", async () => {
  const page = await ready();
  await page.goto(site.server.url + "/assets/compute");
  await link(page, "quarter").click();
  await link(page, "Use in a new workload").click();
  await page.waitForFunction(() => document.getElementById("f-gpus")?.value === "0.25");
  assert.equal(await page.inputValue("#f-memory"), "4Gi");
  assert.equal(await page.locator("#f-project option:checked").textContent(), "team-a");
});

test("a predefined one stays as it is; its copy is changed and deleted", async () => {
  const page = await ready();
  await page.goto(site.server.url + "/assets/environments");
  await link(page, "quickstart").click();
  for (const name of ["Edit", "Delete"]) assert.match(await button(page, name).getAttribute("data-tip"), /predefined environment stays/);
  await link(page, "Copy").click();
  await page.waitForFunction(() => document.getElementById("f-name")?.value === "quickstart-copy");
  await page.selectOption("#f-place", { label: "Everywhere" });
  await page.fill("#f-environmentVariables", "A=1\nno value");
  await button(page, "Create environment").click();
  await page.waitForSelector("#f-environmentVariables[aria-invalid=true]");
  await page.fill("#f-environmentVariables", "A=1\nB=x=y");
  await button(page, "Create environment").click();
  await toast(page, "Created quickstart-copy.");
  const [made] = await held(page, "environment");
  assert.deepEqual(made.spec, { image: "runai.jfrog.io/demo/quickstart", imagePullPolicy: "IfNotPresent", environmentVariables: [{ name: "A", value: "1" }, { name: "B", value: "x=y" }] });
  await page.waitForSelector("aside dd:has-text('B=x=y')");
  assert.deepEqual(await axe(page), []);
  await button(page, "Delete").click();
  await button(page, "Delete environment").click();
  await toast(page, "Deleted quickstart-copy.");
  assert.deepEqual(await held(page, "environment"), []);
});

test("a form that is left keeps nothing, and says so", async () => {
  const page = await ready();
  await page.goto(site.server.url + "/assets/environments?new=1");
  await page.fill("#f-name", "half done");
  await page.keyboard.press("Escape");
  await page.locator("nav.side").getByRole("link", { name: "Templates" }).click();
  await button(page, "Leave").click();
  await page.waitForURL("**/assets/templates");
  assert.deepEqual(await held(page, "environment"), []);
});

test("an address of an asset that is gone says so", async () => {
  const page = await ready();
  for (const query of ["open", "edit", "copy"]) {
    await page.goto(`${site.server.url}/assets/compute?${query}=00000000-0000-4000-8000-000000000000`);
    await page.waitForSelector(".fault:has-text('It was deleted, or you may not read it.')");
  }
});

test("a credential is never shown again; a data source and a template take it from there", async () => {
  const page = await ready();
  const made = async (where, kind, values, name) => {
    await page.goto(`${site.server.url}/assets/${where}?new=1`);
    await page.selectOption("#f-kind", kind);
    await page.selectOption("#f-place", { label: "Project team-a" });
    await page.fill("#f-name", name);
    for (const [id, value] of Object.entries(values)) await page.fill(`#f-${id}`, value);
  };
  const create = word => button(page, `Create ${word}`).click();
  await made("credentials", "password", { user: "robot" }, "git-robot");
  await create("credential");
  await page.waitForSelector("#f-password[aria-invalid=true]");
  await page.fill("#f-password", "never to be seen");
  await create("credential");
  await toast(page, "Created git-robot.");
  await link(page, "Edit").click();
  await page.fill("#f-description", "Reads the code");
  assert.equal(await page.inputValue("#f-password"), "");
  await button(page, "Save").click();
  await toast(page, "Saved git-robot.");
  assert.ok(!(await page.content()).includes("never to be seen"));
  await made("data-sources", "git", { repository: "https://git.lab.example/code.git", path: "/code" }, "code");
  await page.selectOption("#f-credentialId", { label: "git-robot" });
  await create("data source");
  await toast(page, "Created code.");
  const late = url => url.pathname === "/api/v1/asset/datasource";
  const [source] = (await ask(page, "/api/v1/asset/datasource")).entries.filter(e => e.meta.name === "code");
  let come;
  const typed = new Promise(done => (come = done));
  await page.route(late, async route => {
    await typed; // the name, before the list comes
    await route.continue();
  });
  await made("templates", "Training", { image: "ubuntu" }, "nightly");
  await page.fill("[id='f-assets.datasources']", "code");
  await page.keyboard.press("Enter");
  come();
  await page.waitForSelector(`aside pre:has-text('${source.meta.id}')`, { state: "attached" });
  await create("template");
  await toast(page, "Created nightly.");
  await page.unroute(late);
  await page.waitForSelector("aside dd:has-text('ubuntu')");
  assert.deepEqual(await axe(page), []);
  const [template] = (await ask(page, "/api/v1/workload-templates")).entries;
  assert.deepEqual([template.assets.datasources.length, template.spec.image], [1, "ubuntu"]);
  assert.match(await link(page, "Use in a new workload").getAttribute("href"), /^\/workloads\/new\/training\?template=/);
});

test("environments of one name say where each is, one alone does not", async () => {
  const page = await ready();
  const { projects: [{ id: projectId }] } = await ask(page, "/api/v1/org-unit/projects?filterBy=name==team-a");
  const make = (name, place) => send(page, "POST", "/api/v1/asset/environment", { meta: { name, ...place }, spec: { image: "x" } });
  await make("twin", { scope: "tenant" });
  await make("twin", { scope: "project", projectId: Number(projectId) });
  await make("single", { scope: "tenant" });
  await page.goto(site.server.url + "/workloads/new/training?project=team-a");
  await page.waitForSelector("#f-environmentAsset option:has-text('single')", { state: "attached" });
  await page.waitForSelector("#f-environmentAsset option:has-text('twin · Project team-a')", { state: "attached" });
  const names = (await page.locator("#f-environmentAsset option").allInnerTexts()).filter(text => /^(twin|single)/.test(text));
  assert.deepEqual(names.sort(), ["single", "twin · Everywhere", "twin · Project team-a"]);
});
