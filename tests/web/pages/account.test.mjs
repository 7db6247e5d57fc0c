// One's own account on a real server: sessions are listed and ended, a second factor is set up, asked for and taken away.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { look, open, until } from "../browser.mjs";
import { ADMIN, PASSWORD, ask, fetchAlone, onServer } from "../real_server.mjs";

const site = onServer();
const ready = async () => (await site.ready).page;
const button = (page, name) => page.getByRole("button", { name, exact: true });
const toast = (page, text) => page.waitForSelector(`.toast:has-text("${text}")`);
const toAccount = page => page.goto(site.server.url + "/account");
const call = (path, body, token) => fetchAlone(site.server.url + path, { method: "POST", headers: { "Content-Type": "application/json", "User-Agent": "robot 1.0", ...(token ? { Authorization: `Bearer ${token}` } : {}) }, body: JSON.stringify(body) });
const signIn = more => call("/api/v1/token", { grantType: "password", username: ADMIN, password: PASSWORD, ...more });
const tokenOf = async more => (await (await signIn(more)).json()).accessToken;
const works = async token => (await fetchAlone(site.server.url + "/api/v1/session", { headers: { Authorization: `Bearer ${token}` } })).status;
let secret, codes;

// An app of another make: RFC 6238. A step ahead is a code that nobody has used.
function codeOf(base32, ahead = 0) {
  const bits = [...base32].map(c => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(c).toString(2).padStart(5, "0")).join("");
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30000) + ahead));
  const mac = createHmac("sha1", Buffer.from(bits.match(/.{8}/g).map(b => parseInt(b, 2)))).update(counter).digest();
  return String((mac.readUInt32BE(mac.at(-1) & 15) & 0x7fffffff) % 1000000).padStart(6, "0");
}

// A code of the step before is good until this one ends: one needs some time for it.
const early = () => until("the beginning of a step", () => Date.now() % 30000 < 20000);

test("one's sessions are listed, one is ended, then all others; this one goes on", async () => {
  const page = await ready();
  const [first, second, third] = [await tokenOf(), await tokenOf(), await tokenOf()];
  await toAccount(page);
  const rows = page.locator("[aria-labelledby=h-sessions] li");
  await rows.nth(3).waitFor();
  const texts = await rows.allInnerTexts();
  assert.equal(texts.filter(t => /this one/.test(t)).length, 1);
  assert.match(texts.find(t => /this one/.test(t)), /^Browser, Chrome on Linux this one\s+From 127\.0\.0\.1, began .+, last used /);
  assert.equal(texts.filter(t => t.startsWith("Token, robot 1.0")).length, 3);
  assert.equal(await rows.filter({ hasText: "this one" }).getByRole("button").count(), 0, "its end is Sign out");
  await look(page, "account-sessions");
  await rows.filter({ hasText: "robot" }).first().getByRole("button", { name: "End the session Token, robot 1.0" }).click();
  await toast(page, "Ended: Token, robot 1.0.");
  await page.waitForFunction(() => document.querySelectorAll("[aria-labelledby=h-sessions] li").length === 3);
  assert.equal((await Promise.all([first, second, third].map(works))).filter(s => s === 401).length, 1);
  await button(page, "End all others").click();
  await button(page, "Cancel").click();
  assert.equal((await ask(page, "/api/v1/me/sessions")).sessions.length, 3, "taken back");
  await button(page, "End all others").click();
  await page.getByRole("dialog").getByRole("button", { name: "End all others" }).click();
  await toast(page, "All other sessions have ended.");
  await page.waitForSelector("[aria-labelledby=h-sessions] button[aria-disabled=true]");
  assert.deepEqual(await Promise.all([first, second, third].map(works)), [401, 401, 401]);
  assert.equal((await ask(page, "/api/v1/me/sessions")).sessions.length, 1);
});

test("a second factor: a wrong password and a wrong code are said, recovery codes are shown once", async () => {
  const page = await ready();
  await toAccount(page);
  await button(page, "Set up").click();
  await page.waitForSelector("dialog #f-currentPassword:focus");
  await page.keyboard.type("not the password");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#f-currentPassword-hint:has-text('wrong')");
  await page.locator("dialog #f-currentPassword").fill(PASSWORD);
  await page.keyboard.press("Enter");
  await page.waitForSelector("dialog .qr path");
  const facts = await page.locator(".secret code").allTextContents();
  [secret] = facts;
  assert.match(secret, /^[A-Z2-7]{32}$/);
  assert.ok(facts[1].startsWith("otpauth://totp/prorata:") && facts[1].includes(secret));
  await page.waitForSelector("#f-code:focus");
  await page.mouse.click(5, 5); // a click beside it loses nothing
  await look(page, "second-factor");
  await page.fill("#f-code", codeOf(secret, 40));
  await page.keyboard.press("Enter");
  await page.waitForSelector("#f-code-hint:has-text('wrong')");
  await early();
  await page.fill("#f-code", codeOf(secret, -1).replace(/^.../, "$& ")); // as apps show it
  await page.keyboard.press("Enter");
  await page.waitForSelector("dialog h2:has-text('Recovery codes')");
  codes = (await page.textContent(".secret code")).split("\n");
  assert.equal(new Set(codes).size, 10);
  await look(page, "recovery-codes");
  await button(page, "Done").click();
  await page.waitForSelector("[aria-labelledby=h-factor] p:has-text('10 recovery codes left')");
  const text = await page.content();
  assert.ok(!text.includes(secret) && !text.includes(codes[0]), "both are gone");
  assert.equal((await signIn()).status, 400);
});

test("the form asks for a code where the account needs one, and keeps what was typed", async t => {
  await ready();
  const { page, context } = await open(site.browser, site.server.url);
  t.after(() => context.close());
  await page.goto(site.server.url + "/account");
  await page.fill("#username", ADMIN);
  await page.fill("#password", PASSWORD);
  assert.equal(await page.locator("#code").count(), 0);
  await page.keyboard.press("Enter");
  await page.waitForSelector("#code:focus");
  assert.equal(await page.textContent("#problem"), "Now a code of your app, or a recovery code.");
  assert.deepEqual([await page.inputValue("#username"), await page.inputValue("#password")], [ADMIN, PASSWORD]);
  await page.keyboard.type(codeOf(secret, 40));
  await page.keyboard.press("Enter");
  await page.waitForSelector("#problem:has-text('That code is wrong')");
  await page.waitForSelector("#code:focus");
  assert.deepEqual([await page.inputValue("#username"), await page.inputValue("#password")], [ADMIN, PASSWORD]);
  await look(page, "sign-in-code");
  await page.keyboard.type(codes[0]); // over what is selected
  await page.keyboard.press("Enter");
  await page.waitForSelector("[aria-labelledby=h-factor] p:has-text('9 recovery codes left')");
});

test("another name is another account: the field for the code goes", async t => {
  await ready();
  const { page, context } = await open(site.browser, site.server.url);
  t.after(() => context.close());
  await page.goto(site.server.url + "/account");
  await page.fill("#username", ADMIN);
  await page.fill("#password", PASSWORD);
  await page.keyboard.press("Enter");
  await page.waitForSelector("#code:focus");
  await page.fill("#username", "somebody@lab.example");
  await page.waitForSelector("#code", { state: "detached" });
});

test("it is turned off with the password and a code", async () => {
  const page = await ready();
  await toAccount(page);
  await button(page, "Turn off").click();
  await page.waitForFunction(() => document.activeElement.id === "f-currentPassword");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#f-otp-hint:has-text('Missing')");
  await page.locator("dialog #f-currentPassword").fill(PASSWORD);
  await page.fill("#f-otp", codes[0]);
  await page.keyboard.press("Enter");
  await page.waitForSelector("#f-otp-hint:has-text('used before')");
  assert.equal(await page.locator("dialog #f-currentPassword").inputValue(), PASSWORD);
  await page.fill("#f-otp", codes[1]);
  await page.keyboard.press("Enter");
  await toast(page, "The second factor is off.");
  await page.waitForSelector("[aria-labelledby=h-factor] p:has-text('Off.')");
  assert.equal((await signIn()).status, 200);
});

test("an administrator resets the second factor of who has lost it", async () => {
  const page = await ready();
  const admin = await tokenOf();
  const user = await (await call("/api/v1/users", { email: "ana@lab.example" }, admin)).json();
  const grant = password => call("/api/v1/token", { grantType: "password", username: "ana@lab.example", password });
  const temporary = (await (await grant(user.tempPassword)).json()).accessToken;
  const password = "several good words";
  assert.ok((await call("/api/v1/me/password", { currentPassword: user.tempPassword, newPassword: password }, temporary)).ok);
  const token = (await (await grant(password)).json()).accessToken;
  const made = await (await call("/api/v1/me/second-factor", { currentPassword: password }, token)).json();
  await early();
  assert.ok((await call("/api/v1/me/second-factor/confirm", { code: codeOf(made.secret) }, token)).ok);
  assert.equal((await grant(password)).status, 400);
  await page.goto(`${site.server.url}/access/users?open=${user.id}`);
  await button(page, "Reset second factor").click();
  await button(page, "Cancel").click();
  assert.equal((await grant(password)).status, 400, "taken back");
  await button(page, "Reset second factor").click();
  await look(page, "reset-factor");
  await page.getByRole("dialog").getByRole("button", { name: "Reset second factor" }).click();
  await toast(page, "ana@lab.example has no second factor now.");
  assert.equal((await grant(password)).status, 200);
  assert.equal(await works(token), 401, "its sessions have ended");
  await look(page, "user-pane");
});

test("what others change of people shows without a reload", async () => {
  const page = await ready();
  const admin = await tokenOf();
  await toAccount(page);
  const live = () => page.waitForSelector(".live.ok");
  await page.getByText("No access keys yet").waitFor();
  await live();
  const key = await call("/api/v1/access-keys", { name: "made-elsewhere" }, admin);
  assert.ok(key.ok, await key.text());
  await page.locator("[aria-labelledby=h-keys] li", { hasText: "made-elsewhere" }).waitFor();
  const user = await (await call("/api/v1/users", { email: "bea@lab.example" }, admin)).json();
  await page.goto(`${site.server.url}/access/users?open=${user.id}`);
  await page.locator(".pane").getByText("Has not signed in yet.").waitFor();
  await live();
  await call("/api/v1/authorization/access-rules", { subjectId: "bea@lab.example", subjectType: "user", roleId: 7, scopeType: "tenant", scopeId: "1" }, admin);
  await page.locator(".pane .rules", { hasText: "Viewer" }).waitFor();
  await call("/api/v1/users", { email: "cleo@lab.example" }, admin);
  await page.getByText("1 new row").waitFor();
  const role = { name: "Looker", description: "Looks", enabled: true, permissionSets: [], permissions: [{ resourceType: "workloads", actions: ["read"] }] };
  await page.goto(`${site.server.url}/access/roles`);
  await page.getByRole("link", { name: "Viewer", exact: true }).waitFor();
  await live();
  await call("/api/v2/authorization/roles", role, admin);
  await page.getByText("1 new row").waitFor();
});
