// Forms that the account may not use say so, in place of a form or of a fault; and nothing is asked for them. The first
// sight of who has run nothing.
import assert from "node:assert/strict";
import { join } from "node:path";
import { before, test } from "node:test";
import { SHOTS, axe, onMock, open } from "../browser.mjs";
import { startMock } from "../mock_server.mjs";

const site = onMock();
before(() => site.ready);

// A page of an account with these rights, and a server of its own.
async function as(t, rights, path) {
  const permissions = Object.entries(rights).map(([resourceType, actions]) => ({ resourceType, actions }));
  const mock = await startMock(join(site.folder, "web"), { permissions });
  const opened = await open(site.browser, mock.url);
  t.after(async () => {
    await opened.context.close();
    await mock.close();
  });
  opened.asked = [];
  opened.page.on("request", r => opened.asked.push(new URL(r.url()).pathname));
  opened.go = to => opened.page.goto(mock.url + to);
  if (path) await opened.go(path);
  return opened;
}

async function pictures(page, name) {
  for (const width of [390, 1440])
    for (const theme of ["dark", "light"]) {
      await page.setViewportSize({ width, height: 900 });
      await page.evaluate(t => (document.documentElement.dataset.theme = t), theme);
      await page.screenshot({ path: join(SHOTS, `${name}-${width}-${theme}.png`), fullPage: true });
    }
}

const VIEWER = { workloads: ["read"], project: ["read"], department: ["read"], nodes: ["read"], nodepools: ["read"], cluster: ["read"] };
const RESEARCHER = { workloads: ["read", "create"], trainings: ["read", "create"], project: ["read"] };

for (const [who, rights, path, word] of [
  ["a viewer", VIEWER, "/workloads/new/training", "create trainings"],
  ["a viewer", VIEWER, "/projects/4/edit", "update project"],
  ["a researcher", RESEARCHER, "/projects/new", "create project"],
  ["a viewer", VIEWER, "/departments/1/edit", "update department"],
  ["a researcher", RESEARCHER, "/projects/4/edit", "update project"],
  ["who may read no node pools", { ...RESEARCHER, project: ["read", "update"] }, "/projects/4/edit", "read nodepools"],
])
  test(`${path} for ${who} says what is missing`, async t => {
    const { page, asked, troubles } = await as(t, rights, path);
    await page.locator("main .empty", { hasText: `Your roles don't allow it: ${word} is missing.` }).waitFor();
    assert.equal(await page.locator("main form, main .fault, main svg.ok").count(), 0);
    assert.deepEqual(asked.filter(p => /permitted-scopes|node-pools|what-if/.test(p)), []);
    assert.deepEqual(troubles.errors, []);
    if (who === "a researcher") await pictures(page, "may-not-edit-project");
  });

test("who has run nothing is told how to begin, and what the team holds", async t => {
  const { page, go } = await as(t, RESEARCHER);
  await page.route(url => url.pathname === "/api/v1/workloads", route => route.fulfill({ json: { workloads: [] } }));
  await page.route("**/api/v1/workloads/count*", route => route.fulfill({ json: { count: 0 } }));
  await go("/");
  await page.getByRole("heading", { name: "You have run nothing yet" }).waitFor();
  assert.equal(await page.getByText("Nothing matches").count(), 0);
  assert.match(await page.locator(".first-steps .code").textContent(), /prorata training submit first -p \S+ -i \S+ -g 1/);
  assert.match(await page.getByRole("link", { name: "New training" }).getAttribute("href"), /^\/workloads\/new\/training\?project=/);
  assert.match(await page.locator(".first-steps .facts").innerText(), /forecasting\s+5 of \d+ GPUs held, 8 waiting/);
  assert.deepEqual(await axe(page), []);
  await pictures(page, "first-own");
  await page.getByRole("searchbox").fill("something");
  await page.locator(".empty", { hasText: "Nothing matches" }).waitFor();
});
