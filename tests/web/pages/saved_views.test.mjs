// Saved views of the workloads: saved, chosen, replaced and deleted by mouse, on a real server; what a link shows.
import assert from "node:assert/strict";
import { join } from "node:path";
import { before, test } from "node:test";
import { SHOTS, axe, open } from "../browser.mjs";
import { ask, onServer, signIn } from "../real_server.mjs";

const site = onServer();
let page, server;
before(async () => ({ page, server } = await site.ready));

const button = name => page.getByRole("button", { name, exact: true });
const heads = from => from.locator("thead th").allInnerTexts();
const views = async () => (await ask(page, "/api/v1/me/views")).views;
const say = text => page.waitForSelector(`.toast:has-text("${text}")`);

async function submit(name) {
  await page.evaluate(async title => {
    const json = async path => (await fetch(path)).json();
    const [{ uuid: clusterId }] = await json("/api/v1/clusters");
    const { projects: [{ id: projectId }] } = await json("/api/v1/org-unit/projects");
    const body = JSON.stringify({ name: title, projectId, clusterId, spec: { image: "x", compute: { gpuDevicesRequest: 1 } } });
    await fetch("/api/v1/workloads/trainings", { method: "POST", headers: { "Content-Type": "application/json", "X-Prorata-Request": "1" }, body });
  }, name);
}

test("filters, order and columns are saved under a name", async () => {
  for (const name of ["alpha", "beta"]) await submit(name);
  await page.goto(server.url + "/workloads?f=name==alpha&sort=name");
  await page.waitForSelector("tbody tr");
  await button("Columns").click();
  await page.getByLabel("Type", { exact: true }).uncheck();
  await page.getByLabel("Priority", { exact: true }).check();
  await page.keyboard.press("Escape");
  await button("Saved views").click();
  await page.waitForSelector(".pop p:has-text('under a name')");
  await page.fill("#view-name", "Only alpha");
  await button("Save").click();
  await say("Saved: Only alpha.");
  await page.waitForSelector(".pop a:has-text('Only alpha')");
  assert.deepEqual(await axe(page), []);
  await page.screenshot({ path: join(SHOTS, "saved-views-1440-light.png") });
  const [view] = await views();
  const query = new URLSearchParams(view.query);
  assert.deepEqual([view.page, query.get("f"), query.get("sort")], ["workloads", "name==alpha", "name"]);
  assert.ok(query.get("cols").split(",").includes("priority") && !query.get("cols").split(",").includes("type"), view.query);
});

test("it is chosen elsewhere, with its columns, and its link shows the same in another browser", async () => {
  await button("Columns").click();
  await button("Reset").click();
  await page.goto(server.url + "/workloads");
  await page.waitForSelector("tbody tr:nth-child(2)");
  assert.ok(!(await heads(page)).includes("Priority"));
  await button("Saved views").click();
  await page.getByRole("link", { name: "Only alpha" }).click();
  await page.waitForSelector("th:has-text('Priority')");
  await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 1);
  const shown = await heads(page);
  assert.ok(!shown.includes("Type"), shown);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await button("Saved views").click();
  await button("Copy the link of Only alpha").click();
  await say("The link is copied.");
  const link = await page.evaluate(() => navigator.clipboard.readText());
  assert.equal(link, `${server.url}/workloads?${(await views())[0].query}`);
  const other = await open(site.browser, server.url);
  await signIn(other.page, server.url);
  await other.page.goto(link);
  await other.page.waitForSelector("tbody tr");
  assert.deepEqual(await heads(other.page), shown);
  await other.page.goto(server.url + "/workloads");
  await other.page.getByRole("button", { name: "Saved views", exact: true }).click();
  await other.page.waitForSelector(".pop a:has-text('Only alpha')");
  await other.context.close();
});

test("the same name replaces it, and it is deleted", async () => {
  await page.goto(server.url + "/workloads?q=beta");
  await page.waitForSelector("tbody tr");
  await button("Saved views").click();
  await page.waitForSelector(".pop a:has-text('Only alpha')");
  await page.fill("#view-name", "only ALPHA");
  await button("Replace").click();
  await say("Saved: only ALPHA.");
  const [view, ...others] = await views();
  assert.deepEqual([view.name, new URLSearchParams(view.query).get("q"), others.length], ["only ALPHA", "beta", 0]);
  await button("Delete the view only ALPHA").click();
  await page.waitForSelector(".pop p:has-text('under a name')");
  assert.deepEqual(await views(), []);
});

test("fifty views with long names stay inside a phone's screen, in the dark theme", async () => {
  await page.evaluate(async () => {
    const send = name => fetch("/api/v1/me/views", { method: "POST", headers: { "Content-Type": "application/json", "X-Prorata-Request": "1" }, body: JSON.stringify({ page: "workloads", name, query: "sort=name" }) });
    for (let i = 0; i < 50; i++) await send(`${i} ${"a name that does not end ".repeat(4).slice(0, 96)}`);
  });
  const small = await open(site.browser, server.url, { width: 390, height: 844, theme: "dark" });
  await signIn(small.page, server.url);
  await small.page.goto(server.url + "/workloads");
  await small.page.waitForSelector("tbody tr");
  await small.page.getByRole("button", { name: "Saved views", exact: true }).click();
  await small.page.waitForSelector(".pop li:nth-child(50)");
  const { left, right, height } = await small.page.locator(".pop").evaluate(e => e.getBoundingClientRect().toJSON());
  assert.ok(left >= 0 && right <= 390 && height <= 844, `${left} to ${right}, ${height} high`);
  const ends = await small.page.locator(".pop li button:last-child").evaluateAll(list => Math.max(...list.map(b => b.getBoundingClientRect().right)));
  assert.ok(ends <= right, "its buttons are in sight");
  assert.ok((await small.page.evaluate(() => document.documentElement.scrollWidth)) <= 390);
  assert.deepEqual(await axe(small.page), []);
  await small.page.screenshot({ path: join(SHOTS, "saved-views-390-dark.png") });
  await small.page.fill("#view-name", "one more");
  await small.page.getByRole("button", { name: "Save", exact: true }).click();
  await small.page.waitForSelector(".toast:has-text('the most there may be')");
  await small.context.close();
});
