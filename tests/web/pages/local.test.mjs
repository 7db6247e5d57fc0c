// The quick start for real: processes of this machine with pretended GPUs, submitted by the command line and watched in the
// dashboard; among them a training that saves when it gives way, and goes on where it stopped.
import assert from "node:assert/strict";
import { chmodSync, copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { ROOT, SHOTS, axe, launch, open, until } from "../browser.mjs";
import { begin, submit } from "../local_server.mjs";
import { ask, signIn } from "../real_server.mjs";
import { rowOf, status } from "../walk.mjs";

let browser;
before(async () => {
  mkdirSync(SHOTS, { recursive: true });
  browser = await launch();
});
after(() => browser?.close());

// Rows of others are counted first, and shown when one asks for them.
async function appears(page, name) {
  const show = page.getByRole("button", { name: "Show", exact: true });
  await until(`a row of ${name}`, async () => {
    if (await rowOf(page, name).isVisible()) return true;
    if (await show.isVisible()) await show.click({ timeout: 1000 }).catch(() => {}); // it may have gone by now
    return false;
  });
}

const holds = ["--command", "--", "sh", "-c", "echo holding $CUDA_VISIBLE_DEVICES; sleep 1000"];

test("over quota and reclaim, as processes of this machine: a training gives way and goes on where it stopped", async t => {
  const { url, folder, cli } = await begin(t);
  const { page, troubles, context } = await open(browser, url);
  t.after(() => context.close());
  const script = join(folder, "train.py"), checkpoints = join(folder, "checkpoints");
  copyFileSync(join(ROOT, "examples/checkpoint/train.py"), script);
  mkdirSync(checkpoints);
  chmodSync(checkpoints, 0o777);

  await signIn(page, url);
  await page.locator("a.nav").filter({ hasText: "Workloads" }).click();
  // Of the machine's /tmp a pod sees its working folder alone.
  await submit(cli, "a1", "team-a", 1, "--working-dir", folder, "--command", "--", "/usr/bin/python3", script, "--steps", "1000000", "--pause", "0.01", "--folder", checkpoints);
  await submit(cli, "a2", "team-a", 2, ...holds);
  await submit(cli, "b1", "team-b", 1, ...holds);
  for (const name of ["a1", "a2", "b1"]) {
    await appears(page, name);
    await status(page, name, "Running");
  }
  await rowOf(page, "a1").locator("td.first a").click();
  await page.getByRole("tab", { name: "Logs", exact: true }).click();
  await page.waitForSelector("#details :text('starting at step 0')");
  await page.screenshot({ path: join(SHOTS, "local-logs.png") });
  await page.keyboard.press("Escape");

  // b2 wants what team-b is owed: the training, which borrows, gives way.
  await submit(cli, "b2", "team-b", 1, ...holds);
  await appears(page, "b2");
  await status(page, "b2", "Running");
  await status(page, "a1", "Pending");
  await rowOf(page, "a1").locator("td.first a").click();
  await page.locator(".because .one", { hasText: /^Needs 1 GPU in default; 0 of its 4 GPUs are free/ }).waitFor();
  assert.deepEqual(await axe(page), []);
  await page.screenshot({ path: join(SHOTS, "local-why.png") });
  await page.keyboard.press("Escape");
  assert.match(await cli("training", "logs", "a1", "-p", "team-a"), /saved at step \d+, giving way/);

  await cli("training", "delete", "b2", "-p", "team-b", "--yes");
  await status(page, "a1", "Running");
  const { workloads } = await ask(page, "/api/v1/workloads");
  const { id } = workloads.find(workload => workload.name === "a1");
  await until("it goes on from where it stopped", async () => /going on from step \d+/.test(await page.evaluate(async path => (await fetch(path)).text(), `/api/v1/workloads/${id}/logs`)));
  await page.setViewportSize({ width: 390, height: 844 });
  await page.screenshot({ path: join(SHOTS, "local-phone.png") });
  assert.deepEqual([troubles.foreign, troubles.violations], [[], []]);
});
