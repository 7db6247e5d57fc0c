// The page of events on a real server: facts and their steps, what narrows them, pages, what is new, and the file.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { before, test } from "node:test";
import { axe, until } from "../browser.mjs";
import { ask, onServer, send } from "../real_server.mjs";

const JOBS = 60; // with five events and more each: two pages
const site = onServer();
let page, url, submit;
before(async () => {
  ({ page, server: { url } } = await site.ready);
  const clusterId = (await ask(page, "/api/v1/clusters"))[0].uuid, { projects } = await ask(page, "/api/v1/org-unit/projects");
  submit = (name, project, gpuDevicesRequest, spec = {}) => page.evaluate(async body => (await fetch("/api/v1/workloads/trainings", { method: "POST", headers: { "Content-Type": "application/json", "X-Prorata-Request": "1" }, body: JSON.stringify(body) })).json(),
    { name, projectId: projects.find(p => p.name === project).id, clusterId, spec: { image: "registry.example/x", compute: { gpuDevicesRequest, cpuCoreRequest: 0.1, cpuMemoryRequest: "1M" }, ...spec } });
  const until = (search, reason) => happened(`search=${search}`, events => events.some(e => e.reason === reason));
  for (const name of ["a1", "a2", "a3"]) await submit(name, "team-a", 1);
  await until("a3", "Started");
  await submit("b", "team-b", 2);
  await until("b-0-0", "Started");
  await submit("flop", "team-a", 0, { backoffLimit: 0, annotations: [{ name: "prorata.io/sim-duration", value: "1s" }, { name: "prorata.io/sim-exit-code", value: "3" }] });
  await until("flop", "Failed");
});

// Until the server tells what is asked for.
const happened = (query, holds) => until(query, async () => holds((await ask(page, `/api/v1/events?${query}`)).events));
// Until the first fact is one for which this holds: the page that was asked for is shown.
const begins = holds => until("another page of events", async () => {
  const [first] = await facts();
  return first && holds(first);
});
const facts = () => page.locator(".ev > li > div").evaluateAll(cells => cells.map(c => c.firstChild && c.innerText.replace(/\s*\d+ steps?$/, "")));
const query = () => page.evaluate(() => Object.fromEntries(new URLSearchParams(location.search)));
const shows = text => page.locator(".ev > li", { hasText: text }).first();

test("facts with their steps, narrowed by mouse, lead on and go into a file", async () => {
  await page.goto(url + "/events");
  await shows("failed for good").waitFor();
  const told = (await facts()).join("\n");
  assert.match(told, /^team-b\/b started (at once|in \d+ s) on node-[01]$/m);
  assert.match(told, /^team-a\/a\d yields to b of project team-b/m);
  assert.match(told, /^team-a\/flop failed for good: ended with exit code 3: the simulated process failed$/m);
  assert.match(told, /^admin@prorata.local submitted team-a\/flop$/m);
  assert.equal(await page.evaluate(() => window.shift), 0);
  const started = shows("team-b/b started");
  await started.getByRole("button", { name: /steps/ }).click();
  assert.match(await started.locator(".steps").innerText(), /was given a place on node[^]*Started b-0-0 on node/);
  await page.getByLabel("Kind").selectOption("failures");
  await page.waitForFunction(() => document.querySelectorAll(".ev > li").length === 1);
  assert.deepEqual([(await query()).kind, (await facts()).length], ["failures", 1]);
  await page.getByLabel("Kind").selectOption("evictions");
  await page.waitForFunction(() => document.querySelector(".ev > li")?.innerText.includes("yields"));
  await page.getByLabel("Project").selectOption({ label: "team-b" });
  await page.waitForSelector(".empty:has-text('Nothing like that has happened.')");
  await page.getByLabel("Kind").selectOption("");
  await shows("team-b/b started").waitFor();
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download as CSV" }).click()]);
  const { projects } = await ask(page, "/api/v1/org-unit/projects?filterBy=name==team-b"), { events } = await ask(page, `/api/v1/events?projectId=${projects[0].id}`);
  const lines = (await readFile(await file.path(), "utf8")).trim().split("\r\n");
  assert.equal(lines[0], "Time,Type,Reason,Project,Workload,Object,Node,Message");
  assert.deepEqual(lines.slice(1).map(l => l.split(",")[2]), events.map(e => e.reason), "every event of the filter");
  await shows("team-b/b started").getByRole("link", { name: "team-b/b" }).click();
  await page.waitForSelector("#pane-title:has-text('b')");
  await page.waitForSelector("#pane-panel .ev > li:has-text('Started')");
  await page.goBack();
  await shows("team-b/b started").waitFor();
  assert.deepEqual(await axe(page), []);
});

test("by keyboard alone: found, narrowed by node and words, steps opened", async () => {
  await page.goto(url + "/");
  await page.waitForSelector(".ev > li");
  await page.keyboard.press("/");
  await page.keyboard.type("events");
  await page.waitForSelector("#found [aria-selected=true]:has-text('Events')");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/events$/);
  await shows("team-b/b started").waitFor();
  const reach = async name => {
    for (let i = 0; i < 80; i++) {
      await page.keyboard.press("Tab");
      if (await page.evaluate(n => (document.activeElement.getAttribute("aria-label") ?? document.activeElement.innerText)?.includes(n), name)) return;
    }
    assert.fail(`no way to ${name}`);
  };
  await reach("Node");
  await page.keyboard.type("node-7");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".empty");
  assert.equal((await query()).node, "node-7");
  await page.keyboard.press("Control+A");
  await page.keyboard.press("Delete");
  await page.keyboard.press("Enter");
  await shows("team-b/b started").waitFor();
  await page.locator("main").focus();
  await reach("Search");
  await page.keyboard.type("flop");
  await page.waitForFunction(() => location.search.includes("q=flop") && document.querySelectorAll(".ev > li").length === 3);
  await reach("steps");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".ev [aria-expanded=true] + .steps");
});

test("pages of the server: each fact once, and what is new waits for a click", async () => {
  const spec = { annotations: [{ name: "prorata.io/sim-duration", value: "1s" }] };
  for (let i = 0; i < JOBS; i += 10) await Promise.all(Array.from({ length: 10 }, (_, k) => submit(`job-${i + k}`, "team-a", 0, spec)));
  await happened("search=Completed&limit=500", events => events.filter(e => e.involvedObject.kind === "Workload").length === JOBS);
  await page.goto(url + "/events");
  await shows("completed").waitFor();
  const pages = [await facts()];
  const leadsOn = name => page.getByRole("button", { name }).getAttribute("aria-disabled").then(off => off === null);
  while (await leadsOn("Older")) {
    assert.ok(pages.length < 20, "a last page");
    const before = page.url();
    await page.getByRole("button", { name: "Older" }).click();
    await page.waitForURL(to => String(to) !== before);
    await begins(first => first !== pages.at(-1)[0]);
    pages.push(await facts());
  }
  assert.ok(pages.length > 1);
  const all = pages.flat();
  for (const word of [/^admin@prorata.local submitted team-a\/job-\d+$/, /^team-a\/job-\d+ started/, /^team-a\/job-\d+ completed/]) {
    const found = all.filter(f => word.test(f));
    assert.deepEqual([found.length, new Set(found.map(f => /job-\d+/.exec(f)[0])).size], [JOBS, JOBS], String(word));
  }
  for (const [first] of pages.slice(0, -1).toReversed()) {
    await page.getByRole("button", { name: "Newer" }).click();
    await begins(fact => fact === first);
  }
  assert.equal(await leadsOn("Newer"), false);
  assert.equal((await query()).page, undefined);
  await page.evaluate(() => (window.shift = 0));
  await submit("late", "team-a", 0);
  await page.waitForSelector(".news:has-text('new')");
  assert.equal((await facts())[0], pages[0][0], "nothing moved");
  assert.equal(await page.evaluate(() => window.shift), 0);
  await page.locator(".news button").click();
  await shows("late").waitFor();
});

test("a rack that goes and a changed quota show by themselves, and lead to what they tell of", async () => {
  await page.goto(url + "/events?kind=organisation");
  await page.waitForSelector(".empty:has-text('Nothing like that has happened.')");
  const { projects } = await ask(page, "/api/v1/org-unit/projects?filterBy=name==team-b"), path = `/api/v1/org-unit/projects/${projects[0].id}/resources`;
  await send(page, "PATCH", path, [{ nodePool: { id: "1" }, gpu: { deserved: 1 }, rank: "High" }]);
  const changed = shows("changed project team-b");
  await changed.waitFor();
  assert.match(await changed.innerText(), /admin@prorata.local changed project team-b: GPU quota from 2 to 1 GPU; rank from medium low to high$/);
  await changed.getByRole("link", { name: "team-b" }).click();
  await page.waitForSelector("#pane-title:has-text('team-b')");
  const rack = Array.from({ length: 5 }, (_, i) => `rack-${i}`);
  for (const name of rack) await send(page, "POST", "/api/v1/simulation/nodes", { name, gpus: 0 });
  for (const name of rack) await send(page, "POST", `/api/v1/simulation/nodes/${name}/fail`);
  await page.goto(url + "/events?kind=nodes");
  const lost = shows("not ready");
  await lost.waitFor();
  assert.deepEqual((await facts()).slice(0, 2), ["5 nodes are not ready: rack-0, rack-1, rack-2 and 2 more", "5 nodes joined the cluster: rack-0, rack-1, rack-2 and 2 more"]);
  await lost.getByRole("button", { name: "5 steps" }).click();
  assert.match(await lost.locator(".steps").innerText(), /rack-4 is not ready: failed by request/);
  assert.deepEqual(await axe(page), []);
  await lost.getByRole("link", { name: "rack-1" }).click();
  await page.waitForSelector("#pane-title:has-text('rack-1')");
});
