// The filters of every day above the workloads, on a real server: their numbers, the address, the keyboard.
import assert from "node:assert/strict";
import { join } from "node:path";
import { before, test } from "node:test";
import { SHOTS, axe, becomes, open } from "../browser.mjs";
import { onServer, signIn } from "../real_server.mjs";

const site = onServer();
let page, server;
before(async () => {
  ({ page, server } = await site.ready);
  for (const [name, gpus] of [["fits", 1], ["fits-too", 1], ["too-big", 64]]) await submit(name, gpus);
});

async function submit(name, gpuDevicesRequest) {
  await page.evaluate(async ([title, gpus]) => {
    const json = async path => (await fetch(path)).json();
    const [{ uuid: clusterId }] = await json("/api/v1/clusters");
    const { projects: [{ id: projectId }] } = await json("/api/v1/org-unit/projects");
    const body = JSON.stringify({ name: title, projectId, clusterId, spec: { image: "x", compute: { gpuDevicesRequest: gpus } } });
    await fetch("/api/v1/workloads/trainings", { method: "POST", headers: { "Content-Type": "application/json", "X-Prorata-Request": "1" }, body });
  }, [name, gpuDevicesRequest]);
}

const tab = (at, name) => at.getByRole("navigation", { name: "Quick filters" }).getByRole("link", { name });
const says = (at, name, number) => at.waitForSelector(`.quick a:text-matches("^${name} ${number}$")`);
const rows = (at, number) => at.waitForFunction(n => document.querySelectorAll("tbody tr").length === n && !document.querySelector("table.waiting"), number);
const filters = at => new URL(at.url()).searchParams.get("f");

test("each tab says how many rows it would show, and filters by the address", async () => {
  await page.goto(server.url + "/workloads");
  for (const [name, number] of [["Mine", 3], ["Running", 2], ["Pending", 1], ["Failed", 0], ["Idle", 0]]) await says(page, name, number);
  assert.deepEqual(await axe(page), []);
  await page.screenshot({ path: join(SHOTS, "quick-tabs-1440-light.png") });
  await tab(page, /^Pending/).click();
  await rows(page, 1);
  await becomes("phase==Pending", () => filters(page));
  assert.equal(await tab(page, /^Pending/).getAttribute("aria-current"), "true");
  assert.deepEqual(await axe(page), []);
  await tab(page, /^Running/).click(); // takes the other's place
  await rows(page, 2);
  await becomes("phase==Running", () => filters(page));
  await tab(page, /^Mine/).click(); // adds to it
  await becomes("phase==Running,submittedBy==admin@prorata.local", () => filters(page));
  await rows(page, 2);
  await tab(page, /^Mine/).click(); // takes itself back
  await page.waitForFunction(() => !location.search.includes("submittedBy"));
});

test("the numbers go by the search and the other filters", async () => {
  await page.goto(server.url + "/workloads?q=too");
  await says(page, "Mine", 2);
  await says(page, "Running", 1);
  await page.goto(server.url + "/workloads?f=phase==Failed");
  await says(page, "Mine", 0);
  await says(page, "Running", 2);
});

test("they are reached and pressed by keyboard, and Idle leads to who holds idle GPUs", async () => {
  await page.goto(server.url + "/workloads");
  await says(page, "Pending", 1);
  await tab(page, /^Mine/).focus();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await rows(page, 1);
  await becomes("phase==Pending", () => filters(page));
  await tab(page, /^Idle/).click();
  await page.waitForURL(/\/idle$/);
});

test("on a phone and in the dark", async t => {
  const phone = await open(site.browser, server.url, { width: 390, theme: "dark" });
  t.after(() => phone.context.close());
  await signIn(phone.page, server.url);
  await phone.page.goto(server.url + "/workloads");
  await says(phone.page, "Running", 2);
  assert.deepEqual(await axe(phone.page), []);
  await phone.page.screenshot({ path: join(SHOTS, "quick-tabs-390-dark.png") });
});
