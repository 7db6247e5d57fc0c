// What failed: its exit code, its last lines, its next try; pods with their ends, on a real server.
import assert from "node:assert/strict";
import { join } from "node:path";
import { before, test } from "node:test";
import { SHOTS, axe, until } from "../browser.mjs";
import { ask, onServer } from "../real_server.mjs";

const site = onServer();
let page, server;
before(async () => ({ page, server } = await site.ready));

const FAILS = [["prorata.io/sim-duration", "1ms"], ["prorata.io/sim-exit-code", "3"]].map(([name, value]) => ({ name, value }));
async function submit(name, more) {
  const answer = await page.evaluate(async ([title, extra]) => {
    const json = async path => (await fetch(path)).json();
    const [{ uuid: clusterId }] = await json("/api/v1/clusters");
    const { projects: [{ id: projectId }] } = await json("/api/v1/org-unit/projects");
    const body = JSON.stringify({ name: title, projectId, clusterId, spec: { image: "x", compute: { gpuDevicesRequest: 1 }, ...extra } });
    return (await fetch("/api/v1/workloads/trainings", { method: "POST", headers: { "Content-Type": "application/json", "X-Prorata-Request": "1" }, body })).json();
  }, [name, more]);
  return answer.workloadId;
}
const podsOf = async id => (await ask(page, `/api/v1/workloads/${id}/pods`)).pods;

test("a failed workload opens on its exit code and its last lines", async () => {
  const id = await submit("broken", { annotations: FAILS, backoffLimit: 0 });
  await until("it has failed", async () => (await ask(page, `/api/v1/workloads/${id}`)).phase === "Failed");
  await page.goto(`${server.url}/workloads?open=${id}`);
  await page.waitForSelector(".failed .one:has-text('broken-0-0 failed with exit code 3.')");
  await page.waitForSelector(".failed .two:has-text('Failed 1 time, and backoffLimit allows 0; broken-0-0 ended with exit code 3: ')");
  await page.waitForSelector(".log-view :text('no checkpoint found')");
  assert.deepEqual(await axe(page), []);
  await page.screenshot({ path: join(SHOTS, "failed-1440-light.png") });
  await page.getByRole("tab", { name: "Pods" }).click();
  await page.waitForSelector("#pane-panel td:has-text('broken-0-0')");
  const table = page.locator("#pane-panel table");
  assert.deepEqual((await table.locator("th").allInnerTexts()).slice(0, 4), ["Pod", "Status", "Exit code", "Node"], "only where a pod has one");
  assert.equal(await table.locator("tbody td").nth(2).innerText(), "3");
});

test("one that is tried again says when", async () => {
  const id = await submit("again", { annotations: FAILS, backoffLimit: 6 });
  // The third failure waits long enough to be looked at.
  const pod = await until("a long wait for the next try", async () => (await podsOf(id)).find(p => p.nextTryAt && Date.parse(p.nextTryAt) - Date.parse(p.completedAt) > 15000));
  await page.goto(`${server.url}/workloads?open=${id}`);
  await page.waitForSelector(`.failed .one:has-text('${pod.name} failed with exit code 3.')`);
  await page.waitForSelector(".failed pre:has-text('no checkpoint found')");
  await page.waitForSelector(".failed .two:text-matches('It starts again in [0-9]+ s')");
  assert.deepEqual(await axe(page), []);
  await page.screenshot({ path: join(SHOTS, "failed-again-1440-light.png") });
});

test("pods stand with their node, end, tries, devices and what they use", async () => {
  const id = await submit("steady", {});
  const pod = await until("it runs, and is measured", async () => (await podsOf(id)).find(p => p.k8sPhase === "Running" && p.used.gpuMemoryBytes && p.used.cpuCores));
  await page.goto(`${server.url}/workloads?open=${id}&tab=pods`);
  const cells = page.locator("#pane-panel tbody tr").first().locator("td");
  await page.waitForSelector("#pane-panel td:has-text('steady-0-0')");
  await page.waitForSelector("#pane-panel .st.ok");
  const texts = (await cells.allInnerTexts()).map(text => text.replace(/\s/g, " "));
  assert.deepEqual(texts, ["steady-0-0", "Running", pod.nodeName, `1 · no. ${pod.gpuIndices[0]}`, "80 %", "54.4 GiB", "0.2", "256 MiB"]);
  assert.deepEqual(await axe(page), []);
  await page.screenshot({ path: join(SHOTS, "pods-1440-light.png") });
  await cells.locator("a").click();
  await page.waitForURL(new RegExp(`/nodes\\?open=${pod.nodeName}$`));
});
