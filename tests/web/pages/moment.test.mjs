// A moment of the timeline, on a real server: what the cycle of then decided, and why a workload waited, though it has gone on since.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { axe, until } from "../browser.mjs";
import { ask, onServer } from "../real_server.mjs";

const site = onServer();
let page, server;
before(async () => ({ page, server } = await site.ready));

const submit = (name, gpus) => page.evaluate(async ([title, count]) => {
  const json = async path => (await fetch(path)).json();
  const [{ uuid: clusterId }] = await json("/api/v1/clusters");
  const { projects: [{ id: projectId }] } = await json("/api/v1/org-unit/projects");
  const body = JSON.stringify({ name: title, projectId, clusterId, spec: { image: "x", compute: { gpuDevicesRequest: count } } });
  return (await (await fetch("/api/v1/workloads/trainings", { method: "POST", headers: { "Content-Type": "application/json", "X-Prorata-Request": "1" }, body })).json()).workloadId;
}, [name, gpus]);


test("a moment tells what its cycle decided, and why a workload waited", async () => {
  await submit("runs", 1);
  const placed = await until("its cycle", async () => (await ask(page, "/api/v1/scheduler/decisions")).cycles.find(c => c.decisions));
  const id = await submit("big", 5);
  const moment = await until("a cycle that saw it", async () => {
    const at = Date.now(), told = await ask(page, `/api/v1/workloads/${id}/explanation?at=${new Date(at).toISOString()}`);
    return told.code && told.cycle && at;
  });
  await page.goto(`${server.url}/timeline?at=${Date.parse(placed.time)}`);
  await page.locator(".moment li", { hasText: /^runs got a place on node-\d: / }).waitFor();
  await page.goto(`${server.url}/timeline?at=${moment}`);
  await page.selectOption("#f-why", id);
  await page.locator(".moment .because .one", { hasText: /^Needs 5 GPUs/ }).waitFor();
  await page.waitForFunction(() => new URLSearchParams(location.search).has("why")); // a link shows the same
  assert.deepEqual(await axe(page), []);
  await page.goto(`${server.url}/timeline?at=${Date.parse("2020-01-01T00:00:00Z")}`);
  await page.locator(".moment p", { hasText: /the journal has no such cycle: it has 1 to \d+, from/ }).waitFor();
});
