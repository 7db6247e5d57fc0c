// The forms on a real server: what they check, what they send, that the command they show sends the same, assets loaded and
// saved from within, a copy, and the whole way by keyboard alone.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { before, test } from "node:test";
import { ROOT, SHOTS, axe, becomes } from "../browser.mjs";
import { ADMIN, PASSWORD, ask, onServer } from "../real_server.mjs";
import { IMAGE, rowOf, status, submitByMouse } from "../walk.mjs";

const BINARY = process.env.PRORATA ?? join(ROOT, "build/prorata");

const site = onServer(),
  home = site.folder;
let server, page;
before(async () => ({ server, page } = await site.ready));

const button = name => page.getByRole("button", { name, exact: true });
const shell = command => execFileSync("bash", ["-ec", command], { env: { ...process.env, HOME: home, PATH: `${join(BINARY, "..")}:${process.env.PATH}` }, encoding: "utf8" });
const specOf = async (kind, name) => {
  const { workloads } = await ask(page, `/api/v1/workloads?filterBy=name==${name}`);
  return (await ask(page, `/api/v1/workloads/${kind}/${workloads[0].id}`)).spec;
};
const form = async path => {
  await page.goto(server.url + path);
  await page.waitForSelector("form:not(.waits) #f-name"); // all but its first part is hidden until the policy is known
};

test("what is wrong is said at its field, on leaving it and on submitting, and nothing is sent", async () => {
  await form("/workloads/new/training");
  await page.fill("#f-name", "Not a name");
  await page.press("#f-name", "Tab");
  await page.waitForSelector("#f-name[aria-invalid=true]");
  assert.match(await page.textContent("#f-name-hint"), /Small letters/);
  await page.fill("#f-gpus", "1.5");
  await button("Create training").click();
  await page.waitForSelector("#f-gpus[aria-invalid=true]");
  assert.match(await page.textContent("#f-gpus-hint"), /Whole GPUs, or a part of one/);
  assert.match(await page.textContent("#f-image-hint"), /An image is needed/);
  await page.waitForSelector("#f-name:focus");
  assert.deepEqual(await axe(page), []);
  await page.screenshot({ path: join(SHOTS, "new-training-wrong-1440-light.png"), fullPage: true });
  assert.equal((await ask(page, "/api/v1/workloads/count")).count, 0);
});

test("what the server refuses goes to the field it names, and the form is kept", async () => {
  await form("/workloads/new/training");
  await page.fill("#f-name", "refused");
  await page.fill("#f-image", IMAGE);
  await page.fill("#f-memory", "999999999999999Ei");
  await button("Create training").click();
  await page.waitForSelector("#f-memory[aria-invalid=true]");
  assert.match(await page.textContent("#f-memory-hint"), /not an amount of memory/);
  assert.equal(await page.inputValue("#f-name"), "refused");
  await page.fill("#f-memory", "100M");
  await button("Create training").click();
  await page.waitForSelector("#pane-title:has-text('refused')");
});

test("what the scheduler says beside the form tells what starts, and what can't be had as asked", async () => {
  await form("/workloads/new/workspace");
  await page.selectOption("#f-project", { label: "team-b" });
  const says = text => page.locator(".because .one", { hasText: text }).waitFor();
  await says(/^Starts at once on node-\d with 1 GPU\.$/);
  await page.fill("#f-gpus", "3");
  await says(/^Non-preemptible|^Needs 3 GPUs/);
  await page.selectOption("#f-preemptibility", "preemptible");
  await page.fill("#f-gpus", "2");
  await says(/^Starts at once on node-\d with 2 GPUs\.$/);
});

test("an environment and a size are saved from the form and loaded into the next", async () => {
  await form("/workloads/new/training");
  await page.selectOption("#f-project", { label: "team-a" });
  await page.fill("#f-image", "registry.example/speech:4");
  await page.fill("#f-args", "--epochs 3");
  await button("Save as environment").click();
  await page.fill("#f-asset-name", "speech-env");
  await page.locator("dialog").getByRole("button", { name: "Save", exact: true }).click();
  await page.waitForSelector(".toast:has-text('speech-env is saved in team-a')");
  await page.fill("#f-gpus", "2");
  await page.fill("#f-cpu", "3");
  await button("Save as asset").click();
  await page.fill("#f-asset-name", "two-with-cores");
  await page.locator("dialog").getByRole("button", { name: "Save", exact: true }).click();
  await page.waitForSelector(".toast:has-text('two-with-cores is saved in team-a')");

  await page.evaluate(() => window.addEventListener("beforeunload", event => event.stopImmediatePropagation(), true));
  await form("/workloads/new/workspace");
  await page.selectOption("#f-project", { label: "team-a" });
  await page.selectOption("#f-environmentAsset", { label: "speech-env" });
  assert.equal(await page.inputValue("#f-image"), "registry.example/speech:4");
  assert.equal(await page.inputValue("#f-args"), "--epochs 3");
  await button("two-with-cores").click();
  assert.deepEqual([await page.inputValue("#f-gpus"), await page.inputValue("#f-cpu")], ["2", "3"]);
});

// A command line has no border between command and arguments.
const whole = ({ command, args, ...spec }) => ({ ...spec, words: [command, args].filter(Boolean).join(" "), replaces: Boolean(command) });

// The command beside the form, run in a shell, makes the same workload under another name.
for (const [kind, path, fields] of [
  ["training", "trainings", { gpus: "0", cpu: "0.5", memory: "1Gi", args: "sleep 60", environment: "A=1\nB=two words", backoff: "2", priority: "high" }],
  ["training", "trainings", { gpus: "0.5", command: "python", args: "train.py --lr 0.1", completions: "4", parallelism: "2", workingDir: "/work" }],
  ["distributed", "distributed", { gpus: "0", workers: "3", framework: "MPI", preemptibility: "non-preemptible" }],
  ["workspace", "workspaces", { gpus: "0", shm: true, preemptibility: "preemptible" }],
]) test(`the command beside the form does what the form does: ${kind}, ${Object.keys(fields).join(", ")}`, async () => {
  shell(`prorata config set --cp-url ${server.url} && prorata login user -u ${ADMIN} -p '${PASSWORD}'`);
  const name = `${kind}-${Object.keys(fields).length}`;
  await form(`/workloads/new/${kind}`);
  await page.selectOption("#f-project", { label: "team-a" });
  await page.fill("#f-name", name);
  await page.fill("#f-image", IMAGE);
  await page.locator("form summary").first().click();
  for (const [key, value] of Object.entries(fields)) {
    if (value === true) await page.check(`#f-${key}`);
    else if (["priority", "preemptibility", "framework"].includes(key)) await page.selectOption(`#f-${key}`, value);
    else await page.fill(`#f-${key}`, value);
  }
  const command = await page.innerText(".form-page pre.code");
  await page.locator("form button[type=submit]").click();
  await page.waitForSelector(`#pane-title:has-text("${name}")`);
  shell(command.replace(`submit ${name}`, `submit ${name}-by-command`));
  assert.deepEqual(whole(await specOf(path, `${name}-by-command`)), whole(await specOf(path, name)));
});

test("a copy is filled from what was submitted, under a name that is free", async () => {
  await page.goto(server.url + "/workloads");
  await rowOf(page, "training-7").locator("td.first a").click();
  await page.locator("#details").getByRole("link", { name: "Make a copy" }).click();
  await page.waitForSelector("#f-name");
  await becomes("training-7-copy", () => page.inputValue("#f-name"));
  assert.deepEqual(await Promise.all(["image", "args", "memory", "priority", "backoff", "environment"].map(f => page.inputValue(`#f-${f}`))), [IMAGE, "sleep 60", "1Gi", "high", "2", "A=1\nB=two words"]);
  await button("Create training").click();
  await page.waitForSelector("#pane-title:has-text('training-7-copy')");
  assert.deepEqual(await specOf("trainings", "training-7-copy"), await specOf("trainings", "training-7"));
});

test("by keyboard alone: submit, walk the rows, stop, run, close", async () => {
  await page.goto(server.url + "/");
  await page.waitForSelector(".q-row");
  await page.keyboard.press("n");
  await page.waitForSelector("#f-name:focus");
  await page.keyboard.type("by-keys");
  for (let i = 0; i < 30 && await page.evaluate(() => document.activeElement.id) !== "f-image"; i++) await page.keyboard.press("Tab");
  await page.keyboard.type(IMAGE);
  await page.keyboard.press("Enter");
  await page.waitForSelector("#pane-title:has-text('by-keys')");
  await status(page, "by-keys", "Running");
  await page.keyboard.press("s");
  await status(page, "by-keys", "Stopped");
  await page.keyboard.press("s");
  await status(page, "by-keys", "Running");
  await page.keyboard.press("j");
  await page.waitForFunction(() => !document.querySelector("#pane-title")?.textContent.includes("by-keys"));
  await page.keyboard.press("k");
  await page.waitForSelector("#pane-title:has-text('by-keys')");
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => !document.querySelector("#details"));
  await page.waitForFunction(() => document.activeElement.closest("tr")?.innerText.includes("by-keys")); // the focus is back at the row
});

test("several at once: stopped, run and deleted from the bar above the table", async () => {
  await submitByMouse(page, { name: "many-1", project: "team-b", size: "cpu-only" });
  await submitByMouse(page, { name: "many-2", project: "team-b", size: "cpu-only" });
  for (const name of ["many-1", "many-2"]) await status(page, name, "Running");
  const mark = async () => {
    for (const name of ["many-1", "many-2"]) await page.getByRole("checkbox", { name: `Select ${name}` }).check();
  };
  const bar = name => page.getByRole("toolbar").getByRole("button", { name, exact: true }).click();
  await mark();
  await bar("Stop");
  for (const name of ["many-1", "many-2"]) await status(page, name, "Stopped");
  await mark();
  await bar("Run");
  for (const name of ["many-1", "many-2"]) await status(page, name, "Running");
  await mark();
  await bar("Delete");
  await page.waitForSelector("dialog:has-text('Delete 2 workloads?')");
  await page.locator("dialog").getByRole("button", { name: "Delete", exact: true }).click();
  for (const name of ["many-1", "many-2"]) await rowOf(page, name).waitFor({ state: "detached" });
});
