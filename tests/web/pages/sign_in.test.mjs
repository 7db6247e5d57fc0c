// Signing in on a real server: what is kept after a mistake, the first password of a new user, changing it later, and the
// account menu.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { ROOT, axe, becomes, launch, open } from "../browser.mjs";
import { ADMIN, PASSWORD, ask, fetchAlone, send, signIn, startServer } from "../real_server.mjs";

const SHOTS = join(ROOT, "artifacts/screenshots");
let server, browser, token;
before(async () => {
  mkdirSync(SHOTS, { recursive: true });
  server = await startServer();
  browser = await launch();
  token = (await post("/api/v1/token", { grantType: "password", username: ADMIN, password: PASSWORD })).accessToken;
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

async function post(path, body) {
  const answer = await fetchAlone(server.url + path, { method: "POST", headers: { "Content-Type": "application/json", ...(token ? { Authorization: `Bearer ${token}` } : {}) }, body: JSON.stringify(body) });
  assert.ok(answer.ok, `${path}: ${answer.status}`);
  return answer.json();
}

// A new user of the first project, with the temporary password that the server gave.
async function newUser(email, roleId) {
  const user = await post("/api/v1/users", { email });
  const [project] = (await (await fetchAlone(server.url + "/api/v1/org-unit/projects", { headers: { Authorization: `Bearer ${token}` } })).json()).projects;
  await post("/api/v1/authorization/access-rules", { subjectId: email, subjectType: "user", roleId, scopeId: project.id, scopeType: "project" });
  return { user, password: user.tempPassword, project };
}

async function enter(page, name, password) {
  await page.fill("#username", name);
  await page.fill("#password", password);
  await page.keyboard.press("Enter");
}

test("after a wrong password the name stands, what is wrong is said below the button, and Enter tries again", async t => {
  for (const [width, theme] of [[1440, "light"], [390, "dark"]]) {
    const { page, context } = await open(browser, server.url, { width, height: 844, theme });
    t.after(() => context.close());
    await page.goto(server.url + "/workloads?sort=name");
    await page.waitForSelector("#username");
    const button = page.getByRole("button", { name: "Sign in" });
    await page.evaluate(() => document.fonts.ready);
    const before = await button.boundingBox();
    await enter(page, ADMIN, "not the password");
    await page.waitForSelector("#problem:has-text(\"don't match\")");
    assert.deepEqual(await button.boundingBox(), before, "the button stays where it was");
    assert.equal(await page.inputValue("#username"), ADMIN);
    await page.waitForSelector("#password:focus");
    assert.deepEqual(await axe(page), []);
    await page.screenshot({ path: join(SHOTS, `sign-in-wrong-${width}-${theme}.png`) });
    await page.keyboard.type(PASSWORD); // over what is selected
    await page.keyboard.press("Enter");
    await page.waitForSelector("main table, main .empty");
    await page.waitForURL(`${server.url}/workloads?sort=name`);
  }
});

test("a new user chooses a password at the first sign-in, and the address that was asked for opens", async t => {
  const { password } = await newUser("ann@lab.example", 5);
  const { page, troubles, context } = await open(browser, server.url);
  t.after(() => context.close());
  await page.goto(server.url + "/workloads?sort=name");
  await page.waitForSelector("#username");
  await enter(page, "ann@lab.example", password);
  await page.waitForSelector("h1:has-text('Choose a password')");
  await page.waitForSelector("#f-newPassword");
  assert.equal(await page.locator("nav").count(), 0, "no frame, and no page that would be refused");
  assert.equal(await page.locator("#f-currentPassword").count(), 0, "signing in has said it");
  await page.waitForSelector("#f-newPassword:focus");
  await page.keyboard.type("short");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#f-newPassword-hint:has-text('At least 8 characters')");
  await page.fill("#f-newPassword", "a better password");
  await page.fill("#f-again", "a better passport");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#f-again-hint:has-text('Not the same')");
  await page.waitForSelector("#f-again:focus");
  assert.deepEqual(await axe(page), []);
  for (const theme of ["light", "dark"]) for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 844 });
    await page.evaluate(t => (document.documentElement.dataset.theme = t), theme);
    await page.screenshot({ path: join(SHOTS, `choose-password-${width}-${theme}.png`) });
  }
  await page.fill("#f-again", "a better password");
  await page.keyboard.press("Enter");
  await page.waitForSelector("nav.tabbar:visible");
  await page.waitForSelector("main .empty, main table");
  await page.waitForURL(`${server.url}/workloads?sort=name`);
  assert.equal((await ask(page, "/api/v1/session")).mustChangePassword, false);
  assert.deepEqual([troubles.foreign, troubles.violations], [[], []]);
  assert.deepEqual(troubles.errors.filter(text => !text.includes("401")), [], "nothing was refused once the password was chosen");
});

test("without the sign-in before it, the page asks for the temporary password; a wrong one is said there", async t => {
  const { password } = await newUser("bob@lab.example", 5);
  const { page, context } = await open(browser, server.url);
  t.after(() => context.close());
  await page.goto(server.url + "/");
  await page.waitForSelector("#username");
  await enter(page, "bob@lab.example", password);
  await page.waitForSelector("#f-newPassword");
  await page.reload();
  await page.waitForSelector("#f-currentPassword");
  await page.waitForSelector("#f-currentPassword:focus");
  await page.keyboard.type("not the temporary one");
  for (const field of ["newPassword", "again"]) await page.fill(`#f-${field}`, "a better password");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#f-currentPassword[aria-invalid=true]");
  assert.match(await page.textContent("#f-currentPassword-hint"), /wrong/);
  await page.fill("#f-currentPassword", password);
  await page.keyboard.press("Enter");
  await page.waitForSelector("nav.side");
  await page.waitForURL(url => url.pathname === "/workloads"); // where a researcher begins
});

test("a person who leaves before choosing signs in again", async t => {
  const { password } = await newUser("cleo@lab.example", 5);
  const { page, context } = await open(browser, server.url);
  t.after(() => context.close());
  await page.goto(server.url + "/workloads");
  await page.waitForSelector("#username");
  await enter(page, "cleo@lab.example", password);
  await page.waitForSelector("#f-newPassword");
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.waitForSelector("#username");
  await enter(page, ADMIN, PASSWORD);
  await page.waitForSelector("nav.side");
  await page.waitForURL(url => url.pathname === "/workloads");
});

test("the account menu stands in full beside the sidebar, names the role, and changes the password", async t => {
  const { password, project } = await newUser("dora@lab.example", 5);
  const { page, context } = await open(browser, server.url);
  t.after(() => context.close());
  await page.goto(server.url + "/workloads");
  await page.waitForSelector("#username");
  await enter(page, "dora@lab.example", password);
  await page.waitForSelector("#f-newPassword");
  for (const field of ["newPassword", "again"]) await page.fill(`#f-${field}`, "the first password");
  await page.keyboard.press("Enter");
  await page.waitForSelector("nav.side .account");
  await becomes(`L1 researcher of ${project.name}`, () => page.innerText(".account .who .small"));
  for (const [width, theme] of [[1440, "dark"], [1024, "light"]]) {
    await page.setViewportSize({ width, height: 800 });
    await page.evaluate(t => (document.documentElement.dataset.theme = t), theme);
    await page.click(".account button");
    const menu = page.getByRole("menu");
    await menu.getByRole("menuitem").first().and(page.locator(":focus")).waitFor();
    const items = await menu.getByRole("menuitem").all();
    const lefts = [];
    for (const item of items) {
      const box = await item.boundingBox();
      lefts.push((await item.locator("svg").boundingBox()).x);
      const seen = await page.evaluate(([x, y]) => document.elementFromPoint(x, y)?.closest("[role=menuitem]")?.textContent, [box.x + box.width - 4, box.y + box.height / 2]);
      assert.equal(seen, await item.textContent(), `seen to its right end at ${width}`);
    }
    assert.equal(items.length, 7);
    assert.equal(new Set(lefts).size, 1, "the icons stand below one another");
    if (width === 1440) assert.deepEqual(await axe(page), []);
    await page.screenshot({ path: join(SHOTS, `account-menu-${width}-${theme}.png`) });
    await page.keyboard.press("Escape");
  }
  await page.setViewportSize({ width: 1440, height: 800 });
  await page.click(".account button");
  await page.getByRole("menuitem", { name: "Change password" }).click();
  await page.waitForSelector("dialog #f-currentPassword");
  await page.waitForFunction(() => document.activeElement.id === "f-currentPassword");
  await page.screenshot({ path: join(SHOTS, "change-password-1440-light.png") });
  await page.fill("#f-currentPassword", "the first password");
  for (const field of ["newPassword", "again"]) await page.fill(`#f-${field}`, "the second password");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".toast:has-text('Your password is changed')");
  await page.waitForSelector("dialog", { state: "detached" });
  await post("/api/v1/token", { grantType: "password", username: "dora@lab.example", password: "the second password" });
});

test("a system administrator is called so", async t => {
  const { page, context } = await open(browser, server.url);
  t.after(() => context.close());
  await signIn(page, server.url);
  assert.equal(await page.innerText(".account .who .small"), "System administrator");
});

test("a password that is reset while a form is filled in: the form stays below both dialogs", async t => {
  const { password, user } = await newUser("edda@lab.example", 5);
  const { page, context } = await open(browser, server.url);
  t.after(() => context.close());
  await page.goto(server.url + "/workloads/new/training");
  await page.waitForSelector("#username");
  await enter(page, "edda@lab.example", password);
  await page.waitForSelector("#f-newPassword");
  for (const field of ["newPassword", "again"]) await page.fill(`#f-${field}`, "the first password");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#f-name");
  await page.fill("#f-name", "half-typed");
  const { tempPassword } = await post(`/api/v1/users/${user.id}/password`);
  await page.waitForSelector("dialog #password"); // the page is told, and asks
  assert.equal(await page.inputValue("dialog #username"), "edda@lab.example");
  await enter(page, "edda@lab.example", tempPassword);
  await page.waitForSelector("dialog #f-newPassword");
  assert.deepEqual(await axe(page), []);
  for (const field of ["newPassword", "again"]) await page.fill(`dialog #f-${field}`, "the second password");
  await page.keyboard.press("Enter");
  await page.waitForSelector("dialog #f-newPassword", { state: "detached" });
  assert.equal(await page.inputValue("#f-name"), "half-typed");
});

const settled = page => page.locator(".verdict-box:not([aria-busy])").waitFor();
// [what is expected, the walk]: the browser's console tells whoever looks into it of true faults alone.
test("who signs out is asked for nothing more: reads on their way are called off, and the stream ends", async t => {
  const { page, troubles, context } = await open(browser, server.url);
  t.after(() => context.close());
  await page.addInitScript(() => {
    window.streams = [];
    window.EventSource = class extends window.EventSource {
      constructor(...given) {
        super(...given);
        window.streams.push(this);
      }
    };
  });
  await signIn(page, server.url);
  await page.waitForFunction(() => window.streams.some(s => s.readyState === EventSource.OPEN));
  // Every read of the next page waits until the server has ended the session.
  let asked = 0, end;
  const ended = new Promise(done => (end = done));
  await page.route("**/api/v1/**", async route => {
    if (route.request().method() === "GET") {
      asked++;
      await ended;
    }
    await route.continue().catch(() => {}); // called off
  });
  await page.click("nav a[href='/nodes']");
  await page.waitForURL("**/nodes");
  await page.click(".account button");
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.waitForSelector("#username");
  end();
  assert.equal(page.url(), server.url + "/sign-in", "who signed out is led to no page that they left");
  assert.ok(asked > 0);
  assert.ok(await page.evaluate(() => window.streams.every(s => s.readyState === EventSource.CLOSED)));
  await page.reload();
  await page.waitForSelector("#username");
  assert.deepEqual(troubles.errors, []);
  await page.goto(server.url + "/sign-in?from=/sign-in"); // leads to no circle
  await enter(page, ADMIN, PASSWORD);
  await page.waitForSelector(".account button");
  await page.waitForFunction(() => window.streams.some(s => s.readyState === EventSource.OPEN));
});

const EXPECTED = [
  ["a first visit, signing in, and what is there after signing out", async page => {
    await page.goto(server.url + "/");
    await page.waitForSelector("#username");
    await signIn(page, server.url);
    await page.reload();
    await page.waitForSelector("nav.side");
    await page.click(".account button");
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.waitForSelector("#username");
    await page.reload();
    await page.waitForSelector("#username");
  }],
  ["Identity without a provider", async page => {
    await signIn(page, server.url);
    await page.goto(server.url + "/access/identity");
    await page.waitForSelector("#f-issuer");
  }],
  ["a workload's form while fields are empty or half typed", async page => {
    await signIn(page, server.url);
    await page.goto(server.url + "/workloads/new/inference");
    await page.waitForSelector("form:not(.waits) #f-name");
    await settled(page);
    for (const summary of await page.locator("form summary").all()) await summary.click();
    const add = async (button, kind) => {
      await page.getByRole("button", { name: button, exact: true }).click();
      await page.getByRole("menuitem", { name: kind, exact: true }).click();
      await settled(page);
    };
    for (const row of ["Port", "URL"]) await add("Port or URL", row);
    await add("Variable from elsewhere", "Variable from a secret");
    for (const [field, typed] of [["name", "x-"], ["name", ""], ["image", ""], ["environment", "EPOCHS"], ["environment", ""], ["serving", ""], ["serving", "8o"], ["least", ""], ["most", ""], ["most", "4"], ["initial", "x"], ["ports-0-container", "9"], ["ports-0-container", ""]]) {
      await page.fill(`[id="f-${field}"]`, typed);
      await settled(page);
    }
  }],
  ["a workload's form whose policy needs what is empty", async page => {
    await signIn(page, server.url);
    const rules = { command: { required: true }, image: { options: [{ value: "lab/base:1" }] }, compute: { cpuCoreRequest: { required: true } } };
    await send(page, "PUT", "/api/v2/policy/trainings", { meta: { name: "house", scope: "tenant" }, policy: { rules } });
    await page.goto(server.url + "/workloads/new/training");
    const verdict = text => page.locator(".verdict-box:not([aria-busy]) .one", { hasText: text }).waitFor();
    await verdict("Starts at once");
    for (const [field, typed, said] of [["command", "python", "Starts"], ["command", "", "Starts"], ["image", "lab/other", "Starts"], ["cpu", "", "Not asked: a field"], ["cpu", "1", "Starts"]]) {
      await page.fill(`#f-${field}`, typed);
      await verdict(said);
    }
  }],
];
for (const [what, walk] of EXPECTED)
  test(`no error in the console: ${what}`, async t => {
    const { page, troubles, context } = await open(browser, server.url);
    t.after(() => context.close());
    await walk(page);
    assert.deepEqual(troubles.errors, []);
  });
