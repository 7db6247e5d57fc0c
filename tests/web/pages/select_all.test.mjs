// Every workload that a filter finds is selected and changed at once, beyond the page; the number is said before.
import assert from "node:assert/strict";
import { join } from "node:path";
import { before, test } from "node:test";
import { SHOTS, axe, becomes } from "../browser.mjs";
import { ask, onServer } from "../real_server.mjs";

const site = onServer();
const MANY = 120; // more than the server takes in one call
let page, server;
before(async () => {
  ({ page, server } = await site.ready);
  await page.evaluate(async number => {
    const json = async path => (await fetch(path)).json();
    const [{ uuid: clusterId }] = await json("/api/v1/clusters");
    const { projects: [{ id: projectId }] } = await json("/api/v1/org-unit/projects");
    const headers = { "Content-Type": "application/json", "X-Prorata-Request": "1" };
    for (let i = 0; i < number + 2; i++) {
      const body = JSON.stringify({ name: `${i < number ? "many" : "other"}-${i}`, projectId, clusterId, spec: { image: "x", compute: { gpuDevicesRequest: 64 } } });
      await fetch("/api/v1/workloads/trainings", { method: "POST", headers, body });
    }
  }, MANY);
});

const button = name => page.getByRole("button", { name, exact: true });
const countOf = async filter => (await ask(page, `/api/v1/workloads/count?filterBy=${filter}`)).count;
const openPage = async () => {
  await page.goto(server.url + "/workloads?f=name=@many");
  await page.waitForSelector(`.table-foot:has-text('of ${MANY}')`);
};
const selectAll = async () => {
  await page.getByLabel("Select all on this page").check();
  await page.waitForSelector(".picked :text-is('20 selected')");
  await button(`Select all ${MANY} that match`).click();
  await page.waitForSelector(`.picked :text-is('${MANY} selected')`);
};

test("all that match are stopped, and nothing else", async () => {
  await openPage();
  await selectAll();
  assert.deepEqual(await axe(page), []);
  await page.screenshot({ path: join(SHOTS, "select-all-1440-light.png") });
  await page.locator(".picked").getByRole("button", { name: "Stop", exact: true }).click();
  await page.waitForSelector(`dialog:has-text('Stop ${MANY} workloads?')`);
  assert.deepEqual(await axe(page), []);
  await page.locator("dialog").getByRole("button", { name: "Cancel", exact: true }).click();
  await becomes(MANY, () => countOf("name=@many,phase==Pending"), "nothing is stopped before one is sure");
  await page.waitForSelector(`.picked :text-is('${MANY} selected')`);
  await page.locator(".picked").getByRole("button", { name: "Stop", exact: true }).click();
  await page.locator("dialog").getByRole("button", { name: "Stop", exact: true }).click();
  await page.waitForSelector(`.toast:has-text('Stopped ${MANY} workloads.')`);
  await becomes(MANY, () => countOf("name=@many,phase==Stopped"), "stopped workloads");
  assert.equal(await countOf("phase==Pending"), 2);
});

test("a row that is taken out, or another filter, ends the choice", async () => {
  await openPage();
  await selectAll();
  await page.locator("tbody td.pick input").first().uncheck();
  await page.waitForSelector(".picked :text-is('19 selected')");
  await page.getByLabel("Select all on this page").check();
  await button(`Select all ${MANY} that match`).click();
  await page.waitForSelector(`.picked :text-is('${MANY} selected')`);
  await button("Select none").click();
  await page.waitForSelector(".tools input[type=search]");
});

test("what takes several calls says how far it is, and can be ended between two", async () => {
  await openPage();
  await selectAll();
  let answer;
  const held = new Promise(resolve => (answer = resolve));
  const asked = [];
  await page.route("**/api/v1/workloads/batch", async route => {
    asked.push(route.request().postDataJSON().ids.length);
    await held;
    await route.continue();
  });
  await page.locator(".picked").getByRole("button", { name: "Run", exact: true }).click();
  await page.locator("dialog").getByRole("button", { name: "Run", exact: true }).click();
  await page.waitForSelector(`.picked [role=status]:text-is('0 of ${MANY} done')`);
  assert.equal(await page.locator(".picked").getByRole("button", { name: "Delete", exact: true }).count(), 0, "nothing else is begun meanwhile");
  await button("End here").click();
  answer();
  await page.waitForSelector(`.toast:has-text('100 workloads are back in the queue. ${MANY - 100} are as they were.')`);
  await page.unroute("**/api/v1/workloads/batch");
  assert.deepEqual(asked, [100]);
  await becomes(MANY - 100, () => countOf("name=@many,phase==Stopped"), "those that were not reached");
});

test("all that match are deleted, after their number is said", async () => {
  await openPage();
  await selectAll();
  await page.locator(".picked").getByRole("button", { name: "Delete", exact: true }).click();
  await page.waitForSelector(`dialog:has-text('Delete ${MANY} workloads?')`);
  await page.waitForSelector("dialog:has-text('None of them runs. Their pods end now')");
  await page.locator("dialog").getByRole("button", { name: "Delete", exact: true }).click();
  await page.waitForSelector(`.toast:has-text('Deleted ${MANY} workloads.')`);
  await becomes(0, () => countOf("name=@many"), "what is left of them");
  assert.equal(await countOf("name=@other"), 2);
});
