// Line charts: loaded with the first one, painted in the theme's colours, pointed at and zoomed together, by mouse and by keys.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { SHOTS, axe, becomes, onMock, until } from "../browser.mjs";

const NODE = "/nodes?open=gpu-h08&tab=metrics";
const { show } = onMock();

// Waits until the first chart has enough pixels of a token's colour.
const painted = (page, token) => page.waitForFunction(name => {
  const canvas = document.querySelector(".chart canvas"), ctx = canvas?.getContext("2d");
  if (!ctx) return false;
  ctx.save();
  ctx.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const [r, g, b] = ctx.fillStyle.match(/\w\w/g).map(x => parseInt(x, 16));
  ctx.restore();
  const { data } = ctx.getImageData(0, 0, canvas.width, canvas.height);
  let found = 0;
  for (let i = 0; i < data.length; i += 4) if (data[i + 3] === 255 && data[i] === r && data[i + 1] === g && data[i + 2] === b) found += 1;
  return found > 100;
}, token);
const drawn = page => painted(page, "accent");
const spoken = page => page.locator(".chart-box [aria-live]").allTextContents();

test("Chart.js comes with the first chart, not before", async t => {
  const { page, troubles } = await show(t, "/workloads");
  const asked = [];
  page.on("request", r => asked.push(r.url()));
  await page.waitForSelector("main table");
  await page.waitForSelector(".live.ok");
  assert.deepEqual(asked.filter(url => /\/chart-/.test(url)), []);
  const chart = page.waitForRequest(/\/assets\/chart-\w+\.js/);
  await page.locator("a.nav", { hasText: "Nodes" }).click();
  await page.locator("main tbody a").first().click();
  await page.getByRole("tab", { name: "Metrics" }).click();
  await chart;
  await drawn(page);
  assert.deepEqual(troubles, { foreign: [], errors: [], violations: [] });
});

test("lines have the theme's colours, and follow it", async t => {
  const { page, troubles } = await show(t, "/workloads?open=00000000-0000-4000-8000-000000000102&tab=metrics");
  await drawn(page);
  await page.getByRole("banner").getByRole("button", { name: "Dark theme" }).click();
  await page.waitForFunction(() => getComputedStyle(document.documentElement).getPropertyValue("--accent") === "#5cc5b8");
  await painted(page, "accent");
  assert.deepEqual(troubles, { foreign: [], errors: [], violations: [] });
});

for (const [width, theme] of [[1440, "light"], [390, "dark"]]) {
  test(`eight lines stay readable at ${width} in the ${theme} theme: the mean, the highest, the lowest`, async t => {
    const { page, troubles } = await show(t, NODE, { width, height: 900, theme });
    await drawn(page);
    assert.match(await page.locator(".chart canvas").first().getAttribute("aria-label"), /^GPU utilization\. Now: GPU 0 \d+.%, .*GPU 5 0.%/);
    const box = await page.locator(".chart canvas").first().boundingBox();
    await page.mouse.move(box.x + box.width / 3, box.y + 40);
    await page.waitForFunction(() => document.querySelector(".chart-box [aria-live]").textContent.includes("mean"));
    const said = await until("three charts share the pointed time", async () => {
      const texts = await spoken(page);
      return texts.slice(0, 3).every(Boolean) && texts;
    });
    assert.match(said[0], /: GPU \d \d+.%, mean \d+.%, GPU 5 0.%$/);
    assert.match(said[1], /: GPU 7 67 GiB, mean 55\.4 GiB, GPU 5 0 B$/, "the memory of the GPUs");
    assert.match(said[2], /used/, "the charts of a pane share the pointed time");
    assert.equal(said[0].split(": ")[0], said[1].split(": ")[0]);
    assert.deepEqual(await axe(page), []);
    await page.screenshot({ path: join(SHOTS, `charts-${width}-${theme}.png`) });
    await page.mouse.move(0, 0);
    await page.waitForFunction(() => document.querySelector(".chart-box [aria-live]").textContent === "");
    assert.deepEqual(troubles, { foreign: [], errors: [], violations: [] });
  });
}

test("dragging zooms all charts of the pane; a double click shows the whole again", async t => {
  const { page } = await show(t, NODE);
  await drawn(page);
  const canvas = page.locator(".chart canvas").first(), box = await canvas.boundingBox();
  const reset = page.getByRole("button", { name: "Reset the zoom" });
  const drag = async (from, to) => {
    await page.mouse.move(box.x + from, box.y + 50);
    await page.mouse.down();
    await page.mouse.move(box.x + (from + to) / 2, box.y + 60);
    await page.mouse.move(box.x + to, box.y + 60);
  };
  await drag(100, 103);
  await page.mouse.up();
  assert.equal(await reset.count(), 0, "a click is no range");
  await drag(100, 200);
  await page.screenshot({ path: join(SHOTS, "charts-drag-1440-light.png") });
  await page.mouse.up();
  await becomes(4, () => reset.count());
  await page.mouse.move(box.x + 60, box.y + 50); // the first minutes of what is shown are no longer the hour's
  await page.waitForFunction(() => document.querySelector(".chart-box [aria-live]").textContent);
  const zoomed = (await spoken(page))[0].split(":").slice(0, 2).join(":");
  await page.screenshot({ path: join(SHOTS, "charts-zoomed-1440-light.png") });
  await canvas.dblclick({ position: { x: 200, y: 50 } });
  await page.waitForFunction(() => !document.querySelector(".chart-reset"));
  await page.mouse.move(box.x + 61, box.y + 50);
  await page.waitForFunction(before => !document.querySelector(".chart-box [aria-live]").textContent.startsWith(before), zoomed);
});

test("the keys point, zoom and reset; Escape closes the pane only after that", async t => {
  const { page } = await show(t, NODE);
  await drawn(page);
  await page.locator(".chart-box").first().focus();
  await page.keyboard.press("ArrowLeft");
  await page.waitForFunction(() => document.querySelector(".chart-box [aria-live]").textContent.includes("mean"));
  const first = (await spoken(page))[0];
  await page.keyboard.press("ArrowLeft");
  await page.waitForFunction(before => document.querySelector(".chart-box [aria-live]").textContent !== before, first);
  await page.keyboard.press("+");
  await page.getByRole("button", { name: "Reset the zoom" }).first().waitFor();
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => !document.querySelector(".chart-reset"));
  assert.equal(await page.locator("aside.pane").count(), 1);
  await page.keyboard.press("Escape");
  await page.waitForSelector("aside.pane", { state: "detached" });
});

test("the table and the CSV have every line and every gap", async t => {
  const { page } = await show(t, NODE);
  await drawn(page);
  await page.locator(".chart").first().getByRole("button", { name: "Table", exact: true }).click();
  await page.waitForSelector(".chart-table");
  assert.deepEqual(await page.locator(".chart-table th").allTextContents(), ["Time", ...Array.from({ length: 8 }, (_, g) => `GPU ${g}`)]);
  assert.equal(await page.locator(".chart-table tbody tr").count(), 120);
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "GPU utilization as CSV" }).click();
  const rows = readFileSync(await (await download).path(), "utf8").trim().split("\r\n").map(row => row.split(","));
  assert.equal(rows.length, 121);
  assert.equal(rows.filter(row => row[4] === "").length, 19, "GPU 3 was not measured for a while");
});
