// Bars of quotas on the pages: the bar of one request.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { onMock } from "../browser.mjs";

const site = onMock();
let mock;
before(async () => ({ mock } = await site.ready));

test("the bar of one request holds it", async t => {
  const id = "00000000-0000-4000-8000-000000000777", robotics = mock.data.projects.find(p => p.name === "robotics");
  const asks = { ...mock.data.workloads.find(w => w.phase === "Pending"), id, name: "asks-8", projectId: robotics.id, projectName: robotics.name, requestedNodePools: ["h100"], workloadRequestedResources: { gpu: { request: 8 } } };
  mock.data.workloads.push(asks);
  t.after(() => mock.data.workloads.splice(mock.data.workloads.indexOf(asks), 1));
  const { page } = await site.show(t, `/workloads?open=${id}`);
  await page.locator(".solo text", { hasText: /^quota 0$/ }).waitFor();
  assert.deepEqual((await page.locator(".solo text").allTextContents()).sort(), ["8 asked by this one", "quota 0"], "nothing is cut");
});
