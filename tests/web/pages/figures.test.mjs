// Pages of figures: /quota, /analytics, /clusters. What they say is what the server's answers add up to.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { becomes, onMock, until } from "../browser.mjs";

const site = onMock();
let mock;
before(async () => ({ mock } = await site.ready));

const sum = (list, of) => list.reduce((all, x) => all + of(x), 0);
const ask = (page, path) => page.evaluate(async p => (await fetch(p)).json(), path);
const tile = (page, label) => page.locator(".stat", { hasText: label }).locator(".v").textContent().then(t => t.trim());
const cells = (page, column) => page.evaluate(name => {
  const at = [...document.querySelectorAll("thead th")].findIndex(th => th.textContent.trim().startsWith(name));
  return [...document.querySelectorAll("tbody tr")].map(tr => tr.cells[at].textContent.trim());
}, column);
const number = text => Number(text.replace(/[^\d.]/g, ""));

// Quotas above 0 of the overview, project by project and pool by pool.
async function quotas(page) {
  const { projects, nodePools } = await ask(page, "/api/v1/overview");
  const rows = projects.flatMap(p => p.nodePools.filter(q => q.quota > 0).map(q => ({ ...q, project: p.name, id: p.id, unused: q.quota - Math.min(q.held, q.quota) - q.owed })));
  return { rows, total: sum(nodePools, p => p.gpus) };
}

test("the quota page says first who waits for quota and where quota is unused, from one answer", async t => {
  const asked = [];
  const { page } = await site.show(t, "/about");
  await page.goto("about:blank"); // what the page before still asks is no question of this one
  page.on("request", r => asked.push(new URL(r.url()).pathname));
  await page.goto(mock.url + "/quota");
  await page.waitForSelector("tbody tr");
  await page.waitForSelector(".chart canvas");
  assert.deepEqual(asked.filter(path => path.startsWith("/api/") && !/session|counts|stream/.test(path)).map(path => path.replace(/[0-9a-f-]{36}/, "ID")).sort(), ["/api/v1/clusters/ID/metrics", "/api/v1/overview"]);
  const { rows, total } = await quotas(page), owed = rows.filter(r => r.owed > 0).sort((a, b) => b.owed - a.owed || (a.project < b.project ? -1 : 1)), unused = rows.filter(r => r.unused > 0).sort((a, b) => b.unused - a.unused || (a.project < b.project ? -1 : 1));
  assert.ok(owed.length && unused.length);
  const said = page.locator(".answer .one");
  assert.ok((await said.boundingBox()).y < 200);
  assert.match(await said.textContent(), new RegExp(`^${new Set(owed.map(r => r.id)).size} projects? waits? for ${sum(owed, r => r.owed)} GPUs? of quota: ${owed[0].project} ${owed[0].owed} in ${owed[0].name}`));
  assert.match(await page.locator(".answer .two").textContent(), new RegExp(`^${sum(unused, r => r.unused)} GPUs? of quota (is|are) unused: ${unused[0].project} ${unused[0].unused} in ${unused[0].name}`));
  const percent = (part, whole) => `${Math.round(part / whole * 100)}`;
  assert.equal(number(await tile(page, "Allocated / quota")), Number(percent(sum(rows, r => r.held), sum(rows, r => r.quota))));
  assert.equal(number(await tile(page, "Quota / total")), Number(percent(sum(rows, r => r.quota), total)));
  assert.equal(number(await tile(page, "Owed, waiting")), sum(owed, r => r.owed));
  assert.equal(number(await tile(page, "Unused quota")), sum(unused, r => r.unused));
  const ratios = (await cells(page, "Allocated / quota")).map(number);
  assert.equal(ratios.length, Math.min(20, rows.length));
  assert.deepEqual(ratios, [...ratios].sort((a, b) => a - b), "the least allocated first");
});

test("a tile sorts the quotas, a pool narrows all of the page, departments have their own; a row leads on", async t => {
  const { page } = await site.show(t, "/quota");
  await page.waitForSelector("tbody tr");
  const { rows } = await quotas(page);
  await page.locator("a.stat", { hasText: "Unused quota" }).focus();
  await page.keyboard.press("Enter");
  await page.waitForSelector("th[aria-sort=descending]:has-text('Unused')");
  const most = [...rows].sort((a, b) => b.unused - a.unused)[0];
  assert.equal(number((await cells(page, "Unused"))[0]), most.unused);
  await page.getByRole("group", { name: "Node pool" }).getByRole("button", { name: most.name, exact: true }).click();
  await page.waitForFunction(name => [...document.querySelectorAll("tbody tr")].every(tr => tr.cells[1].textContent.trim() === name), most.name);
  assert.equal(number(await tile(page, "Unused quota")), sum(rows.filter(r => r.name === most.name), r => r.unused));
  await page.getByRole("group", { name: "Rows" }).getByRole("button", { name: "Departments" }).click();
  await page.waitForSelector("thead th:first-of-type:has-text('Department')");
  const { departments } = await ask(page, "/api/v1/org-unit/departments?verbosity=verbose");
  await page.waitForFunction(n => document.querySelectorAll("tbody tr").length === n, departments.filter(d => d.resources.some(r => r.nodePool.name === most.name && r.gpu.deserved > 0)).length);
  assert.match(page.url(), /by=departments/);
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => location.pathname === "/departments" && location.search.includes("open="));
});

test("quotas follow live changes, in their rows", async t => {
  const { page } = await site.show(t, "/quota?sort=name");
  await page.waitForSelector("tbody tr");
  const [{ id, name: pool, held, quota }] = (await quotas(page)).rows.filter(r => r.held < r.quota);
  const project = mock.data.projects.find(p => p.id === id), at = project.resources.findIndex(r => r.nodePool.name === pool);
  const row = page.locator("tbody tr", { hasText: project.name }).filter({ hasText: pool });
  await row.getByRole("cell", { name: `${held} of ${quota}`, exact: true }).waitFor();
  project.status.nodePoolQuotaStatuses[at].allocated.gpu += 0.5;
  t.after(() => (project.status.nodePoolQuotaStatuses[at].allocated.gpu -= 0.5));
  mock.change("project", id);
  await row.getByRole("cell", { name: `${held + 0.5} of ${quota}`, exact: true }).waitFor();
});

test("analytics has averages of the chosen time, its charts and the projects by what they held", async t => {
  const asked = [];
  const { page } = await site.show(t, "/about");
  page.on("request", r => asked.push(new URL(r.url())));
  await page.goto(mock.url + "/analytics");
  await page.waitForSelector(".chart canvas");
  assert.deepEqual(await page.locator(".chart h3").allTextContents(), ["GPUs allocated", "GPU utilization", "Allocated by kind of work", "Workloads that waited"]);
  const whole = asked.find(u => u.pathname.endsWith("/metrics") && u.search.includes("TOTAL_GPU"));
  const { measurements } = await ask(page, whole.pathname + whole.search);
  const mean = type => {
    const { values } = measurements.find(m => m.type === type);
    return sum(values, v => Number(v.value)) / values.length;
  };
  assert.ok(Math.abs(number(await tile(page, "Allocated on average")) - mean("ALLOCATED_GPU")) < 0.01);
  assert.equal(number(await tile(page, "Used on average")), 71);
  const { values } = measurements.find(m => m.type === "ALLOCATED_GPU"), hours = (Date.parse(values.at(-1).timestamp) - Date.parse(values[0].timestamp)) / 3600000;
  assert.ok(Math.abs(number(await tile(page, "GPU hours")) / (mean("ALLOCATED_GPU") * hours) - 1) < 0.01);
  const sorts = () => asked.filter(u => u.pathname === "/api/v1/org-unit/projects").at(-1)?.searchParams.get("sortBy");
  await becomes("avgGpuAllocation7d", sorts);
  await page.getByRole("group", { name: "Time" }).getByRole("button", { name: "24 h" }).click();
  await page.waitForFunction(() => location.search === "?range=24h");
  await becomes([86400000, "avgGpuAllocation24h"], () => {
    const [begun, ended] = ["start", "end"].map(name => Date.parse(asked.filter(u => u.search.includes("TOTAL_GPU")).at(-1).searchParams.get(name)));
    return [ended - begun, sorts()];
  });
  const { projects } = await ask(page, "/api/v1/org-unit/projects?sortBy=name");
  const vision = projects.find(p => p.name === "vision");
  await becomes(String(vision.overtimeData.range24hData.averageGpuAllocation), async () => (await page.locator("tbody tr", { hasText: "vision" }).locator("td").nth(1).textContent()).trim());
  await page.getByRole("group", { name: "Node pool" }).getByRole("button", { name: "a100" }).click();
  await page.waitForFunction(() => location.search === "?range=24h&pool=a100" && document.querySelectorAll(".chart").length === 3);
  await becomes(["a100", null, true], () => {
    const last = asked.filter(u => u.pathname.endsWith("/metrics")).at(-1).searchParams;
    return [last.get("nodepoolName"), last.get("groupBy"), last.get("metricType").includes("WAITING")];
  });
});

test("charts of what has just begun show the time that is known", async t => {
  const { page } = await site.show(t, "/about");
  const spans = [];
  let begun = Date.now() - 10 * 60000;
  await page.route(url => url.pathname.endsWith("/metrics"), async route => {
    const { searchParams: asked } = new URL(route.request().url());
    spans.push(Date.parse(asked.get("end")) - Date.parse(asked.get("start")));
    const { measurements } = await (await route.fetch()).json();
    await route.fulfill({ json: { measurements: measurements.map(m => ({ ...m, values: m.values.filter(v => Date.parse(v.timestamp) > begun) })) } });
  });
  await page.goto(mock.url + "/analytics");
  await page.waitForSelector(".chart canvas");
  await until("the charts are of the minutes that are known", () => spans.at(-1) > 10 * 60000 && spans.at(-1) < 60 * 60000);
  assert.equal(spans[0], 7 * 86400000);
  await until("GPU hours", async () => number(await tile(page, "GPU hours")) > 0);
  begun = Date.now() - 5000; // none of the samples asked for is known, or the last one alone
  spans.length = 0;
  await page.goto(mock.url + "/nodes?open=gpu-h08&tab=metrics");
  await page.waitForSelector(".chart canvas");
  await until("the charts are of the seconds that are known", () => spans.at(-1) > 5000 && spans.at(-1) < 70000);
  assert.equal(spans[0], 3600000);
  await page.locator(".chart").first().getByRole("button", { name: "Table" }).click();
  await page.waitForSelector(".chart-table tbody tr:nth-child(2)"); // a line, not a point
});

test("clusters have their state and their UUID, which a button copies", async t => {
  const { page, context } = await site.show(t, "/clusters");
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.waitForSelector("tbody tr");
  const [first, second] = await ask(page, "/api/v1/clusters");
  assert.deepEqual(await cells(page, "Status"), ["Connected", "Waiting to connect"]);
  assert.deepEqual(await cells(page, "Cluster UUID"), [first.uuid, second.uuid]);
  await page.waitForSelector("tbody:has-text('simulated')");
  assert.deepEqual(await cells(page, "Backend"), ["simulated", "–"]);
  await page.getByRole("button", { name: "Copy the UUID of second" }).click();
  await page.waitForSelector(".toast:has-text('Copied')");
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), second.uuid);
  await page.getByRole("link", { name: "lab" }).focus();
  await page.keyboard.press("Enter");
  await page.waitForSelector("#pane-title:has-text('lab')");
  await page.locator("#details").filter({ hasText: new RegExp(`${first.uuid}[^]*0.1.0[^]*simulated`) }).waitFor();
});

test("the overview says when the scheduler decided, and for how long it plans where that is long", async t => {
  const { page } = await site.show(t, "/about");
  const waits = url => url.pathname === "/api/v1/scheduler/waiting";
  let scheduler;
  await page.route(waits, async route => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, json: { ...await answer.json(), scheduler } });
  });
  const said = page.locator("section[aria-labelledby=h-wait] header p:not(.cut)");
  for (const [decidedAt, planningSince, words] of [
    ["2025-11-16T12:00:00Z", null, /^Decided 2025-11-1[567]$/],
    ["2025-11-15T12:00:00Z", "2025-11-16T12:00:00Z", /^The scheduler has been planning for \d+ d/],
    [null, "2025-11-16T12:00:00Z", /^The scheduler has been planning for \d+ d/],
  ]) {
    scheduler = { decidedAt, planningSince };
    await page.goto(mock.url + "/");
    await said.waitFor();
    assert.match(await said.innerText(), words);
  }
  scheduler = { decidedAt: null, planningSince: null };
  await page.goto(mock.url + "/");
  await page.waitForSelector(".wait li");
  assert.equal(await said.count(), 0);
});
