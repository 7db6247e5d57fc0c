// Tables: what is chosen lives in the address; keys walk the rows; live changes change cells and never move rows.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { SHOTS, axe, becomes, onMock, open, until } from "../browser.mjs";

const site = onMock();
let browser, mock, page, context;
before(async () => {
  ({ browser, mock } = await site.ready);
  ({ page, context } = await open(browser, mock.url));
});
after(() => context?.close());

const names = () => page.locator("tbody td.first a > span:first-of-type").allTextContents();
const go = async path => {
  await page.goto(mock.url + path);
  await page.waitForSelector("tbody tr");
};
const query = () => Object.fromEntries(new URL(page.url()).searchParams);

test("sort, page, rows, search and filters live in the address", async () => {
  await go("/workloads");
  await page.getByRole("button", { name: "Workload", exact: true }).click();
  await becomes("name", () => query().sort);
  await becomes("ascending", () => page.getAttribute("th[aria-sort]", "aria-sort"));
  await page.getByRole("button", { name: "Workload", exact: true }).click();
  await becomes("-name", () => query().sort);
  await page.waitForFunction(() => document.querySelector("tbody td.first a span")?.textContent === "vla-small");
  await page.getByRole("button", { name: "Next", exact: true }).click();
  await becomes("2", () => query().page);
  await page.waitForSelector(".table-foot:has-text('21–35 of 35')");
  await page.selectOption(".rows select", "50");
  await page.waitForSelector(".table-foot:has-text('1–35 of 35')");
  await page.fill(".tools input[type=search]", "vision");
  await page.waitForSelector(".table-foot:has-text('1–6 of 6')");
  assert.equal(query().q, "vision");
});

test("a link whose sort is gone shows the rows as the page sorts them", async () => {
  const asked = page.waitForRequest(r => new URL(r.url()).pathname === "/api/v1/workloads");
  await go("/workloads?sort=-created");
  assert.equal(new URL((await asked).url()).searchParams.get("sortBy"), "createdAt");
  await becomes("descending", () => page.getAttribute("th[aria-sort]", "aria-sort"));
});

test("Back finds the table where it was left, and a page that is opened begins at its top", async () => {
  const region = page.locator(".table-sheet .scroll"), topOf = () => region.evaluate(e => e.scrollTop);
  await page.setViewportSize({ width: 1440, height: 500 });
  await go("/workloads?rows=50");
  await page.waitForSelector(".table-foot:has-text('1–35 of 35')");
  await region.evaluate(e => e.scrollTo(0, 300));
  await becomes(300, topOf);
  await page.getByRole("navigation").getByRole("link", { name: "Nodes" }).first().click();
  await page.waitForSelector("h1:has-text('Nodes')");
  await page.waitForSelector("tbody tr");
  assert.equal(await topOf(), 0);
  await page.goBack();
  await page.waitForSelector(".table-foot:has-text('1–35 of 35')");
  await becomes(300, topOf);
  await page.setViewportSize({ width: 1440, height: 900 });
});

test("names are drawn as they are typed: 8x7b keeps its letter x", async () => {
  await go("/workloads");
  assert.equal(await page.locator("tbody td.first a").first().evaluate(e => getComputedStyle(e).fontVariantLigatures), "no-contextual");
});

test("a filter is added by column, condition and value, shown as a chip, and dropped", async () => {
  await go("/workloads");
  await page.getByRole("button", { name: "Add a filter" }).click();
  await page.selectOption("#filter-col", "phase");
  await page.getByRole("checkbox", { name: "Pending", exact: true }).check();
  assert.deepEqual(await axe(page), []);
  await page.getByRole("button", { name: "Add filter", exact: true }).click();
  await becomes("phase==Pending", () => query().f);
  await page.waitForSelector(".table-foot:has-text('of 6')");
  await page.getByRole("button", { name: "Remove filter Status" }).click();
  await page.waitForSelector(".table-foot:has-text('of 35')");
});

test("several values of a column are one filter, by ticks or by words with commas", async () => {
  await go("/workloads");
  await page.getByRole("button", { name: "Add a filter" }).click();
  await page.selectOption("#filter-col", "phase");
  for (const name of ["Pending", "Running"]) await page.getByRole("checkbox", { name, exact: true }).check();
  await page.screenshot({ path: join(SHOTS, "several-values-1440-light.png") });
  await page.getByRole("button", { name: "Add filter", exact: true }).click();
  await page.waitForSelector(".chip:has-text('Status: Running, Pending')");
  assert.equal(query().f, "phase==Running,phase==Pending");
  const both = mock.data.workloads.filter(w => ["Running", "Pending"].includes(w.phase));
  await page.waitForSelector(`.table-foot:has-text('of ${both.length}')`);
  await page.getByRole("button", { name: "Add a filter" }).click();
  await page.selectOption("#filter-col", "project");
  await page.selectOption("#filter-op", "==");
  const [a, b] = [...new Set(both.map(w => w.projectName))];
  await page.waitForSelector("#filter-names option", { state: "attached" });
  const offered = await page.locator("#filter-names option").evaluateAll(all => all.map(o => o.value));
  assert.ok([a, b].every(name => offered.includes(name)) && await page.getAttribute("#filter-value", "list") === "filter-names", "names are offered");
  await page.fill("#filter-value", `${a}, ${b}`);
  await page.getByRole("button", { name: "Add filter", exact: true }).click();
  await page.waitForSelector(`.chip:has-text('Project: ${a}, ${b}')`);
  await page.waitForSelector(`.table-foot:has-text('of ${both.filter(w => [a, b].includes(w.projectName)).length}')`);
  await page.getByRole("button", { name: "Remove filter Status" }).click();
  await page.waitForFunction(f => new URLSearchParams(location.search).get("f") === f, `projectName==${a},projectName==${b}`);
});

test("nothing matches: it says so and clears", async () => {
  await page.goto(mock.url + "/workloads?q=nothing-like-it&f=phase==Failed");
  await page.waitForSelector(".empty:has-text('Nothing matches the search and 1 filter.')");
  assert.equal(await page.locator(".table-foot").count(), 0, "no rows, no pages");
  await page.getByRole("button", { name: "Clear", exact: true }).click();
  await page.waitForSelector("tbody tr");
});

test("an empty page behind the last one leads back", async () => {
  await page.goto(mock.url + "/workloads?page=9");
  await page.waitForSelector(".empty");
  await page.getByRole("button", { name: "Back", exact: true }).click();
  await page.waitForURL(/page=8/);
});

test("keys: j and k walk, Enter opens, the pane follows, Escape closes and the focus is back on the row", async () => {
  await go("/workloads?sort=name");
  const list = await names();
  const focused = () => page.evaluate(() => document.activeElement.textContent.trim());
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  assert.ok((await focused()).startsWith(list[1]));
  await page.keyboard.press("k");
  assert.ok((await focused()).startsWith(list[0]));
  await page.keyboard.press("Enter");
  await page.waitForSelector(`#pane-title:has-text("${list[0]}")`);
  await page.keyboard.press("j");
  await page.waitForSelector(`#pane-title:has-text("${list[1]}")`);
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => !document.querySelector("aside.pane"));
  await page.waitForFunction(name => document.activeElement.textContent.trim().startsWith(name), list[1]);
});

test("x selects rows and raises the action bar", async () => {
  await go("/workloads?sort=name");
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await page.waitForSelector(".picked:has-text('2 selected')");
  assert.deepEqual(await axe(page), []);
  await page.getByRole("button", { name: "Select none" }).click();
  await page.waitForSelector(".picked", { state: "detached" });
});

test("columns are chosen and ordered by keyboard, and stay so", async () => {
  await go("/workloads");
  await page.getByRole("button", { name: "Columns" }).click();
  await page.getByRole("checkbox", { name: "Department" }).check();
  await page.getByRole("button", { name: "Project later" }).click();
  assert.deepEqual(await axe(page), []);
  await page.keyboard.press("Escape");
  await page.reload();
  await page.waitForSelector("tbody tr");
  const heads = await page.locator("thead th").allTextContents();
  assert.ok(heads.includes("Department") && heads.indexOf("Project") > heads.indexOf("GPUs"), heads.join());
  await page.getByRole("button", { name: "Columns" }).click();
  await page.getByRole("button", { name: "Reset" }).click();
  await page.keyboard.press("Escape");
  assert.ok(!(await page.locator("thead th").allTextContents()).includes("Department"));
});

test("live changes: cells change, rows stay; what is new is counted and shown on a click", async () => {
  await go("/workloads?sort=name");
  await page.evaluate(() => setInterval(() => window.dispatchEvent(new Event("wheel")), 500)); // in use, so that nothing is sorted anew by itself
  const before = await names();
  const first = mock.data.workloads.find(w => w.name === before[0]);
  first.phase = "Failed";
  mock.data.workloads.push({ ...first, id: "00000000-0000-4000-8000-000000000999", name: "aaa-new", phase: "Pending" });
  mock.change("workload", first.id);
  await page.waitForSelector("tbody tr:first-child:has-text('Failed')");
  assert.deepEqual(await names(), before);
  await page.waitForSelector(".news:has-text('1 new row, 1 gone or moved')");
  assert.equal(await page.locator("tr.left").count(), 0, "what may be on the next page does not fade");
  await page.getByRole("button", { name: "Show", exact: true }).click();
  await becomes("aaa-new", async () => (await names())[0]);
  await go("/workloads?f=phase==Completed");
  const over = mock.data.workloads.filter(w => w.phase === "Completed");
  mock.data.workloads.splice(mock.data.workloads.indexOf(over[0]), 1);
  mock.change("workload", over[0].id);
  await page.waitForSelector("tr.left");
  assert.equal(await page.locator("tbody tr .num").first().textContent(), "1", "it asked for one GPU and lacks none");
});

test("columns fit: names are cut, the least telling go, the status is never off the screen", async () => {
  const [first, second] = mock.data.workloads, kept = [first.projectName, second.name];
  first.projectName = "a-very-long-project-name-that-somebody-chose-long-ago";
  second.name = "a-workload-with-a-name-as-long-as-scripts-make-them-when-nobody-looks-2026";
  for (const [width, path, least] of [[1440, "/workloads", 7], [1440, `/workloads?open=${first.id}`, 5], [1280, "/workloads", 6], [390, "/workloads", 2], [320, "/workloads", 2], [320, "/projects", 2]]) {
    await page.setViewportSize({ width, height: 900 });
    await go(path);
    await page.waitForFunction(() => !document.querySelector(".loading"));
    await until(`${least} columns that fit at ${width}, ${path}`, () => page.evaluate(few => {
      const box = document.querySelector(".table-sheet .scroll"), heads = [...box.querySelectorAll("thead th:not(.pick)")].filter(th => th.offsetWidth > 0);
      return box.scrollWidth - box.clientWidth <= 1 && document.querySelector("tbody td.keep").getBoundingClientRect().right <= box.getBoundingClientRect().right && heads.length >= few;
    }, least));
  }
  [first.projectName, second.name] = kept;
  await page.setViewportSize({ width: 1440, height: 900 });
});

test("a page shows a hundred rows", async () => {
  for (let i = 0; i < 100; i++) mock.data.workloads.push({ ...mock.data.workloads[0], id: `00000000-0000-4000-8000-00000001${String(i).padStart(4, "0")}`, name: `many-${i}` });
  await go("/workloads?rows=100&sort=name");
  await becomes(100, () => page.locator("tbody tr").count());
});
