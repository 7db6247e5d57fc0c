// The width of the details: dragged, moved by keys, kept; absent where the details stand above the table.
import assert from "node:assert/strict";
import { test } from "node:test";
import { axe, onMock } from "../browser.mjs";

const site = onMock();
const PATH = "/workloads?open=00000000-0000-4000-8000-000000000102&tab=pods";
const grip = page => page.getByRole("separator", { name: "Width of the details" });
const width = page => page.locator("aside.pane").evaluate(pane => Math.round(pane.getBoundingClientRect().width));
const becomes = (page, wanted) => page.waitForFunction(w => Math.round(document.querySelector("aside.pane").getBoundingClientRect().width) === w, wanted);

test("the details are made wider by mouse and by keys, and stay so", async t => {
  await site.ready;
  const { page } = await site.show(t, PATH);
  await page.waitForSelector("#pane-panel td");
  assert.equal(await width(page), 452);
  const box = await grip(page).boundingBox();
  await page.mouse.move(box.x + 2, box.y + 200);
  await page.mouse.down();
  await page.mouse.move(box.x - 98, box.y + 200);
  await page.mouse.up();
  await page.waitForFunction(() => document.querySelector("aside.pane").getBoundingClientRect().width > 530);
  const wide = await width(page);
  assert.ok(wide < 570, String(wide));
  await page.mouse.move(box.x + 300, box.y + 200); // the button is up
  assert.equal(await width(page), wide);
  await grip(page).focus();
  await page.keyboard.press("ArrowRight");
  await becomes(page, wide - 24);
  await page.waitForSelector(`[role=separator][aria-valuenow="${wide - 24}"]`);
  for (let i = 0; i < 20; i++) await page.keyboard.press("ArrowRight");
  await becomes(page, 380);
  await page.keyboard.press("ArrowLeft");
  await becomes(page, 404);
  assert.deepEqual(await axe(page), []);
  await page.reload();
  await page.waitForSelector("#pane-panel td");
  assert.equal(await width(page), 404);
});

test("on a phone there is none", async t => {
  const { page } = await site.show(t, PATH, { width: 390 });
  await page.waitForSelector("#pane-panel td");
  assert.equal(await grip(page).count(), 0);
});
