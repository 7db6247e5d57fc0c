// The public quick starts lived through by mouse on a real server, without ever reloading the page: over quota and reclaim,
// and the preemption exercise as one pod and as a gang. What is asserted is what a person reads on the screen.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { ROOT, axe, becomes, launch, open, until } from "../browser.mjs";
import { ask, signIn, startServer } from "../real_server.mjs";
import { rowOf, status, submitByMouse } from "../walk.mjs";

const SHOTS = join(ROOT, "artifacts/screenshots");

let browser;
before(async () => {
  mkdirSync(SHOTS, { recursive: true });
  browser = await launch();
});
after(() => browser?.close());

// A server and a signed-in page of the test's own, gone with it.
async function begin(t, ...options) {
  const server = await startServer(...options);
  const { page, troubles, context } = await open(browser, server.url);
  t.after(async () => {
    await context.close();
    await server.stop();
  });
  await signIn(page, server.url);
  return { page, troubles };
}

const shoot = (page, name) => page.screenshot({ path: join(SHOTS, `${name}.png`) });
const menu = (page, name) => page.locator("a.nav").filter({ hasText: name }).click();
const tab = (page, name) => page.getByRole("tab", { name, exact: true }).click();

// Opens a workload's details by its row, and waits for them.
async function openRow(page, name) {
  await rowOf(page, name).locator("td.first a").click();
  await page.waitForSelector(`#pane-title:has-text("${name}")`);
}

async function deleteOpen(page, name) {
  await page.locator("#details .acts").getByRole("button", { name: "Delete" }).click();
  await page.waitForSelector(`dialog:has-text("Delete ${name}?")`);
  await page.locator("dialog").getByRole("button", { name: "Delete", exact: true }).click();
  await page.waitForSelector(`.toast:has-text("Deleted ${name}.")`);
}

// A row of "Who uses what" once it says so.
const share = (page, project, text) => page.waitForFunction(([name, wanted]) => [...document.querySelectorAll(".q-row")].some(row => row.querySelector(".name").innerText.trim() === name && row.innerText.replace(/\s+/g, " ").includes(wanted)), [project, text]);
const events = page => page.waitForSelector("#details .ev li").then(() => page.locator("#details .ev").innerText());
const tells = (page, text) => page.locator("#details .ev", { hasText: text }).waitFor();

test("over quota and reclaim: a1 yields to b2, says why, and comes back when a2 goes", async t => {
  const { page, troubles } = await begin(t);
  await page.evaluate(() => (window.sameDocument = true));

  await submitByMouse(page, { name: "a1", project: "team-a", size: "one-gpu" });
  await status(page, "a1", "Running");
  await submitByMouse(page, { name: "a2", project: "team-a", size: "two-gpus" });
  await submitByMouse(page, { name: "b1", project: "team-b", size: "one-gpu" });
  for (const name of ["a1", "a2", "b1"]) await status(page, name, "Running");
  await shoot(page, "quick-start-all-run");

  await menu(page, "Overview");
  await share(page, "team-a", "3 / 2 1 borrowed");
  await share(page, "team-b", "1 / 2 1 unused");
  await page.waitForSelector(".stat:has-text('GPUs allocated'):has-text('100')");
  await shoot(page, "quick-start-over-quota");

  await submitByMouse(page, { name: "b2", project: "team-b", size: "one-gpu" });
  await status(page, "b2", "Running");
  await status(page, "a1", "Pending");
  for (const name of ["a2", "b1"]) await status(page, name, "Running");

  await openRow(page, "a1");
  const why = page.locator(".because");
  await why.locator(".one", { hasText: /^Needs 1 GPU in default; 0 of its 4 GPUs are free/ }).waitFor();
  await why.locator(".two", { hasText: /team-a.*\b2\b/ }).waitFor();
  assert.equal(await page.getByRole("tab", { selected: true }).innerText(), "Why pending");
  await page.locator(".solo svg[aria-label^='team-a · 2 held = 2 in quota + 0 over · 1 more wanted · quota 2']").waitFor();
  await page.locator("#details .facts", { hasText: /Held \/ quota\s*2 \/ 2, fair share 2/ }).first().waitFor();
  assert.deepEqual(await axe(page), []);
  await shoot(page, "quick-start-why");
  await tab(page, "Events");
  await tells(page, /yields to (workload )?b2 of project team-b/i);
  await shoot(page, "quick-start-events");
  await page.keyboard.press("Escape");

  await menu(page, "Overview");
  await share(page, "team-a", "2 / 2 1 more wanted");
  await share(page, "team-b", "2 / 2");
  await page.waitForSelector(".wait li:has-text('a1'):has-text('Needs 1 GPU in default')");
  await shoot(page, "quick-start-reclaimed");

  await menu(page, "Workloads");
  await openRow(page, "a2");
  await tab(page, "Events");
  assert.doesNotMatch(await events(page), /yields/i);
  await deleteOpen(page, "a2");
  await status(page, "a1", "Running");
  for (const name of ["b1", "b2"]) await status(page, name, "Running");
  await shoot(page, "quick-start-back");

  assert.equal(await page.evaluate(() => window.sameDocument), true, "the page was never loaded anew");
  assert.deepEqual([troubles.foreign, troubles.violations], [[], []]);
});

for (const [title, training, pods, why] of [
  ["one pod", { name: "large-training-job", kind: "training", gpus: 8 }, 1, "Needs 8 GPUs"],
  ["a gang of 8", { name: "large-gang", kind: "distributed", gpus: 1, workers: 7 }, 8, "Needs 8 pods of 1 GPU in default; 7 found a place"],
]) test(`the preemption exercise with ${title}: it stops whole, and resumes by itself`, async t => {
  const { page, troubles } = await begin(t, "--scenario", "preemption");
  const { name } = training;
  await submitByMouse(page, { ...training, project: "project-a" });
  await status(page, name, "Running");
  await submitByMouse(page, { name: "jupyter", project: "project-b", kind: "workspace", size: "one-gpu" });
  await status(page, "jupyter", "Running");
  await status(page, name, "Pending");

  await openRow(page, name);
  await page.waitForSelector(`.because .one:has-text("${why}")`);
  await shoot(page, `preemption-${pods}-why`);
  await tab(page, "Pods");
  await page.waitForSelector("#details tbody tr");
  await becomes([], () => page.locator("#details tbody tr").evaluateAll(rows => rows.map(r => r.cells[1].textContent).filter(s => s === "Running")), "the gang stops whole");
  await tab(page, "Events");
  await tells(page, /yields to (workload )?jupyter of project project-b/i);
  await shoot(page, `preemption-${pods}-events`);

  await openRow(page, "jupyter");
  await deleteOpen(page, "jupyter");
  await status(page, name, "Running");
  await openRow(page, name);
  await tab(page, "Pods");
  await page.waitForFunction(n => [...document.querySelectorAll("#details tbody tr")].filter(r => r.cells[1].textContent === "Running").length === n, pods);
  assert.deepEqual([troubles.foreign, troubles.violations], [[], []]);
});

// A node of 8 GPUs with a label of its own, beside two small ones.
const EXERCISE = `nodes:
- {name: small, count: 2, gpus: 2, cpuCores: 16, memoryBytes: 64Gi}
- {name: large, gpus: 8, cpuCores: 64, memoryBytes: 256Gi, labels: {exercise: preemption}}
`;

test("the preemption exercise from its first line: a pool, two projects with quota in it, and no pool named again", async t => {
  const folder = mkdtempSync(join(tmpdir(), "prorata-exercise-"));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "cluster.yaml"), EXERCISE);
  const { page, troubles } = await begin(t, "--cluster", join(folder, "cluster.yaml"));
  const button = name => page.getByRole("button", { name, exact: true });
  const quotas = async (kind, name) => {
    const found = (await ask(page, `/api/v1/org-unit/${kind}?filterBy=name==${name}`))[kind][0];
    return found.resources.find(r => r.nodePool.name === "single-node-pool").gpu.deserved;
  };

  await menu(page, "Node pools");
  await page.getByRole("link", { name: "New node pool" }).click();
  for (const [name, value] of Object.entries({ name: "single-node-pool", labelKey: "exercise", labelValue: "preemption" })) await page.fill(`#f-${name}`, value);
  await button("Create node pool").click();
  await page.waitForSelector("#pane-title:has-text('single-node-pool')");
  const create = async name => {
    await menu(page, "Projects");
    await page.getByRole("link", { name: "New project" }).click();
    await page.fill("#f-name", name);
    await page.selectOption("#f-parent", { label: "default" });
    await page.fill("#f-description", "for the preemption demo");
    await page.getByLabel("GPUs in single-node-pool", { exact: true }).fill("4");
    await button("Create project").click();
  };

  await create("project-a");
  await page.waitForSelector("dialog:has-text(\"Raise the department's quota too?\")");
  const said = await page.innerText("dialog");
  assert.match(said, /single-node-pool: 4 GPUs of quota in all, and department default has a quota of 0: 4 too many\./);
  assert.match(said, /Non-preemptible work, such as a workspace, must fit the department's quota too: with 0 in single-node-pool it never starts there\./);
  assert.deepEqual(await axe(page), []);
  await shoot(page, "exercise-raise");
  await button("Raise it and create").click();
  await page.waitForSelector("#pane-title:has-text('project-a')");
  assert.deepEqual([await quotas("projects", "project-a"), await quotas("departments", "default")], [4, 4]);
  await create("project-b");
  await button("Raise it and create").click();
  await page.waitForSelector("#pane-title:has-text('project-b')");
  assert.deepEqual([await quotas("projects", "project-b"), await quotas("departments", "default")], [4, 8]);

  await menu(page, "Workloads");
  await submitByMouse(page, { name: "large-training-job", project: "project-a", gpus: 8 });
  await status(page, "large-training-job", "Running");
  await menu(page, "Overview");
  await share(page, "project-a", "8 / 4 4 borrowed");
  await submitByMouse(page, { name: "jupyter-workspace", project: "project-b", kind: "workspace", gpus: 4 });
  await status(page, "jupyter-workspace", "Running");
  await status(page, "large-training-job", "Pending");
  await openRow(page, "large-training-job");
  await tab(page, "Events");
  await tells(page, /yields to (workload )?jupyter-workspace of project project-b/i);
  await menu(page, "Analytics");
  await page.locator("main", { hasText: "project-b" }).waitFor();
  await menu(page, "Workloads");
  await openRow(page, "jupyter-workspace");
  await deleteOpen(page, "jupyter-workspace");
  await status(page, "large-training-job", "Running");
  await menu(page, "Overview");
  await share(page, "project-a", "8 / 4 4 borrowed");
  assert.deepEqual([troubles.foreign, troubles.violations], [[], []]);
});

test("a single job is moved to make room for one of two GPUs", async t => {
  const { page } = await begin(t);
  for (const [name, project] of [["c1", "team-a"], ["c2", "team-a"], ["c3", "team-b"]]) {
    await submitByMouse(page, { name, project, size: "one-gpu" });
    await status(page, name, "Running");
  }
  await openRow(page, "c1");
  await deleteOpen(page, "c1");
  await submitByMouse(page, { name: "big", project: "team-b", size: "two-gpus" });
  for (const name of ["big", "c2", "c3"]) await status(page, name, "Running");
  const moved = async name => {
    await openRow(page, name);
    await tab(page, "Events");
    return /moves to .* for big of project team-b/i.test(await events(page));
  };
  await until("c2 or c3 moves", async () => await moved("c2") || moved("c3"));
  await shoot(page, "consolidation-events");
});

// The quotas are one GPU each: set by the page's own call, for the form has tests of its own (manage.test.mjs).
const lowerQuota = (page, name) => page.evaluate(async project => {
  const headers = { "Content-Type": "application/json", "X-Prorata-Request": "1" };
  const { projects: [unit] } = await (await fetch(`/api/v1/org-unit/projects?filterBy=name==${project}`)).json();
  unit.resources[0].gpu.deserved = 1;
  return (await fetch(`/api/v1/org-unit/projects/${unit.id}/resources`, { method: "PATCH", headers, body: JSON.stringify(unit.resources) })).status;
}, name);

test("four borrowed GPUs are shared two and two when the other project asks", async t => {
  const { page } = await begin(t);
  for (const project of ["team-a", "team-b"]) assert.equal(await lowerQuota(page, project), 200);
  for (const name of ["a1", "a2", "a3", "a4"]) {
    await submitByMouse(page, { name, project: "team-a", size: "one-gpu" });
    await status(page, name, "Running");
  }
  for (const name of ["b1", "b2", "b3", "b4"]) await submitByMouse(page, { name, project: "team-b", size: "one-gpu" });
  await menu(page, "Overview");
  await share(page, "team-a", "2 / 1 1 borrowed");
  await share(page, "team-b", "2 / 1 1 borrowed");
  await shoot(page, "two-and-two");
});
