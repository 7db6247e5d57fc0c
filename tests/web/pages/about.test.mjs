// About: which server this is, how its parts are, what it keeps; a backup by a click. On a real server.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { look } from "../browser.mjs";
import { ask, onServer } from "../real_server.mjs";

const site = onServer();
let page, server;
before(async () => ({ page, server } = await site.ready));

const fact = name => page.locator(`dt:text-is("${name}") + dd`).innerText();

test("the server, its parts and what it keeps are on a page", async () => {
  await page.goto(server.url + "/about");
  await page.waitForSelector("#h-kept");
  const about = await ask(page, "/api/v1/about");
  assert.equal(await page.locator("#h-server").innerText(), `Prorata ${about.version}`);
  assert.equal(await fact("Backend"), "simulated");
  assert.deepEqual(await page.locator(".parts li .strong").allInnerTexts(), about.parts.map(p => p.name));
  assert.deepEqual(await page.locator(".parts li .soft").allInnerTexts(), about.parts.map(p => p.problem ?? "well"));
  assert.match(await page.locator("header:has(#h-kept) p").innerText(), /^[\d.]+ [GT]iB of [\d.]+ [GT]iB are free\.$/);
  assert.equal(await page.locator("main a[href='/api/docs']").count(), 1);
});

test("a cluster gets another name by the keyboard; the one that runs has no button to remove it", async () => {
  const { uuid, name } = (await ask(page, "/api/v1/clusters"))[0];
  await page.goto(`${server.url}/clusters?open=${uuid}`);
  const field = page.locator("#details").getByLabel("Name", { exact: true });
  await field.waitFor();
  assert.equal(await field.inputValue(), name);
  assert.equal(await page.getByRole("button", { name: "Rename" }).getAttribute("aria-disabled"), "true");
  await page.getByText("This server runs it, so it can't be removed.").waitFor();
  await field.fill("lab-1");
  await field.press("Enter");
  await page.waitForSelector("#pane-title:has-text('lab-1')");
  await page.waitForSelector("tbody tr:has-text('lab-1')");
  assert.equal((await ask(page, "/api/v1/clusters"))[0].name, "lab-1");
  await look(page, "cluster");
});

test("a backup by a click is on the disk, and the page says so", async () => {
  await page.goto(server.url + "/about");
  await page.waitForSelector("#h-kept");
  assert.equal(await fact("The newest backup"), "none");
  await page.getByRole("button", { name: "Back up now" }).click();
  await page.waitForSelector(".toast:has-text('Wrote prorata-')");
  await page.waitForSelector("dt:text-is('The newest backup') + dd:not(:text-is('none'))");
  assert.equal((await ask(page, "/api/v1/about")).backups.count, 1);
  assert.match(await fact("Backups"), /[KM]iB$/);
});
