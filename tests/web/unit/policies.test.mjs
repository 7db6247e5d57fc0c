// Policies as text and as rows: what completes at the caret, which line a refusal belongs to, rules in words.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "../load.mjs";
import { ROOT } from "../browser.mjs";

const { mistakesOf, offers, placeAt, policyRows, readPolicy, ruleWords } = await load("pictures/policy_text", "pictures/policy_rows");
const { policySchema } = await import(`${ROOT}/web/policy_schema.mjs`);
const schema = await policySchema(`${ROOT}/openapi/openapi.yaml`);

// ‸ is the caret.
const at = text => placeAt(text.replace("‸", ""), text.indexOf("‸"));
const labels = (text, kind = "trainings") => {
  const place = at(text);
  return place ? offers(schema, kind, place).map(o => o.label) : [];
};

const COMPLETIONS = [
  ["an empty text", "‸", ["defaults", "rules"]], ["a beginning", "ru‸", ["rules"]], ["in the rules", "rules:\n  comp‸", ["completions", "compute"].sort()],
  ["deeper", "defaults:\n  image: x\nrules:\n  compute:\n    gpuDevicesRequest:\n      ma‸", ["max"]],
  ["out again", "rules:\n  compute:\n    gpuDevicesRequest:\n      max: 4\n  imag‸", ["image", "imagePullPolicy", "imagePullSecrets"]],
  ["a value", "defaults:\n  imagePullPolicy: ‸", ["Always", "Never", "IfNotPresent"]], ["a yes or no", "rules:\n  image:\n    canEdit: f‸", ["false"]],
  ["an item of a list", "defaults:\n  environmentVariables:\n    instances:\n      - na‸", ["name"]], ["the next key of an item", "defaults:\n  environmentVariables:\n    instances:\n    - name: A\n      va‸", ["value"]],
  ["after a list", "defaults:\n  environmentVariables:\n    instances:\n    - name: A\n  workingD‸", ["workingDir"]],
  ["nothing in a comment", "rules:\n  # ‸", []], ["nothing for free text", "defaults:\n  image: ‸", []], ["nothing for what is not there", "rules:\n  nothing:\n    ‸", []],
  ["JSON", '{"rules": {"compute": {"gpuDev‸', ["gpuDevicesRequest"]], ["JSON after a member", '{"defaults": {"image": "x", "workingD‸', ["workingDir"]], ["a value in JSON", '{"defaults": {"imagePullPolicy": "Al‸', ["Always"]],
];
for (const [name, text, expected] of COMPLETIONS) test(`completed: ${name}`, () => assert.deepEqual(labels(text).filter(l => expected.length || l).sort(), [...expected].sort()));

test("kinds complete their own fields", () => {
  assert.deepEqual(labels("defaults:\n  ‸", "distributed").sort(), ["master", "worker"]);
  assert.ok(labels("defaults:\n  ‸", "inferences").includes("autoscaling"));
  assert.ok(!labels("defaults:\n  ‸", "workspaces").includes("completions"));
});

test("what is put in goes on to its value, or into what it holds", () => {
  const first = (text, kind = "trainings") => offers(schema, kind, at(text))[0].insert;
  assert.deepEqual([first("rules:\n  compu‸"), first("rules:\n  image:\n    opt‸"), first("defaults:\n  imag‸"), first('{"rules": {"compu‸')], ["compute:\n    ", "options:\n      - ", "image: ", 'compute": {']);
});

test("a refusal is on the line of its field", () => {
  const text = "rules:\n  compute:\n    gpuDevicesRequest:\n      max: 4\n  image:\n    max: 1\n";
  assert.deepEqual(mistakesOf(text, { "policy.rules.image.max": "a policy of trainings has no such field", "meta.name": "missing" }), [{ line: 5, message: "rules.image.max: a policy of trainings has no such field" }]);
  assert.deepEqual(readPolicy("rules:\n\tx: 1").mistakes[0].line, 1);
  assert.equal(readPolicy("- 1").mistakes.length, 1);
});

test("rules in words", () => {
  assert.equal(ruleWords({ required: true, canEdit: false, min: 0, max: 4, step: 2 }), "required, fixed, at least 0, at most 4, in steps of 2");
  assert.equal(ruleWords({ options: [{ value: "a" }, { value: "b", displayed: "Bee" }], canEdit: true, required: null }), "one of a, Bee");
  assert.equal(ruleWords({ canAdd: false, locked: ["HOME"], defaultFrom: { field: "compute.cpuCoreRequest", factor: 2 } }), "as compute.cpuCoreRequest × 2, nothing can be added, HOME locked");
});

test("a policy as rows, with who set what", () => {
  const tenant = { scope: "tenant" }, project = { scope: "project", projectId: 4 };
  const rows = policyRows(
    { defaults: { image: "ubuntu", compute: { cpuCoreRequest: 0.1 }, environmentVariables: { instances: [{ name: "A", value: "1" }] } }, rules: { image: { canEdit: false, sourceOfRule: tenant }, compute: { gpuDevicesRequest: { max: 4, sourceOfRule: project } }, environmentVariables: { instances: { locked: ["A"], sourceOfRule: tenant } } } },
    { image: tenant, "compute.cpuCoreRequest": project, "environmentVariables.instances[0]": tenant },
  );
  assert.deepEqual(rows.map(r => [r.field, r.value, r.rule, r.valueFrom[0]?.scope, r.ruleFrom[0]?.scope]), [
    ["compute.cpuCoreRequest", "0.1", "", "project", undefined],
    ["compute.gpuDevicesRequest", "", "at most 4", undefined, "project"],
    ["environmentVariables.instances", "name A, value 1", "A locked", "tenant", "tenant"],
    ["image", "ubuntu", "fixed", "tenant", "tenant"],
  ]);
  assert.deepEqual(policyRows(null), []);
});
