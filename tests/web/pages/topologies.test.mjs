// Network topologies on a real server: made, listed with what uses them, refused at the field, kept while in use, deleted.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { axe } from "../browser.mjs";
import { ask, onServer, send } from "../real_server.mjs";

const site = onServer();
let server, page;
before(async () => ({ server, page } = await site.ready));

const PATH = "/api/v1/network-topologies";
const button = name => page.getByRole("button", { name, exact: true });
const found = async name => (await ask(page, PATH)).networkTopologies.find(t => t.name === name);
async function type(name, ...levels) {
  await page.fill("#f-topologyName", name);
  for (const level of levels) {
    await page.getByLabel("Levels", { exact: true }).fill(level);
    await page.getByLabel("Levels", { exact: true }).press("Enter");
  }
}

test("a topology is made, and its pane says what it is", async () => {
  await page.goto(server.url + "/topologies");
  await page.waitForSelector(".empty:has-text('No topologies yet')");
  await page.getByRole("link", { name: "New topology" }).click();
  await button("Create topology").click();
  await page.waitForSelector("#f-topologyName[aria-invalid=true]");
  assert.match(await page.innerText("#f-levels-hint"), /At least one label that nodes have/);
  await type("racks", "example.com/rack", "kubernetes.io/hostname");
  await button("Create topology").click();
  await page.waitForSelector("#pane-title:has-text('racks')");
  assert.deepEqual((await found("racks")).levels, ["example.com/rack", "kubernetes.io/hostname"]);
  await page.waitForSelector("tbody tr:has-text('example.com/rack › kubernetes.io/hostname')");
  assert.deepEqual(await axe(page), []);
});

test("what the server refuses stands in the form, and what was typed stays", async () => {
  await page.goto(server.url + "/topologies?new=1");
  await type("racks", "example.com/row");
  await button("Create topology").click();
  await page.getByRole("dialog").getByText(/racks.*(exists|taken|in use)/).first().waitFor();
  assert.equal(await page.inputValue("#f-topologyName"), "racks");
  assert.equal((await ask(page, PATH)).networkTopologies.length, 1);
});

test("one that a node pool uses says why it is off, and stays; without the pool it goes", async () => {
  const { id } = await found("racks"),
    [pool] = (await ask(page, "/api/v1/node-pools")).nodepools;
  await send(page, "PATCH", `/api/v1/node-pools/${pool.id}`, { networkTopologyId: id });
  await page.goto(`${server.url}/topologies?open=${id}`);
  await page.waitForSelector("dd:has-text('Topology racks is off')");
  await page.waitForSelector(`tbody tr:has-text('${pool.name}')`);
  const drop = async () => {
    await button("Delete").click();
    await button("Delete topology").click();
  };
  await drop();
  await page.getByText(new RegExp(`node pool.*${pool.name}`)).first().waitFor();
  assert.ok(await found("racks"));
  await send(page, "PATCH", `/api/v1/node-pools/${pool.id}`, { networkTopologyId: null });
  await page.goto(`${server.url}/topologies?open=${id}`);
  await drop();
  await page.waitForSelector(".empty:has-text('No topologies yet')");
  assert.equal(await found("racks"), undefined);
});
