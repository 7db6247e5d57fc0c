// Policies on a real server: written as YAML with live mistakes and completion, by keys alone; seen where they hold.
import assert from "node:assert/strict";
import { test } from "node:test";
import { axe } from "../browser.mjs";
import { ask, onServer } from "../real_server.mjs";

const site = onServer();
const ready = async () => (await site.ready).page;
const button = (page, name) => page.getByRole("button", { name, exact: true });
const toast = (page, text) => page.waitForSelector(`.toast:has-text("${text}")`);
const PATH = "/api/v2/policy/trainings";

test("a policy is written by keys alone: words are completed, mistakes stand on their lines", async () => {
  const page = await ready();
  await page.goto(site.server.url + "/policies");
  await page.getByRole("link", { name: "New policy" }).click();
  await page.selectOption("#f-place", { label: "Everywhere" });
  await page.fill("#f-name", "house rules");
  await page.fill("#f-text", "");
  await page.locator("#f-text").focus();
  await page.keyboard.press("Control+Space");
  await page.waitForSelector("[role=option][aria-selected=true]:has-text('defaults')");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  assert.equal(await page.inputValue("#f-text"), "rules:\n  ");
  await page.keyboard.press("Escape");
  await page.keyboard.type("comput");
  await page.waitForSelector("[role=option]:has-text('compute')");
  assert.deepEqual(await axe(page), []);
  await page.keyboard.press("Tab");
  await page.keyboard.type("gpuDev");
  await page.keyboard.press("Enter");
  await page.keyboard.type("max: four");
  await page.waitForSelector(".mistakes:has-text('Line 4')");
  assert.equal(await page.locator("#f-text").getAttribute("aria-invalid"), "true");
  assert.equal(await page.locator(".editor-back .bad b").textContent(), "4");
  assert.match(await button(page, "Save policy").getAttribute("data-tip"), /Line 4/);
  assert.deepEqual(await axe(page), []);
  for (let i = 0; i < 4; i++) await page.keyboard.press("Backspace");
  await page.keyboard.type("4");
  await page.waitForSelector(".hint:has-text('No mistakes.')");
  await button(page, "Save policy").click();
  await toast(page, "Saved house rules.");
  const { policy } = await ask(page, `${PATH}?scope=tenant`);
  assert.equal(policy.rules.compute.gpuDevicesRequest.max, 4);
  await page.waitForSelector(".code:has-text('gpuDevicesRequest:')");
});

test("text that can't be read is said at once; an unknown field by the server; JSON says the same", async () => {
  const page = await ready();
  await page.goto(site.server.url + "/policies?open=trainings/tenant/");
  await page.getByRole("link", { name: "Edit", exact: true }).click();
  await page.waitForSelector("#f-text");
  const text = await page.inputValue("#f-text");
  const form = name => page.getByRole("group", { name: "Form of the text" }).getByRole("button", { name });
  await form("JSON").click();
  assert.deepEqual(JSON.parse(await page.inputValue("#f-text")), { rules: { compute: { gpuDevicesRequest: { max: 4 } } } });
  await form("YAML").click();
  assert.equal(await page.inputValue("#f-text"), text);
  await page.fill("#f-text", "rules:\n  image:\n\tcanEdit: false");
  await page.waitForSelector(".mistakes:has-text(\"Line 3 A tab can't indent\")");
  await page.fill("#f-text", "rules:\n  image:\n    canEdit: false\n  imagine:\n    max: 1\n");
  await page.waitForSelector(".mistakes:has-text('Line 4 rules.imagine')");
  await button(page, "Line 4").click();
  assert.equal(await page.evaluate(() => getSelection().toString() || document.activeElement.value.slice(document.activeElement.selectionStart, document.activeElement.selectionEnd)), "  imagine:");
  await page.fill("#f-text", "defaults:\n  image: ubuntu\nrules:\n  image:\n    canEdit: false\n  compute:\n    gpuDevicesRequest:\n      max: 4\n");
  await page.waitForSelector(".hint:has-text('No mistakes.')");
  await button(page, "Save policy").click();
  await toast(page, "Saved house rules.");
});

test("a second one for the same kind and place is no overwriting", async () => {
  const page = await ready();
  await page.goto(site.server.url + "/policies?new=trainings/tenant/");
  await page.fill("#f-name", "another");
  await page.fill("#f-text", "rules:\n  image:\n    required: true\n");
  await page.waitForSelector(".hint:has-text('No mistakes.')");
  await button(page, "Save policy").click();
  await page.waitForSelector(".fault:has-text('There is one for this kind and place already.')");
  assert.equal((await ask(page, `${PATH}?scope=tenant`)).meta.name, "house rules");
});

test("a project says what holds there and who set it", async () => {
  const page = await ready();
  const project = (await ask(page, "/api/v1/org-unit/projects?search=team-a")).projects[0];
  await page.goto(`${site.server.url}/projects?open=${project.id}`);
  await button(page, "View policy").click();
  await page.waitForSelector("dialog tr:has-text('compute.gpuDevicesRequest'):has-text('at most 4'):has-text('Everywhere')");
  await page.waitForSelector("dialog tr:has-text('image'):has-text('ubuntu'):has-text('fixed')");
  const own = page.locator("dialog").getByText("Nothing of your own is set here: only built-in rules hold.");
  assert.equal(await own.count(), 0);
  assert.deepEqual(await axe(page), []);
  await button(page, "Workspaces").click();
  await page.waitForFunction(() => !document.querySelector("dialog")?.textContent.includes("at most 4"));
  await own.waitFor();
  assert.deepEqual(await axe(page), []);
  await page.keyboard.press("Escape");
  await page.goto(`${site.server.url}/departments?open=${project.parentId}`);
  await button(page, "View policy").click();
  await page.waitForSelector("dialog tr:has-text('compute.gpuDevicesRequest')");
  await page.keyboard.press("Escape");
});

test("it is deleted after a question, and holds no more", async () => {
  const page = await ready();
  await page.goto(site.server.url + "/policies");
  await page.waitForSelector("tr:has-text('house rules'):has-text('Trainings'):has-text('Everywhere')");
  await page.getByRole("link", { name: "house rules" }).click();
  await button(page, "Delete").click();
  await button(page, "Delete policy").click();
  await toast(page, "Deleted house rules.");
  await page.waitForSelector(".empty:has-text('No policies yet')");
});
