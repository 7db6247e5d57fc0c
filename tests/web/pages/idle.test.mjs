// Who holds GPUs that he doesn't use: the rank, its bars, what narrows it, and the way to the workload.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { before, test } from "node:test";
import { becomes, onMock, open } from "../browser.mjs";

const site = onMock();
let browser, mock;
before(async () => ({ browser, mock } = await site.ready));

const names = page => page.locator("tbody td.first a > span:not(.sub)").allTextContents();

test("idle workloads stand by their GPU hours, with bars that are in proportion", async () => {
  const { page, context } = await open(browser, mock.url);
  await page.goto(mock.url + "/idle");
  await page.waitForSelector("tbody tr");
  const answer = await page.evaluate(async () => (await fetch("/api/v1/workloads/idle?minIdleSeconds=300")).json());
  assert.ok(answer.workloads.length > 1);
  assert.deepEqual(await names(page), answer.workloads.map(w => w.name));
  assert.match(await page.locator(".sum").textContent(), new RegExp(`^${answer.total.count} workloads hold ${answer.total.gpusAllocated} GPUs; ${answer.total.gpusIdle} of them do nothing`));
  const widths = await page.locator("tbody .meter-fill").evaluateAll(bars => bars.map(b => Number(b.getAttribute("width"))));
  assert.equal(widths[0], 100);
  answer.workloads.forEach((w, i) => assert.ok(Math.abs(widths[i] - (w.idleGpuHours / answer.workloads[0].idleGpuHours) * 100) < 0.01));
  await page.getByRole("button", { name: "Idle GPU hours" }).click();
  await page.waitForSelector("th[aria-sort=ascending]");
  await becomes(answer.workloads.map(w => w.name).reverse(), () => names(page), "by what numbers are worth");
  await context.close();
});

test("a project and the least idle time narrow it; a row leads to its workload", async () => {
  const { page, context } = await open(browser, mock.url);
  await page.goto(mock.url + "/idle");
  await page.waitForSelector("tbody tr");
  const all = await names(page);
  await page.getByRole("group", { name: "Idle for at least" }).getByRole("button", { name: "1 h" }).click();
  await page.waitForFunction(n => document.querySelectorAll("tbody tr").length < n, all.length);
  await page.waitForURL(/least=3600/);
  await page.getByRole("group", { name: "Idle for at least" }).getByRole("button", { name: "1 day" }).click();
  await page.waitForSelector(".empty:has-text('nothing for 1 day')");
  assert.deepEqual([await page.locator(".table-foot, .table-sheet > p").count(), await page.locator(".tools").evaluate(tools => tools.offsetTop - tools.parentElement.offsetTop <= 1)], [0, true], "no pages, and no empty line above the tools");
  const first = mock.data.workloads.find(w => w.name === all[0]);
  await page.goto(`${mock.url}/idle?f=projectName==${encodeURIComponent(first.projectName)}`);
  await page.waitForSelector("tbody tr");
  const projects = new Map(mock.data.workloads.map(w => [w.name, w.projectId]));
  assert.deepEqual(await names(page), all.filter(name => projects.get(name) === first.projectId));
  await page.getByRole("link", { name: all[0] }).first().click();
  await page.waitForFunction(id => location.pathname === "/workloads" && location.search.includes(id), first.id);
  await context.close();
});

test("the rows are downloaded as CSV", async () => {
  const { page, context } = await open(browser, mock.url);
  await page.goto(mock.url + "/idle");
  await page.waitForSelector("tbody tr");
  const all = await names(page);
  await page.getByRole("button", { name: "More for this table" }).click();
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("menuitem", { name: "Download as CSV" }).click()]);
  const lines = (await readFile(await file.path(), "utf8")).trim().split("\r\n");
  assert.deepEqual(lines.slice(1).map(l => l.split(",")[0].replaceAll('"', "")), all);
  await context.close();
});
