// A server whose cluster is this machine, and a command line that is signed in, for one test; everything it ran is gone with it.
import { execFile, spawn } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "./browser.mjs";
import { ADMIN, PASSWORD } from "./real_server.mjs";

const PRORATA = process.env.PRORATA ?? join(ROOT, "build/prorata");
const run = promisify(execFile);

// begin(t, ...flags) resolves with {url, folder, cli(...words)}.
export async function begin(t, ...flags) {
  const folder = mkdtempSync(join(tmpdir(), "prorata-local-"));
  chmodSync(folder, 0o755); // pods run as another user, and read the program from here
  const data = join(folder, "data");
  const server = spawn(PRORATA, ["serve", "--data", data, "--backend", "local", "--local-gpus", "4", "--quick-start", "--listen", "127.0.0.1:0", ...flags], { env: { ...process.env, PRORATA_ADMIN_PASSWORD: PASSWORD } });
  t.after(async () => {
    await run(PRORATA, ["stop", "--data", data, "--pods", "--grace", "1s"]);
    rmSync(folder, { recursive: true, force: true });
  });
  const url = await new Promise((resolve, reject) => {
    let said = "";
    for (const stream of [server.stdout, server.stderr])
      stream.on("data", text => {
        const at = /http:\/\/127\.0\.0\.1:\d+/.exec((said += text));
        if (at) resolve(at[0]);
      });
    server.once("exit", code => reject(new Error(`the server ended with ${code}:\n${said}`)));
  });
  const cli = (...words) => run(PRORATA, words, { env: { ...process.env, HOME: folder } }).then(done => done.stdout);
  await cli("config", "set", "--cp-url", url);
  await cli("login", "user", "-u", ADMIN, "-p", PASSWORD);
  return { url, folder, cli };
}

// Sends a training without an image.
export const submit = (cli, name, project, gpus, ...command) => cli("training", "submit", name, "-p", project, "-g", String(gpus), "-i", "none", ...command);
