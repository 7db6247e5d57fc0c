// Connect leads to a port of a pod that really runs, in a tab of its own; what is refused is said, and where nothing opens ports nothing offers it.
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test } from "node:test";
import { axe, onMock, open, until } from "../browser.mjs";
import { begin, submit } from "../local_server.mjs";
import { ask, signIn } from "../real_server.mjs";

const site = onMock();
const PAGE = `import http.server, sys
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(("<title>The notebook</title><h1>Hello, %s</h1>" % self.headers["X-Forwarded-User"]).encode())
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Page).serve_forever()`;

const freePort = () => new Promise(resolve => {
  const listener = createServer().listen(0, "127.0.0.1", () => {
    const { port } = listener.address();
    listener.close(() => resolve(port));
  });
});

// A workload of the local backend that serves a page, and its pane.
async function runs(t, ...flags) {
  const { url, cli } = await begin(t, ...flags);
  const port = await freePort();
  await submit(cli, "lab", "team-a", 0, "--external-url", `container=${port}`, "--command", "--", "python3", "-c", PAGE, String(port));
  const opened = await open(site.browser, url);
  t.after(() => opened.context.close());
  const { page } = opened;
  await signIn(page, url);
  const { workloads: [{ id }] } = await ask(page, "/api/v1/workloads");
  await page.goto(`${url}/workloads?open=${id}`);
  await page.waitForSelector("#details .status:has-text('Running'), #details .st:has-text('Running')");
  await page.getByRole("button", { name: "Connect", exact: true }).click();
  await page.getByRole("menuitem").first().waitFor();
  return { ...opened, port, id };
}

test("a click on the port leads a new tab to the pod's page", async t => {
  await site.ready;
  const { page, context, port } = await runs(t, "--apps-listen", "127.0.0.1:0");
  const coming = context.waitForEvent("page");
  await page.getByRole("menuitem", { name: `port ${port}` }).click();
  const tab = await coming;
  await tab.getByRole("button").click(); // it asks first whether that is you
  await tab.waitForSelector("h1:has-text('Hello, admin@prorata.local')");
  assert.equal(await tab.title(), "The notebook");
  assert.equal(await tab.evaluate(() => window.opener), null);
  assert.notEqual(new URL(tab.url()).origin, new URL(page.url()).origin);
  await page.getByRole("button", { name: "Connect", exact: true }).click();
  await page.getByRole("menuitem", { name: "Ports and addresses" }).click();
  const again = context.waitForEvent("page");
  await page.locator("dialog").getByRole("button", { name: "Connect" }).waitFor();
  assert.deepEqual(await axe(page), []);
  await page.locator("dialog").getByRole("button", { name: "Connect" }).click();
  await (await again).getByRole("button").click();
  await (await again).waitForSelector("h1:has-text('Hello')");
});

test("what the server refuses stands in a sentence, and the tab is gone", async t => {
  await site.ready;
  const { page, context, port } = await runs(t, "--apps-listen", "127.0.0.1:0");
  await page.route("**/open", route => route.fulfill({ status: 403, json: { code: 403, message: "you are not among those who may open it" } }));
  await page.getByRole("menuitem", { name: `port ${port}` }).click();
  await page.getByText("you are not among those who may open it").waitFor();
  await until("the tab is closed", () => context.pages().length === 1);
});

test("a server without a listener offers no port", async t => {
  await site.ready;
  const { page } = await runs(t);
  assert.deepEqual(await page.getByRole("menuitem").allInnerTexts(), ["Ports and addresses"]);
});
