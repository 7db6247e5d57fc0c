// Signing in at an identity provider in a browser: there and back, what went wrong, and out again there too.
import assert from "node:assert/strict";
import { spawn, execFileSync } from "node:child_process";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { ROOT, SHOTS, axe, launch, open } from "../browser.mjs";
import { ADMIN, PASSWORD, ask, fetchAlone, startServer } from "../real_server.mjs";

const FOLDER = join(ROOT, "tests/openid");
let server, browser, issuer, child;
before(async () => {
  execFileSync(join(ROOT, "tools/npm_packages.sh"), ["tests/openid"]);
  child = spawn(process.execPath, [join(FOLDER, "issuer.mjs")], { stdio: ["ignore", "pipe", "ignore"], env: { ...process.env, NODE_ENV: "test" } });
  let said = "";
  issuer = await new Promise(found => {
    child.stdout.on("data", text => {
      said += text;
      const at = /^http:\/\/127\.0\.0\.1:\d+$/m.exec(said);
      if (at) found(at[0]);
    });
  });
  server = await startServer();
  browser = await launch();
  const redirectUrl = `${server.url}/api/v1/authentication/openid/callback`;
  await send(`${issuer}/test/reset`, "POST", { redirectUrl });
  const { accessToken } = await send(`${server.url}/api/v1/token`, "POST", { grantType: "password", username: ADMIN, password: PASSWORD });
  await send(`${server.url}/api/v1/authentication/openid/provider`, "PUT", { name: "Lab account", issuer, clientId: "prorata", clientSecret: "a secret: with/odd characters%&", scopes: "openid email groups", redirectUrl }, accessToken);
});
after(async () => {
  await browser?.close();
  await server?.stop();
  child?.kill();
});

async function send(url, method, body, token) {
  const answer = await fetchAlone(url, { method, headers: { "Content-Type": "application/json", ...(token ? { Authorization: `Bearer ${token}` } : {}) }, body: JSON.stringify(body) });
  const text = await answer.text();
  assert.ok(answer.ok, `${url}: ${answer.status} ${text}`);
  return JSON.parse(text);
}

test("a person signs in at the provider, comes back to the page, and signs out at both", async t => {
  const { page, troubles, context } = await open(browser, server.url);
  t.after(() => context.close());
  await page.goto(`${server.url}/workloads?sort=name`);
  const link = page.getByRole("link", { name: "Sign in with Lab account" });
  await link.waitFor();
  assert.deepEqual(await axe(page), []);
  for (const theme of ["light", "dark"]) for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 844 });
    await page.evaluate(name => (document.documentElement.dataset.theme = name), theme);
    await page.screenshot({ path: join(SHOTS, `sign-in-issuer-${width}-${theme}.png`) });
  }
  await link.focus();
  await page.keyboard.press("Enter");
  await page.waitForSelector("nav.side:visible, nav.tabbar:visible");
  assert.equal(new URL(page.url()).pathname + new URL(page.url()).search, "/workloads?sort=name");
  assert.equal((await ask(page, "/api/v1/session")).name, "ann@lab.example");
  await page.goto(`${server.url}/account`);
  await page.getByText("You have none here: who signs you in keeps it").waitFor();
  assert.equal(await page.locator("#h-factor, [type=password]").count(), 0, "neither a second factor nor a password can be set");
  assert.deepEqual(await axe(page), []);
  await page.goto(`${server.url}/workloads`);
  assert.deepEqual(troubles.violations, []);
  await page.setViewportSize({ width: 1440, height: 844 });
  await page.click(".account button");
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.waitForURL(`${issuer}/session/end**`);
  await page.getByRole("button", { name: "Yes" }).click();
  await page.waitForURL(`${server.url}/**`);
  await page.waitForSelector("#username");
});

test("what went wrong at the provider is said on the sign-in page, and the password form stands", async t => {
  const { page, context } = await open(browser, server.url);
  t.after(() => context.close());
  await send(`${issuer}/test/trouble`, "POST", { token: { claims: { nonce: "another" } } });
  await page.goto(`${server.url}/`);
  await page.getByRole("link", { name: "Sign in with Lab account" }).click();
  await page.waitForSelector("text=did not sign you in");
  assert.deepEqual(await axe(page), []);
  await page.fill("#username", ADMIN);
  await page.fill("#password", PASSWORD);
  await page.keyboard.press("Enter");
  await page.waitForSelector("nav.side:visible");
});
