// Bars of quotas on the pages: the bar of one request, and who uses what on the Overview.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { axe, onMock } from "../browser.mjs";

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

test("a department's name on the Overview takes the room beside it", async t => {
  const parents = mock.data.projects.map(p => p.parent);
  t.after(() => parents.forEach((parent, i) => (mock.data.projects[i].parent = parent)));
  for (const p of mock.data.projects) p.parent = { ...p.parent, name: `${p.parent.name}, security and privacy` };
  const { page } = await site.show(t, "/");
  await page.locator(".q-group", { hasText: "Applied, security and privacy" }).waitFor();
  assert.deepEqual(await page.locator(".q-group .strong").evaluateAll(names => names.filter(n => n.scrollWidth > n.clientWidth).map(n => n.textContent)), []);
  assert.match(await page.locator(".q-group").first().innerText(), /^\w+, security and privacy\s*[\d.]+ \/ [\d.]+/, "what it holds of its quota");
});

test("of many projects those most in need stand in the order of their need", async t => {
  const { projects } = mock.data;
  mock.data.projects = [...projects, ...projects.map(p => ({ ...p, id: `${p.id}0`, name: `${p.name}-too` }))];
  t.after(() => (mock.data.projects = projects));
  const { page } = await site.show(t, "/");
  await page.locator(".q-head", { hasText: "12 most in need" }).waitFor();
  const all = (await page.evaluate(async () => (await fetch("/api/v1/overview")).json())).projects;
  const sum = (p, of) => p.nodePools.reduce((total, pool) => total + of(pool), 0);
  const need = p => [sum(p, q => q.owed), sum(p, q => Math.max(0, q.held - q.quota)), sum(p, q => q.held)];
  const inOrder = all.map(p => ({ name: p.name, need: need(p) })).sort((a, b) => b.need[0] - a.need[0] || b.need[1] - a.need[1] || b.need[2] - a.need[2] || a.name.localeCompare(b.name));
  assert.deepEqual(await page.locator("a.q-row .name").allTextContents(), inOrder.slice(0, 12).map(p => p.name));
  assert.equal(await page.locator(".q-group").count(), 0, "departments would part them");
  assert.deepEqual(await axe(page), []);
});
