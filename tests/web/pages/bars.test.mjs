// Bars of quotas on the pages: the bar of one request.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { onMock } from "../browser.mjs";

const site = onMock();
let mock;
before(async () => ({ mock } = await site.ready));

// Texts of the bar that lie over the heading above it.
const overHeading = page => page.locator(".solo").first().evaluate(bar => {
  const heading = bar.parentElement.querySelector("h3").getBoundingClientRect();
  return [...bar.querySelectorAll("text")].filter(text => text.getBoundingClientRect().top < heading.bottom).map(text => text.textContent);
});

test("the bar of one request holds it, and no text of it lies over the heading", async t => {
  const id = "00000000-0000-4000-8000-000000000777", robotics = mock.data.projects.find(p => p.name === "robotics");
  const asks = { ...mock.data.workloads.find(w => w.phase === "Pending"), id, name: "asks-8", projectId: robotics.id, projectName: robotics.name, requestedNodePools: ["h100"], workloadRequestedResources: { gpu: { request: 8 } } };
  mock.data.workloads.push(asks);
  t.after(() => mock.data.workloads.splice(mock.data.workloads.indexOf(asks), 1));
  for (const width of [1440, 390])
    for (const path of [`/workloads?open=${id}`, `/workloads/new/training?project=${robotics.id}`]) {
      const { page } = await site.show(t, path, { width });
      await page.locator(".solo text", { hasText: /^quota \d+$/ }).waitFor();
      assert.deepEqual(await overHeading(page), [], `${path} at ${width}`);
      if (path.includes("open")) assert.deepEqual((await page.locator(".solo text").allTextContents()).sort(), ["8 asked by this one", "quota 0"], "nothing is cut");
    }
});
