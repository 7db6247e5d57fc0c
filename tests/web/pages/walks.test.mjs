// The published documents lived through by those who do it, twice: by mouse, and by keyboard alone. Researchers submit, the
// administrator of a department cares for its projects, a viewer looks, the administrator does all. Each step is a row: its
// words, who does it, and what he does; who may not do it is told which right it takes. At the end nobody has met a refusal
// that he did not ask for. quick_starts.test.mjs has the decisions in detail.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { launch, open } from "../browser.mjs";
import { keyboard, mouse, signInAs, signInByKeys } from "../hands.mjs";
import { ask, send, startServer } from "../real_server.mjs";
import { IMAGE, rowOf, status } from "../walk.mjs";

const VERBS = { training: "Create training", workspace: "Create workspace" };
const CAST = { ana: ["L1 researcher", "project", 0], ben: ["L1 researcher", "project", 1], vera: ["Viewer", "department", 0], dora: ["Department administrator", "department", 0] };
const ALL = ["admin", "dora", "ana", "vera"];

let browser;
before(async () => { browser = await launch(); });
after(() => browser?.close());

const field = (hand, name) => hand.page.locator(`[id="f-${name}"]`);
const button = (hand, name, within = hand.page) => within.getByRole("button", { name, exact: true }).first();
const link = (hand, name, within = hand.page) => within.getByRole("link", { name, exact: true }).first();
const dialog = hand => hand.page.locator("dialog[open]");
const toast = (hand, text) => hand.page.waitForSelector(`.toast:has-text("${text}")`);
const titled = (hand, name) => hand.page.waitForSelector(`#pane-title:has-text("${name}")`);
const pane = hand => hand.page.locator("#details");
const share = (hand, project, text) => hand.page.waitForFunction(([name, wanted]) => [...document.querySelectorAll(".q-row")].some(row => row.querySelector(".name").innerText.trim() === name && row.innerText.replace(/\s+/g, " ").includes(wanted)), [project, text]);

// New workload from any page. A researcher's own project is chosen for him.
async function submit(hand, { name, kind = "training", project, gpus }) {
  await hand.newWorkload();
  await field(hand, "name").waitFor();
  if (kind !== "training") {
    await hand.press(button(hand, "Workspace", hand.page.getByRole("group", { name: "Kind" })));
    await button(hand, VERBS[kind]).waitFor();
  }
  if (project) await hand.choose(field(hand, "project"), project);
  await hand.type(field(hand, "name"), name);
  await hand.type(field(hand, "image"), IMAGE);
  await hand.type(field(hand, "gpus"), String(gpus));
  await hand.press(button(hand, VERBS[kind]));
  await titled(hand, name);
}

async function openRow(hand, name, list) {
  if (list) await hand.menu(list);
  await hand.press(rowOf(hand.page, name).locator("td.first a"));
  await titled(hand, name);
}

async function remove(hand, name) {
  await hand.press(button(hand, "Delete", pane(hand)));
  await hand.press(button(hand, "Delete", dialog(hand)));
  await toast(hand, `Deleted ${name}.`);
}

async function tells(hand, tab, text) {
  await hand.tab(tab);
  await pane(hand).filter({ hasText: text }).waitFor();
}

// A button that can't be used says which right is missing.
async function off(hand, at, right) {
  assert.equal(await at.getAttribute("aria-disabled"), "true");
  assert.equal(await hand.tipOf(at), `Your roles don't allow it: ${right} is missing.`);
}
// [page, the button there, the right that its tip names]; where there is none, the page does not stand in the sidebar.
const refused = steps => async hand => {
  for (const [page, name, right] of steps) {
    if (!name) {
      assert.equal(await hand.page.locator("a.nav").filter({ hasText: new RegExp(`^${page}`) }).count(), 0, page);
      continue;
    }
    await hand.menu(page);
    await hand.page.waitForSelector(`h1:text-is("${page}")`);
    await off(hand, button(hand, name), right);
  }
};
const offered = (...pages) => refused(pages.map(page => [page]));

const QUICK_START = [
  ["team-a submits a1 with 1 GPU and a2 with 2, and borrows one", "ana", async hand => {
    await submit(hand, { name: "a1", gpus: 1 });
    await submit(hand, { name: "a2", gpus: 2 });
    for (const name of ["a1", "a2"]) await status(hand.page, name, "Running");
  }],
  ["team-b submits b1, and sees no work of team-a", "ben", async hand => {
    await submit(hand, { name: "b1", gpus: 1 });
    await status(hand.page, "b1", "Running");
    assert.equal(await rowOf(hand.page, "a1").count(), 0);
  }],
  ["who may look reads that team-a is over its quota", ["admin", "dora", "vera"], async hand => {
    await hand.menu("Overview");
    await share(hand, "team-a", "3 / 2 1 borrowed");
  }],
  ["team-b submits b2, which runs", "ben", async hand => {
    await submit(hand, { name: "b2", gpus: 1 });
    await status(hand.page, "b2", "Running");
  }],
  ["a1 waits, and everybody who sees it reads why, and whom it gave way to", ALL, async hand => {
    await openRow(hand, "a1", "Workloads");
    await hand.page.waitForSelector(".because .one:has-text('Needs 1 GPU in default')");
    await tells(hand, "Events", /yields to/i);
  }],
  ["who does not submit is told so", ["dora", "vera"], async hand => {
    await off(hand, button(hand, "New workload"), "create workloads");
    for (const [name, right] of [["Stop", "update"], ["Make a copy", "create"], ["Delete", "delete"]]) await off(hand, button(hand, name, pane(hand)), `${right} workloads`);
  }],
  ["the researcher stops a1, runs it again, and makes a copy of it", "ana", async hand => {
    await hand.press(button(hand, "Stop", pane(hand)));
    await status(hand.page, "a1", "Stopped");
    await hand.press(button(hand, "Run", pane(hand)));
    await status(hand.page, "a1", "Pending");
    await hand.press(link(hand, "Make a copy", pane(hand)));
    await field(hand, "name").waitFor();
    await hand.press(button(hand, VERBS.training));
    await titled(hand, "a1-copy");
    await remove(hand, "a1-copy");
  }],
  ["the administrator ends a2, and a1 comes back by itself", "admin", async hand => {
    await openRow(hand, "a2");
    await remove(hand, "a2");
    await status(hand.page, "a1", "Running");
  }],
  ["the administrator does the same in the order a2, a1, b1, b2", "admin", async hand => {
    for (const name of ["a1", "b1", "b2"]) {
      await openRow(hand, name);
      await remove(hand, name);
    }
    for (const [name, project, gpus] of [["c2", "team-a", 2], ["c1", "team-a", 1], ["d1", "team-b", 1], ["d2", "team-b", 1]]) {
      await submit(hand, { name, project, gpus });
      await status(hand.page, name, "Running");
    }
    await status(hand.page, "c1", "Pending");
  }],
];

const addRule = async (hand, label, value) => {
  await hand.pick(button(hand, "Rule"), label);
  await hand.type(hand.page.getByLabel(label, { exact: true }), value);
};
const PROJECTS = [
  ["the administrator makes a node pool, and labels a node for it", "admin", async hand => {
    await hand.menu("Node pools");
    await hand.press(link(hand, "New node pool"));
    for (const [name, value] of Object.entries({ name: "dgx", labelKey: "node-model", labelValue: "dgx-2" })) await hand.type(field(hand, name), value);
    await hand.press(button(hand, "Create node pool"));
    await titled(hand, "dgx");
    await hand.choose(field(hand, "node"), "node-1 · default · 2 × NVIDIA-H100-80GB");
    await hand.press(button(hand, "Label the node"));
    await toast(hand, "node-1 is in dgx now.");
  }],
  ["a new project: department, name, namespace, quotas, order of pools, scheduling rules, node types", "admin", async hand => {
    await hand.menu("Projects");
    await hand.press(link(hand, "New project"));
    await hand.type(field(hand, "name"), "vision");
    await hand.choose(field(hand, "parent"), "research");
    await hand.type(field(hand, "namespace"), "vision-lab");
    await hand.type(hand.page.getByLabel("GPUs in dgx", { exact: true }), "1");
    await hand.pick(button(hand, "Node pool"), "dgx");
    await addRule(hand, "Training: time limit", "1d");
    await hand.add(hand.page.getByLabel("Trainings", { exact: true }), "dgx-2");
    await hand.press(button(hand, "Remove dgx-2")); // what was added can go: no node has it
    await hand.press(button(hand, "Create project"));
    const anyway = button(hand, "Create anyway");
    await anyway.or(hand.page.locator("#pane-title")).first().waitFor();
    if (await anyway.count()) await hand.press(anyway); // its department has no more
    await titled(hand, "vision");
    const { projects: [made] } = await ask(hand.page, "/api/v1/org-unit/projects?filterBy=name==vision");
    assert.deepEqual([made.parent.name, made.defaultNodePools, made.schedulingRules, made.resources.find(r => r.nodePool.name === "dgx").gpu.deserved], ["research", ["dgx"], { trainingJobTimeLimitSeconds: 86400 }, 1]);
  }],
  ["a department's administrator adds a rule to it", "dora", async hand => {
    await openRow(hand, "vision", "Projects");
    await hand.press(link(hand, "Edit", pane(hand)));
    await addRule(hand, "Workspace: time limit", "8h");
    await hand.press(button(hand, "Save"));
    await toast(hand, "Saved vision.");
  }],
  ["Access rules, + Access rule: she gives a researcher a role in it", "dora", async (hand, { ana }) => {
    await hand.press(link(hand, "Access rules", pane(hand)));
    await hand.page.waitForSelector("h1:text-is('Access rules')");
    await hand.press(link(hand, "New access rule"));
    await dialog(hand).filter({ hasText: "Project vision" }).waitFor();
    await hand.choose(field(hand, "role"), "L1 researcher");
    await hand.add(field(hand, "subjects"), ana);
    await hand.press(button(hand, "Make the rule", dialog(hand)));
    await toast(hand, "Made 1 access rule.");
    await hand.page.locator("tbody tr").filter({ hasText: ana }).filter({ hasText: "Project vision" }).waitFor();
  }],
  ["a policy for trainings holds there", "admin", async (hand, { research }) => {
    await send(hand.page, "PUT", "/api/v2/policy/trainings", { meta: { name: "house", scope: "department", departmentId: research }, policy: { rules: { compute: { gpuDevicesRequest: { max: 4 } } } } });
  }],
  ["View policy: parameter, rule, default, source", ALL, async hand => {
    await hand.page.reload(); // the researcher's new role
    await hand.page.waitForSelector("nav.side");
    await openRow(hand, "vision", "Projects");
    await tells(hand, "Rules", "1 d");
    await hand.press(button(hand, "View policy"));
    await dialog(hand).getByRole("row").filter({ hasText: "gpuDevicesRequest" }).filter({ hasText: "at most 4" }).waitFor();
    await hand.leave();
    await dialog(hand).waitFor({ state: "detached" });
  }],
  ["Columns, More: the shown columns as a CSV file", ALL, async hand => {
    await hand.press(button(hand, "Columns"));
    await hand.check(hand.page.getByRole("checkbox", { name: "Namespace" }));
    await hand.page.keyboard.press("Escape");
    const [file] = await Promise.all([hand.page.waitForEvent("download"), hand.pick(button(hand, "More for this table"), "Download as CSV")]);
    const lines = (await readFile(await file.path(), "utf8")).trim().split("\r\n");
    assert.match(lines[0], /^Project,.*Namespace/);
    assert.match(lines.join("\n"), /\nvision,.*vision-lab/);
  }],
  ["who may not change it is told so", ["ana", "vera"], async hand => {
    await off(hand, button(hand, "Edit", pane(hand)), "update project");
    await off(hand, button(hand, "Delete", pane(hand)), "delete project");
  }],
  ["the researcher submits to it: its pool, its limits", "ana", async hand => {
    await hand.menu("Workloads");
    await submit(hand, { name: "v1", project: "vision", gpus: 1 });
    await rowOf(hand.page, "v1").filter({ hasText: "Running" }).filter({ hasText: "dgx" }).waitFor();
  }],
  ["a viewer makes nothing", "vera", refused([["Workloads", "New workload", "create workloads"], ["Projects", "New project", "create project"], ["Departments", "New department", "create department"], ["Node pools", "New node pool", "create nodepools"], ["Access rules", "New access rule", "create access_rules"], ["Topologies", "New topology", "create network-topologies"]])],
  ["nor does a viewer start a training from the project", "vera", async hand => {
    await openRow(hand, "vision", "Projects");
    await off(hand, button(hand, "New training", pane(hand)), "create trainings");
  }],
  ["a department's administrator makes no pool, and submits nothing", "dora", refused([["Workloads", "New workload", "create workloads"], ["Node pools", "New node pool", "create nodepools"]])],
  ["a researcher makes no project, and is offered no page of what he may not read", "ana", async hand => {
    await refused([["Projects", "New project", "create project"]])(hand);
    await offered("Departments", "Nodes", "Node pools", "Topologies", "Timeline", "Users", "Access rules", "Audit")(hand);
  }],
  ["the administrator deletes the project by its name", "admin", async hand => {
    await hand.press(button(hand, "Delete", pane(hand)));
    await hand.type(hand.page.locator("#ask-type"), "vision");
    await hand.press(button(hand, "Delete project", dialog(hand)));
    await toast(hand, "Deleted vision.");
    await hand.press(rowOf(hand.page, "team-a").locator("td.first a")); // the keys go on from there
  }],
];

const PREEMPTION = [
  ["project-a's training takes all 8 GPUs", "ana", async hand => {
    await submit(hand, { name: "large-training-job", gpus: 8 });
    await status(hand.page, "large-training-job", "Running");
  }],
  ["who may look reads 8 of 4", ["admin", "dora", "vera"], async hand => {
    await hand.menu("Overview");
    await share(hand, "project-a", "8 / 4 4 borrowed");
  }],
  ["project-b's workspace takes its 4 back", "ben", async hand => {
    await submit(hand, { name: "jupyter-workspace", kind: "workspace", gpus: 4 });
    await status(hand.page, "jupyter-workspace", "Running");
  }],
  ["the training waits, and its events tell why", ALL, async hand => {
    await openRow(hand, "large-training-job", "Workloads");
    await rowOf(hand.page, "large-training-job").filter({ hasText: "Pending" }).waitFor();
    await tells(hand, "Events", /yields to/i);
  }],
  ["Analytics, quota, and what happened: for everybody in his scope", ALL, async hand => {
    for (const [page, text] of [["Analytics", "project-a"], ["Quota", "project-a"], ["Events", "large-training-job"], ["Idle GPUs", ""], ["Clusters", "Connected"]]) {
      await hand.menu(page);
      await hand.page.waitForSelector(`h1:text-is("${page}")`);
      await hand.page.locator("main").filter({ hasText: text }).filter({ hasNot: hand.page.locator(".fault") }).waitFor();
    }
  }],
  ["the pages of the cluster: for who may read its nodes", ["admin", "dora", "vera"], async hand => {
    for (const page of ["Timeline", "Topologies", "Nodes", "Node pools"]) {
      await hand.menu(page);
      await hand.page.waitForSelector(`h1:text-is("${page}")`);
      await hand.page.locator("main").filter({ hasNot: hand.page.locator(".fault, .bones") }).waitFor();
    }
  }],
  ["About, from the menu of the account; deleted workloads, from the table", ALL, async hand => {
    await hand.pick(hand.page.locator("nav.side .account button").first(), "About");
    await hand.page.waitForSelector("h1:text-is('About')");
    await hand.menu("Workloads");
    await hand.press(hand.page.getByRole("link", { name: /deleted/i }).first());
    await hand.page.waitForSelector("h1:text-is('Deleted workloads')");
  }],
  ["project-b ends its workspace, and the training is back by itself", "ben", async hand => {
    await remove(hand, "jupyter-workspace");
  }],
  ["it runs again", ["admin", "ana"], async hand => {
    await hand.menu("Workloads");
    await status(hand.page, "large-training-job", "Running");
  }],
  ["a training of the administrator, with a volume and a toleration", "admin", async hand => {
    await hand.newWorkload();
    await field(hand, "name").waitFor();
    await hand.choose(field(hand, "project"), "project-b");
    await hand.type(field(hand, "name"), "with-all");
    await hand.type(field(hand, "image"), IMAGE);
    await hand.type(field(hand, "gpus"), "4");
    await hand.pick(button(hand, "Volume or file"), "NFS");
    for (const [name, value] of Object.entries({ "storage.nfs-0-server": "nas", "storage.nfs-0-path": "/home", "storage.nfs-0-mountPath": "/home" })) await hand.type(field(hand, name), value);
    await hand.press(hand.page.locator("form summary", { hasText: "tolerations" }));
    await hand.press(button(hand, "Toleration"));
    await hand.type(field(hand, "tolerations-0-key"), "spot");
    await hand.press(button(hand, VERBS.training));
    await titled(hand, "with-all");
    await remove(hand, "with-all");
  }],
];

// Everybody's page of one walk, by one hand: {admin, ana, …}, whom they are called, and what they were refused.
async function enter(t, hand, options) {
  const server = await startServer(...options), opened = [], met = [];
  t.after(async () => {
    for (const { context } of opened) await context.close();
    await server.stop();
  });
  const window = async () => {
    const one = await open(browser, server.url);
    opened.push(one);
    one.page.on("response", r => r.status() === 403 && met.push(r.url()));
    return one.page;
  };
  const admin = await window(), hands = { admin: hand(admin) }, names = {};
  await signInByKeys(admin, server.url);
  const all = (await ask(admin, "/api/v1/org-unit/projects")).projects.filter(p => p.name !== "default").toSorted((a, b) => (a.name < b.name ? -1 : 1));
  names.research = all[0].parentId;
  for (const [name, [role, scopeType, at]] of Object.entries(CAST)) {
    const page = await window();
    names[name] = `${name}@lab.example`;
    await signInAs(page, server.url, admin, { email: names[name], role, scopeType, scopeId: scopeType === "project" ? all[at].id : all[at].parentId });
    hands[name] = hand(page);
  }
  const troubles = () => [met, opened.flatMap(o => [...o.troubles.foreign, ...o.troubles.violations])];
  return { hands, names, troubles };
}

const WALKS = [
  ["000, 001: over quota, fairness and preemption", QUICK_START, []],
  ["002: projects", PROJECTS, []],
  ["003: the preemption exercise", PREEMPTION, ["--scenario", "preemption"]],
];

for (const [title, steps, options] of WALKS) test(title, { concurrency: true }, async t => {
  await Promise.all([["mouse", mouse], ["keyboard", keyboard]].map(([word, hand]) => t.test(`by ${word}`, async own => {
    const { hands, names, troubles } = await enter(own, hand, options);
    for (const [words, who, walk] of steps) await Promise.all([who].flat().map(name => walk(hands[name], names).catch(error => {
      throw new Error(`${words}: ${name}: ${error.message}`, { cause: error });
    })));
    assert.deepEqual(troubles(), [[], []]);
  })));
});
