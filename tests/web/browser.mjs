// Headless Chromium for the browser tests: one browser, pages that count what a strict policy forbids.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before } from "node:test";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { startMock } from "./mock_server.mjs";

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../..");
export const SHOTS = join(ROOT, "artifacts/screenshots");
const require = createRequire(join(ROOT, "web/package.json"));
const { chromium } = require("playwright-core");
export const AXE = require.resolve("axe-core/axe.min.js");
const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

// The long tests look at more: each width and theme, and what goes by time.
export const LONG = Boolean(process.env.PRORATA_LONG);

// Each answer of a server comes so much later, up to: what a page shows in parts, a test must wait for in parts.
const SLOW_MS = Number(process.env.PRORATA_SLOW_API ?? 0);

// The same browser without windows, where it is installed: it starts in half the time, and draws nothing that nobody sees.
const BROWSER = process.env.CHROMIUM ?? ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].find(existsSync);
export const launch = () => chromium.launch({ executablePath: BROWSER, args: FLAGS });

// A page with its troubles counted: policy violations, requests to other hosts, errors, layout shift.
export async function open(browser, origin, { width = 1440, height = 900, theme = "light", reducedMotion = "reduce" } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, reducedMotion, hasTouch: width < 500, deviceScaleFactor: 1 });
  if (SLOW_MS) await context.route(url => url.pathname.startsWith("/api/"), route => setTimeout(() => route.continue().catch(() => {}), Math.random() * SLOW_MS));
  const page = await context.newPage();
  const troubles = { foreign: [], errors: [], violations: [] };
  page.on("request", r => {
    if (!r.url().startsWith(origin) && !/^(data|blob):/.test(r.url())) troubles.foreign.push(r.url());
  });
  page.on("pageerror", e => troubles.errors.push(String(e)));
  page.on("console", m => {
    if (m.type() === "error") troubles.errors.push(m.text());
  });
  await page.exposeFunction("reportViolation", text => troubles.violations.push(text));
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", e => window.reportViolation(`${e.violatedDirective} ${e.blockedURI} ${e.sourceFile}:${e.lineNumber}`));
    window.shift = 0;
    new PerformanceObserver(l => {
      for (const entry of l.getEntries()) {
        if (entry.hadRecentInput) continue;
        window.shift += entry.value;
        window.shifted = (window.shifted ?? []).concat(entry.sources.map(s => `${s.node?.nodeName}.${s.node?.className?.baseVal ?? s.node?.className ?? s.node?.parentNode?.className}`));
      }
    }).observe({ type: "layout-shift", buffered: true });
  });
  return { page, troubles, context };
}

const MINUTE = 60_000, // a bound against hanging: what is waited for comes much sooner
  pause = () => new Promise(done => setTimeout(done, 50));

// Asks until the answer is true, and resolves with it. what: what never was, if it is not.
export async function until(what, ask) {
  for (const end = Date.now() + MINUTE; ; await pause()) {
    const answer = await ask();
    if (answer) return answer;
    assert.ok(Date.now() < end, `never: ${what}`);
  }
}

// Asks until the answer is the wanted one; if it never is, the last one is told.
export async function becomes(wanted, ask, message) {
  for (const end = Date.now() + MINUTE; ; await pause()) {
    const answer = await ask();
    if (isDeepStrictEqual(answer, wanted)) return;
    if (Date.now() >= end) assert.deepEqual(answer, wanted, message);
  }
}

// What axe finds; of: the names of the rules to look for, if not all.
export async function axe(page, of) {
  const { readFile } = await import("node:fs/promises");
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(await readFile(AXE, "utf8"));
  const { violations } = await page.evaluate(runOnly => window.axe.run(document, { resultTypes: ["violations"], ...(runOnly && { runOnly }) }), of);
  return violations.map(v => `${v.impact} ${v.id}: ${v.nodes.map(n => n.target.join(" ")).slice(0, 4).join(" | ")}`);
}

// Ms of the newest file in a folder; what is installed or made there is not looked at, nor a lock that each build opens.
const newest = folder => Math.max(...readdirSync(folder, { withFileTypes: true }).filter(e => !["node_modules", "generated"].includes(e.name) && !e.name.startsWith(".")).map(e => (e.isDirectory() ? newest(join(folder, e.name)) : statSync(join(folder, e.name)).mtimeMs)));

// The folder with the bundled dashboard as the build made it; where something is newer than that, one made for these tests.
export function bundled() {
  const built = join(ROOT, "build"), stamp = join(built, "web-sizes.json");
  const sources = Math.max(newest(join(ROOT, "web")), statSync(join(ROOT, "openapi/openapi.yaml")).mtimeMs);
  if (existsSync(stamp) && statSync(stamp).mtimeMs > sources) return { folder: built, remove: () => {} };
  const folder = mkdtempSync(join(tmpdir(), "prorata-web-"));
  execFileSync(process.execPath, [join(ROOT, "web/build.mjs"), join(folder, "web")]);
  return { folder, remove: () => rmSync(folder, { recursive: true }) };
}

// What axe looks for in each theme, all rules where none are named. What is dark has other colours, and nothing else.
export const THEMES = { light: undefined, dark: ["color-contrast", "link-in-text-block"] };

// axe and a picture at 1440 in the light theme, and with PRORATA_LONG at 390 and in the dark one before. quiet(page): until it
// stands.
export async function look(page, name, { quiet = () => {} } = {}) {
  await quiet(page);
  for (const width of LONG ? [390, 1440] : [1440]) {
    await page.setViewportSize({ width, height: 900 });
    for (const [theme, rules] of Object.entries(THEMES).toReversed().slice(LONG ? 0 : 1)) {
      await page.evaluate(t => (document.documentElement.dataset.theme = t), theme);
      await quiet(page);
      assert.deepEqual(await axe(page, rules), [], `${name} ${width} ${theme}`);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} ${width}: nothing stands beside the page`);
      await page.screenshot({ path: join(SHOTS, `${name}-${width}-${theme}.png`), fullPage: true });
    }
  }
}

// For a file of tests: the bundled dashboard on a made-up server, and a browser; there before the first test, gone after the
// last. show(t, path, options) opens a page for one test.
export function onMock() {
  const { folder, remove } = bundled(), site = { folder };
  const begin = async () => {
    mkdirSync(SHOTS, { recursive: true });
    site.browser = await launch();
    site.mock = await startMock(join(site.folder, "web"));
    return site;
  };
  site.ready = begin(); // hooks of one file run side by side: those that need the site wait for it
  before(() => site.ready);
  after(async () => {
    await site.browser?.close();
    await site.mock?.close();
    remove();
  });
  site.show = async (t, path, options) => {
    const opened = await open(site.browser, site.mock.url, options);
    t.after(() => opened.context.close());
    await opened.page.goto(site.mock.url + path);
    return opened;
  };
  return site;
}
