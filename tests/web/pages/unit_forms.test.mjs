// The project's and the department's form on a real server with three node pools: each field is written and read back, what
// the server refuses goes to its field, and a quota that promises more than there is asks first.
import assert from "node:assert/strict";
import { join } from "node:path";
import { before, test } from "node:test";
import { SHOTS, axe, becomes, open, until } from "../browser.mjs";
import { THREE_POOLS, ask, onServer, send } from "../real_server.mjs";

const site = onServer(THREE_POOLS);
let browser, server, page;
before(async () => {
  ({ browser, server, page } = await site.ready);
  for (const kind of ["project", "department"]) { // what the demo owns by itself is not what is tested here
    const { id, resources } = await unit(kind, "default");
    await send(page, "PUT", `/api/v1/org-unit/${kind}s/${id}/resources`, resources.map(r => ({ ...r, gpu: { ...r.gpu, deserved: 0 } })));
  }
});

const button = name => page.getByRole("button", { name, exact: true });
const cell = (name, pool) => page.getByLabel(`${name} in ${pool}`, { exact: true });
const unit = async (kind, name) => {
  const found = (await ask(page, `/api/v1/org-unit/${kind}s`))[`${kind}s`].find(u => u.name === name);
  return found && ask(page, `/api/v1/org-unit/${kind}s/${found.id}`);
};
const inPool = (of, pool) => of.resources.find(r => r.nodePool.name === pool);
async function addRule(label, value) {
  await button("Rule").click();
  await page.getByRole("menuitem", { name: label, exact: true }).click();
  if (value) await page.getByLabel(label, { exact: true }).fill(value);
}
async function addChoice(label, value) {
  await addRule(label);
  await page.getByLabel(label, { exact: true }).selectOption(value);
}
async function addPool(name) {
  await button("Node pool").click();
  await page.getByRole("menuitem", { name, exact: true }).click();
}
async function addType(list, ...names) {
  for (const name of names) {
    await page.getByLabel(list, { exact: true }).fill(name);
    await page.getByLabel(list, { exact: true }).press("Enter");
  }
}
const save = async (verb, name) => {
  await button(verb).click();
  await page.waitForSelector(`#pane-title:has-text("${name}")`);
};

test("a department has quota, order of pools, rules and node types", async () => {
  await page.goto(server.url + "/departments/new");
  await page.fill("#f-name", "applied");
  await page.fill("#f-description", "Close to the product");
  assert.deepEqual(await page.locator(".quota-table tbody th").allInnerTexts().then(t => t.map(x => x.split(/\s/)[0])), ["h100", "a100", "default"], "pools without GPUs come last");
  await cell("GPUs", "h100").fill("4");
  await cell("CPU cores", "h100").fill("48");
  await cell("CPU memory", "h100").fill("512Gi");
  await cell("Over quota", "a100").uncheck();
  for (const pool of ["a100", "h100"]) await addPool(pool);
  await addRule("Workspace: time limit", "12h");
  await addType("Workspaces", "a100-pcie");
  await save("Create department", "applied");
  const made = await unit("department", "applied");
  assert.deepEqual([made.description, made.defaultNodePools, made.schedulingRules, made.nodeTypes], ["Close to the product", ["a100", "h100"], { interactiveJobTimeLimitSeconds: 43200 }, { workspace: ["a100-pcie"] }]);
  const { gpu, cpu, memory } = inPool(made, "h100");
  assert.deepEqual([gpu.deserved, gpu.limit, cpu.deserved, memory.deserved, memory.units, inPool(made, "a100").gpu.limit], [4, null, 48000, 524288, "Mib", 0]);
});

test("a project has all of it, and a namespace", async () => {
  await page.goto(server.url + "/projects/new");
  await page.fill("#f-name", "vision");
  await page.selectOption("#f-parent", { label: "applied" });
  await page.fill("#f-namespace", "vision-lab");
  await page.fill("#f-description", "Cameras");
  await cell("GPUs", "h100").fill("2");
  await cell("Limit", "h100").fill("6");
  for (const [weight, word] of [["0", "lowest"], ["1", "low"], ["2.5", ""], ["", ""], ["3", "high"]]) {
    await cell("Weight", "h100").fill(weight);
    await page.locator("td.weight", { has: cell("Weight", "h100") }).locator(".weight-word").filter({ hasText: new RegExp(`^${word}$`) }).waitFor({ state: "attached" });
  }
  await page.selectOption(`#${await cell("Rank", "h100").getAttribute("id")}`, "High");
  await cell("CPU cores", "h100").fill("16");
  await cell("CPU memory", "h100").fill("64G");
  await cell("Over quota", "a100").uncheck();
  for (const pool of ["h100", "default"]) await addPool(pool);
  await page.getByRole("button", { name: "default earlier" }).click();
  assert.ok(await page.locator(".order li span:nth-child(3)").evaluateAll(all => all.length === 2 && all.every(e => e.scrollWidth <= e.clientWidth)), "names are whole");
  await addRule("Training: idle GPUs", "30m");
  await addRule("Preemptible workspace: idle GPUs", "1h");
  await addRule("Non-preemptible workspace: idle GPUs", "2h");
  await addRule("Training: time limit", "1d12h");
  await addRule("Workspace: time limit", "8h");
  await addRule("Not stopped for the same project", "10m");
  await addRule("Not stopped for other projects", "0");
  await addRule("Fair among people");
  await addRule("Fair among people: half-life of past use", "3d");
  await addRule("Each person: GPUs at once", "64.5");
  await addRule("Each person: running workloads", "40");
  await addRule("Each person: GPUs waited for", "80");
  await addRule("Budget: GPU hours of the project", "50000.5");
  await addRule("Budget: GPU hours of each person", "20000");
  await addChoice("Budget: begins again each", "quarter");
  await addChoice("Budget: when it is used up", "refuse");
  assert.equal(await button("Rule").count(), 0, "each rule is there once");
  await addType("Trainings", "h100-sxm", "gb200");
  await addType("Workspaces", "a100-pcie");
  assert.deepEqual(await axe(page), []);
  await page.screenshot({ path: join(SHOTS, "project-new-filled-1440-light.png"), fullPage: true });
  await save("Create project", "vision");
  const made = await unit("project", "vision");
  assert.deepEqual([made.description, made.status.namespace, made.parent.name, made.defaultNodePools], ["Cameras", "vision-lab", "applied", ["default", "h100"]]);
  const { gpu, cpu, memory, rank } = inPool(made, "h100");
  assert.deepEqual([gpu, cpu.deserved, memory.deserved, memory.units, rank], [{ deserved: 2, limit: 6, overQuotaWeight: 3 }, 16000, 64000, "MB", "High"]);
  assert.deepEqual([inPool(made, "a100").gpu.limit, inPool(made, "default").gpu.limit], [0, null]);
  assert.deepEqual(made.schedulingRules, { trainingJobMaxIdleDurationSeconds: 1800, interactiveJobPreemptIdleDurationSeconds: 3600, interactiveJobMaxIdleDurationSeconds: 7200, trainingJobTimeLimitSeconds: 129600, interactiveJobTimeLimitSeconds: 28800, preemptMinRuntimeSeconds: 600, reclaimMinRuntimeSeconds: 0, fairAmongPeople: true, fairHalfLifeSeconds: 259200, maxGpusPerPerson: 64.5, maxWorkloadsPerPerson: 40, maxWaitingGpusPerPerson: 80, gpuHourBudget: 50000.5, gpuHourBudgetPerPerson: 20000, budgetPeriod: "quarter", budgetEnforcement: "refuse" });
  assert.deepEqual(made.nodeTypes, { training: ["h100-sxm", "gb200"], workspace: ["a100-pcie"] });
  await page.getByRole("tab", { name: "Rules", exact: true }).click();
  await page.waitForSelector("dd:has-text('default, h100')");
  assert.match(await page.innerText("#details"), /Trainings: node types\s+h100-sxm, gb200/);
});

test("the form of a project that exists shows what it has, and changes only what was changed", async () => {
  const before = await unit("project", "vision");
  await page.goto(`${server.url}/projects/${before.id}/edit`);
  await page.waitForSelector("#f-description");
  assert.deepEqual([await page.inputValue("#f-description"), await cell("Limit", "h100").inputValue(), await cell("CPU memory", "h100").inputValue(), await cell("Over quota", "a100").isChecked(), await page.getByLabel("Training: time limit", { exact: true }).inputValue()], ["Cameras", "6", "64G", false, "1d12h"]);
  assert.deepEqual(await page.locator(".order b").allInnerTexts(), ["default", "h100"]);
  await cell("Over quota", "h100").uncheck();
  await page.getByRole("button", { name: "Remove the rule “Training: time limit”" }).click();
  await page.getByRole("button", { name: "Remove gb200" }).click();
  assert.equal((await page.textContent(".submit-bar .muted")).trim(), "h100: may not exceed its quota; scheduling rules; node types");
  await save("Save", "vision");
  const after = await unit("project", "vision");
  assert.deepEqual(inPool(after, "h100").gpu, { deserved: 2, limit: 2, overQuotaWeight: 3 });
  assert.deepEqual([inPool(after, "h100").cpu.limit, after.schedulingRules.trainingJobTimeLimitSeconds, after.nodeTypes.training, after.defaultNodePools, after.description, after.status.namespace], [16000, undefined, ["h100-sxm"], ["default", "h100"], "Cameras", "vision-lab"]);
  await page.getByRole("link", { name: "Edit", exact: true }).click();
  await cell("Over quota", "h100").check();
  await save("Save", "vision");
  assert.deepEqual([inPool(await unit("project", "vision"), "h100").gpu.limit, inPool(await unit("project", "vision"), "h100").cpu.limit], [null, null]);
});

test("what can't be, is said in the row and at the rule", async () => {
  const { id } = await unit("project", "vision");
  await page.goto(`${server.url}/projects/${id}/edit`);
  await cell("Limit", "h100").fill("1");
  await cell("CPU memory", "a100").fill("much");
  await page.getByLabel("Workspace: time limit", { exact: true }).fill("soon");
  await button("Save").click();
  await page.waitForSelector(".quota-table [aria-invalid=true]");
  assert.deepEqual(await page.locator(".quota-table .said").allInnerTexts().then(t => t.map(x => x.trim())), ["The limit is at least the quota of 2.", "Memory is an amount such as 64G or 512Mi, or nothing for no bound."]);
  assert.match(await page.textContent(".rule .hint.bad"), /more than 0/);
  await becomes(await cell("Limit", "h100").getAttribute("id"), () => page.evaluate(() => document.activeElement.id));
  assert.deepEqual(await axe(page), []);
});

test("a quota over its department's and the pool's asks first, and says by how much and who gives back", async () => {
  const { id, clusterId } = await unit("project", "team-a");
  for (const name of ["b1", "b2"]) await send(page, "POST", "/api/v1/workloads/trainings", { name, projectId: id, clusterId, spec: { image: "x", nodePools: ["h100"], compute: { gpuDevicesRequest: 3 } } });
  await page.waitForFunction(async projectId => (await (await fetch(`/api/v1/org-unit/projects/${projectId}`)).json()).status.nodePoolQuotaStatuses.some(s => s.allocated?.gpu === 6), id);
  const vision = await unit("project", "vision");
  await page.goto(`${server.url}/projects/${vision.id}/edit`);
  await cell("GPUs", "h100").fill("20");
  await button("Save").click();
  await page.waitForSelector("dialog:has-text('Promise more than there is?')");
  const said = await page.innerText("dialog");
  assert.match(said, /h100: 20 GPUs of quota in all, and department applied has a quota of 4: 16 too many\./);
  assert.match(said, /h100: 20 GPUs of quota in all, and the pool has 8 GPUs: 12 too many\./);
  assert.match(said, /Others borrow 6 GPUs there and give them back when it asks: team-a 6\./);
  assert.deepEqual(await axe(page), []);
  await page.screenshot({ path: join(SHOTS, "project-asks-1440-light.png") });
  await button("Cancel").click();
  assert.equal(await cell("GPUs", "h100").inputValue(), "20");
  assert.equal(inPool(await unit("project", "vision"), "h100").gpu.deserved, 2, "nothing was sent");
  await button("Save").click();
  await button("Save anyway").click();
  await page.waitForSelector("#pane-title:has-text('vision')");
  assert.equal(inPool(await unit("project", "vision"), "h100").gpu.deserved, 20);
  await page.getByRole("link", { name: "Edit", exact: true }).click();
  await cell("GPUs", "h100").fill("2");
  await save("Save", "vision");
});

test("a department's quota below that of its projects asks first", async () => {
  const { id } = await unit("department", "applied");
  await page.goto(`${server.url}/departments/${id}/edit`);
  await cell("GPUs", "h100").fill("1");
  await button("Save").click();
  await page.waitForSelector("dialog:has-text('its projects have 2 GPUs of quota, 1 more than 1')");
  await button("Cancel").click();
  assert.equal(inPool(await unit("department", "applied"), "h100").gpu.deserved, 4);
});

test("who loses what is said before it is saved, in the question back too, and then happens", async () => {
  const { id, clusterId } = await unit("project", "vision");
  await send(page, "PATCH", `/api/v1/org-unit/projects/${id}/resources`, [{ nodePool: inPool(await unit("project", "vision"), "h100").nodePool, gpu: { deserved: 2, limit: 2 } }]);
  const { workloadId } = await send(page, "POST", "/api/v1/workloads/trainings", { name: "v1", projectId: id, clusterId, spec: { image: "x", nodePools: ["h100"], compute: { gpuDevicesRequest: 4 } } });
  const phase = of => ask(page, `/api/v1/workloads/${of}`).then(w => w.phase);
  await page.goto(`${server.url}/projects/${id}/edit`);
  const gpus = cell("GPUs", "h100"), verdict = page.locator("aside .verdict-box"), effects = page.locator("aside section:has(h3:text-is('h100')) .effects li");
  await gpus.focus();
  assert.equal(await verdict.count(), 0, "nothing is asked before anything is changed");
  await page.keyboard.press("Control+a");
  await page.keyboard.type("4");
  await verdict.getByText("Project team-a loses 3 GPUs: 1 workload gives way; project vision gains 4 GPUs: 1 workload starts.").waitFor();
  const [lost, gained] = await until("both sides of the effect", async () => {
    const texts = await effects.allInnerTexts();
    return texts.length === 2 && texts;
  });
  assert.match(lost.replace(/\s+/g, " "), /^team-a loses 3 GPUs: 1 workload gives way \(b[12]\)$/);
  assert.equal(gained, "vision gains 4 GPUs: 1 workload starts");
  assert.deepEqual(await axe(page), []);
  await page.screenshot({ path: join(SHOTS, "project-what-if-1440-light.png") });
  await gpus.fill("20");
  await button("Save").click();
  await page.waitForSelector("dialog:has-text('Promise more than there is?')");
  const said = await page.innerText("dialog");
  assert.match(said, /the pool has 8 GPUs: 12 too many\./);
  assert.match(said, /If it is saved now: Project team-a loses 3 GPUs: 1 workload gives way; project vision gains 4 GPUs: 1 workload starts\./);
  await page.screenshot({ path: join(SHOTS, "project-what-if-asks-1440-light.png") });
  await page.keyboard.press("Escape");
  await gpus.fill("4");
  await gpus.press("Enter");
  await page.waitForSelector("#pane-title:has-text('vision')");
  await becomes("Running", () => phase(workloadId), "it starts");
  await becomes("Pending", async () => {
    const { workloads } = await ask(page, "/api/v1/workloads?filterBy=projectName==team-a");
    return workloads.find(w => w.name === lost.match(/b[12]/)[0]).phase;
  });
});

test("the pane says what is used of a budget, and by whom; one that is used up says what waits", async () => {
  const { id } = await unit("project", "vision"), section = page.locator("#details section:has(h3:text-is('Budget'))");
  await page.goto(`${server.url}/projects?open=${id}`);
  await section.getByText(/of 50\u202f000\.5 GPU hours used for the quarter from \w+ \d{4}\.$/).waitFor();
  assert.deepEqual(await section.locator("th").allInnerTexts(), ["Person", "Holds", "GPU hours of 20\u202f000"]);
  assert.deepEqual(await axe(page), []);
  await page.getByRole("link", { name: "Edit", exact: true }).click();
  await page.getByLabel("Budget: GPU hours of the project", { exact: true }).fill("0");
  await page.getByLabel("Budget: begins again each", { exact: true }).selectOption("month");
  await page.getByRole("button", { name: "Remove the rule “Budget: GPU hours of each person”" }).click();
  await save("Save", "vision");
  await becomes(0, () => ask(page, `/api/v1/org-unit/projects/${id}/budget`).then(b => b.gpuHours));
  await page.reload();
  await section.getByText(/of 0 GPU hours used for \w+ \d{4}\.$/).waitFor();
  await section.getByText(/^Used up: work beyond the quota waits until 1 \w+ \(UTC\); new work that asks for GPUs is refused\.$/).waitFor();
  await section.screenshot({ path: join(SHOTS, "project-budget-1440-light.png") });
  await page.getByRole("link", { name: "Edit", exact: true }).click();
  for (const label of ["GPU hours of the project", "begins again each", "when it is used up"]) await page.getByRole("button", { name: `Remove the rule “Budget: ${label}”` }).click();
  await save("Save", "vision");
  await page.getByRole("heading", { name: "Why this share" }).waitFor();
  assert.equal(await section.count(), 0);
});

const find = async (path, key, name) => (await ask(page, path))[key].find(x => x.name === name);
test("a node pool that selects nothing says so, and a node is labelled for it; undo takes it back", async () => {
  await page.goto(server.url + "/nodepools/new");
  await page.fill("#f-name", "fast");
  await page.fill("#f-labelValue", "fast");
  await save("Create node pool", "fast");
  await page.waitForSelector(".empty:has-text('prorata.io/node-pool=fast')");
  await page.waitForSelector("#f-node option:has-text('gpu-h-0 · h100 · 4 × H100')", { state: "attached" });
  assert.deepEqual(await axe(page), []);
  await page.screenshot({ path: join(SHOTS, "nodepool-empty-1440-light.png") });
  const name = (await ask(page, "/api/v1/nodes")).nodes.find(n => n.nodePool === "h100").name;
  await page.selectOption("#f-node", name);
  await button("Label the node").click();
  await page.waitForSelector(`.toast:has-text("${name} is in fast now.")`);
  assert.equal((await find("/api/v1/nodes", "nodes", name)).nodePool, "fast");
  await page.waitForFunction(() => !document.querySelector("#details .empty"));
  await page.locator(".toast").getByRole("button", { name: "Undo" }).click();
  await page.waitForSelector(".empty:has-text('prorata.io/node-pool=fast')");
  assert.equal((await find("/api/v1/nodes", "nodes", name)).nodePool, "h100");
});

test("labels of a node are changed in its pane, and its pool follows", async () => {
  await page.goto(`${server.url}/nodes?open=cpu&tab=facts`);
  const field = page.getByLabel("Labels", { exact: true }).and(page.locator("input"));
  await field.fill("prorata.io/node-pool=fast");
  await field.press("Enter");
  await page.waitForSelector(".toast:has-text('cpu is in fast now.')");
  await page.waitForSelector(".chip:has-text('prorata.io/node-pool=fast')");
  assert.deepEqual(await axe(page), []);
  await field.fill("not a key!=x");
  await field.press("Enter");
  await page.waitForSelector(".toast:has-text('label')");
  await page.getByRole("button", { name: "Remove prorata.io/node-pool=fast" }).click();
  await page.waitForSelector(".toast:has-text('cpu is in default now.')");
  assert.equal((await find("/api/v1/nodes", "nodes", "cpu")).prorata.labels["prorata.io/node-pool"], undefined);
});

test("a node is cordoned, drained and opened again in its pane", async () => {
  await page.goto(`${server.url}/nodes?open=cpu`);
  const part = page.locator("#details > header"),
    press = name => part.getByRole("button", { name, exact: true }).click();
  await press("Cordon");
  await part.getByRole("button", { name: "Cordon", exact: true, disabled: true }).waitFor();
  await part.getByLabel("Reason").fill("a loud fan");
  await press("Cordon");
  await part.getByText("Cordoned by").waitFor();
  assert.deepEqual(await axe(page), []);
  await page.waitForSelector("tbody .small:has-text('cordoned: a loud fan')");
  await press("Drain");
  await page.getByRole("dialog").getByRole("button", { name: "Drain" }).click();
  await part.getByText("What may be preempted leaves it.").waitFor();
  await press("Drain the rest");
  await page.getByRole("dialog").getByRole("button", { name: "Drain" }).click();
  await part.getByText("Everything leaves it.").waitFor();
  await press("Uncordon");
  await part.getByRole("button", { name: "Cordon", exact: true }).waitFor();
  assert.equal((await find("/api/v1/nodes", "nodes", "cpu")).prorata.cordon, null);
});

test("a node pool gets a topology, made in its form; one that is off says why", async () => {
  const { id } = await find("/api/v1/node-pools", "nodepools", "h100");
  await page.goto(`${server.url}/nodepools/${id}/edit`);
  await page.selectOption("#f-topology", { label: "New…" });
  await button("Save").click();
  await page.waitForSelector("#f-topologyName[aria-invalid=true]");
  assert.match(await page.innerText("#f-levels-hint"), /At least one label that nodes have/);
  await page.fill("#f-topologyName", "racks");
  await addType("Levels", "example.com/rack", "kubernetes.io/hostname");
  assert.deepEqual(await axe(page), []);
  await save("Save", "h100");
  const pool = await find("/api/v1/node-pools", "nodepools", "h100");
  assert.equal(pool.networkTopologyName, "racks");
  const { levels } = await find("/api/v1/network-topologies", "networkTopologies", "racks");
  assert.deepEqual(levels, ["example.com/rack", "kubernetes.io/hostname"]);
  await page.getByRole("tab", { name: "Rules", exact: true }).click();
  await page.waitForSelector("dd:has-text('Topology racks is off in h100')");
  await page.getByRole("link", { name: "Edit", exact: true }).click();
  await page.waitForSelector("#f-topology option:has-text('racks (off)')", { state: "attached" });
  await page.selectOption("#f-topology", { label: "None" });
  await save("Save", "h100");
  assert.equal((await find("/api/v1/node-pools", "nodepools", "h100")).networkTopologyId ?? null, null);
});

// The element is reached by Tab alone.
async function tabTo(element) {
  for (let n = 0; n < 200 && !(await element.evaluate(e => e === document.activeElement)); n++) await page.keyboard.press("Tab");
  assert.ok(await element.evaluate(e => e === document.activeElement));
}

test("minimum run times are taken back to what the department and the node pool say, by keys; one too long is refused at its rule", async () => {
  const { id, parentId } = await unit("project", "vision"), above = await unit("department", "applied"),
    pool = await find("/api/v1/node-pools", "nodepools", "h100");
  await send(page, "PUT", `/api/v1/org-unit/departments/${parentId}`, { ...above, schedulingRules: { ...above.schedulingRules, preemptMinRuntimeSeconds: 3600 } });
  await send(page, "PATCH", `/api/v1/node-pools/${pool.id}`, { schedulingConfiguration: { minGuaranteedRuntime: "30m" } });
  await page.goto(`${server.url}/projects/${id}/edit`);
  for (const label of ["Not stopped for the same project", "Not stopped for other projects"]) {
    await tabTo(page.getByRole("button", { name: `Remove the rule “${label}”` }));
    await page.keyboard.press("Enter");
  }
  await page.waitForSelector("form .hint:has-text('Inherited until it is said here: Not stopped for the same project: for 1 h after its start (department); Not stopped for other projects: 30 min in h100 (node pool).')");
  await page.focus("#f-description");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#pane-title:has-text('vision')");
  const { schedulingRules: own, effective } = await unit("project", "vision");
  assert.deepEqual([own.preemptMinRuntimeSeconds, own.reclaimMinRuntimeSeconds, effective.schedulingRules.preemptMinRuntimeSeconds, effective.schedulingRules.reclaimMinRuntimeSeconds], [undefined, undefined, 3600, undefined]);
  await page.getByRole("tab", { name: "Rules", exact: true }).click();
  await page.waitForSelector("dd:has-text('for 1 h after its start, as its department says')");
  await page.waitForSelector("dd:has-text('30 min in h100, as the node pool says')");
  await page.getByRole("link", { name: "Edit", exact: true }).click();
  await addRule("Not stopped for other projects", "40000d");
  await button("Save").click();
  await page.waitForSelector(".rule .hint.bad:has-text('3153600000')");
  await page.getByLabel("Not stopped for other projects", { exact: true }).fill("0");
  await save("Save", "vision");
  assert.equal((await unit("project", "vision")).schedulingRules.reclaimMinRuntimeSeconds, 0);
});

test("a node pool's placement, fairness, room for gangs and NVLink are what the form says, and go back", async () => {
  const before = await find("/api/v1/node-pools", "nodepools", "a100");
  await page.goto(`${server.url}/nodepools/${before.id}/edit`);
  await page.selectOption("#f-gpu", "fragmentation");
  await page.selectOption("#f-cpu", "spread");
  await page.fill("#f-guaranteed", "1h30m");
  await page.selectOption("#f-pastUse", "tumbling");
  for (const [field, text] of [["window", "14d"], ["halfLife", "12h"], ["weight", "2.5"], ["begin", "2026-01-05"]]) await page.fill(`#f-${field}`, text);
  await page.uncheck("#f-byRank");
  await page.check("#f-reservation");
  await page.selectOption("#f-nvlink", "DontUse");
  await page.fill("#f-clique", "example.com/clique");
  assert.deepEqual(await axe(page), []);
  await page.screenshot({ path: join(SHOTS, "nodepool-rules-1440-light.png"), fullPage: true });
  await save("Save", "a100");
  const after = await find("/api/v1/node-pools", "nodepools", "a100");
  assert.deepEqual(after.schedulingConfiguration, { placementStrategy: { gpu: "fragmentation", cpu: "spread" }, minGuaranteedRuntime: "1h30m", reservation: true, reclaimByRank: false, timeBasedFairShare: { enabled: true, historicalUsageWeight: 2.5, decayHalfLife: "12h", windowType: "tumbling", windowDuration: "14d", tumblingWindowStartTime: "2026-01-05T00:00:00Z" } });
  assert.deepEqual([after.gpuNetworkAccelerationDetection, after.gpuNetworkAccelerationLabelKey], ["DontUse", "example.com/clique"]);
  await page.getByRole("tab", { name: "Rules", exact: true }).click();
  await page.waitForSelector("dd:has-text('counts with weight 2.5')");
  for (const said of ["1 h 30 min", "nobody takes from within a quota", "free GPUs are kept for it"]) assert.ok(await page.locator("dd", { hasText: said }).count(), said);
  await page.getByRole("link", { name: "Edit", exact: true }).click();
  await page.fill("#f-guaranteed", "999999999999999999w");
  await button("Save").click();
  await page.waitForSelector("#f-guaranteed[aria-invalid=true]");
  await page.fill("#f-guaranteed", "0");
  await page.selectOption("#f-gpu", "binpack");
  await page.selectOption("#f-cpu", "binpack");
  await page.selectOption("#f-pastUse", "off");
  await page.check("#f-byRank");
  await page.uncheck("#f-reservation");
  await page.selectOption("#f-nvlink", "Auto");
  await page.fill("#f-clique", "");
  await save("Save", "a100");
  const { schedulingConfiguration: { timeBasedFairShare: past, ...rules }, ...pool } = await find("/api/v1/node-pools", "nodepools", "a100");
  assert.deepEqual([rules, past.enabled, pool.gpuNetworkAccelerationDetection, pool.gpuNetworkAccelerationLabelKey], [before.schedulingConfiguration, false, "Auto", "nvidia.com/gpu.clique"]);
});

test("a column whose setting is off is absent, and what it holds stays", async () => {
  const before = await unit("project", "vision");
  for (const key of ["cpuQuota", "overQuotaWeight"]) await send(page, "PUT", "/v1/k8s/setting", { key, value: false });
  await page.goto(`${server.url}/projects/${before.id}/edit`);
  await page.waitForSelector(".quota-table");
  assert.deepEqual(await page.locator(".quota-table thead th").evaluateAll(list => list.map(th => th.firstChild.textContent)), ["Node pool", "GPUs", "Over quota", "Limit", "Rank"]);
  await page.fill("#f-description", "With fewer columns");
  await save("Save", "vision");
  assert.deepEqual((await unit("project", "vision")).resources, before.resources);
  for (const key of ["cpuQuota", "overQuotaWeight"]) await send(page, "PUT", "/v1/k8s/setting", { key, value: true });
});

test("who manages one project, and may read neither departments nor nodes, has its form", async () => {
  const email = "lead@lab.example", { id } = await unit("project", "vision");
  const user = await send(page, "POST", "/api/v1/users", { email });
  const roles = await ask(page, "/api/v1/authorization/roles");
  await send(page, "POST", "/api/v1/authorization/access-rules", { subjectId: email, subjectType: "user", roleId: roles.find(r => r.name === "Project administrator").id, scopeId: id, scopeType: "project" });
  const his = await open(browser, server.url);
  await his.page.goto(server.url + "/sign-in");
  await send(his.page, "POST", "/api/v1/session", { username: email, password: user.tempPassword });
  await send(his.page, "POST", "/api/v1/me/password", { currentPassword: user.tempPassword, newPassword: "a much longer one" });
  await send(his.page, "POST", "/api/v1/session", { username: email, password: "a much longer one" });
  await his.page.goto(`${server.url}/projects/${id}/edit`);
  await his.page.getByText("The administrators of its department set these.").waitFor();
  assert.ok(await his.page.locator(".quota-table input, .quota-table select").evaluateAll(all => all.length > 0 && all.every(e => e.matches(":disabled"))));
  await his.page.fill("#f-description", "Said by its lead");
  await his.page.getByRole("button", { name: "Save", exact: true }).click();
  await his.page.waitForSelector("#pane-title:has-text('vision')");
  assert.equal((await unit("project", "vision")).description, "Said by its lead");
  await his.context.close();
});
