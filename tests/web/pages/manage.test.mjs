// Departments, projects and node pools made, changed and deleted by mouse on a real server; what the server then holds.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { axe, launch, open } from "../browser.mjs";
import { ask, send, signIn, startServer } from "../real_server.mjs";

let server, browser, page, troubles;
before(async () => {
  server = await startServer();
  browser = await launch();
  ({ page, troubles } = await open(browser, server.url));
  await signIn(page, server.url);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const button = name => page.getByRole("button", { name, exact: true });
const cell = name => page.getByLabel(`${name} in default`, { exact: true });
const find = async (path, key, name) => (await ask(page, path))[key].find(x => x.name === name);

test("an empty cluster says what to do next", async () => {
  await page.waitForSelector(".first-steps");
  assert.deepEqual(await page.locator(".first-steps > li h3:first-of-type").evaluateAll(list => list.map(h => h.textContent).filter(t => !/same|quick/i.test(t)).length), 3);
  assert.match(await page.locator(".first-steps .code").first().textContent(), /prorata training submit first -p \S+ -i \S+ -g 1/);
  assert.equal(await page.locator(".stat:has-text('GPU utilization') .v").innerText(), "–");
  assert.deepEqual(await axe(page), []);
});

test("a department is made with its quota", async () => {
  await page.goto(server.url + "/departments");
  await page.getByRole("link", { name: "New department" }).click();
  await page.fill("#f-name", "applied");
  await cell("GPUs").fill("1");
  await button("Create department").click();
  await button("Create anyway").click(); // the demo's own departments have all GPUs
  await page.waitForSelector("#pane-title:has-text('applied')");
  const made = await find("/api/v1/org-unit/departments", "departments", "applied");
  assert.equal(made.resources[0].gpu.deserved, 1);
});

test("a name that is taken, or wrong, is said at the field", async () => {
  await page.goto(server.url + "/projects/new");
  await page.fill("#f-name", "Team A");
  await button("Create project").click();
  await page.waitForSelector("#f-name[aria-invalid=true]");
  assert.match(await page.textContent("#f-name-hint"), /Small letters/);
  await page.waitForSelector("#f-name:focus");
  assert.deepEqual(await axe(page), []);
  await page.fill("#f-name", "team-a");
  await page.selectOption("#f-parent", { label: "research" });
  await button("Create project").click();
  await page.waitForSelector(".fault, [aria-invalid=true]");
  assert.match(await page.textContent("form"), /team-a|name/);
  assert.equal((await ask(page, "/api/v1/org-unit/projects?filterBy=name==team-a")).projects.length, 1);
});

test("a project is made, its quota changed, and what a save changes is said before", async () => {
  await page.goto(server.url + "/projects/new");
  await page.fill("#f-name", "vision");
  await page.selectOption("#f-parent", { label: "applied" });
  await cell("GPUs").fill("1");
  await cell("Limit").fill("2");
  await button("Create project").click();
  await button("Create anyway").click();
  await page.waitForSelector("#pane-title:has-text('vision')");
  const made = await find("/api/v1/org-unit/projects", "projects", "vision");
  assert.deepEqual([made.resources[0].gpu.deserved, made.resources[0].gpu.limit, made.parent.name], [1, 2, "applied"]);
  await page.getByRole("link", { name: "Edit", exact: true }).click();
  await page.waitForURL("**/edit");
  await cell("Limit").fill("0.5");
  await button("Save").click();
  await page.waitForSelector("[aria-invalid=true]");
  await cell("Limit").fill("");
  await cell("Weight").fill("3");
  assert.equal((await page.textContent(".submit-bar .muted")).trim(), "default: weight 2 → 3, limit 2 → none");
  await button("Save").click();
  await page.waitForSelector("#pane-title:has-text('vision')");
  const saved = await find("/api/v1/org-unit/projects", "projects", "vision");
  assert.deepEqual([saved.resources[0].gpu.deserved, saved.resources[0].gpu.limit, saved.resources[0].gpu.overQuotaWeight], [1, null, 3]);
});

test("a form that was changed asks before it is left", async () => {
  await page.goto(server.url + "/projects/new");
  await page.fill("#f-name", "half-typed");
  await page.getByRole("link", { name: "Nodes", exact: false }).first().click();
  await page.waitForSelector("dialog:has-text('Leave this form?')");
  await button("Cancel").click();
  assert.equal(await page.inputValue("#f-name"), "half-typed");
  await page.getByRole("link", { name: "Nodes", exact: false }).first().click();
  await button("Leave").click();
  await page.waitForURL("**/nodes");
});

test("a department goes with its projects where its name is typed, and the dialog names them", async () => {
  const [{ uuid: clusterId }] = await ask(page, "/api/v1/clusters");
  const { id: parentId } = await send(page, "POST", "/api/v1/org-unit/departments", { name: "closing", clusterId, resources: [] });
  const { id: projectId } = await send(page, "POST", "/api/v1/org-unit/projects", { name: "busy", parentId, clusterId, resources: [] });
  await send(page, "POST", "/api/v1/workloads/trainings", { name: "goes", projectId, clusterId, spec: { image: "any", compute: { gpuDevicesRequest: 0 } } });
  await page.goto(`${server.url}/departments?open=${parentId}`);
  await button("Delete").click();
  await page.waitForSelector("dialog:has-text('Its project goes with it, and all their workloads, also those that run:')");
  await page.waitForSelector("dialog:has-text('busy (1 workload)')");
  assert.deepEqual(await axe(page), []);
  await page.fill("#ask-type", "closing");
  await button("Delete department").click();
  await page.waitForSelector(".toast:has-text('Deleted closing.')");
});

test("a project is deleted only when its name is typed", async () => {
  const { id } = await find("/api/v1/org-unit/projects", "projects", "vision");
  await page.goto(`${server.url}/projects?open=${id}`);
  await button("Delete").click();
  await page.waitForSelector("dialog");
  assert.equal(await page.getAttribute("dialog button[type=submit]", "aria-disabled"), "true");
  assert.deepEqual(await axe(page), []);
  await page.fill("#ask-type", "vision");
  await button("Delete project").click();
  await page.waitForSelector(".toast:has-text('Deleted vision.')");
  assert.equal(await find("/api/v1/org-unit/projects", "projects", "vision"), undefined);
  await page.waitForSelector("aside.pane", { state: "detached" });
});

test("a node pool is made, changed and deleted; the default one stays", async () => {
  await page.goto(server.url + "/nodepools/new");
  await page.fill("#f-name", "fast");
  await page.fill("#f-labelValue", "fast");
  await page.selectOption("#f-gpu", "spread");
  await page.fill("#f-guaranteed", "soon");
  await button("Create node pool").click();
  await page.waitForSelector("#f-guaranteed[aria-invalid=true]");
  await page.fill("#f-guaranteed", "30m");
  await button("Create node pool").click();
  await page.waitForSelector("#pane-title:has-text('fast')");
  let pool = await find("/api/v1/node-pools", "nodepools", "fast");
  assert.deepEqual([pool.labelKey, pool.labelValue, pool.schedulingConfiguration.placementStrategy.gpu, pool.schedulingConfiguration.minGuaranteedRuntime], ["prorata.io/node-pool", "fast", "spread", "30m"]);
  await page.getByRole("link", { name: "Edit", exact: true }).click();
  await page.waitForURL("**/edit");
  await page.selectOption("#f-gpu", "fragmentation");
  await page.selectOption("#f-pastUse", "tumbling");
  await page.fill("#f-halfLife", "12h");
  await page.check("#f-reservation");
  await page.uncheck("#f-byRank");
  await button("Save").click();
  await page.waitForSelector("#f-begin[aria-invalid=true]");
  await page.fill("#f-begin", "2026-01-05");
  await button("Save").click();
  await page.waitForSelector("#pane-title:has-text('fast')");
  pool = await find("/api/v1/node-pools", "nodepools", "fast");
  const { placementStrategy, reservation, reclaimByRank, timeBasedFairShare: { enabled, windowType, windowDuration, decayHalfLife, tumblingWindowStartTime } } = pool.schedulingConfiguration;
  assert.deepEqual([placementStrategy.gpu, reservation, reclaimByRank, enabled, windowType, windowDuration, decayHalfLife, tumblingWindowStartTime.slice(0, 10)], ["fragmentation", true, false, true, "tumbling", "7d", "12h", "2026-01-05"]);
  await page.getByRole("tab", { name: "Rules", exact: true }).click();
  await page.waitForSelector("dd:has-text('free GPUs are kept for it')");
  await page.waitForSelector("dd:has-text('nobody takes from within a quota')");
  await page.getByRole("link", { name: "Edit", exact: true }).click();
  await page.waitForURL("**/edit");
  await page.selectOption("#f-pastUse", "off");
  await button("Save").click();
  await page.waitForSelector("#pane-title:has-text('fast')");
  pool = await find("/api/v1/node-pools", "nodepools", "fast");
  assert.deepEqual([pool.schedulingConfiguration.timeBasedFairShare.enabled, pool.schedulingConfiguration.reservation], [false, true]);
  await button("Delete").click();
  await button("Delete node pool").click();
  await page.waitForSelector(".toast:has-text('Deleted fast.')");
  const standard = await find("/api/v1/node-pools", "nodepools", "default");
  await page.goto(`${server.url}/nodepools?open=${standard.id}`);
  assert.equal(await button("Delete").getAttribute("aria-disabled"), "true");
});

test("a table downloads as CSV and its call can be copied", async () => {
  await page.goto(server.url + "/projects");
  await page.waitForSelector("tbody tr");
  await button("More for this table").click();
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("menuitem", { name: "Download as CSV" }).click()]);
  assert.equal(file.suggestedFilename(), "projects.csv");
  const { readFile } = await import("node:fs/promises");
  const lines = (await readFile(await file.path(), "utf8")).trim().split("\r\n");
  assert.match(lines[0], /^Project,GPU quota,GPUs allocated,GPUs borrowed,GPUs waiting,GPUs non-preemptible,GPU limit,Ratio,(?!.*GPU)/, "a number a column, each once");
  assert.equal(lines.length, 4);
  const figures = lines.slice(1).map(line => line.split(",").slice(1, 7));
  assert.deepEqual([figures.every(([quota, held, over]) => Number(over) === Math.max(0, held - quota)), figures.some(([quota]) => Number(quota) > 0)], [true, true], lines.join("\n"));
});

test("nothing was fetched from elsewhere, and the policy was never broken", () => assert.deepEqual([troubles.foreign, troubles.violations], [[], []]));
