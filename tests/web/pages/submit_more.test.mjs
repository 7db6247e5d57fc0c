// What a form has beyond the plain fields, on a real server: volumes, data sources, URLs, tolerations, when it ends, security.
// What was typed is what GET says, what the command line beside the form says, and what a copy begins with.
import assert from "node:assert/strict";
import { join } from "node:path";
import { before, test } from "node:test";
import { SHOTS, axe } from "../browser.mjs";
import { ask, dryRun, onServer, send } from "../real_server.mjs";
import { IMAGE } from "../walk.mjs";

const site = onServer();
let server, page, team;
before(async () => {
  ({ server, page } = await site.ready);
  team = (await ask(page, "/api/v1/org-unit/projects")).projects.find(p => p.name === "team-a");
});

const form = async path => {
  await page.goto(server.url + path);
  await page.waitForSelector("form:not(.waits) #f-name"); // all but its first part is hidden until the policy is known
};
const field = id => page.locator(`[id="f-${id}"]`);
const add = async (button, kind) => {
  await page.getByRole("button", { name: button, exact: true }).click();
  if (kind) await page.getByRole("menuitem", { name: kind, exact: true }).click();
};
const unfold = title => page.locator("form summary", { hasText: title }).click();
const type = async values => {
  for (const [id, value] of Object.entries(values)) {
    if (value === true) await field(id).check();
    else if (await field(id).evaluate(e => e.tagName === "SELECT")) await field(id).selectOption(value);
    else await field(id).fill(value);
  }
};
const specOf = async name => {
  const { workloads } = await ask(page, `/api/v1/workloads?filterBy=name==${name}`);
  return [workloads[0].id, (await ask(page, `/api/v1/workloads/trainings/${workloads[0].id}`)).spec];
};

const WANTED = {
  environmentVariables: [{ name: "A", value: "1" }, { name: "TOKEN", secret: { name: "hub", key: "token" } }],
  storage: { pvc: [{ path: "/n", claimInfo: { size: "10Gi", storageClass: "fast", accessModes: { readWriteMany: true } } }], nfs: [{ server: "nas", path: "/sets", mountPath: "/sets", readOnly: true }, { server: "nas", path: "/home", mountPath: "/home", readOnly: false }] },
  exposedUrls: [{ container: 8888, toolType: "jupyter-notebook", authorizationType: "authorizedUsers", authorizedUsers: ["ann@lab", "bob@lab"] }],
  tolerations: [{ key: "spot", operator: "Exists", effect: "NoSchedule" }],
  restartPolicy: "Never",
  after: [{ name: "prep", when: "any" }],
  startAt: new Date("2099-01-31T22:00").toISOString(),
  terminationGracePeriodSeconds: 120,
  autoDeletionTimeAfterCompletionSeconds: 7200,
  security: { runAsUid: 1000, capabilities: ["SYS_NICE"], runAsNonRoot: true },
  labels: [{ name: "team", value: "vision" }],
};
const wanted = spec => Object.fromEntries(Object.keys(WANTED).map(key => [key, spec[key]]));

test("what was typed is what the server has, what the command line says, and what a copy begins with", async () => {
  const made = await send(page, "POST", "/api/v1/asset/datasource/nfs", { meta: { name: "sets", scope: "tenant" }, spec: { server: "nas", path: "/sets", mountPath: "/sets", readOnly: true } });
  await send(page, "POST", "/api/v1/workloads/trainings", { name: "prep", projectId: team.id, clusterId: team.clusterId, spec: { image: IMAGE } });
  await form(`/workloads/new/training?project=${team.id}`);
  await type({ name: "whole", image: IMAGE, gpus: "0" });
  for (const title of ["Environment variables", "GPU memory", "When it starts", "Security", "Category"]) await unfold(title);
  await type({ environment: "A=1", "spec.startAt": "2099-01-31T22:00", "spec.restartPolicy": "Never", "spec.terminationGracePeriodSeconds": "2m", "spec.autoDeletionTimeAfterCompletionSeconds": "2h", "spec.security.runAsUid": "1000", "spec.security.capabilities": "SYS_NICE", "spec.security.runAsNonRoot": true, "spec.labels": "team=vision" });
  await add("Variable from elsewhere", "Variable from a secret");
  await page.waitForFunction(() => document.activeElement.id === "f-environmentVariables.secret-0-name");
  for (const text of ["TOKEN", "hub", "token"]) { // by keys alone
    await page.keyboard.type(text);
    await page.keyboard.press("Tab");
  }
  await add("Volume or file", "Volume (PVC)");
  await type({ "storage.pvc-0-path": "/n", "storage.pvc-0-claimInfo.size": "10Gi", "storage.pvc-0-claimInfo.storageClass": "A_b", "storage.pvc-0-claimInfo.accessModes": "readWriteMany" });
  await add("Volume or file", "NFS");
  await type({ "storage.nfs-0-server": "nas", "storage.nfs-0-path": "/home", "storage.nfs-0-mountPath": "/home" });
  await field("storage.nfs-0-readOnly").uncheck();
  await add("Port or URL", "URL");
  await type({ "exposedUrls-0-container": "8888", "exposedUrls-0-toolType": "jupyter-notebook", "exposedUrls-0-authorizationType": "authorizedUsers" });
  await type({ "exposedUrls-0-authorizedUsers": "ann@lab\nbob@lab" });
  await add("After another workload");
  await type({ "after-0-name": "prep", "after-0-when": "any" });
  await add("Toleration");
  await type({ "tolerations-0-key": "spot", "tolerations-0-operator": "Exists", "tolerations-0-effect": "NoSchedule" });
  await field("datasources").fill("sets");
  await page.keyboard.press("Enter");
  assert.deepEqual(await axe(page), []);
  await page.screenshot({ path: join(SHOTS, "new-training-more-1440-light.png"), fullPage: true });

  const create = page.getByRole("button", { name: "Create training", exact: true });
  await create.click();
  await page.waitForSelector('form .hint.bad:has-text("Volume (PVC)")');
  assert.match(await page.innerText("form .hint.bad"), /storageClass|must match/, "what the server refuses stands at the list it names");
  await type({ "storage.pvc-0-claimInfo.storageClass": "fast" });
  const line = await page.textContent(".code");
  await create.click();
  await page.waitForSelector("#pane-title:has-text('whole')");
  const [id, spec] = await specOf("whole");
  const { nfs } = spec.storage;
  assert.deepEqual({ ...wanted(spec), storage: { ...spec.storage, nfs: nfs.toSorted((a, b) => (a.path < b.path ? 1 : -1)) } }, WANTED);

  const asked = dryRun(server, line);
  assert.deepEqual(asked.assets.datasources, [{ id: made.meta.id }]);
  assert.deepEqual(wanted(asked.spec), { ...WANTED, storage: { ...WANTED.storage, nfs: [WANTED.storage.nfs[1]] } });

  await form(`/workloads/new/training?copy=${id}`);
  await field("storage.nfs-1-mountPath").waitFor(); // what a copy has is in sight
  await create.click();
  await page.waitForSelector("#pane-title:has-text('whole-copy')");
  const [, copied] = await specOf("whole-copy");
  assert.deepEqual(copied, spec);
});

test("a policy locks a list, and bounds a time", async () => {
  await send(page, "PUT", "/api/v2/policy/trainings", { meta: { name: "house", scope: "department", departmentId: team.parentId }, policy: { rules: { tolerations: { instances: { canAdd: false } }, autoDeletionTimeAfterCompletionSeconds: { max: 3600 } } } });
  await form(`/workloads/new/training?project=${team.id}`);
  await unfold("GPU memory");
  await page.waitForSelector('form .hint:has-text("Toleration: Policy of department research: nothing may be added.")');
  assert.equal(await page.getByRole("button", { name: "Toleration", exact: true }).count(), 0);
  await unfold("When it starts");
  await type({ "spec.autoDeletionTimeAfterCompletionSeconds": "2h", name: "late", image: IMAGE });
  await page.waitForSelector('[id="f-spec.autoDeletionTimeAfterCompletionSeconds"][aria-invalid=true]');
  assert.match(await page.innerText('[id="f-spec.autoDeletionTimeAfterCompletionSeconds-hint"]'), /at most 1h/);
});

test("what is held is suspended from the start, and runs when it is resumed", async () => {
  await form(`/workloads/new/training?project=${team.id}`);
  await type({ name: "held", image: IMAGE, gpus: "0", held: true });
  assert.equal(dryRun(server, await page.textContent(".code")).suspend, true);
  await page.getByRole("button", { name: "Create training", exact: true }).click();
  await page.waitForSelector("#pane-title:has-text('held')");
  await page.waitForSelector("#details .st:has-text('Stopped')");
  await page.locator("#details").getByRole("button", { name: "Run", exact: true }).click();
  await page.waitForSelector("#details .st:has-text('Running')");
});
