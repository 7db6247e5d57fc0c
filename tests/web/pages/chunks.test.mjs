// Chunks of the bundle: loaded ahead, again when the server is back, and afresh when it has another build.
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { SHOTS, axe, onMock, open } from "../browser.mjs";
import { startMock } from "../mock_server.mjs";

const site = onMock(),
  { folder } = site,
  next = mkdtempSync(join(tmpdir(), "prorata-web-next-"));
let browser, mock;
before(async () => {
  ({ browser, mock } = await site.ready);
  rebuild();
});
after(() => rmSync(next, { recursive: true }));

const nav = (page, name) => page.locator("a.nav", { hasText: name });
const PAGES = "**/assets/routes-*.js";
const ready = page => page.waitForSelector("nav.side");

test("all pages are there once one is, so that they open without the server", async t => {
  const { page, context } = await open(browser, mock.url);
  t.after(() => context.close());
  await page.goto(mock.url + "/workloads");
  await page.waitForSelector(".live.ok");
  await page.waitForFunction(() => performance.getEntriesByType("resource").some(e => /\/seldom-/.test(e.name) && e.responseEnd)); // nobody asked for it
  await context.setOffline(true);
  await page.waitForSelector(".live.lost", { timeout: 60_000 });
  await nav(page, "Node pools").click();
  await page.waitForSelector("h1:has-text('Node pools')");
  await nav(page, "Settings").click();
  await page.waitForSelector("h1:has-text('Settings')");
  await page.waitForSelector(".fault:has-text(\"The server can't be reached\")");
});

test("pages that could not be loaded are said in our words and open by themselves when the server is back", async t => {
  const { page, troubles, context } = await open(browser, mock.url);
  t.after(() => context.close());
  await page.route(PAGES, async route => {
    await ready(page);
    await context.setOffline(true);
    await route.abort();
  });
  await page.goto(mock.url + "/nodepools");
  await page.waitForSelector(".fault");
  assert.match(await page.textContent(".fault"), /^The page could not be loaded\. The server can't be reached\. It opens as soon/);
  assert.deepEqual(await axe(page), []);
  for (const [width, theme] of [[1440, "light"], [390, "dark"]]) {
    await page.setViewportSize({ width, height: 844 });
    await page.evaluate(to => (document.documentElement.dataset.theme = to), theme);
    await page.screenshot({ path: join(SHOTS, `chunk-lost-${width}-${theme}.png`) });
  }
  await page.unroute(PAGES);
  await context.setOffline(false);
  await page.waitForSelector("h1:has-text('Node pools')", { timeout: 60_000, state: "attached" });
  await page.waitForSelector("main table");
  assert.deepEqual([troubles.foreign, troubles.violations], [[], []]);
});

test("what the server does not send is offered again", async t => {
  const { page, context } = await open(browser, mock.url);
  t.after(() => context.close());
  await page.route(PAGES, route => route.fulfill({ status: 500, body: "" }));
  await page.goto(mock.url + "/nodepools");
  await page.waitForSelector(".fault:has-text('The server is there, but did not send it.')");
  await page.unroute(PAGES);
  await page.getByRole("button", { name: "Try again" }).click();
  await page.waitForSelector("main table");
});

// The same pages under other names, as another build has them; the old ones are gone.
function rebuild() {
  cpSync(join(folder, "web"), next, { recursive: true });
  const assets = join(next, "assets");
  const names = readdirSync(assets).filter(name => /^(main|routes)-\w+\.js$/.test(name));
  const other = name => name.replace(/-\w+\.js$/, "-OTHERONE.js");
  for (const file of [join(next, "index.html"), ...readdirSync(assets).filter(name => name.endsWith(".js")).map(name => join(assets, name))])
    writeFileSync(file, names.reduce((text, name) => text.replaceAll(name, other(name)), readFileSync(file, "utf8")));
  for (const name of names) renameSync(join(assets, name), join(assets, other(name)));
}

test("after an upgrade of the server an old chunk is gone: the page says so and loads itself afresh, once", async t => {
  const upgraded = await startMock(join(folder, "web"));
  const { page, context } = await open(browser, upgraded.url);
  t.after(() => context.close());
  t.after(() => upgraded.close());
  await page.route(PAGES, async route => {
    if (!route.request().url().includes("OTHERONE")) {
      await ready(page);
      upgraded.folder = next;
    }
    await route.continue();
  });
  await page.goto(upgraded.url + "/nodepools");
  await page.waitForSelector("main table");
  await page.waitForSelector("h1:has-text('Node pools')");
  assert.match(await page.getAttribute("script[type=module]", "src"), /main-OTHERONE/);
  assert.equal(new URL(page.url()).pathname, "/nodepools");
});

test("a newer build is offered when the server is back, and begins with the next page; a form is not touched", async t => {
  const upgraded = await startMock(join(folder, "web"));
  const { page, context } = await open(browser, upgraded.url);
  t.after(() => context.close());
  t.after(() => upgraded.close());
  await page.goto(upgraded.url + "/projects/new");
  await page.fill("#f-name", "half-typed");
  await context.setOffline(true);
  await page.waitForSelector(".live.lost", { timeout: 60_000 });
  upgraded.folder = next;
  await context.setOffline(false);
  const offer = page.getByRole("button", { name: "Load the new version" });
  await offer.waitFor({ timeout: 60_000 });
  assert.equal(await page.inputValue("#f-name"), "half-typed");
  assert.deepEqual(await axe(page), []);
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 844 });
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `scrolls sideways at ${width}`);
    await page.screenshot({ path: join(SHOTS, `renewed-${width}-light.png`) });
  }
  await page.setViewportSize({ width: 1440, height: 844 });
  await nav(page, "Projects").click();
  await page.getByRole("button", { name: "Leave" }).click();
  await page.waitForFunction(() => document.querySelector("script[type=module]")?.getAttribute("src").includes("OTHERONE"));
  await page.waitForSelector("main table, main .q-row");
  assert.equal(await offer.count(), 0);
});
