// Headless Chromium for the browser tests: one browser, pages that count what a strict policy forbids.
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { dirname, join } from "node:path";

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../..");
const require = createRequire(join(ROOT, "web/package.json"));
const { chromium } = require("playwright-core");
export const AXE = require.resolve("axe-core/axe.min.js");
const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

export const launch = () => chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS });

// A page with its troubles counted: policy violations, requests to other hosts, errors, layout shift.
export async function open(browser, origin, { width = 1440, height = 900, theme = "light", reducedMotion = "reduce" } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, reducedMotion, hasTouch: width < 500, deviceScaleFactor: 1 });
  const page = await context.newPage();
  const troubles = { foreign: [], errors: [], violations: [] };
  page.on("request", r => {
    if (!r.url().startsWith(origin) && !/^(data|blob):/.test(r.url())) troubles.foreign.push(r.url());
  });
  page.on("pageerror", e => troubles.errors.push(String(e)));
  page.on("console", m => {
    if (m.type() === "error") troubles.errors.push(m.text());
  });
  await page.exposeFunction("reportViolation", text => troubles.violations.push(text));
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", e => window.reportViolation(`${e.violatedDirective} ${e.blockedURI} ${e.sourceFile}:${e.lineNumber}`));
    window.shift = 0;
    new PerformanceObserver(l => {
      for (const entry of l.getEntries()) {
        if (entry.hadRecentInput) continue;
        window.shift += entry.value;
        window.shifted = (window.shifted ?? []).concat(entry.sources.map(s => `${s.node?.nodeName}.${s.node?.className?.baseVal ?? s.node?.className ?? s.node?.parentNode?.className}`));
      }
    }).observe({ type: "layout-shift", buffered: true });
  });
  return { page, troubles, context };
}

export async function axe(page) {
  const { readFile } = await import("node:fs/promises");
  await page.evaluate(await readFile(AXE, "utf8"));
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return violations.map(v => `${v.impact} ${v.id}: ${v.nodes.map(n => n.target.join(" ")).slice(0, 4).join(" | ")}`);
}
