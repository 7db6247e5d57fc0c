// What templates and policies say of the workload form's fields, and what a form for an inference sends.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "../load.mjs";

const { EMPTY, bodyOf, check, totalGpus, valuesOf } = await load("pictures/submission");
const { commandOf } = await load("pictures/submission_command");
const { PATHS, addedVariables, brokenRules, ofTemplate, ruledFields, withDefaults } = await load("pictures/submission_fields");

const V = more => ({ ...EMPTY, name: "a1", project: "4", image: "x", cpu: "", memory: "", ...more });
const PROJECT = { name: "vision", parent: { name: "research" } };
const department = { scope: "department", departmentId: "2" };

test("an inference's body has its port and its replicas, and is read back as it was", () => {
  const v = V({ least: 0, most: 4, metric: "vllm:num_requests_running", threshold: 20, retention: 300, inside: true, backoff: 3 });
  const { spec } = bodyOf(v, "inference", "c");
  assert.deepEqual(spec.servingPort, { container: 8000, protocol: "http", clusterLocalAccessOnly: true });
  assert.deepEqual(spec.autoscaling, { minReplicas: 0, maxReplicas: 4, metric: "vllm:num_requests_running", metricThreshold: 20, scaleToZeroRetentionSeconds: 300 });
  assert.equal(spec.backoffLimit, undefined);
  assert.deepEqual({ ...valuesOf({ projectId: 4, spec }, "a1"), backoff: 3 }, { ...v });
  assert.deepEqual(bodyOf(V({ most: 1 }), "inference", "c").spec.autoscaling, { minReplicas: 1, maxReplicas: 1 });
  assert.deepEqual([totalGpus(V({ least: 3, most: 5 }), "inference").all, totalGpus(V({ least: 0 }), "inference").all, totalGpus(V({ least: 0, initial: 2 }), "inference").all], [3, 1, 2]);
  const line = (w, ...more) => commandOf(w, "inference", "p", ...more).replaceAll(" \\\n  ", " ");
  assert.equal(line(v), "prorata inference submit a1 -p p -i x -g 1 --serving-port container=8000,protocol=http,cluster-local=true --min-replicas 0 --max-replicas 4 --metric vllm:num_requests_running --metric-threshold 20 --scale-to-zero-retention 300s");
  assert.match(line(V({ template: "t-1" }), id => id === "t-1" && "fine tune"), /--template 'fine tune'/);
  assert.equal(line(V({ template: "t-1" })), "", "a template whose name is not known has no words");
});

test("replicas that can't be are said at their field", () => {
  const wrong = more => Object.keys(check(V(more), "inference"));
  assert.deepEqual(wrong({}), []);
  assert.deepEqual(wrong({ least: 3, most: 2 }), ["most"]);
  assert.deepEqual(wrong({ least: 1, most: 2 }), ["metric"]);
  assert.deepEqual(wrong({ most: 2, metric: "m" }), ["threshold"]);
  assert.deepEqual(wrong({ least: -1, most: 0, serving: 0, initial: "x", retention: 4000, metric: "a b", threshold: 1 }), ["serving", "least", "most", "initial", "metric", "retention"]);
  assert.deepEqual(wrong({ least: "" }), ["least"]);
  assert.deepEqual(Object.keys(check(V({ least: 9, most: 1 }), "training")), [], "of inferences only");
});

test("a template fills what it has and no more, and each value says where it comes from", () => {
  const spec = { image: "lab/train:9", environmentVariables: [{ name: "EPOCHS", value: "20" }], compute: { gpuPortionRequest: 0.5, gpuDevicesRequest: 1, gpuRequestType: "portion" } };
  const { values, said } = ofTemplate(spec, { "compute.gpuDevicesRequest": { from: "compute", name: "half-gpu" } }, "nightly");
  assert.deepEqual(values, { image: "lab/train:9", environment: "EPOCHS=20", gpus: 0.5 });
  assert.deepEqual(said, { image: "From template nightly", environment: "From template nightly", gpus: "From compute resource half-gpu" });
  assert.equal(bodyOf(V({ template: "t" }), "training", "c").templateId, "t");
  assert.equal("templateId" in bodyOf(V(), "training", "c"), false);
});

test("a policy's rules are said in words with whose they are, and hold", () => {
  const rules = { image: { required: true, sourceOfRule: { scope: "tenant" } }, compute: { gpuDevicesRequest: { max: 4, sourceOfRule: department }, gpuPortionRequest: { min: 0.25, sourceOfRule: department }, cpuCoreRequest: { canEdit: false, sourceOfRule: { scope: "project" } }, cpuMemoryRequest: { min: "1Gi", max: "8Gi", sourceOfRule: department } }, priorityClass: { options: [{ value: "low" }, { value: "medium" }], sourceOfRule: department }, completions: { min: 2, step: 2 } };
  const said = more => ruledFields({ rules }, "training", V(more), PROJECT);
  const words = Object.fromEntries(Object.entries(said()).map(([key, { whose, text, locked }]) => [key, `${whose}: ${text}${locked ? "!" : ""}`]));
  assert.deepEqual(words, {
    image: "Policy of the tenant: required",
    gpus: "Policy of department research: at most 4",
    cpu: "Policy of project vision: fixed!",
    memory: "Policy of department research: 1Gi to 8Gi",
    priority: "Policy of department research: one of low, medium",
    completions: "Policy of an administrator: at least 2, in steps of 2",
  });
  assert.equal(said({ gpus: 0.1 }).gpus.text, "at least 0.25");
  const broken = more => Object.keys(brokenRules(V(more), said(more)));
  const good = { memory: "4Gi", priority: "low", completions: 4 };
  assert.deepEqual(broken(good), []);
  assert.deepEqual(broken({ ...good, gpus: 4 }), []);
  assert.deepEqual(broken({ ...good, gpus: 5, image: "", memory: "512M", priority: "high", completions: 3 }), ["image", "gpus", "memory", "priority", "completions"]);
  assert.deepEqual(broken({ ...good, memory: "9Gi", gpus: 0.1 }), ["gpus", "memory"]);
  assert.deepEqual(broken({ ...good, priority: "" }), [], "what is left out is the server's default");
  assert.deepEqual(ruledFields(null, "training", V(), PROJECT), {});
});

test("defaults go where nobody typed, and into locked fields always", () => {
  const start = V({ gpus: 1 }), policy = { defaults: { image: "lab/base:1", compute: { gpuDevicesRequest: 2, cpuCoreRequest: 4 } }, rules: { compute: { cpuCoreRequest: { canEdit: false } } } };
  const first = withDefaults(V({ image: "mine", gpus: 1 }), { ...start, image: "" }, { ...start, image: "" }, policy, "training");
  assert.deepEqual(first.values, { gpus: 2, cpu: 4 }, "the typed image stays");
  const second = withDefaults(V({ gpus: 2, cpu: 4 }), first.given, start, {}, "training");
  assert.deepEqual(second.values, { gpus: 1, cpu: "" }, "another project's policy takes them back");
  const copied = withDefaults(V({ gpus: 1, cpu: 8 }), {}, {}, policy, "training");
  assert.deepEqual(copied.values, { cpu: 4 }, "a copy is as it was, but for what is locked");
  const adding = { defaults: { environmentVariables: { instances: [{ name: "LAB", value: "1" }] } } };
  assert.deepEqual([addedVariables(adding, "training"), addedVariables(adding, "distributed"), withDefaults(start, start, start, adding, "training").values], [["LAB"], [], {}], "what the policy adds is not typed in");
  const worker = { defaults: { worker: { numWorkers: 3 }, master: { image: "m" } }, rules: null };
  assert.deepEqual(withDefaults(start, start, start, worker, "distributed").values, { workers: 3 });
});

test("what a policy refuses is found by its own names and by a submission's", () => {
  for (const path of ["compute.gpuDevicesRequest", "spec.compute.gpuDevicesRequest", "worker.compute.gpuDevicesRequest", "compute"]) assert.equal(PATHS[path], "gpus");
  assert.deepEqual([PATHS["autoscaling.maxReplicas"], PATHS["spec.servingPort.container"], PATHS["spec.exposedUrls"], PATHS.projectId], ["most", "serving", "spec.exposedUrls", "project"]);
});
