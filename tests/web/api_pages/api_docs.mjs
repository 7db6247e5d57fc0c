// Opens /api/docs in Chromium, goes down to its end, and prints what it saw as JSON: argument is the server's address.
// Swagger UI draws operations as they come into view.
import { launch, open } from "../browser.mjs";

const origin = process.argv[2];
const browser = await launch();
const { page, troubles } = await open(browser, origin);
await page.goto(origin + "/api/docs");
await page.waitForSelector(".opblock", { timeout: 60000 });
const seen = new Set();
for (let still = 0; still < 8; ) {
  const before = seen.size;
  for (const id of await page.locator(".opblock").evaluateAll(blocks => blocks.map(b => b.id))) seen.add(id);
  still = seen.size === before ? still + 1 : 0;
  await page.mouse.wheel(0, 600);
  await page.waitForTimeout(100);
}
const title = await page.title();
await browser.close();
console.log(JSON.stringify({ operations: seen.size, title, troubles }));
