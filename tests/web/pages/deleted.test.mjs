// What was deleted is found again, with what happened to it, and without actions; on a real server.
import assert from "node:assert/strict";
import { join } from "node:path";
import { before, test } from "node:test";
import { SHOTS, axe, becomes, open, until } from "../browser.mjs";
import { ask, onServer, send, signIn } from "../real_server.mjs";

const site = onServer();
let page, server;
before(async () => {
  ({ page, server } = await site.ready);
  const [{ uuid: clusterId }] = await ask(page, "/api/v1/clusters"), { projects: [{ id: projectId }] } = await ask(page, "/api/v1/org-unit/projects");
  const fails = { backoffLimit: 0, annotations: [{ name: "prorata.io/sim-duration", value: "1ms" }, { name: "prorata.io/sim-exit-code", value: "3" }] };
  const trainings = "/api/v1/workloads/trainings", submit = async (name, more) => (await send(page, "POST", trainings, { name, projectId, clusterId, spec: { image: "x", compute: { gpuDevicesRequest: 1 }, ...more } })).workloadId;
  await submit("here");
  const gone = [await submit("gone", fails), await submit("gone-too")];
  await until("one has failed", async () => (await ask(page, `/api/v1/workloads/${gone[0]}`)).phase === "Failed");
  for (const id of gone) await send(page, "DELETE", `${trainings}/${id}`);
  await becomes(2, async () => (await ask(page, "/api/v1/workloads/count?deleted=true")).count, "deleted workloads");
});

test("deleted workloads stand on a page of their own, with filters and details", async () => {
  await page.goto(server.url + "/workloads");
  await page.getByRole("navigation", { name: "Quick filters" }).getByRole("link", { name: "Deleted" }).click();
  await page.waitForURL(/\/workloads\/deleted$/);
  await page.waitForSelector(".table-foot:has-text('1–2 of 2')");
  assert.deepEqual((await page.locator("tbody td.first a > span:not(.sub)").allTextContents()).sort(), ["gone", "gone-too"]);
  assert.equal(await page.locator("tbody input").count(), 0, "nothing can be done with them");
  const cells = name => page.locator("tbody tr", { has: page.locator("td.first", { hasText: new RegExp(`^${name}default`) }) }).locator("td").allInnerTexts();
  assert.deepEqual((await cells("gone-too")).slice(1, 3), ["Deleted", "Deleted by admin@prorata.local"], "what ran, and who deleted it");
  assert.match((await cells("gone")).slice(1, 3).join(": "), /^Failed: Failed 1 time, and backoffLimit allows 0; gone-0-0 ended with exit code 3/, "how it ended before");
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
  await page.fill(".tools input[type=search]", "gone");
  await page.locator("tbody a.w", { hasText: /^gone(?!-)/ }).click();
  await page.waitForSelector("#pane-title:text-is('gone')");
  await page.getByRole("tab", { name: "Pods", exact: true }).click();
  await page.waitForSelector("#pane-panel td:has-text('gone-0-0')"); // it had ended before
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
