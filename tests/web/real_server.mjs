// A real server for the browser tests on a free port: `prorata demo`, its folder gone with it, or `serve`. $PRORATA is the
// binary.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "./browser.mjs";

export const ADMIN = "admin@prorata.local", PASSWORD = "correct horse battery";

// Resolves with {url, stop()} once it says where it is.
export const startServer = (...options) => start("demo", ...options);
export function start(command, ...options) {
  const child = spawn(process.env.PRORATA ?? join(ROOT, "build/prorata"), [command, "--listen", "127.0.0.1:0", ...options], { env: { ...process.env, PRORATA_ADMIN_PASSWORD: PASSWORD } });
  let said = "";
  const stop = () => new Promise(done => {
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

// Signs in by the form, as a person does.
export async function signIn(page, url) {
  await page.goto(url + "/");
  await page.fill("#username", ADMIN);
  await page.fill("#password", PASSWORD);
  await page.keyboard.press("Enter");
  await page.waitForSelector("nav.side:visible, nav.tabbar:visible");
}

// The server's own word, with the page's session.
export const ask = (page, path) => page.evaluate(async p => (await fetch(p)).json(), path);
