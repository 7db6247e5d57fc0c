// What was deleted is found again, with what happened to it, and without actions; on a real server.
import assert from "node:assert/strict";
import { join } from "node:path";
import { before, test } from "node:test";
import { SHOTS, axe, becomes, open } from "../browser.mjs";
import { ask, onServer, signIn } from "../real_server.mjs";

const site = onServer();
let page, server;
before(async () => {
  ({ page, server } = await site.ready);
  await page.evaluate(async () => {
    const json = async path => (await fetch(path)).json();
    const [{ uuid: clusterId }] = await json("/api/v1/clusters");
    const { projects: [{ id: projectId }] } = await json("/api/v1/org-unit/projects");
    const headers = { "Content-Type": "application/json", "X-Prorata-Request": "1" };
    for (const name of ["gone", "gone-too", "here"]) {
      const body = JSON.stringify({ name, projectId, clusterId, spec: { image: "x", compute: { gpuDevicesRequest: 1 } } });
      const { workloadId } = await (await fetch("/api/v1/workloads/trainings", { method: "POST", headers, body })).json();
      if (name !== "here") await fetch(`/api/v1/workloads/trainings/${workloadId}`, { method: "DELETE", headers });
    }
  });
  await becomes(2, async () => (await ask(page, "/api/v1/workloads/count?deleted=true")).count, "deleted workloads");
});

test("deleted workloads stand on a page of their own, with filters and details", async () => {
  await page.goto(server.url + "/workloads");
  await page.getByRole("navigation", { name: "Quick filters" }).getByRole("link", { name: "Deleted" }).click();
  await page.waitForURL(/\/workloads\/deleted$/);
  await page.waitForSelector(".table-foot:has-text('1–2 of 2')");
  assert.deepEqual((await page.locator("tbody td.first a > span:not(.sub)").allTextContents()).sort(), ["gone", "gone-too"]);
  assert.equal(await page.locator("tbody input").count(), 0, "nothing can be done with them");
  await page.fill(".tools input[type=search]", "too");
  await page.waitForSelector(".table-foot:has-text('of 1')");
  await page.locator("tbody a.w").click();
  await page.waitForSelector("#pane-title:has-text('gone-too')");
  await page.waitForSelector("#pane-panel .ev li");
  assert.equal(await page.locator(".pane .st.pill").innerText(), "Deleted");
  assert.deepEqual(await page.getByRole("tab").allInnerTexts(), ["Events", "Pods", "Logs", "Spec"]);
  assert.equal(await page.locator(".pane .acts").count(), 0);
  assert.deepEqual(await axe(page), []);
  await page.screenshot({ path: join(SHOTS, "deleted-1440-light.png") });
  for (const name of ["Pods", "Logs", "Spec"]) {
    await page.getByRole("tab", { name, exact: true }).click();
    await page.waitForSelector(`[role=tab][aria-selected=true]:has-text('${name}')`);
    await page.waitForSelector("#pane-panel :is(td, .log-view, .code)");
    assert.equal(await page.locator("#pane-panel .fault").count(), 0, name);
  }
});

test("on a phone and in the dark", async t => {
  const phone = await open(site.browser, server.url, { width: 390, theme: "dark" });
  t.after(() => phone.context.close());
  await signIn(phone.page, server.url);
  await phone.page.goto(server.url + "/workloads/deleted");
  await phone.page.waitForSelector("tbody tr:nth-child(2)");
  assert.deepEqual(await axe(phone.page), []);
  await phone.page.screenshot({ path: join(SHOTS, "deleted-390-dark.png") });
});
