// What an open dashboard keeps: an hour of 20 changes a second, with workloads that come and go, and the heap of the
// Overview and of a page of 100 workloads stays below 60 MB. PRORATA_HEAP_MINUTES makes it shorter.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startBigCluster } from "../big_cluster.mjs";
import { launch, open } from "../browser.mjs";
import { signIn } from "../real_server.mjs";
import { startStorm } from "../storm.mjs";

const MINUTES = Number(process.env.PRORATA_HEAP_MINUTES ?? 60), MB = 1024 * 1024;
const PER_SECOND = 20;

let big, storm, browser;
before(async () => {
  big = await startBigCluster();
  storm = await startStorm(big.url, PER_SECOND);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await storm?.stop();
  await big?.stop();
});

async function heapMb(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.enable");
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  await session.detach();
  return usedSize / MB;
}

test(`the heap stays below 60 MB after ${MINUTES} minutes of ${PER_SECOND} changes a second`, async t => {
  const { page: overview, context } = await open(browser, storm.url);
  await signIn(overview, storm.url);
  const table = await context.newPage();
  await table.goto(`${storm.url}/workloads?rows=100`);
  await table.waitForSelector("tbody tr:nth-child(100)");
  await overview.waitForSelector("canvas.cells");
  const { projects } = await big.ask("GET", "/api/v1/org-unit/projects?limit=50"), [{ uuid: clusterId }] = await big.ask("GET", "/api/v1/clusters");
  const spec = { image: "x", nodePools: ["l40s"], compute: { gpuDevicesRequest: 1 }, annotations: [{ name: "prorata.io/sim-duration", value: "20s" }] };
  const end = Date.now() + MINUTES * 60_000;
  for (let n = 0, next = 0; Date.now() < end; n++) {
    await big.ask("POST", "/api/v1/workloads/trainings", { name: `hour-${n}`, projectId: projects[n % projects.length].id, clusterId, spec });
    if (Date.now() >= next) {
      next = Date.now() + 60_000;
      t.diagnostic(`Overview ${(await heapMb(overview)).toFixed(1)} MB, Workloads ${(await heapMb(table)).toFixed(1)} MB, ${storm.sent()} changes`);
    }
    await overview.waitForTimeout(2000);
  }
  const [first, second] = [await heapMb(overview), await heapMb(table)];
  t.diagnostic(`Overview ${first.toFixed(1)} MB, Workloads ${second.toFixed(1)} MB, ${storm.sent()} changes`);
  assert.ok(storm.sent() > MINUTES * 60 * PER_SECOND * 0.9, `${storm.sent()} changes were sent`);
  assert.ok(first < 60 && second < 60, `${first} MB, ${second} MB`);
});
