// The workload form on a real server with three node pools: for a researcher who may read no pools, for a project with node
// types and limits, with ports; where it starts; what it says when a session ends or a field below is wrong.
import assert from "node:assert/strict";
import { join } from "node:path";
import { before, test } from "node:test";
import { SHOTS, axe, becomes, open } from "../browser.mjs";
import { ADMIN, PASSWORD, THREE_POOLS, ask, onServer, send, signIn } from "../real_server.mjs";
import { IMAGE, rowOf } from "../walk.mjs";

const RESEARCHER = "res@lab.example";

const site = onServer(THREE_POOLS);
let browser, server, page;
before(async () => ({ browser, server, page } = await site.ready));

const project = async (name, on = page) => (await ask(on, "/api/v1/org-unit/projects")).projects.find(p => p.name === name);
const specOf = async (kind, name, on = page) => {
  const { workloads } = await ask(on, `/api/v1/workloads?filterBy=name==${name}`);
  return (await ask(on, `/api/v1/workloads/${kind}/${workloads[0].id}`)).spec;
};
const form = async (path, on = page) => {
  await on.goto(server.url + path);
  await on.waitForSelector("form:not(.waits) #f-name"); // all but its first part is hidden until the policy is known
};
const create = async (name, on = page) => {
  await on.fill("#f-name", name);
  await on.fill("#f-image", IMAGE);
  await on.locator("form button[type=submit]").click();
  await on.waitForSelector(`#pane-title:has-text("${name}")`);
};
const change = async (name, more) => {
  const p = await project(name);
  await send(page, "PUT", `/api/v1/org-unit/projects/${p.id}`, { description: p.description, schedulingRules: p.schedulingRules, defaultNodePools: p.defaultNodePools, nodeTypes: p.nodeTypes, resources: p.resources, ...more });
};

// What the menu offers beside the pools that are chosen.
async function otherPools(on) {
  await on.getByRole("button", { name: "Node pool", exact: true }).click();
  const text = await on.innerText("[role=menu]");
  await on.keyboard.press("Escape");
  return text;
}

test("the form starts with a pool that has GPUs, says what is free there, and with the project used last", async () => {
  await form("/workloads/new/training");
  await page.waitForSelector(".order li:has-text('h100')");
  await page.locator(".order li", { hasText: "8 free" }).waitFor();
  assert.match(await otherPools(page), /a100 · 4 free/);
  assert.deepEqual(await page.locator(".presets button").allInnerTexts(), ["cpu-only", "small-fraction", "half-gpu", "one-gpu", "two-gpus", "four-gpus", "Custom"]);
  await page.waitForSelector(".because .one:has-text('Starts at once')");
  await page.getByRole("button", { name: "cpu-only" }).click();
  await page.waitForSelector(".hint:has-text('None chosen: it goes to default')");
  await page.getByRole("button", { name: "one-gpu" }).click();
  await page.waitForSelector(".order li:has-text('h100')");
  await page.selectOption("#f-project", { label: "team-b" });
  await page.getByRole("group", { name: "Kind" }).getByRole("button", { name: "Distributed" }).click();
  await page.getByRole("button", { name: "Leave" }).click();
  await page.getByRole("button", { name: "Create distributed training" }).waitFor();
  assert.equal(await page.inputValue("#f-project"), (await project("team-b")).id, "the other kind's form keeps the project");
  await page.getByRole("group", { name: "Kind" }).getByRole("button", { name: "Training", exact: true }).click();
  await page.getByRole("button", { name: "Create training" }).waitFor();
  await create("first");
  assert.deepEqual((await specOf("trainings", "first")).nodePools, ["h100"]);
  await form("/workloads/new/workspace");
  assert.equal(await page.inputValue("#f-project"), (await project("team-b")).id);
});

test("a researcher who may read no node pools chooses among his project's, and goes where it has quota without", async () => {
  const user = await send(page, "POST", "/api/v1/users", { email: RESEARCHER });
  const roles = await ask(page, "/api/v1/authorization/roles");
  const { id } = await project("team-a");
  await change("team-a", { resources: (await project("team-a")).resources.map(r => ({ ...r, gpu: { ...r.gpu, deserved: r.nodePool.name === "a100" ? 2 : 0 } })) });
  await send(page, "POST", "/api/v1/authorization/access-rules", { subjectId: RESEARCHER, subjectType: "user", roleId: roles.find(r => r.name === "L1 researcher").id, scopeId: id, scopeType: "project" });
  const his = await open(browser, server.url);
  await his.page.goto(server.url + "/sign-in");
  await send(his.page, "POST", "/api/v1/session", { username: RESEARCHER, password: user.tempPassword });
  await send(his.page, "POST", "/api/v1/me/password", { currentPassword: user.tempPassword, newPassword: "a much longer one" });
  await send(his.page, "POST", "/api/v1/session", { username: RESEARCHER, password: "a much longer one" });
  const refused = [];
  his.page.on("response", r => r.status() === 403 && refused.push(r.url()));
  await form("/workloads/new/training", his.page);
  await his.page.waitForSelector(".hint:has-text('None chosen: it goes to a100.')");
  assert.match(await otherPools(his.page), /default[\s\S]*h100|h100[\s\S]*default/);
  await his.page.waitForSelector(".because .one:has-text('Starts at once')");
  assert.deepEqual(await axe(his.page), []);
  await his.page.screenshot({ path: join(SHOTS, "new-training-researcher-1440-light.png"), fullPage: true });
  assert.deepEqual(refused, [], "nothing is asked for that he may not read");
  await create("his-own", his.page);
  const { workloads: [made] } = await ask(page, "/api/v1/workloads?filterBy=name==his-own");
  assert.deepEqual([made.requestedNodePools, (await specOf("trainings", "his-own")).nodePools ?? null], [["a100"], null]);
  await his.page.goto(server.url + "/workloads");
  await rowOf(his.page, "his-own").filter({ hasText: "Running" }).filter({ hasText: "a100" }).waitFor();
  await his.context.close();
});

test("a project with node types and limits: its list is offered, and its limits are said", async () => {
  await change("team-b", { nodeTypes: { training: ["a100-pcie", "h100-sxm"] }, schedulingRules: { trainingJobTimeLimitSeconds: 129600, trainingJobMaxIdleDurationSeconds: 1800 } });
  await form(`/workloads/new/training?project=${(await project("team-b")).id}`);
  await becomes(["Any of the project's", "a100-pcie", "h100-sxm"], () => page.locator("#f-nodeType option").allInnerTexts());
  assert.match(await page.innerText("form"), /It is stopped after 1 d 12 h, or after 30 min with idle GPUs: a rule of team-b\./);
  await create("typed");
  assert.equal((await specOf("trainings", "typed")).nodeType ?? null, null, "no type is needed");
  await form(`/workloads/new/training?project=${(await project("team-b")).id}`);
  await page.selectOption("#f-nodeType", "h100-sxm");
  await create("typed-h");
  assert.equal((await specOf("trainings", "typed-h")).nodeType, "h100-sxm");
  await form("/workloads/new/workspace");
  await page.waitForSelector("#f-nodeType option:has-text('a100-pcie')", { state: "attached" });
  assert.equal(await page.locator("#f-nodeType option").first().innerText(), "Any", "without a list, the types that nodes have");
});

test("ports and URLs, and what is wrong with them is said there", async () => {
  await form("/workloads/new/workspace");
  const add = async kind => {
    await page.getByRole("button", { name: "Port or URL", exact: true }).click();
    await page.getByRole("menuitem", { name: kind, exact: true }).click();
  };
  const field = id => `[id="f-${id}"]`;
  await add("Port");
  await page.waitForSelector(`${field("ports-0-container")}:focus`);
  await page.keyboard.type("88888");
  await page.fill("#f-name", "with-port");
  await page.fill("#f-image", IMAGE);
  await page.locator("form button[type=submit]").click();
  await page.waitForSelector(`${field("ports-0-container")}[aria-invalid=true]`);
  assert.match(await page.innerText(field("ports-0-container-hint")), /from 1 to 65535/);
  assert.deepEqual(await axe(page), []);
  await page.fill(field("ports-0-container"), "8888");
  await page.selectOption(field("ports-0-serviceType"), "NodePort");
  await page.fill(field("ports-0-external"), "30888");
  await add("URL");
  await page.fill(field("exposedUrls-0-container"), "6006");
  await create("with-port");
  const spec = await specOf("workspaces", "with-port");
  assert.deepEqual([spec.ports.map(p => [p.container, p.external, p.serviceType]), spec.exposedUrls.map(u => u.container)], [[[8888, 30888, "NodePort"]], [6006]]);
});

test("what is wrong is scrolled to, below the header; a long command wraps", async () => {
  await form("/workloads/new/training");
  await page.fill("#f-args", "--config large.yaml \\\n  --resume auto " + "x".repeat(200));
  assert.match(await page.inputValue("#f-args"), /^--config large\.yaml --resume auto x+$/, "pasted lines are one");
  assert.ok(await page.evaluate(() => [...document.querySelectorAll(".code")].every(c => c.scrollWidth <= c.clientWidth)));
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
  await page.locator("form button[type=submit]").click();
  await page.waitForSelector("#f-name[aria-invalid=true]:focus");
  await page.waitForFunction(() => document.querySelector("label[for=f-name]").getBoundingClientRect().top >= document.querySelector("header.top").getBoundingClientRect().bottom);
});

test("a session that ends while submitting is said in own words, and forgotten after signing in", async () => {
  await form("/workloads/new/training");
  await page.fill("#f-name", "after-the-end");
  await page.fill("#f-image", IMAGE);
  await page.context().clearCookies();
  await page.locator("form button[type=submit]:has-text('Create training')").dispatchEvent("click"); // a question of the form may have opened the dialog already
  await page.waitForSelector("form .fault");
  await page.waitForSelector("dialog #password");
  assert.match(await page.textContent("form .fault"), /Your session had ended, so nothing was sent\./);
  assert.doesNotMatch(await page.textContent("form .fault"), /Bearer|token/);
  await page.fill("dialog #username", ADMIN);
  await page.fill("dialog #password", PASSWORD);
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => !document.querySelector("dialog") && !document.querySelector("form .fault"));
  assert.equal(await page.inputValue("#f-name"), "after-the-end");
  await page.locator("form button[type=submit]").click();
  await page.waitForSelector("#pane-title:has-text('after-the-end')");
});

test("what is saved from the form is chosen at once", async () => {
  await form("/workloads/new/training");
  await page.fill("#f-image", "registry.example/speech:5");
  for (const [verb, name] of [["Save as environment", "speech-env-5"], ["Save as asset", "three"]]) {
    if (name === "three") await page.fill("#f-gpus", "3");
    await page.getByRole("button", { name: verb, exact: true }).click();
    await page.fill("#f-asset-name", name);
    await page.locator("dialog").getByRole("button", { name: "Save", exact: true }).click();
    await page.waitForSelector(`.toast:has-text("${name} is saved")`);
  }
  await page.waitForFunction(() => document.querySelector("#f-environmentAsset").selectedOptions[0].textContent === "speech-env-5");
  await page.waitForSelector(".presets button[aria-pressed=true]:has-text('three')");
  await page.evaluate(() => window.addEventListener("beforeunload", event => event.stopImmediatePropagation(), true));
});

test("the kinds stand on a row of their own on a phone", async () => {
  const small = await open(browser, server.url, { width: 390, height: 800 });
  await signIn(small.page, server.url);
  await form("/workloads/new/distributed", small.page);
  await small.page.waitForSelector(".because .one");
  assert.deepEqual(await axe(small.page), []);
  for (const width of [390, 320]) {
    await small.page.setViewportSize({ width, height: 800 });
    const cut = await small.page.getByRole("group", { name: "Kind" }).evaluate(g => [...g.children].some(b => b.scrollWidth > b.clientWidth || b.getBoundingClientRect().right > innerWidth));
    assert.equal(cut, false, `a kind is cut at ${width}`);
    await small.page.waitForFunction(() => [...document.querySelectorAll("main *, header *")].every(e => e.getBoundingClientRect().right <= innerWidth + 1));
    assert.ok((await small.page.locator("button.find").boundingBox()).width >= 32, `the search is squeezed at ${width}`);
  }
  await small.context.close();
});
