// What the scheduler says, on a real server, by mouse and by keyboard: the explanation card with fixes that are applied, the
// panel beside the form, receipts, the division, the queue.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { ROOT, axe, becomes, launch, open, until } from "../browser.mjs";
import { ask, send, signIn, startServer } from "../real_server.mjs";
import { IMAGE, rowOf, status, submitByMouse } from "../walk.mjs";

const SHOTS = join(ROOT, "artifacts/screenshots");

let browser;
before(async () => {
  mkdirSync(SHOTS, { recursive: true });
  browser = await launch();
});
after(() => browser?.close());

// A server and a signed-in page of the test's own, gone with it.
async function begin(t, options = [], look = {}) {
  const server = await startServer(...options);
  const { page, troubles, context } = await open(browser, server.url, look);
  t.after(async () => {
    await context.close();
    await server.stop();
    assert.deepEqual([troubles.foreign, troubles.violations], [[], []]);
  });
  await signIn(page, server.url);
  return { page, url: server.url };
}

const shoot = (page, name) => page.screenshot({ path: join(SHOTS, `${name}.png`), fullPage: true });
const tab = (page, name) => page.getByRole("tab", { name, exact: true }).click();
const idOf = async (page, name) => (await ask(page, `/api/v1/workloads?filterBy=name==${name}`)).workloads[0].id;
const verdict = (page, text) => page.locator(".verdict-box .one", { hasText: text }).waitFor();
const form = async (page, url, path) => {
  await page.evaluate(() => window.addEventListener("beforeunload", event => event.stopImmediatePropagation(), true));
  await page.goto(url + path);
  await page.waitForSelector("form:not(.waits) #f-name"); // all but its first part is hidden until the policy is known
};

// team-a holds its 2 GPUs and 1 of team-b's, which b2 takes back: a1 waits.
async function reclaimed(page) {
  for (const [name, project, size] of [["a1", "team-a", "one-gpu"], ["a2", "team-a", "two-gpus"], ["b1", "team-b", "one-gpu"]]) {
    await submitByMouse(page, { name, project, size });
    await status(page, name, "Running");
  }
  await submitByMouse(page, { name: "b2", project: "team-b", size: "one-gpu" });
  await status(page, "b2", "Running");
  await status(page, "a1", "Pending");
}

test("the panel says where it would start, who gives way, why it would wait, and applies what would start it", async t => {
  const { page, url } = await begin(t);
  await form(page, url, "/workloads/new/training");
  await page.selectOption("#f-project", { label: "team-a" });
  await verdict(page, /^Starts at once on node-\d with 1 GPU\.$/);
  await page.fill("#f-gpus", "2");
  await verdict(page, /^Starts at once on node-\d with 2 GPUs\.$/);
  assert.equal(await page.locator(".place svg").getAttribute("aria-label").then(label => /^It would get node-\d, 2 GPUs\.$/.test(label)), true);
  assert.equal(await page.locator(".place rect.ghost").count(), 2);
  assert.match(await page.locator(".verdict-box .two").innerText(), /^Who could take it back: /);
  assert.deepEqual(await axe(page), []);
  await shoot(page, "panel-starts");

  await page.goto(url + "/workloads");
  await submitByMouse(page, { name: "a2", project: "team-a", size: "two-gpus" });
  await status(page, "a2", "Running");
  await submitByMouse(page, { name: "a1", project: "team-a", size: "two-gpus" });
  await status(page, "a1", "Running");
  await form(page, url, "/workloads/new/training");
  await page.selectOption("#f-project", { label: "team-b" });
  await verdict(page, /^Starts on node-\d with 1 GPU, once 1 workload of project team-a yields 2 GPUs\.$/);
  await shoot(page, "panel-eviction");

  await page.fill("#f-gpus", "3");
  await verdict(page, /^Needs 3 GPUs/);
  const fix = page.locator(".fixes li").first();
  await fix.waitFor();
  assert.match(await fix.innerText(), /Ask for \d GPUs? instead of 3/);
  assert.match(await page.locator("section:has(.fixes) h3").innerText(), /tried by the scheduler at \d\d:\d\d:\d\d/);
  assert.deepEqual(await axe(page), []);
  await shoot(page, "panel-waits");
  await fix.getByRole("button", { name: /^Apply/ }).click();
  await page.waitForFunction(() => Number(document.querySelector("#f-gpus").value) < 3);
  await becomes("h-if", () => page.evaluate(() => document.activeElement.id));
  await verdict(page, /^Starts on node-\d with \d GPUs?/);
  assert.equal(await page.locator("aside section[aria-live=polite] .one").count(), 1, "the verdict is live");
});

test("the panel asks 250 ms after the last key, drops late answers, is quiet about errors and never holds up submitting", async t => {
  const { page, url } = await begin(t);
  const asked = [];
  let release, broken = false; // release: an answer is held back until it is called
  await page.route("**/api/v1/scheduler/what-if", async route => {
    const { workload } = route.request().postDataJSON();
    asked.push(workload.spec.compute.gpuDevicesRequest);
    if (broken) return route.fulfill({ status: 500, contentType: "application/json", body: '{"code": 500, "message": "broken"}' });
    const answer = await route.fetch();
    if (asked.length === 1 && release === null) await new Promise(done => (release = done));
    return route.fulfill({ response: answer }).catch(() => {}); // given up by the page
  });
  await page.clock.install();
  await form(page, url, "/workloads/new/training");
  await page.selectOption("#f-project", { label: "team-a" });
  await verdict(page, /with 1 GPU\.$/);
  await page.clock.pauseAt(Date.now() + 10_000); // time goes on by what is said here
  asked.length = 0;
  for (const gpus of ["4", "3", "2"]) {
    await page.fill("#f-gpus", gpus);
    await page.clock.runFor(150);
  }
  assert.deepEqual(asked, [], "not while one types");
  await page.clock.runFor(150);
  await page.clock.resume();
  await verdict(page, /with 2 GPUs\.$/);
  assert.deepEqual(asked, [2], "once for three keys");

  await page.fill("#f-name", "typed");
  await page.fill("#f-image", IMAGE);
  asked.length = 0;
  release = null;
  const asks = page.waitForRequest("**/what-if");
  await page.fill("#f-gpus", "1");
  const early = await asks;
  await until("the answer for 1 GPU is held back", () => release);
  const answered = page.waitForResponse(r => r.url().endsWith("/what-if") && r.request() !== early);
  await page.fill("#f-gpus", "2");
  await answered;
  await verdict(page, /with 2 GPUs\.$/);
  release();
  await (await early.response())?.finished();
  await page.evaluate(() => new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  assert.match(await page.locator(".verdict-box .one").innerText(), /with 2 GPUs\.$/, "the answer for 1 GPU came late and is dropped");

  broken = true;
  await page.fill("#f-gpus", "1");
  await verdict(page, /^Not asked: broken\.$/);
  assert.equal(await page.locator(".fault, .toast").count(), 0);
  await page.getByRole("button", { name: "Create training" }).click();
  await page.waitForSelector("#pane-title:has-text('typed')");
});

test("the card says all six parts, and a fix is applied by mouse: the copy runs and the one that waited is gone", async t => {
  const { page } = await begin(t);
  await reclaimed(page);
  await rowOf(page, "a1").locator("td.first a").click();
  const pane = page.locator("#details");
  await pane.locator(".fixes li").first().waitFor();
  await pane.locator(".because .one", { hasText: /^Needs 1 GPU in default; 0 of its 4 GPUs are free/ }).waitFor();
  await pane.locator(".because .two", { hasText: "Project team-a would exceed its fair share: it holds 2 GPUs, asks for 1, its share is 2." }).waitFor();
  assert.equal(await pane.locator(".when").count(), 0, "what nobody knows is not guessed");
  assert.match(await pane.locator(".solo svg").getAttribute("aria-label"), /1 more wanted/);
  assert.match(await pane.locator("section:has(.fixes) h3").innerText(), /^What would start it \(tried by the scheduler at \d\d:\d\d:\d\d\)$/);
  assert.ok(await pane.locator(".fixes li").count() <= 4);
  await pane.locator(".givers", { hasText: /team-\w holds 2/ }).waitFor();
  await pane.locator(".facts", { hasText: /Held \/ quota\s*2 \/ 2, fair share 2/ }).waitFor();
  assert.deepEqual(await axe(page), []);
  await shoot(page, "card-fixes");

  await pane.getByRole("link", { name: /Copy… with: Raise its priority/ }).click();
  await page.waitForSelector("#f-name");
  assert.deepEqual([await page.inputValue("#f-name"), await page.inputValue("#f-priority"), await page.isChecked("#f-replace")], ["a1-copy", "medium-low", true]);
  await verdict(page, /^Starts on node-\d with 1 GPU, once 1 workload of project team-a yields 2 GPUs\.$/);
  await page.getByRole("button", { name: "Create training" }).click();
  await page.waitForSelector("#pane-title:has-text('a1-copy')");
  await status(page, "a1-copy", "Running");
  await rowOf(page, "a1").and(page.locator(":not(.left)")).waitFor({ state: "detached" }); // a row that has just left may stay in its place
  await status(page, "a2", "Pending");
});

test("what can never start as asked is said to be so, beside what would start", async t => {
  const { page } = await begin(t);
  await submitByMouse(page, { name: "four", project: "team-a", size: "four-gpus" });
  await status(page, "four", "Pending");
  await rowOf(page, "four").locator("td.first a").click();
  const pane = page.locator("#details");
  await pane.locator(".because .one", { hasText: /^Needs 4 GPUs on one node; the largest of default has 2\.$/ }).waitFor(); // once a cycle has looked
  await pane.locator(".when").waitFor();
  // The cycle's own word, or what was found when changes were tried.
  assert.match(await pane.locator(".when").innerText(), /^Cannot start as asked(: no node in its node pools is large enough|, even with all other work gone: needs 4 GPUs on one node; the largest of default has 2)\.$/);
  await becomes(1, () => pane.locator(".when").count());
  await pane.locator(".fixes li").first().filter({ hasText: "Ask for 2 GPUs instead of 4" }).waitFor();
  assert.deepEqual(await axe(page), []);
});

test("by keyboard alone: from what waits to its fix, and more quota for what must fit it", async t => {
  const { page, url } = await begin(t);
  await form(page, url, "/workloads/new/workspace");
  await page.selectOption("#f-project", { label: "team-a" });
  await page.fill("#f-name", "notebook");
  await page.fill("#f-image", IMAGE);
  await page.fill("#f-gpus", "2");
  await page.fill("#f-gpus", "3");
  await verdict(page, /./);
  await page.fill("#f-gpus", "2");
  await page.press("#f-gpus", "Enter");
  await page.waitForSelector("#pane-title:has-text('notebook')");
  await status(page, "notebook", "Running");
  await submitByMouse(page, { name: "second", project: "team-a", kind: "workspace", size: "one-gpu" });
  await status(page, "second", "Pending");
  const link = page.locator("#details").getByRole("link", { name: /Quota… of project team-a/ });
  await link.waitFor();
  assert.match(await page.locator("#details").innerText(), /Non-preemptible work must fit|quota/);
  await shoot(page, "card-quota");
  await page.locator("#tab-why").focus();
  for (let i = 0; i < 30 && !(await link.evaluate(el => el === document.activeElement)); i++) await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/projects\/\d+\/edit/);
  await page.waitForSelector("form .submit-bar .muted:has-text('default: 2 → 3')");
  await page.getByRole("button", { name: "Save" }).focus();
  await page.keyboard.press("Enter");
  await page.waitForSelector("dialog:has-text('the pool has 4 GPUs')");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#pane-title:has-text('team-a')");
  await page.goto(url + "/workloads");
  await status(page, "second", "Running");
});

test("receipts: what was lost, for whom, and both sides' numbers, by keyboard; the project tells the same", async t => {
  const { page, url } = await begin(t);
  await reclaimed(page);
  await page.goto(`${url}/workloads?open=${await idOf(page, "a1")}&tab=events`);
  const receipt = page.locator(".receipts li");
  await receipt.waitFor();
  assert.match(await receipt.locator("summary").innerText(), /Stopped after \d+ s and yielded 1 GPU to team-b\/b2\./);
  await receipt.locator("summary").focus();
  await page.keyboard.press("Enter");
  await receipt.locator("tbody tr").first().waitFor();
  const rows = await receipt.locator("tbody tr").allInnerTexts();
  assert.deepEqual(rows.filter(r => /^(Gave|Got)/.test(r)).map(r => r.split(/\t/).map(c => c.trim())), [["Gave: team-a", "2", "2", "3", "2"], ["Got: team-b", "2", "2", "1", "2"]]);
  assert.deepEqual(await axe(page), []);
  await shoot(page, "receipt");
  const { projects } = await ask(page, "/api/v1/org-unit/projects?filterBy=name==team-a");
  await page.goto(`${url}/projects?open=${projects[0].id}`);
  await tab(page, "Gave way");
  assert.match(await page.locator(".receipts summary").innerText(), /team-a\/a1 stopped after \d+ s and yielded 1 GPU to team-b\/b2\./);
});

test("why a share is what it is: the terms sum up, at a project, a department and a pool; and who is next", async t => {
  const { page, url } = await begin(t);
  await reclaimed(page);
  const { projects } = await ask(page, "/api/v1/org-unit/projects?filterBy=name==team-a");
  const bills = async () => {
    await page.waitForSelector(".bill", { state: "attached" });
    return page.locator(".bill").evaluateAll(tables => tables.map(table => {
      const numbers = [...table.querySelectorAll("td.num")].map(cell => Number(cell.textContent));
      return { name: table.caption.textContent.trim(), share: numbers.pop(), terms: numbers.reduce((sum, n) => sum + n, 0) };
    }));
  };
  const holds = list => list.forEach(b => assert.ok(Math.abs(b.share - b.terms) < 0.01, JSON.stringify(b)));
  await page.goto(`${url}/projects?open=${projects[0].id}`);
  await becomes([["Department research", 4], ["Project team-a", 2]], async () => (await bills()).map(b => [b.name, b.share]));
  holds(await bills());
  assert.deepEqual(await axe(page), []);
  await shoot(page, "why-this-share");

  await page.goto(`${url}/departments?open=${projects[0].parentId}`);
  await page.locator(".tree summary", { hasText: "team-b" }).click();
  await becomes([["Department research", 4], ["Project team-b", 2]], async () => (await bills()).filter(b => !/team-a/.test(b.name)).map(b => [b.name, b.share]));
  holds(await bills());

  const { nodepools } = await ask(page, "/api/v1/node-pools");
  await page.goto(`${url}/nodepools?open=${nodepools[0].id}`);
  await tab(page, "Shares");
  holds(await bills());
  await page.locator(".tree > li", { hasText: "research" }).locator("summary").first().filter({ hasText: /holds 4, asks for 5\s*4/ }).waitFor();
  await tab(page, "Queue");
  await page.locator(".queue li", { hasText: /1\s*team-a\/a1\s*1 GPU/ }).waitFor();
  assert.deepEqual(await axe(page), []);
  await page.locator(".queue a").click();
  await page.waitForSelector("#pane-title:has-text('a1')");
});

test("on a phone the verdict stands in the submit bar", async t => {
  const { page, url } = await begin(t, [], { width: 390, height: 844 });
  await form(page, url, "/workloads/new/training");
  await page.locator(".submit-bar .verdict", { hasText: "Starts at once" }).waitFor();
  assert.equal(await page.locator(".submit-bar .verdict").isVisible(), true);
  assert.deepEqual(await axe(page), []);
  await page.screenshot({ path: join(SHOTS, "panel-phone.png") });
});

test("the overview is six questions, however many wait", async t => {
  const { page, url } = await begin(t);
  await reclaimed(page);
  const asked = [];
  page.on("request", r => {
    const { pathname } = new URL(r.url());
    if (pathname.startsWith("/api/v1/") && !/\/(count|session|stream)$/.test(pathname)) asked.push(pathname);
  });
  await page.goto(url + "/");
  await page.waitForSelector(".wait li:has-text('a1'):has-text('Needs 1 GPU in default')");
  await page.waitForSelector(".ev li");
  const once = asked.filter((path, at) => !path.endsWith("/metrics") || asked.indexOf(path) === at); // again, of the minutes that a young server has
  assert.ok(once.length <= 6, asked.join("\n"));
});

test("a gang's own shape stands in its specification, with the flags that ask for it again", async t => {
  const { page, url } = await begin(t);
  const [project] = (await ask(page, "/api/v1/org-unit/projects?filterBy=name==team-a")).projects;
  const clusterId = (await ask(page, "/api/v1/clusters"))[0].uuid;
  await send(page, "POST", "/api/v1/network-topologies", { name: "dc", clusterId, levels: ["rack", "kubernetes.io/hostname"] });
  const spec = { image: IMAGE, numWorkers: 3, compute: { gpuDevicesRequest: 1 }, topology: { name: "dc", preferred: "rack" },
    subGroups: [{ name: "left", parent: "top", workers: 2, topology: { name: "dc", required: "kubernetes.io/hostname" } }, { name: "top" }, { name: "right", workers: 1 }] };
  await send(page, "POST", "/api/v1/workloads/distributed", { name: "gang", projectId: project.id, clusterId, spec });
  await page.goto(`${url}/workloads?open=${await idOf(page, "gang")}`);
  await tab(page, "Spec");
  const shape = page.locator("section", { has: page.getByRole("heading", { name: "Sub-groups" }) });
  await shape.getByText("The whole stands if possible in one rack of dc.").waitFor();
  assert.deepEqual(await shape.locator("tbody tr").allInnerTexts(), ["top\t1 of 1 sub-group\t–", "\u2003left\t2 of 2 pods\tin one kubernetes.io/hostname of dc", "right\t1 of 1 pod\t–"]);
  assert.deepEqual(await axe(page), []);
});
