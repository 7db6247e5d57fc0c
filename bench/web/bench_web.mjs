// What the dashboard costs, in headless Chromium without a GPU, against a real server. Each row has our own bound beside it,
// and a mark where it is missed.
//
// bench_web.mjs [ROW...]: rows are overview, large, table, timeline, storm, idle, shift; all of them by default. "large" is a
// laboratory of 2,000 nodes, 500 projects and 100,000 workloads (labs.py), the others one of 200, 60 and 1,500.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startBigCluster } from "../../tests/web/big_cluster.mjs";
import { launch, open } from "../../tests/web/browser.mjs";
import { signIn, start } from "../../tests/web/real_server.mjs";
import { startStorm } from "../../tests/web/storm.mjs";

const TRIES = 7;
const STORM_S = Number(process.env.STORM_SECONDS ?? 120), IDLE_S = 60;
const EVERY_DAY = ["/", "/workloads", "/projects", "/departments", "/nodes", "/nodepools"];

const median = list => [...list].sort((a, b) => a - b)[list.length >> 1];
const wait = ms => new Promise(done => setTimeout(done, ms));
let missed = 0;
function row(what, value, bound, unit) {
  const isMissed = value > bound;
  missed += isMissed;
  console.log(`${what.padEnd(74)}${(value < 10 ? value.toFixed(2) : value.toFixed(0)).padStart(9)} ${unit.padEnd(6)}${String(bound).padStart(8)}${isMissed ? " !" : ""}`);
}

// Ms from the begin of the document until nothing is loading and what is asked for is there.
const complete = page => page.waitForFunction(() => !document.querySelector(".loading, [aria-busy=true]") && document.querySelector("main table, main canvas.cells, main .map, main .timeline, main .quota-picture") && performance.now()).then(at => at.jsonValue());

async function opened(page, url) {
  await page.goto(url, { waitUntil: "commit" });
  return complete(page);
}

// {ScriptDuration, TaskDuration, ...} in seconds since the page began.
async function meter(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" }); // of the thread, however busy the machine is
  return async () => Object.fromEntries((await session.send("Performance.getMetrics")).metrics.map(m => [m.name, m.value]));
}

// Ms of script that `act` costs.
async function script(page, act) {
  const read = await meter(page), before = await read();
  await act();
  return ((await read()).ScriptDuration - before.ScriptDuration) * 1000;
}

// Signed in; on a busy machine the server may answer too late, and is asked again.
async function visit(browser, url, options, tries = 4) {
  const { page, context } = await open(browser, url, options);
  try {
    await signIn(page, url);
    return { page, context };
  } catch (error) {
    await context.close();
    if (tries === 1) throw error;
    return visit(browser, url, options, tries - 1);
  }
}

async function timeToComplete(browser, url, name, path, bound) {
  const { page, context } = await visit(browser, url);
  await opened(page, url + path);
  const times = [];
  for (let i = 0; i < TRIES; i++) {
    times.push(await opened(page, url + path));
    await wait(300);
  }
  row(`${name}: complete (median of ${TRIES})`, median(times), bound, "ms");
  await context.close();
}

async function shifts(browser, url, name) {
  for (const [width, height] of [[1440, 900], [390, 844]]) {
    const { page, context } = await visit(browser, url, { width, height });
    let worst = 0, where = "";
    for (const path of EVERY_DAY) {
      await opened(page, url + path);
      await wait(1500);
      const [shift, nodes] = await page.evaluate(() => [window.shift, window.shifted ?? []]);
      if (shift > worst) [worst, where] = [shift, `${path} ${nodes.join(" ")}`];
    }
    row(`${name}: layout shift at load of the pages of every day, ${width} px`, worst, 0.001, "");
    if (worst) console.log(`  ${where}`);
    await context.close();
  }
}

// A page of 100 rows that follows another, in the open document.
async function tablePage(browser, url, name) {
  const { page, context } = await visit(browser, url);
  await opened(page, `${url}/workloads?rows=100`);
  const first = () => page.locator("tbody tr td.first").first().textContent();
  const times = [];
  for (let i = 0; i < TRIES; i++) {
    const before = await first();
    times.push(await script(page, async () => {
      await page.getByRole("button", { name: "Next", exact: true }).click();
      await page.waitForFunction(old => document.querySelector("tbody tr td.first")?.textContent !== old, before);
      await complete(page);
    }));
  }
  row(`${name}: script of the next 100 rows of Workloads (median of ${TRIES})`, median(times), 50, "ms");
  await context.close();
}

// The canvas redraws whole when its cursor moves.
async function canvasFrame(browser, url, name) {
  const { page, context } = await visit(browser, url);
  await opened(page, url + "/");
  await page.locator("canvas.cells").first().focus();
  const frames = 40;
  const ms = await script(page, async () => {
    for (let i = 0; i < frames; i++) {
      await page.keyboard.press(i % 2 ? "ArrowRight" : "ArrowDown");
      await page.evaluate(() => new Promise(requestAnimationFrame));
    }
  });
  row(`${name}: script of a frame of the cluster's canvas (mean of ${frames})`, ms / frames, 16, "ms");
  await context.close();
}

async function timeline(browser) {
  await withLab("timeline", async url => {
    const { page, context } = await visit(browser, url);
    let bytes = 0;
    page.on("response", async answer => {
      if (answer.url().includes("/scheduler/timeline")) bytes = Math.max(bytes, (await answer.request().sizes()).responseBodySize);
    });
    await opened(page, `${url}/timeline?span=24`);
    await wait(1000);
    const ms = await script(page, async () => {
      await page.getByRole("button", { name: "30 d" }).first().click();
      await wait(2500);
      await complete(page);
    });
    row("timeline, 30 days of 1,600 GPUs: script", ms, 100, "ms");
    row("timeline, 30 days of 1,600 GPUs: the answer as sent", bytes / 1000, 300, "KB");
    await context.close();
  });
}

// 500 changes a second, of workloads, pods, projects and nodes that are there; the page gathers them for 250 ms.
async function storm(browser, url, name, path) {
  const blown = await startStorm(url, 500);
  const { page, context } = await visit(browser, blown.url);
  await opened(page, blown.url + path);
  const session = await context.newCDPSession(page);
  let bytes = 0;
  const asked = new Set(); // the stream was there before, and tells no length as sent
  session.on("Network.requestWillBeSent", event => asked.add(event.requestId));
  session.on("Network.dataReceived", event => (bytes += asked.has(event.requestId) ? event.encodedDataLength : event.dataLength));
  await session.send("Network.enable");
  await page.evaluate(() => {
    window.shift = 0;
    window.longest = 0;
    new PerformanceObserver(list => list.getEntries().forEach(e => (window.longest = Math.max(window.longest, e.duration)))).observe({ type: "longtask" });
  });
  const sent = blown.sent();
  const ms = await script(page, () => wait(STORM_S * 1000));
  const rate = (blown.sent() - sent) / STORM_S;
  row(`${name}: script a batch of 250 ms, ${rate.toFixed(0)} changes a second for ${STORM_S} s`, ms / (STORM_S * 4), 8, "ms");
  row(`${name}: bytes a second meanwhile`, bytes / STORM_S / 1e6, 1, "MB");
  row(`${name}: layout shift meanwhile`, await page.evaluate(() => window.shift), 0.001, "");
  console.log(`  longest task ${await page.evaluate(() => window.longest.toFixed(0))} ms`);
  await context.close();
  await blown.stop();
}

// Seconds of CPU of all renderers.
async function rendererSeconds(browser) {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  return processInfo.filter(p => p.type === "renderer").reduce((sum, p) => sum + p.cpuTime, 0);
}

async function idle(url, name) {
  const browser = await launch();
  const { page } = await visit(browser, url);
  await opened(page, url + "/");
  await wait(10_000);
  const before = await rendererSeconds(browser);
  await wait(IDLE_S * 1000);
  row(`${name}: CPU of an idle Overview for ${IDLE_S} s`, (await rendererSeconds(browser) - before) / IDLE_S * 100, 1, "% core");
  await browser.close();
}

async function withLab(kind, call, ...sizes) {
  const given = process.env[`PRORATA_LAB_${kind.toUpperCase()}`]; // a folder that labs.py has made before
  const folder = given ?? mkdtempSync(join(tmpdir(), "prorata-lab-"));
  if (!given) execFileSync("/usr/bin/python3", [fileURLToPath(new URL("labs.py", import.meta.url)), kind, folder, ...sizes], { stdio: ["ignore", "ignore", "inherit"] });
  const server = await start("serve", "--data", join(folder, "data"), "--workloads-per-person", "0");
  try {
    await call(server.url);
  } finally {
    await server.stop();
    if (!given) rmSync(folder, { recursive: true });
  }
}

const wanted = process.argv.slice(2), is = name => !wanted.length || wanted.includes(name);
const browser = await launch();
console.log(`# Chromium ${browser.version()}, headless, 1440 x 900; bounds at the right`);
if (["overview", "table", "storm", "idle", "shift"].some(is)) {
  const lab = "200 nodes", big = await startBigCluster();
  if (is("overview")) await timeToComplete(browser, big.url, `Overview, ${lab}`, "/", 400);
  if (is("table")) await tablePage(browser, big.url, lab);
  if (is("shift")) await shifts(browser, big.url, lab);
  if (is("storm")) await storm(browser, big.url, `Overview, ${lab}`, "/");
  if (is("storm")) await storm(browser, big.url, `Workloads, ${lab}`, "/workloads?rows=100");
  if (is("idle")) await idle(big.url, lab);
  await big.stop();
}
if (is("large")) await withLab("large", async url => {
  const lab = "2,000 nodes";
  for (const path of EVERY_DAY) await timeToComplete(browser, url, `${path}, ${lab}`, path, path === "/" ? 800 : 1000);
  await canvasFrame(browser, url, lab);
  await tablePage(browser, url, lab);
});
if (is("timeline")) await timeline(browser);
await browser.close();
process.exitCode = missed && process.env.STRICT ? 1 : 0;
