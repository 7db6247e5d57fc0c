// The terminal in the pane of a workload: a shell in a pod that really runs, by keyboard; how it ends, and where there is none.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { SHOTS, axe, becomes, onMock, open } from "../browser.mjs";
import { begin, submit } from "../local_server.mjs";
import { startMock } from "../mock_server.mjs";
import { ask, signIn } from "../real_server.mjs";

const site = onMock();
const button = (page, name) => page.getByRole("button", { name, exact: true });
const tab = (page, name) => page.getByRole("tab", { name, exact: true });
const focused = page => page.evaluate(() => document.activeElement.id || document.activeElement.className);
// Lines of the screen as they stand, without the last, empty ones.
const screen = page => page.evaluate(() => [...document.querySelectorAll(".xterm-rows > div")].map(row => row.textContent.trimEnd()).join("\n").trimEnd());
const shows = (page, text) =>
  page.waitForFunction(
    wanted => [...document.querySelectorAll(".xterm-rows > div")].some(row => new RegExp(wanted).test(row.textContent)),
    text,
  );
const type = async (page, line) => {
  await page.keyboard.type(line);
  await page.keyboard.press("Enter");
};

// A workload of the local backend that runs, and its pane.
async function runs(t) {
  const { url, cli } = await begin(t);
  await submit(cli, "job", "team-a", 1, "--command", "--", "sh", "-c", "sleep 1000");
  const opened = await open(site.browser, url);
  t.after(() => opened.context.close());
  const { page } = opened;
  const asked = [];
  page.on("request", r => asked.push(`${r.method()} ${new URL(r.url()).pathname}`));
  await signIn(page, url);
  const { workloads } = await ask(page, "/api/v1/workloads");
  const { id } = workloads.find(w => w.name === "job");
  await page.goto(`${url}/workloads?open=${id}`);
  await page.waitForSelector("#details .status:has-text('Running'), #details .st:has-text('Running')");
  return { ...opened, url, cli, id, asked };
}

test("a shell in a pod: its answers, its size, the focus, its end, and what is recorded", async t => {
  await site.ready;
  const { page, troubles, id, asked } = await runs(t);
  const chunks = () => asked.filter(request => /assets\/terminal-/.test(request)).length;
  await tab(page, "Events").click();
  assert.equal(chunks(), 0, "loaded with its first use");
  await tab(page, "Terminal").click();
  await button(page, "Open a shell").waitFor();
  assert.equal(chunks(), 1);
  assert.ok(!asked.some(request => request.endsWith("/exec")), "a tab alone opens nothing");
  await button(page, "Open a shell").click();
  await page.waitForSelector(".term-foot:has-text('A shell in job-')");
  await type(page, "echo it is $((40 + 2)) in $TERM; kept=here");
  await shows(page, "^it is 42 in xterm-256color");
  await type(page, "printf '\\033[38;2;200;30;30mred\\033[0m \\033[32mgreen\\033[0m \\033[1mbold\\033[0m \\303\\244\\n'");
  await shows(page, "^red green bold \u00e4");
  await page.keyboard.insertText("echo \u20ac and $((2 + 2))");
  await page.keyboard.press("Enter");
  await shows(page, "^\u20ac and 4");

  // The keyboard stays until it is told to go.
  await page.keyboard.press("Tab");
  assert.match(await focused(page), /xterm-helper-textarea/);
  await page.keyboard.press("Control+Shift+X");
  await becomes("pane-panel", () => focused(page));
  await page.keyboard.press("Tab");
  await becomes("Shell", () => page.evaluate(() => document.activeElement.ariaLabel));

  // As large as its place.
  const size = async (width, height) => {
    await page.setViewportSize({ width, height });
    await page.locator(".xterm-helper-textarea").focus();
    await page.waitForFunction(() => {
      const place = document.querySelector(".term").getBoundingClientRect(), text = document.querySelector(".xterm-screen").getBoundingClientRect();
      return text.right <= place.right && text.bottom <= place.bottom && place.right - text.right < 40 && place.bottom - text.bottom < 40;
    });
    const rows = await page.locator(".xterm-rows > div").count();
    await type(page, "until [ $(stty size | cut -d' ' -f1) = " + rows + " ]; do sleep 0.1; done; clear; echo rows $(stty size)");
    await shows(page, `^rows ${rows} \\d+$`);
  };
  await size(1440, 900);
  await size(1440, 600);
  for (const [width, theme] of [[1440, "light"], [1440, "dark"], [390, "light"], [390, "dark"]]) {
    await page.setViewportSize({ width, height: 844 });
    await page.evaluate(to => (document.documentElement.dataset.theme = to), theme);
    await page.waitForFunction(() => document.querySelector(".xterm-screen").getBoundingClientRect().right <= document.querySelector(".term").getBoundingClientRect().right);
    assert.deepEqual(await axe(page), [], `${width} ${theme}`);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `scrolls sideways at ${width}`);
    await page.screenshot({ path: join(SHOTS, `terminal-${width}-${theme}.png`) });
  }
  await page.setViewportSize({ width: 1440, height: 900 });

  await button(page, "Screen reader").click();
  await page.waitForSelector(".xterm-accessibility-tree");
  assert.deepEqual(await axe(page), []);
  await page.locator(".xterm-helper-textarea").focus();
  await type(page, "clear; echo aloud $((3 + 3))");
  await page.waitForSelector(".xterm-accessibility-tree :text('aloud 6')", { state: "attached" });

  // Another tab and back: the same shell.
  await tab(page, "Pods").click();
  await tab(page, "Terminal").click();
  await page.locator(".xterm-helper-textarea").focus();
  await type(page, "clear; echo still $kept");
  await shows(page, "^still here");

  await type(page, "clear; seq 1 500000; echo all $((5 + 5)) came"); // 3.4 MB
  await shows(page, "^all 10 came");
  assert.match(await screen(page), /499999\n500000\nall 10 came/);
  await type(page, "clear; echo still $kept");
  await shows(page, "^still here");

  await type(page, "exit 7");
  await page.waitForSelector(".term-foot:has-text('The session has ended with exit code 7.')");
  assert.deepEqual(await axe(page), []);
  assert.match(await screen(page), /still here/, "what stood there stays");
  await page.keyboard.press("Tab");
  await page.waitForFunction(() => document.activeElement.textContent === "Start again");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".term-foot:has-text('A shell in job-')");
  await type(page, "echo new ${kept:-shell}");
  await shows(page, "^new shell");

  // Who leaves the pane hangs up.
  const gone = page.waitForResponse(r => r.request().method() === "DELETE" && r.url().includes("/exec/"));
  await button(page, "Close details").click();
  assert.equal((await gone).status(), 204);
  const { events } = await ask(page, `/api/v1/workloads/${id}/events`);
  assert.equal(events.filter(e => e.reason === "Exec").length, 2);
  const { audit_logs: records } = await ask(page, "/api/v1/audit/log?start=2020-01-01T00:00:00Z&end=2100-01-01T00:00:00Z&numberOfSamples=100");
  const kinds = records.map(r => JSON.stringify(r)).filter(text => text.includes(id) && /exec/i.test(text));
  assert.equal(kinds.length, 3, "two opened, one hung up");
  assert.deepEqual([troubles.foreign, troubles.violations], [[], []]);
});

test("what the shell is over with, and why there is none", async t => {
  await site.ready;
  const { page, cli, troubles } = await runs(t);
  await tab(page, "Terminal").click();
  let broken = 0;
  await page.route(/\/exec\/[^/]+$/, async route => {
    if (!broken++) return route.abort();
    if (broken === 2) await page.waitForSelector(".term-foot:has-text('The connection is lost.')");
    return route.fallback();
  });
  await button(page, "Open a shell").click();
  await page.waitForFunction(() => document.querySelector(".xterm-rows")?.textContent.trim()); // asked for again
  await type(page, "echo all the $((9 + 9)) same");
  await shows(page, "^all the 18 same");
  assert.equal(broken, 2);
  await button(page, "Hang up").click();
  await page.waitForSelector(".term-foot:has-text('The session is over. It was hung up.')");
  await button(page, "Start again").click();
  await page.waitForSelector(".term-foot:has-text('A shell in job-')");
  await cli("training", "suspend", "job", "-p", "team-a");
  await page.waitForSelector(".term-foot:has-text('The session has ended with exit code 137.')");
  await page.waitForSelector(".term-foot .btn[aria-disabled=true]:has-text('Start again')");
  await tab(page, "Events").click();
  await page.reload();
  await tab(page, "Terminal").click();
  await page.waitForSelector("#pane-panel:has-text('job is Stopped, and none of its pods runs.')");
  assert.equal(await button(page, "Open a shell").count(), 0);
  assert.deepEqual(await axe(page), []);
  assert.deepEqual([troubles.foreign, troubles.violations], [[], []]);
});

test("the pod of a gang is chosen, and the shell; a refusal says why", async t => {
  const { mock } = await site.ready;
  const gang = mock.data.workloads.find(w => w.name === "vit-giant");
  const { page, troubles } = await site.show(t, `/workloads?open=${gang.id}&tab=terminal`);
  const bodies = [];
  await page.route("**/exec", route => {
    bodies.push(route.request().postDataJSON());
    return route.fulfill({ status: 409, json: { code: 409, message: "pods of the simulated backend have nothing to run a shell in" } });
  });
  await page.getByLabel("Pod", { exact: true }).selectOption("vit-giant-1-0");
  await page.getByLabel("Shell", { exact: true }).selectOption("sh");
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 844 });
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `scrolls sideways at ${width}`);
    assert.ok(await button(page, "Open a shell").evaluate(b => b.getBoundingClientRect().right <= b.closest("#pane-panel").getBoundingClientRect().right), `wider than the pane at ${width}`);
    await page.screenshot({ path: join(SHOTS, `terminal-gang-${width}.png`) });
  }
  await button(page, "Open a shell").click();
  await page.waitForSelector(".term-foot:has-text('pods of the simulated backend have nothing to run a shell in')");
  const [{ pod, command, terminal, rows, columns }] = bodies;
  assert.deepEqual([pod, terminal, command.at(-1)], ["vit-giant-1-0", true, "xterm-256color"]);
  assert.match(command[2], /exec sh -i$/);
  assert.doesNotMatch(command[2], /bash/);
  assert.ok(rows > 10 && columns > 20, `${rows} rows, ${columns} columns`);
  assert.deepEqual(troubles.violations, []);
});

test("who may not enter a pod has no such tab", async t => {
  await site.ready;
  const own = await startMock(join(site.folder, "web"), { permissions: ["workloads", "project", "cluster"].map(resourceType => ({ resourceType, actions: ["read"] })) });
  t.after(() => own.close());
  const { page, context } = await open(site.browser, own.url);
  t.after(() => context.close());
  const { id } = own.data.workloads.find(w => w.name === "vit-giant");
  await page.goto(`${own.url}/workloads?open=${id}&tab=terminal`);
  await tab(page, "Logs").waitFor();
  assert.equal(await tab(page, "Terminal").count(), 0);
});
