// A real server for the browser tests on a free port: `prorata demo`, its folder gone with it, or `serve`. $PRORATA is the
// binary.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before } from "node:test";
import { ROOT, SHOTS, launch, open } from "./browser.mjs";

export const ADMIN = "admin@prorata.local", PASSWORD = "correct horse battery";

// Resolves with {url, stop()} once it says where it is.
export const startServer = (...options) => start("demo", ...options);
export function start(command, ...options) {
  const program = process.env.PRORATA ?? join(ROOT, "build/prorata"), quick = join(dirname(program), "quick_passwords.so");
  const env = { ...process.env, PRORATA_ADMIN_PASSWORD: PASSWORD, ...(existsSync(quick) && { LD_PRELOAD: quick }) };
  const child = spawn(program, [command, "--listen", "127.0.0.1:0", ...options], { env });
  let said = "";
  const stop = () => new Promise(done => {
    if (child.exitCode !== null || child.signalCode) return void done(); // it ended by itself: the test has said so
    child.once("exit", done);
    child.kill("SIGTERM");
  });
  return new Promise((resolve, reject) => {
    const hear = text => {
      said += text;
      const at = /http:\/\/127\.0\.0\.1:\d+/.exec(said);
      if (at) resolve({ url: at[0], stop });
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.once("exit", code => reject(new Error(`the server ended with ${code}:\n${said}`)));
  });
}

// A request from outside of a browser. On a connection of its own: the server ends an idle one, maybe while it is used again.
export const fetchAlone = (url, options = {}) => fetch(url, { ...options, headers: { ...options.headers, Connection: "close" } });

// Signs in by the form, as a person does.
export async function signIn(page, url) {
  await page.goto(url + "/");
  await page.fill("#username", ADMIN);
  await page.fill("#password", PASSWORD);
  await page.keyboard.press("Enter");
  try {
    await page.waitForSelector("nav.side:visible, nav.tabbar:visible");
  } catch (error) {
    throw new Error(`not signed in; the page says: ${await page.locator("body").innerText()}`, { cause: error });
  }
}

// The server's own word, with the page's session.
export const ask = (page, path) => page.evaluate(async p => (await fetch(p)).json(), path);

// A write with the page's session, as the dashboard sends it: what the server answers; it throws where that refuses.
export const send = (page, method, path, body) => page.evaluate(async ([m, p, b]) => {
  const answer = await fetch(p, { method: m, headers: { "Content-Type": "application/json", "X-Prorata-Request": "1" }, body: JSON.stringify(b) });
  if (!answer.ok) throw new Error(`${m} ${p}: ${answer.status} ${await answer.text()}`);
  return answer.json().catch(() => null);
}, [method, path, body]);

// What the command line would send for the line that the form shows: it is run as a person pastes it.
export function dryRun(server, line) {
  const folder = mkdtempSync(join(tmpdir(), "prorata-cli-")), program = process.env.PRORATA ?? join(ROOT, "build/prorata");
  const run = (...words) => execFileSync(words[0], words.slice(1), { env: { ...process.env, HOME: folder }, encoding: "utf8" });
  try {
    run(program, "config", "set", "--cp-url", server.url);
    run(program, "login", "user", "-u", ADMIN, "-p", PASSWORD);
    return JSON.parse(run("bash", "-c", `prorata() { ${program} "$@" --dry-run; }\n${line.replace("submit NAME", "submit some-name")}`));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

// Three node pools, the first without GPUs.
export const THREE_POOLS = `nodePools:
- {name: default}
- {name: h100}
- {name: a100}
nodes:
- {name: cpu, cpuCores: 32, memoryBytes: 128Gi}
- {name: gpu-h, nodePool: h100, count: 2, gpus: 4, gpuType: H100, gpuMemoryMib: 81920, cpuCores: 96, memoryBytes: 1Ti, labels: {run.ai/type: h100-sxm}}
- {name: gpu-a, nodePool: a100, gpus: 4, gpuType: A100, gpuMemoryMib: 40960, cpuCores: 96, memoryBytes: 1Ti, labels: {run.ai/type: a100-pcie}}
`;

// For a file of tests: a server (with the cluster's file, where one is given), a browser and a signed-in page, there before the
// first test; after the last one the page has broken no policy and asked no other host.
export function onServer(cluster) {
  const site = { folder: mkdtempSync(join(tmpdir(), "prorata-web-")) };
  const begin = async () => {
    mkdirSync(SHOTS, { recursive: true });
    const file = join(site.folder, "cluster.yaml");
    if (cluster) writeFileSync(file, cluster);
    site.server = await startServer(...(cluster ? ["--quick-start", "--cluster", file] : []));
    site.browser = await launch();
    Object.assign(site, await open(site.browser, site.server.url));
    await signIn(site.page, site.server.url);
    return site;
  };
  site.ready = begin(); // hooks of one file run side by side: those that need the site wait for it
  before(() => site.ready);
  after(async () => {
    assert.deepEqual([site.troubles?.foreign, site.troubles?.violations], [[], []]);
    await site.browser?.close();
    await site.server?.stop();
    rmSync(site.folder, { recursive: true });
  });
  return site;
}
