// The page of `prorata replay --out`: opens from a file, without scripts, in both themes, on a desk and on a phone.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { axe, launch, open, ROOT } from "../browser.mjs";

const folder = mkdtempSync(join(tmpdir(), "replay-"));
let browser;

before(async () => {
  const policies = ["binpack", "spread"].flatMap(strategy => {
    const path = join(folder, `${strategy}.yaml`);
    writeFileSync(path, `nodePool: {placementStrategy: {gpu: ${strategy}}}\nsettings: {scenariosPerWorkload: 8, scenariosPerAction: 32}\n`);
    return ["--policy", path];
  });
  execFileSync(process.env.PRORATA ?? join(ROOT, "build/prorata"),
    ["replay", join(ROOT, "tests/replay/philly_slice.csv"), "--nodes", "30x8", ...policies, "--out", join(folder, "out")]);
  browser = await launch();
});

after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

for (const [width, height] of [[1440, 900], [390, 844]]) {
  for (const theme of ["light", "dark"]) {
    test(`the page at ${width} px, ${theme}`, async () => {
      const { page, troubles, context } = await open(browser, "file://", { width, height, theme });
      await page.goto(`file://${join(folder, "out/report.html")}`);
      assert.equal(await page.title(), "Replay of philly_slice.csv");
      assert.equal(await page.locator("figure").count(), 9);
      for (const chart of await page.locator(".plot svg").all()) {
        assert.equal(await chart.locator("path.l").count(), 2);
        const box = await chart.boundingBox();
        assert.ok(box.width > 200 && box.height >= 150, JSON.stringify(box));
      }
      assert.equal(await page.locator("thead th").allTextContents().then(t => t.join()), "Policy,binpack,spread");
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), 0);
      assert.deepEqual(await axe(page), []);
      assert.deepEqual(troubles, { foreign: [], errors: [], violations: [] });
      await context.close();
    });
  }
}
