// What the pages ask for on a large laboratory: requests, and bytes as sent and unpacked. Counted, not clocked; what goes by
// time, how often one asks and whether anything moves while answers come, is looked at with PRORATA_LONG alone.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startBigCluster } from "../big_cluster.mjs";
import { LONG, axe, becomes, launch, open, until } from "../browser.mjs";
import { signIn } from "../real_server.mjs";

const KB = 1024;

let big, browser, page, troubles;
before(async () => {
  big = await startBigCluster();
  browser = await launch();
  ({ page, troubles } = await open(browser, big.url));
  await signIn(page, big.url);
});
after(async () => {
  assert.deepEqual([troubles.foreign, troubles.violations], [[], []]);
  await browser?.close();
  await big?.stop();
});

const isData = request => request.url().includes("/api/") && !request.url().includes("/events/stream");
const complete = () => page.waitForFunction(() => document.querySelector("main canvas.cells, main table, main .dept") && !document.querySelector(".loading"));

// Opens a page afresh and says what it asked for until it was complete.
async function measure(path) {
  await page.goto(big.url + path, { waitUntil: "domcontentloaded" });
  await complete();
  const asked = await page.evaluate(() => performance.getEntriesByType("resource").filter(e => e.name.includes("/api/") && e.responseEnd > 0).map(e => ({ path: new URL(e.name).pathname, sent: e.encodedBodySize, unpacked: e.decodedBodySize })));
  const once = [...new Map(asked.map(a => [a.path, a])).values()]; // a live change may have asked again
  return { once, sent: once.reduce((sum, s) => sum + s.sent, 0), unpacked: once.reduce((sum, s) => sum + s.unpacked, 0), say: once.map(s => `${s.path} ${s.sent} ${s.unpacked}`).join("\n") };
}

test("the Overview asks at most 6 times, 100 KB as sent and 400 KB unpacked", async () => {
  const { once, sent, unpacked, say } = await measure("/");
  assert.ok(once.length <= 6, say);
  assert.ok(sent <= 100 * KB, say);
  assert.ok(unpacked <= 400 * KB, say);
  assert.match(await page.locator(".q-head").innerText(), /12 most in need/);
});

test("who waits is counted, not cut", async () => {
  await measure("/");
  // Workloads begin all the time: the page and the server are asked until both looked at about the same moment.
  await until("as many wait on the page as on the server", async () => {
    const shown = Number(/^All (\d+)$/.exec(await page.locator("[aria-labelledby=h-wait] header a").textContent())?.[1]);
    const { count } = await big.ask("GET", "/api/v1/workloads/count?filterBy=phase==Pending");
    return shown > 200 && Math.abs(shown - count) < 50;
  });
});

test("the tables ask for a page and no more", async () => {
  for (const path of ["/projects", "/projects?view=table", "/departments", "/workloads", "/nodes", "/nodepools"]) {
    const { once, sent, unpacked, say } = await measure(path);
    assert.ok(once.length <= 6 && sent <= 60 * KB && unpacked <= 300 * KB, say);
    if (LONG) assert.ok(await page.evaluate(() => window.shift) < 0.01, `${path}: ${await page.evaluate(() => JSON.stringify([window.shift, window.shifted]))}`);
  }
});

test("many projects are departments to open; bars are drawn while in view", async () => {
  await measure("/projects");
  const departments = page.locator(".dept button"), rows = page.locator("a.q-row"), bars = page.locator("a.q-row svg.q");
  assert.deepEqual([await departments.count(), await rows.count()], [7, 0]);
  const held = async row => Number(await row.locator(".strong").first().innerText());
  const first = page.locator("section:has(> .dept)").first(), name = await first.locator("button").innerText();
  await first.locator("button").press("Enter");
  await first.locator("button[aria-expanded=true]").waitFor();
  const mine = (await big.ask("GET", "/api/v1/org-unit/projects?limit=100")).projects.filter(p => p.parent.name === name);
  await becomes(mine.map(p => p.name).sort(), async () => (await first.locator("a.q-row .name").allInnerTexts()).sort());
  await until("a department holds what its projects hold", async () => { // work begins between two looks
    const parts = await Promise.all((await first.locator("a.q-row").all()).map(held));
    return Math.abs(parts.reduce((sum, n) => sum + n, 0) - await held(first.locator(".dept"))) < 0.1;
  });
  assert.equal(await first.locator("a.q-row.thin").count(), 0);
  await page.getByRole("button", { name: "Close all" }).click();
  await page.getByRole("button", { name: "Open all" }).click();
  await page.waitForFunction(() => document.querySelectorAll("a.q-row.thin svg.q").length > 0);
  await becomes(60, () => rows.count());
  assert.ok(await bars.count() < 60, "those below are not drawn yet");
  await rows.last().scrollIntoViewIfNeeded();
  await rows.last().locator("svg.q").waitFor();
  assert.deepEqual(await axe(page), []);
  await page.getByRole("button", { name: "Table" }).click();
  await page.waitForSelector("main table");
});

test("in a storm of changes the Overview asks less and less often", { skip: !LONG && "goes by time" }, async () => {
  await measure("/");
  const asked = [];
  const hear = request => isData(request) && asked.push(new URL(request.url()).pathname);
  page.on("request", hear);
  await page.evaluate(() => (window.shift = 0));
  const slow = await page.context().newCDPSession(page); // as on a machine that is busy: what came together moves at once
  await slow.send("Emulation.setCPUThrottlingRate", { rate: 4 });
  const [{ uuid: clusterId }] = await big.ask("GET", "/api/v1/clusters"), { projects: [project] } = await big.ask("GET", "/api/v1/org-unit/projects?limit=1");
  const begun = Date.now(), seconds = () => (Date.now() - begun) / 1000;
  for (let n = 0; seconds() < 4; n++) await big.ask("POST", "/api/v1/workloads/trainings", { name: `storm-${n}`, projectId: project.id, clusterId, spec: { image: "x", compute: { gpuDevicesRequest: 1 } } });
  page.off("request", hear);
  const times = path => asked.filter(p => p === path).length, most = 2 + Math.floor(Math.log2(seconds())); // each pause is twice the one before
  for (const path of ["/api/v1/overview", "/api/v1/overview/nodes", "/api/v1/overview/counts", "/api/v1/events"]) assert.ok(times(path) >= 1 && times(path) <= most, `${path}: ${times(path)}`);
  assert.ok(await page.evaluate(() => window.shift) < 0.01, await page.evaluate(() => JSON.stringify([window.shift, window.shifted])));
});
