// Settings and a person's notifications on a real server: channels set up and tried, switches, boxes by mouse and keys.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, test } from "node:test";
import { axe } from "../browser.mjs";
import { ask, onServer } from "../real_server.mjs";

const site = onServer();
const ready = async () => (await site.ready).page;
const button = (page, name) => page.getByRole("button", { name, exact: true });
const toast = (page, text) => page.waitForSelector(`.toast:has-text("${text}")`);
const hook = createServer((request, response) => response.end("ok"));
await new Promise(done => hook.listen(0, "127.0.0.1", done));
after(() => hook.close());

test("a webhook is set up; what is wrong is said at its field; its secret is never shown", async () => {
  const page = await ready();
  await page.goto(site.server.url + "/settings");
  await page.waitForSelector(".empty:has-text('No channel is set up')");
  assert.deepEqual(await axe(page), []);
  await button(page, "Webhook").click();
  await page.fill("#f-name", "Robot 1");
  await page.fill("#f-webhookUrl", "https://203.0.113.7/hook");
  await page.fill("#f-secret", "short");
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await page.waitForSelector("dialog .fault, dialog [aria-invalid=true]");
  assert.deepEqual(await axe(page), []);
  await page.fill("#f-name", "robot");
  await page.fill("#f-secret", "a secret of twenty-four!");
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await toast(page, "Saved Webhook.");
  assert.deepEqual((await ask(page, "/api/v1/notification-channels")).map(c => c.name), ["robot"]);
  await button(page, "Edit").click();
  await page.waitForSelector("dialog:has-text('What is secret is set.')");
  assert.equal(await page.inputValue("#f-secret"), "");
  assert.ok(!(await page.content()).includes("twenty-four"));
});

test("a channel is tried before it is saved, and what went wrong is told", async () => {
  const page = await ready();
  await page.fill("#f-webhookUrl", `https://127.0.0.1:${hook.address().port}/`); // this machine's own addresses are refused
  await page.fill("#f-secret", "a secret of twenty-four!");
  await button(page, "Test").click();
  await page.waitForSelector("dialog .fault");
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => !document.querySelector("dialog"));
});

test("a person chooses by box, by keys alone, and takes it back", async () => {
  const page = await ready();
  await page.goto(site.server.url + "/account");
  await page.getByLabel("Failed by robot", { exact: true }).focus();
  await page.keyboard.press("Space");
  await page.getByLabel("Preempted by robot", { exact: true }).check();
  await page.selectOption("#f-notify-scope", "all");
  assert.deepEqual(await axe(page), []);
  await page.locator("[aria-labelledby=h-notifications]").getByRole("button", { name: "Save" }).click();
  await toast(page, "Saved.");
  const [one, ...others] = await ask(page, "/api/v1/subscriptions");
  assert.deepEqual([one.scope, one.channels, one.events.map(e => e.types).flat().sort(), others], ["all", ["robot"], ["Failed", "Preempted"], []]);
  await page.reload();
  await page.getByLabel("Failed by robot", { exact: true }).and(page.locator(":checked")).waitFor();
  await page.getByLabel("Failed by robot", { exact: true }).uncheck();
  await page.getByLabel("Preempted by robot", { exact: true }).uncheck();
  await page.locator("[aria-labelledby=h-notifications]").getByRole("button", { name: "Save" }).click();
  await toast(page, "You are told of nothing now.");
  assert.deepEqual(await ask(page, "/api/v1/subscriptions"), []);
});

test("switches act at once; the time of sessions is kept", async () => {
  const page = await ready();
  await page.goto(site.server.url + "/settings");
  const value = async key => (await ask(page, "/v1/k8s/setting")).find(s => s.key === key).value;
  const key = (await ask(page, "/v1/k8s/setting"))[0].key, before = await value(key);
  await page.locator(`#f-${key}`).click();
  await page.waitForSelector(".toast");
  assert.notEqual(await value(key), before);
  await page.fill("#f-idleTimeout", "0");
  await page.locator("[aria-labelledby=h-security]").getByRole("button", { name: "Save" }).click();
  await page.waitForSelector("#f-idleTimeout[aria-invalid=true]");
  await page.fill("#f-idleTimeout", "45");
  await page.locator("[aria-labelledby=h-security]").getByRole("button", { name: "Save" }).click();
  await toast(page, "Saved. It holds");
  assert.equal((await ask(page, "/api/v1/security/settings")).browserSessionTimeout.idleTimeout, 45);
});

test("a channel is deleted after a question", async () => {
  const page = await ready();
  await page.goto(site.server.url + "/settings");
  await button(page, "Delete robot").click();
  await button(page, "Delete channel").click();
  await toast(page, "Deleted robot.");
  await page.waitForSelector(".empty:has-text('No channel is set up')");
});
