// What stands around the data: the log viewer, text that would turn around, the focus ring, an address without a page, words.
import assert from "node:assert/strict";
import { join } from "node:path";
import { before, test } from "node:test";
import { SHOTS, axe, onMock } from "../browser.mjs";

const GANG = "00000000-0000-4000-8000-000000000102"; // of two pods
const site = onMock(),
  { show } = site;
let mock;
before(async () => ({ mock } = await site.ready));
const LOGS = `/workloads?open=${GANG}&tab=logs`;
const foot = page => page.locator(".log-box > p");

for (const [width, theme] of [[1440, "light"], [390, "dark"]]) {
  test(`the log says whether it follows, at ${width} in the ${theme} theme`, async t => {
    const { page, troubles } = await show(t, LOGS, { width, height: 900, theme });
    await foot(page).filter({ hasText: /^120 lines · following$/ }).waitFor();
    const bars = await page.locator(".log-view .bar").evaluateAll(list => list.map(bar => [bar.scrollWidth <= bar.clientWidth, new Set([...bar.children].filter(c => c.offsetHeight).map(c => Math.round(c.offsetTop + c.offsetHeight / 2))).size]));
    assert.deepEqual(bars, [[true, 1], [true, 1]], "each bar is one line, nothing cut");
    await page.locator(".log").evaluate(log => (log.scrollTop = 0));
    await foot(page).filter({ hasText: "120 lines · not following while scrolled up" }).waitFor();
    mock.print("2026-11-22T10:00:01.000Z one more");
    const follow = page.getByRole("button", { name: "Follow again · 1 new line" });
    await follow.waitFor();
    assert.deepEqual(await axe(page), []);
    await page.screenshot({ path: join(SHOTS, `logs-${width}-${theme}.png`) });
    await follow.click();
    await foot(page).filter({ hasText: /^121 lines · following$/ }).waitFor();
    assert.deepEqual(troubles, { foreign: [], errors: [], violations: [] });
  });
}

test("a followed log goes on where it broke off, and with the next attempt", async t => {
  const { page } = await show(t, LOGS);
  const begun = 120;
  await foot(page).filter({ hasText: new RegExp(`^${begun} lines · following$`) }).waitFor();
  const says = count => foot(page).filter({ hasText: new RegExp(`^${count} lines · `) }).waitFor();
  for (const n of [1, 2]) {
    const asked = mock.places.length;
    mock.tear(`2026-11-22T10:00:02.000Z torn ${n}`);
    await says(begun + n);
    assert.deepEqual(mock.places.slice(asked), [String(begun + n - 1)], "asked once more, from the last place");
  }
  mock.note("gang-worker-0 ended: Error; attempt 2 is gang-worker-0");
  mock.print("2026-11-22T10:00:03.000Z again");
  await says(begun + 4);
  const lines = await page.locator(".log .line").allTextContents();
  assert.deepEqual(lines.slice(-4), ["torn 1", "torn 2", "--- gang-worker-0 ended: Error; attempt 2 is gang-worker-0 ---", "again"]);
  mock.end();
  await foot(page).filter({ hasText: `${begun + 4} lines · ended` }).waitFor();
});

test("matches in a log are walked through by buttons and by Enter", async t => {
  const { page } = await show(t, LOGS);
  await foot(page).filter({ hasText: "following" }).waitFor();
  const button = name => page.getByRole("button", { name });
  const place = () => page.locator(".log-view .seek").textContent();
  assert.equal(await button("Next match").getAttribute("aria-disabled"), "true");
  await page.fill(".log-view input", "step 11");
  await page.locator(".log .line.at").waitFor();
  assert.equal(await place(), "1 of 11");
  await button("Next match").click();
  await page.locator(".seek", { hasText: "2 of 11" }).waitFor();
  await button("Match before").click();
  await button("Match before").click();
  await page.locator(".seek", { hasText: "11 of 11" }).waitFor();
  await page.focus(".log-view input");
  await page.keyboard.press("Enter");
  await page.locator(".seek", { hasText: "1 of 11" }).waitFor();
  await page.screenshot({ path: join(SHOTS, "logs-search-1440-light.png") });
});

test("text that would turn around is shown as it is: in the log and in the specification", async t => {
  const { page } = await show(t, LOGS);
  await foot(page).filter({ hasText: "following" }).waitFor();
  await page.locator(".log").evaluate(log => (log.scrollTop = 0));
  const line = page.locator(".log .line", { hasText: "--flag=" });
  await line.waitFor();
  assert.match(await line.textContent(), /--flag=\\u202evalue end$/);
  assert.equal(await line.evaluate(e => getComputedStyle(e).unicodeBidi), "isolate");
  const workload = mock.data.workloads.find(w => w.id === GANG);
  t.after(() => delete workload.spec);
  workload.spec = { image: "none", args: "--a=\u202exyz --b=1" };
  await page.getByRole("tab", { name: "Spec" }).click();
  const code = page.locator("pre.code");
  await code.waitFor();
  assert.match(await code.textContent(), /"args": "--a=\\u202exyz --b=1"/);
  assert.equal(JSON.parse(await code.textContent()).args, workload.spec.args, "and is still the same object");
});

test("the ring around a row's link is whole", async t => {
  const { page } = await show(t, "/workloads");
  await page.waitForSelector("tbody tr");
  await page.keyboard.press("j");
  const link = page.locator("tbody tr").first().locator("td.first a");
  await page.waitForFunction(() => document.activeElement.matches("td.first a"));
  const box = await link.boundingBox();
  const shot = await page.screenshot({ clip: { x: box.x, y: box.y - 3, width: box.width, height: box.height + 6 } });
  const sides = await page.evaluate(async base64 => {
    const image = new Image();
    image.src = `data:image/png;base64,${base64}`;
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height }), ctx = canvas.getContext("2d");
    ctx.drawImage(image, 0, 0);
    ctx.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--focus").trim();
    const wanted = ctx.fillStyle.match(/\w\w/g).map(x => parseInt(x, 16));
    const full = y => {
      const { data } = ctx.getImageData(0, y, image.width, 1);
      let found = 0;
      for (let i = 0; i < data.length; i += 4) if (wanted.every((v, n) => Math.abs(data[i + n] - v) < 24)) found += 1;
      return found > image.width * 0.8;
    };
    const rows = Array.from({ length: image.height }, (_, y) => full(y));
    return [rows.slice(0, 8).filter(Boolean).length, rows.slice(-8).filter(Boolean).length];
  }, shot.toString("base64"));
  assert.deepEqual(sides, [2, 2], "two pixels above and two below");
});

for (const [width, theme] of [[1440, "light"], [390, "dark"]]) {
  test(`an address without a page says where to go, at ${width}`, async t => {
    const { page, troubles } = await show(t, "/nope", { width, height: 844, theme });
    await page.waitForSelector(".empty:has-text('There is no page at /nope.')");
    assert.deepEqual(await axe(page), []);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    await page.screenshot({ path: join(SHOTS, `not-found-${width}-${theme}.png`) });
    await page.getByRole("main").getByRole("button", { name: "Find anything" }).click();
    await page.waitForSelector("dialog.find-box");
    await page.keyboard.press("Escape");
    await page.getByRole("main").getByRole("link", { name: "Timeline" }).click();
    await page.waitForSelector("h1:has-text('Timeline')");
    assert.deepEqual([troubles.foreign, troubles.violations], [[], []]);
  });
}

for (const [words, found] of [["general settings", "Settings"], ["standard", "New training"], ["analytics", "Analytics"], ["clusters", "Clusters"]])
  test(`the documents' words are found: ${words}`, async t => {
    const { page } = await show(t, "/account");
    await page.getByRole("button", { name: "Find anything" }).click();
    await page.fill(".find-box input", words);
    await page.locator(".find-box [role=option]", { hasText: found }).first().waitFor();
  });

for (const [query, said] of [["q=none-of-them", "Nothing matches the search."], ["f=phase==Unknown", "Nothing matches the filter."], ["f=phase==Failed,name=@zz", "Nothing matches 2 filters."]]) {
  test(`nothing found: ${said}`, async t => {
    const { page } = await show(t, `/workloads?${query}`);
    await page.waitForSelector(".empty");
    assert.equal(await page.textContent(".empty p"), said);
  });
}

test("deleting promises nothing that isn't there", async t => {
  const { page } = await show(t, `/workloads?open=${GANG}`);
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.waitForSelector("dialog");
  assert.equal(await page.textContent("dialog p"), "Its pods end now, and it leaves the list. Data volumes stay.");
});

test("the stream begins where the session's answer was, and a reset forgets what was shown", async t => {
  mock.data.revision = 41;
  mock.begins.length = 0;
  const { page } = await show(t, "/projects");
  await page.waitForSelector(".live.ok");
  assert.deepEqual(mock.begins, ["41"]);
  const asks = () => page.waitForRequest(request => request.url().includes("/org-unit/projects"));
  let asked = asks();
  mock.change("project", "2");
  await asked;
  asked = asks();
  mock.reset();
  await asked;
  asked = asks();
  mock.change("project", "2"); // its number is lower than the one before
  await asked;
});
