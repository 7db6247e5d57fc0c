// A verdict is the scheduler's alone: where it is not asked, or does not answer, the form says so and why.
import assert from "node:assert/strict";
import { join } from "node:path";
import { before, test } from "node:test";
import { SHOTS, axe, onMock } from "../browser.mjs";

const WHAT_IF = "**/api/v1/scheduler/what-if";
const site = onMock();
before(() => site.ready);

const verdict = (page, text) => page.locator(".verdict-box .one", { hasText: text }).waitFor();
const green = page => page.locator(".form-page .because > svg.i.ok, .form-page .verdict.ok").count();

const REFUSALS = [
  ["signed out", 401, "sign in first", /^Not asked: you are signed out\.$/],
  ["without the right", 403, "Your roles do not allow it", /^Not asked: your roles do not allow it\.$/],
  ["too busy", 503, "Too much to do", /^Not asked: too much to do\.$/],
];
for (const [name, status, message, said] of REFUSALS)
  test(`what-if refused (${name}) is no verdict`, async t => {
    const { page } = await site.show(t, "/account");
    await page.route(WHAT_IF, route => route.fulfill({ status, contentType: "application/json", body: JSON.stringify({ code: status, message }) }));
    await page.goto(site.mock.url + "/workloads/new/training");
    await verdict(page, said);
    assert.equal(await green(page), 0);
    assert.equal(await page.locator(".submit-bar .verdict").textContent(), "Not asked");
  });

test("a scheduler that does not answer in time is said, and asked again by hand", async t => {
  const { page } = await site.show(t, "/account");
  let late = true;
  await page.addInitScript(() => {
    const { AbortSignal } = window, timeout = AbortSignal.timeout;
    AbortSignal.timeout = ms => (window.neverLate ? timeout.call(AbortSignal, ms) : timeout.call(AbortSignal, ms / 20));
  });
  await page.route(WHAT_IF, route => (late ? undefined : route.continue()));
  await page.goto(site.mock.url + "/workloads/new/training");
  await verdict(page, /^Not asked: the scheduler did not answer in 10 s\.$/);
  assert.equal(await green(page), 0);
  for (const width of [390, 1440])
    for (const theme of ["dark", "light"]) {
      await page.setViewportSize({ width, height: 900 });
      await page.evaluate(name => (document.documentElement.dataset.theme = name), theme);
      await page.screenshot({ path: join(SHOTS, `not-asked-${width}-${theme}.png`), fullPage: true });
    }
  assert.deepEqual(await axe(page), []);
  late = false;
  await page.evaluate(() => (window.neverLate = true));
  await page.locator(".verdict-box").getByRole("button", { name: "Try again" }).click();
  await verdict(page, /^Starts at once/);
});

test("a form with a field that is wrong has no verdict", async t => {
  const { page } = await site.show(t, "/workloads/new/training");
  await verdict(page, /^\w+ /);
  await page.fill("#f-gpus", "-1");
  await verdict(page, /^Not asked: a field that it needs is missing or wrong\.$/);
  assert.equal(await green(page), 0);
});

test("a quota form says that nobody was asked who would lose, and asks again", async t => {
  const { page } = await site.show(t, "/account");
  const ANSWER = { verdict: "NoEffect", sentence: "Nobody is touched", atRest: true, cycles: 2, queues: [], workloads: [] };
  let status = 503;
  await page.route(`${WHAT_IF}/quota`, route => route.fulfill({ status, contentType: "application/json", body: JSON.stringify(status === 200 ? ANSWER : { code: status, message: "Too much to do" }) }));
  await page.goto(site.mock.url + "/projects/1/edit");
  await page.waitForSelector("#f-description");
  assert.equal(await page.locator(".verdict-box").count(), 0, "nothing is changed yet");
  await page.locator("td.quota input").first().fill("1");
  await verdict(page, /^Not asked: too much to do\.$/);
  assert.deepEqual(await axe(page), []);
  for (const [width, theme] of [[390, "dark"], [1440, "light"]]) {
    await page.setViewportSize({ width, height: 900 });
    await page.evaluate(name => (document.documentElement.dataset.theme = name), theme);
    await page.screenshot({ path: join(SHOTS, `quota-not-asked-${width}-${theme}.png`), fullPage: true });
  }
  status = 200;
  await page.locator(".verdict-box").getByRole("button", { name: "Try again" }).click();
  await verdict(page, /^Nobody is touched\.$/);
});
