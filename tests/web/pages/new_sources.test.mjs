// What a workload form gets besides what is typed, on a real server: a template's values, the defaults, bounds and locks of the
// project's policy, a copy; and the form of an inference.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { look } from "../browser.mjs";
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
const value = (field, text) => page.waitForFunction(([id, v]) => document.getElementById(id)?.value === v, [`f-${field}`, text]);
const hint = field => page.textContent(`#f-${field}-hint`);
const policy = (kind, body, meta = { scope: "department", departmentId: team.parentId }) => send(page, "PUT", `/api/v2/policy/${kind}`, { meta: { name: `house-${kind}`, ...meta }, policy: body });
const submitted = async (kind, name) => {
  const { workloads } = await ask(page, `/api/v1/workloads?filterBy=name==${name}`);
  return ask(page, `/api/v1/workloads/${kind}/${workloads[0].id}`);
};

test("a policy's defaults, bounds and locks stand at their fields", async () => {
  await policy("trainings", { defaults: { image: "lab/base:1", compute: { cpuCoreRequest: 2, gpuDevicesRequest: 2 } }, rules: { compute: { gpuDevicesRequest: { max: 4 }, cpuCoreRequest: { canEdit: false } } } });
  await form(`/workloads/new/training?project=${team.id}`);
  await value("gpus", "2");
  assert.equal(await page.inputValue("#f-image"), "lab/base:1");
  assert.equal(await page.isDisabled("#f-cpu"), true);
  assert.match(await hint("cpu"), /Policy of department research: fixed/);
  assert.match(await hint("gpus"), /Policy of department research: at most 4/);
  await page.fill("#f-gpus", "5");
  await page.press("#f-gpus", "Tab");
  await page.waitForSelector("#f-gpus[aria-invalid=true]");
  await look(page, "new-training-policy");
  await page.fill("#f-gpus", "4");
  await page.waitForSelector("#f-gpus:not([aria-invalid])");
  await page.fill("#f-image", IMAGE);
  await page.selectOption("#f-project", (await ask(page, "/api/v1/org-unit/projects")).projects.find(p => p.name === "default").id);
  await page.waitForSelector("#f-cpu:not(:disabled)");
  await value("cpu", "0.1");
  assert.deepEqual([await page.inputValue("#f-image"), await page.inputValue("#f-gpus")], [IMAGE, "4"], "what was typed stays");
});

test("a policy that changes shows in the open form", async () => {
  await form(`/workloads/new/training?project=${team.id}`);
  await value("gpus", "2");
  await page.waitForSelector(".live.ok");
  await policy("trainings", { defaults: { compute: { gpuDevicesRequest: 3 } }, rules: {} });
  await value("gpus", "3");
  await page.waitForSelector("#f-cpu:not(:disabled)");
});

test("a template fills its fields, says so, and goes with the submission", async () => {
  const spec = { image: IMAGE, environmentVariables: [{ name: "EPOCHS", value: "20" }], compute: { gpuDevicesRequest: 1 }, annotations: [{ name: "team", value: "vision" }] };
  const { meta } = await send(page, "POST", "/api/v1/workload-templates/trainings", { meta: { name: "nightly", description: "What we start from", scopeType: "department", scopeId: team.parentId }, spec });
  await form(`/workloads/new/training?project=${team.id}`);
  await page.selectOption("#f-template", meta.id);
  await value("image", IMAGE);
  assert.match(await hint("image"), /From template nightly/);
  assert.equal(await page.inputValue("#f-environment"), "EPOCHS=20");
  await page.waitForSelector("#f-environment:visible"); // what was filled is in sight
  await page.fill("#f-gpus", "0");
  assert.doesNotMatch(await hint("gpus"), /template/, "one's own value is no template's");
  assert.equal(dryRun(server, await page.textContent(".code")).spec.environmentVariables[0].value, "20");
  await look(page, "new-training-template");
  await page.fill("#f-name", "from-nightly");
  await page.getByRole("button", { name: "Create training", exact: true }).click();
  await page.waitForSelector("#pane-title:has-text('from-nightly')");
  const made = await submitted("trainings", "from-nightly");
  assert.deepEqual([made.spec.compute.gpuDevicesRequest, made.spec.annotations?.find(a => a.name === "team")?.value], [0, "vision"], "what the form has no field for comes too");
  await form(`/workloads/new/training?project=${team.id}&template=${meta.id}`);
  await value("image", IMAGE);
});

test("what the server's policy refuses stands at its field, though the form knew nothing of it", async () => {
  await policy("workspaces", { defaults: { environmentVariables: { instances: [{ name: "LAB", value: "1" }] } }, rules: { compute: { cpuMemoryRequest: { max: "1Gi" } } } });
  await form(`/workloads/new/workspace?project=${team.id}`);
  await page.getByText("Environment variables and working directory").click();
  await page.waitForSelector("#f-environment-hint:has-text('A policy adds LAB')");
  await page.route("**/api/v2/policy/**", route => route.abort());
  await form(`/workloads/new/workspace?project=${team.id}`);
  await page.fill("#f-name", "too-much");
  await page.fill("#f-image", IMAGE);
  await page.fill("#f-memory", "2Gi");
  await page.getByRole("button", { name: "Create workspace", exact: true }).click();
  await page.waitForSelector("#f-memory[aria-invalid=true]");
  assert.match(await hint("memory"), /1Gi/);
  await page.unroute("**/api/v2/policy/**");
});

test("what a policy refuses by a submission's path stands at its field", async () => {
  await page.route("**/api/v1/workloads/trainings", route => route.fulfill({ status: 400, contentType: "application/json", body: JSON.stringify({ code: 400, message: "the policy refuses it", complianceIssues: [{ field: "spec.compute.cpuMemoryRequest", details: "at most 4Gi by the policy of the tenant", rule: "max" }] }) }));
  await form(`/workloads/new/training?project=${team.id}`);
  await page.fill("#f-name", "refused");
  await page.fill("#f-image", IMAGE);
  await page.getByRole("button", { name: "Create training", exact: true }).click();
  await page.waitForSelector("#f-memory[aria-invalid=true]");
  assert.match(await hint("memory"), /at most 4Gi by the policy of the tenant/);
  await page.unroute("**/api/v1/workloads/trainings");
});

test("a rule of a field that the form doesn't have here is said all the same", async () => {
  await policy("workspaces", { defaults: {}, rules: { nodeType: { required: true } } });
  await form(`/workloads/new/workspace?project=${team.id}`);
  assert.equal(await page.locator("#f-nodeType").count(), 0, "no node has a type");
  await page.fill("#f-name", "typeless");
  await page.fill("#f-image", IMAGE);
  const create = page.getByRole("button", { name: "Create workspace", exact: true });
  await page.waitForSelector(".submit-bar:has-text('1 field is missing or wrong')");
  await create.click();
  await page.waitForSelector("form .fault:has-text('nodeType: Policy of department research: required.')");
  await policy("workspaces", { defaults: {}, rules: {} });
});

test("a wrong field that is folded away is unfolded", async () => {
  await form(`/workloads/new/workspace?project=${team.id}`);
  const fold = page.getByText("Environment variables and working directory");
  await page.fill("#f-name", "folded");
  await page.fill("#f-image", IMAGE);
  await fold.click();
  await page.fill("#f-environment", "no variable");
  await fold.click();
  await page.getByRole("button", { name: "Create workspace", exact: true }).click();
  await page.waitForFunction(() => document.activeElement?.id === "f-environment");
});

test("an inference is made, and a copy of it has its port and replicas", async () => {
  await form(`/workloads/new/inference?project=${team.id}`);
  await page.fill("#f-name", "answers");
  await page.fill("#f-image", IMAGE);
  await page.fill("#f-gpus", "0");
  await page.fill("#f-serving", "9000");
  await page.fill("#f-most", "2");
  await page.waitForSelector("#f-metric");
  await page.fill("#f-metric", "queue_length");
  await page.fill("#f-threshold", "20");
  await look(page, "new-inference");
  const asked = dryRun(server, await page.textContent(".code")).spec;
  assert.deepEqual([asked.servingPort.container, asked.autoscaling.maxReplicas, asked.autoscaling.metricThreshold], [9000, 2, 20]);
  await page.getByRole("button", { name: "Create inference", exact: true }).click();
  await page.waitForSelector("#pane-title:has-text('answers')");
  const { spec } = await submitted("inferences", "answers");
  assert.equal(spec.servingPort.container, 9000);
  assert.deepEqual([spec.autoscaling.minReplicas, spec.autoscaling.maxReplicas, spec.autoscaling.metric, spec.autoscaling.metricThreshold], [1, 2, "queue_length", 20]);
  const copy = await page.evaluate(() => new URLSearchParams(location.search).get("open"));
  await form(`/workloads/new/inference?copy=${copy}`);
  await value("name", "answers-copy");
  assert.deepEqual([await page.inputValue("#f-serving"), await page.inputValue("#f-most"), await page.inputValue("#f-metric")], ["9000", "2", "queue_length"]);
});
