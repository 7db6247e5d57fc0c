// What the browser has to fetch, as it travels; and what the pages may not hold.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { ROOT, bundled } from "../browser.mjs";

const web = join(ROOT, "web"), { folder, remove } = bundled();
after(remove);
const sizes = JSON.parse(readFileSync(join(folder, "web-sizes.json"), "utf8"));
const KB = 1024;

test("scripts and styles of every day, without charts and pages that few open, stay below 150 KB", () => assert.ok(sizes.often < 150 * KB, `${(sizes.often / KB).toFixed(1)} KB`));
test("all but the terminal's stay below 240 KB", () => assert.ok(sizes.all < 240 * KB, `${(sizes.all / KB).toFixed(1)} KB`));
test("the terminal, which comes with its first use, stays below 95 KB", () => assert.ok(sizes.terminal < 95 * KB, `${(sizes.terminal / KB).toFixed(1)} KB`));
test("what stands before the first paint stays below 45 KB", () => assert.ok(sizes.first < 45 * KB, `${(sizes.first / KB).toFixed(1)} KB`));

test("the page holds no inline script, style or handler, and names no other host", () => {
  const page = readFileSync(join(folder, "web/index.html"), "utf8");
  assert.doesNotMatch(page, /<style|style=|\son\w+=|https?:/);
  for (const script of page.matchAll(/<script([^>]*)>([^<]*)/g)) {
    assert.match(script[1], /src="\//);
    assert.equal(script[2], "");
  }
  assert.doesNotMatch(page, /\{\{/);
});

test("hashed names say their content, so that they may be kept for ever", () => {
  for (const name of readdirSync(join(folder, "web/assets"))) assert.match(name, /-[0-9A-Z]{8}\.\w+(\.gz)?$/);
});

test("licences of all that is shipped are there", () => {
  const text = readFileSync(join(folder, "web/licences.txt"), "utf8");
  for (const name of ["preact", "@preact/signals", "@fontsource-variable/inter", "swagger-ui-dist", "chart.js", "uqr", "@xterm/xterm"]) assert.ok(text.includes(`${name} `), name);
});

test("markup is set from text in icons.tsx alone, and no markup carries a style", () => {
  const files = ["", "parts/", "pages/", "pictures/"].flatMap(d => readdirSync(join(web, d)).filter(n => /\.tsx?$/.test(n)).map(n => d + n));
  for (const name of files) {
    const text = readFileSync(join(web, name), "utf8");
    if (name !== "icons.tsx") assert.doesNotMatch(text, /innerHTML|insertAdjacentHTML|document\.write/i, name);
    assert.doesNotMatch(text, / style=["{]/, name);
    assert.ok(text.split("\n").length < 500, `${name} is too long`);
  }
});
