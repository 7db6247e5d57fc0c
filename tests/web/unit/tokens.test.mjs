// Contrast of every pair of tokens that text or marks stand on, computed from the CSS itself; and no colour elsewhere.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";

const folder = new URL("../../../web/style/", import.meta.url);
const css = readFileSync(new URL("tokens.css", folder), "utf8");
const block = start => css.slice(css.indexOf(start), css.indexOf("}", css.indexOf(start)));
const read = text => Object.fromEntries([...text.matchAll(/--([\w-]+):\s*(#[0-9a-f]{3,6})\b/gi)].map(m => [m[1], m[2]]));
const light = read(block(":root {"));
const THEMES = { light, dark: { ...light, ...read(block(':root[data-theme="dark"]')) } };

function luminance(hex) {
  const full = hex.length === 4 ? [...hex.slice(1)].map(c => c + c).join("") : hex.slice(1);
  const [r, g, b] = [0, 2, 4].map(i => parseInt(full.slice(i, i + 2), 16) / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
const contrast = (a, b) => {
  const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
};

const TINTS = ["canvas", "surface", "sunken", "hover", "pressed", "selected"];
for (const [theme, t] of Object.entries(THEMES)) {
  for (const text of ["ink", "ink-2", "ink-3", "accent", "ok", "info", "warn", "bad"]) {
    test(`${theme}: ${text} can be read on every tint`, () => {
      for (const tint of TINTS) assert.ok(contrast(t[text], t[tint]) >= 4.5, `${text} on ${tint}: ${contrast(t[text], t[tint]).toFixed(2)}`);
    });
  }
  for (const tone of ["ok", "info", "warn", "bad", "off"]) test(`${theme}: ${tone} can be read on its pill`, () => assert.ok(contrast(t[tone], t[`${tone}-soft`]) >= 4.5));
  for (let p = 1; p <= 8; p++) {
    test(`${theme}: colour ${p} stands out and carries its label`, () => {
      assert.ok(contrast(t[`p${p}`], t.surface) >= 3, `surface ${contrast(t[`p${p}`], t.surface).toFixed(2)}`);
      assert.ok(contrast(t[`on${p}`], t[`p${p}`]) >= 4.5, `label ${contrast(t[`on${p}`], t[`p${p}`]).toFixed(2)}`);
    });
  }
  test(`${theme}: borders of inputs stand out`, () => assert.ok(contrast(t.control, t.surface) >= 3));
  test(`${theme}: the primary button can be read`, () => assert.ok(contrast(t["on-ink"], t.ink) >= 4.5 && contrast(t["on-ink"], t.bad) >= 4.5));
}

test("no colour is named outside the tokens", () => {
  for (const name of readdirSync(folder).filter(n => n !== "tokens.css")) {
    const text = readFileSync(new URL(name, folder), "utf8");
    assert.deepEqual([...text.matchAll(/#[0-9a-f]{3,8}\b|rgba?\(|hsla?\(|oklch\(/gi)].map(m => m[0]), [], name);
  }
});
