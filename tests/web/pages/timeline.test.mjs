// The timeline: what a pointed block says, how drags and keys zoom and move, and what a moment shows.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { LONG, SHOTS, axe, onMock } from "../browser.mjs";

const { show } = onMock();
const LANES = ".timeline canvas:not(.axis)";
const drawn = page => page.waitForFunction(lanes => document.querySelector(lanes)?.closest(".timeline:not(.unmeasured)") && !document.querySelector(".loading"), LANES);
const query = page => page.evaluate(() => Object.fromEntries(new URLSearchParams(location.search)));

for (const [width, theme] of [[1440, "light"], [390, "dark"], ...(LONG ? [[1440, "dark"], [390, "light"]] : [])]) {
  test(`lanes, blocks and a moment at ${width} in the ${theme} theme`, async t => {
    const { page, troubles } = await show(t, "/timeline", { width, height: 900, theme });
    await drawn(page);
    assert.match(await page.locator(LANES).getAttribute("aria-label"), /^\d+ nodes, \d+ blocks, \d+ evictions$/);
    await page.locator(".timeline .axis").click({ position: { x: width * 0.6, y: 50 } });
    await page.locator("section:nth-of-type(2) p", { hasText: "Cycle 4711" }).waitFor();
    await page.evaluate(() => document.fonts.ready);
    await page.screenshot({ path: join(SHOTS, `timeline-moment-${width}-${theme}.png`), fullPage: true });
    assert.deepEqual(await axe(page), []);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "scrolls sideways");
    assert.deepEqual(troubles, { foreign: [], errors: [], violations: [] });
  });
}

test("a pointed block says whose it is and how it ended", async t => {
  const { page } = await show(t, "/timeline");
  await drawn(page);
  await page.locator(LANES).hover({ position: { x: 140, y: 8 } });
  await page.waitForFunction(() => / GPUs of .+ to .+preempted$/.test(document.querySelector(".timeline ~ .sum").textContent));
});

test("a drag zooms, arrows move, plus and minus zoom, and a period takes it back", async t => {
  const { page } = await show(t, "/timeline");
  await drawn(page);
  const box = await page.locator(".timeline .axis").boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + 50);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.75, box.y + 50, { steps: 4 });
  await page.mouse.up();
  await page.waitForURL(/from=\d+/);
  const zoomed = await query(page), hours = (zoomed.to - zoomed.from) / 3600000;
  assert.ok(hours > 5 && hours < 8, `${hours} h`);
  await drawn(page);
  await page.locator(".timeline").focus();
  await page.keyboard.press("ArrowLeft");
  await page.waitForURL(url => Number(url.searchParams.get("from")) < Number(zoomed.from));
  await drawn(page);
  await page.locator(".timeline").focus();
  await page.keyboard.press("+");
  await page.waitForURL(url => Math.abs((url.searchParams.get("to") - url.searchParams.get("from")) / (zoomed.to - zoomed.from) - 0.5) < 0.01);
  await drawn(page);
  await page.locator(".timeline").focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(/at=\d+/);
  await page.getByRole("group", { name: "Period" }).getByRole("button", { name: "7 d" }).click();
  await page.waitForURL(url => url.searchParams.get("span") === "168" && !url.searchParams.get("from"));
});

test("a click on a node's name shows that node alone, and another one all of them", async t => {
  const { page } = await show(t, "/timeline");
  await drawn(page);
  const click = () => page.locator(LANES).click({ position: { x: 20, y: 8 } });
  await click();
  await page.waitForURL(/node=/);
  await drawn(page);
  await click();
  await page.waitForURL(url => !url.searchParams.get("node"));
});

test("a server that has just begun fills the picture with what it has", async t => {
  const { page } = await show(t, "/projects");
  await page.route(url => url.pathname.endsWith("/scheduler/timeline"), async route => {
    const body = await (await route.fetch()).json(), seconds = (Date.parse(body.end) - Date.parse(body.start)) / 1000;
    const blocks = body.blocks.slice(0, 1).map(block => ({ ...block, from: seconds - 120, to: seconds }));
    await route.fulfill({ json: { ...body, blocks } });
  });
  const closer = page.waitForRequest(request => {
    const { pathname, searchParams } = new URL(request.url());
    return pathname.endsWith("/scheduler/timeline") && Date.parse(searchParams.get("end")) - Date.parse(searchParams.get("start")) < 3600000 * 2;
  });
  await page.getByRole("link", { name: "Timeline" }).first().click();
  await closer;
  await drawn(page);
});

test("lanes are those of nodes, of projects, or of pools; a name opens what it names", async t => {
  const { page } = await show(t, "/timeline");
  await drawn(page);
  const choose = name => page.getByRole("group", { name: "Lanes" }).getByRole("button", { name }).click();
  const lanes = what => page.locator(`${LANES}[aria-label*=" ${what}, "]`).waitFor();
  for (const what of ["projects", "pools"]) {
    await choose(what === "pools" ? "Pools" : "Projects");
    await lanes(what);
    await drawn(page);
    await page.screenshot({ path: join(SHOTS, `timeline-${what}-1440-light.png`), fullPage: true });
    assert.deepEqual(await axe(page), []);
  }
  assert.ok(await page.locator(".keys .n").count() > 4, "who held how much");
  await page.locator(LANES).hover({ position: { x: 300, y: 90 } });
  await page.waitForFunction(() => / GPUs of h100, .+ to .+$/.test(document.querySelector(".timeline ~ .sum").textContent));
  await page.locator(LANES).click({ position: { x: 20, y: 8 } });
  await page.waitForURL(/pool=h100/);
  assert.deepEqual(await query(page), { pool: "h100", by: "nodes" });
  await lanes("nodes");
  await choose("Projects");
  await lanes("projects");
  await page.locator(LANES).click({ position: { x: 20, y: 8 } });
  await page.waitForURL(/\/projects\?open=\d+/);
});

test("the axis stays in sight while many lanes scroll", async t => {
  const { page } = await show(t, "/timeline", { width: 1440, height: 620 });
  await drawn(page);
  const top = () => page.locator(".timeline .axis").evaluate(axis => axis.getBoundingClientRect().top - axis.closest(".timeline").getBoundingClientRect().top);
  await page.locator(".timeline").evaluate(lanes => lanes.scrollTo(0, lanes.scrollHeight));
  assert.ok(await page.locator(".timeline").evaluate(lanes => lanes.scrollTop > 0), "there is something to scroll");
  assert.equal(await top(), 0);
});
