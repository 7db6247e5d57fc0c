// Processes on GPUs that nobody submitted, on the node's page: a local server whose GPUs our own NVML library plays.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { ROOT, axe, launch, open } from "../browser.mjs";
import { PASSWORD, signIn } from "../real_server.mjs";

const PRORATA = process.env.PRORATA ?? join(ROOT, "build/prorata");

let browser;
before(async () => { browser = await launch(); });
after(() => browser?.close());

test("the node's page shows what nobody submitted", async t => {
  const folder = mkdtempSync(join(tmpdir(), "prorata-foreign-")), data = join(folder, "data");
  const stranger = spawn("sleep", ["1000"]);
  writeFileSync(join(folder, "gpus"), `gpu GPU-a 81920\ngpu GPU-b 81920 proc=${stranger.pid}:2048\n`);
  const server = spawn(PRORATA, ["serve", "--data", data, "--backend", "local", "--local-nvml", join(dirname(PRORATA), "fake_nvml.so"), "--quick-start", "--listen", "127.0.0.1:0"],
    { env: { ...process.env, PRORATA_ADMIN_PASSWORD: PASSWORD, PRORATA_FAKE_NVML: join(folder, "gpus") } });
  t.after(async () => {
    stranger.kill();
    await promisify(execFile)(PRORATA, ["stop", "--data", data]);
    rmSync(folder, { recursive: true, force: true });
  });
  const url = await new Promise((resolve, reject) => {
    let said = "";
    for (const stream of [server.stdout, server.stderr])
      stream.on("data", text => {
        const at = /http:\/\/127\.0\.0\.1:\d+/.exec((said += text));
        if (at) resolve(at[0]);
      });
    server.once("exit", code => reject(new Error(`the server ended with ${code}:\n${said}`)));
  });
  const { page, troubles, context } = await open(browser, url);
  t.after(() => context.close());
  await signIn(page, url);
  await page.locator("a.nav").filter({ hasText: "Nodes" }).first().click();
  await page.locator("td.first a").first().click();
  const table = page.locator("table.foreign");
  await table.waitFor();
  assert.deepEqual((await table.locator("tbody tr").first().innerText()).split(/\s+/).slice(0, 1), ["1"]);
  const text = await table.innerText();
  assert.ok(text.includes("sleep") && text.includes(String(stranger.pid)) && /2(\.0)? ?Gi?B/.test(text), text);
  assert.deepEqual(await axe(page), []);
  assert.deepEqual([troubles.foreign, troubles.violations], [[], []]);
});
