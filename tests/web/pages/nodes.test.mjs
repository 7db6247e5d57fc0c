// Nodes: why one takes nothing, what is measured of its GPUs; and the lists behind numbers, on every page that has them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { axe, becomes, onMock } from "../browser.mjs";

const site = onMock();
const CLEAN = { foreign: [], errors: [], violations: [] };

test("a node says why nothing is placed there, and what is measured of each GPU", async t => {
  await site.ready;
  Object.assign(site.mock.data.nodes.find(n => n.name === "gpu-a11").prorata, { cordoned: true, cordon: { reason: "new driver", by: "mira@lab.example", at: new Date().toISOString(), draining: true, force: false } });
  const { page, troubles } = await site.show(t, "/nodes");
  const status = name => page.locator("tr", { hasText: name }).locator("td").nth(1).innerText();
  await page.waitForSelector("tbody tr");
  assert.match(await status("gpu-a12"), /Not ready\s+\(GPU 3 fell off the bus\)/);
  assert.match(await status("gpu-a11"), /Ready\s+\(draining: new driver\)/);
  const idle = site.mock.data.nodes.find(n => n.name === "gpu-h08");
  idle.prorata.devices[0].utilization = 0;
  await page.goto(`${site.mock.url}/nodes?open=${idle.name}`);
  const rows = page.locator("table.devices tbody tr");
  await rows.locator("text=°C").first().waitFor();
  const cells = await rows.evaluateAll(list => list.map(row => [...row.cells].map(cell => cell.textContent)));
  assert.equal(cells.length, 8);
  const heads = await page.locator("table.devices th").allTextContents();
  assert.deepEqual(heads, ["GPU", "Held by", "Used", "Memory used", "Idle for", "Temperature", "Allocated"], "and no state: each is free or allocated");
  idle.prorata.devices.forEach((d, i) => {
    const [gpu, holders, used, memory, idleFor, temperature, allocated] = cells[i];
    assert.equal(gpu, String(i));
    for (const w of d.workloads) assert.ok(holders.includes(`${w.projectName}/${w.name}`));
    assert.equal(used.replace(/\s/g, " "), `${d.utilization ?? 0} %`);
    assert.equal(idleFor, d.utilization === 0 ? "1 h 30 min" : "–", "of what is held and does nothing");
    assert.equal(memory, d.workloads.length ? "40 of 80 GiB" : "3 MiB of 80 GiB");
    assert.equal(temperature, i < 7 ? `${40 + i} °C` : "–");
    assert.ok(d.workloads.length ? allocated.startsWith("1") : allocated === "–");
  });
  assert.equal(await rows.last().locator("[data-tip='Nothing measures it.']").count(), 1, "what nobody measures is no 0");
  assert.deepEqual(await axe(page), []);
  assert.deepEqual(troubles, CLEAN);
});

test("a number opens its list, by mouse and by keys", async t => {
  const { page, troubles } = await site.show(t, "/nodes");
  const held = site.mock.data.nodes.find(n => n.prorata.podCount > 1), holder = held.prorata.devices.find(d => d.workloads.length).workloads[0];
  const dialog = page.locator("dialog.listing");
  for (const [path, row, title, has] of [
    ["/nodes", held.name, `Pods of ${held.name}`, `${holder.name}-0-0`],
    ["/nodepools", "h100", "Nodes of h100", "gpu-h08"],
    ["/departments", "Research", /^Projects of /, "language"],
    ["/departments", "Research", /^Workloads of /, "Running"],
    ["/departments", "Research", /^Access to /, "Everywhere"],
    ["/projects", "vision", /^Workloads of /, "Training"],
    ["/projects", "vision", /^Access to /, "ci-pipeline"],
    ["/workloads?f=phase==Running", null, /^Pods of /, "Running"],
  ]) {
    await page.goto(site.mock.url + path);
    await page.waitForSelector("tbody tr");
    const button = page.locator(row ? "tr" : "tbody tr", row ? { hasText: new RegExp(row, "i") } : {}).first().getByRole("button", { name: title instanceof RegExp ? new RegExp(title.source.slice(1)) : title }).and(page.locator(".counted"));
    await button.focus();
    await page.keyboard.press("Enter");
    await dialog.locator("td", { hasText: has }).first().waitFor();
    assert.match(await dialog.locator("h2").innerText(), title instanceof RegExp ? title : new RegExp(`^${title}$`));
    assert.deepEqual(await axe(page), [], path);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await becomes("counted", () => page.evaluate(() => document.activeElement.className), `focus comes back, ${path}`);
  }
  await page.locator("button.counted").first().click();
  await dialog.getByRole("button", { name: "Close" }).click();
  await dialog.waitFor({ state: "detached" });
  assert.deepEqual(troubles, CLEAN);
});
