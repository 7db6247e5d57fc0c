// Connect: the addresses of a workload's tools, once it runs, on a real server.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { axe, becomes, until } from "../browser.mjs";
import { ask, onServer } from "../real_server.mjs";

const site = onServer();
let page, server;
before(async () => ({ page, server } = await site.ready));

const submit = (name, spec, kind = "workspaces") => page.evaluate(async ([title, more, path]) => {
  const json = async path => (await fetch(path)).json();
  const [{ uuid: clusterId }] = await json("/api/v1/clusters");
  const { projects: [{ id: projectId }] } = await json("/api/v1/org-unit/projects");
  const body = JSON.stringify({ name: title, projectId, clusterId, spec: { image: "x", preemptibility: "preemptible", compute: { gpuDevicesRequest: 1 }, ...more } });
  return (await (await fetch(`/api/v1/workloads/${path}`, { method: "POST", headers: { "Content-Type": "application/json", "X-Prorata-Request": "1" }, body })).json()).workloadId;
}, [name, spec, kind]);
const reach = async (id, phase) => {
  await until(`${id} is ${phase}`, async () => {
    const w = await ask(page, `/api/v1/workloads/${id}`);
    assert.notEqual(w.phase, "Failed", w.phaseMessage);
    return w.phase === phase;
  });
};
const connect = () => page.getByRole("button", { name: "Connect", exact: true });

test("a workspace that runs leads to its tools, in tabs of their own", async () => {
  const id = await submit("lab", { exposedUrls: [
    { container: 8888, url: "https://lab.example.com/notebook", toolType: "jupyter-notebook", toolName: "Jupyter" },
    { container: 6006, url: "https://lab.example.com/board", name: "board" },
    { container: 9000, url: "javascript:alert(1)", name: "not-the-web" },
  ] });
  assert.ok(id, "it is taken");
  await reach(id, "Running");
  await page.goto(`${server.url}/workloads?open=${id}`);
  await connect().click();
  const links = page.getByRole("menuitem");
  await links.first().waitFor();
  assert.deepEqual(await links.evaluateAll(list => list.map(a => [a.textContent, a.href, a.target, a.rel])), [
    ["Jupyter: https://lab.example.com/notebook", "https://lab.example.com/notebook", "_blank", "noopener noreferrer"],
    ["board: https://lab.example.com/board", "https://lab.example.com/board", "_blank", "noopener noreferrer"],
    ["Ports and addresses", undefined, undefined, undefined],
  ]);
  assert.deepEqual(await axe(page), []);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await page.waitForSelector("aside .btn[aria-disabled=true]:has-text('Connect'), .pane .btn[aria-disabled=true]:has-text('Connect')");
});

test("a count in the table opens what can be reached, ports without a URL too", async () => {
  const id = await submit("reached", { ports: [{ container: 22, serviceType: "NodePort", external: 30022, toolName: "shell" }], exposedUrls: [{ container: 8888, url: "https://lab.example.com/x", toolType: "jupyter-notebook", authorizationType: "authenticatedUsers" }] });
  await reach(id, "Running");
  await page.goto(`${server.url}/workloads`);
  await page.getByRole("button", { name: "Columns" }).click();
  await page.getByRole("checkbox", { name: "Connections" }).check();
  await page.keyboard.press("Escape");
  const count = page.getByRole("button", { name: "Connections of reached" });
  assert.equal(await count.innerText(), "2");
  await count.press("Enter");
  const dialog = page.locator("dialog");
  await dialog.waitFor();
  assert.deepEqual(await dialog.locator("tbody tr").evaluateAll(list => list.map(r => [...r.cells].map(c => c.textContent.trim()))), [
    ["jupyter-notebook", "External URL", "Who is signed in", "8888", "https://lab.example.com/x Connect"],
    ["shell", "NodePort", "–", "22", "–"],
  ]);
  assert.deepEqual(await dialog.getByRole("link", { name: "Connect" }).evaluate(a => [a.href, a.target, a.rel]), ["https://lab.example.com/x", "_blank", "noopener noreferrer"]);
  await dialog.getByRole("button", { name: "Copy https://lab.example.com/x" }).waitFor();
  assert.deepEqual(await axe(page), []);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await becomes(true, () => count.evaluate(b => b === document.activeElement), "the focus is back");
});

test("a name that only a cluster resolves is to be copied, not followed", async () => {
  const id = await submit("llm", {}, "inferences");
  await reach(id, "Running");
  const [url] = (await ask(page, `/api/v1/workloads/${id}`)).urls;
  await page.goto(`${server.url}/workloads?open=${id}`);
  await connect().click();
  const links = page.getByRole("menuitem");
  await links.first().waitFor();
  assert.deepEqual(await links.allInnerTexts(), ["Ports and addresses"]);
  await links.first().click();
  const dialog = page.locator("dialog");
  await dialog.getByRole("button", { name: `Copy ${url}` }).waitFor();
  assert.equal(await dialog.getByRole("link").count(), 0);
  await page.keyboard.press("Escape");
});

test("a workload without addresses offers no Connect", async () => {
  const id = await submit("plain", {});
  await reach(id, "Running");
  await page.goto(`${server.url}/workloads?open=${id}`);
  await page.getByRole("button", { name: "Stop", exact: true }).waitFor();
  assert.equal(await connect().count(), 0);
});
