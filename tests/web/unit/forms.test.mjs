import assert from "node:assert/strict";
import { test } from "node:test";
import { changes, checkRows, division, resourcesOf, rowsOf } from "../../../web/pictures/quota_form.js";
import { EMPTY, bodyOf, check, commandOf, copyName, standardPools, totalGpus, valuesOf } from "../../../web/pictures/submission.js";

const V = more => ({ ...EMPTY, name: "a1", project: "4", image: "quickstart", cpu: "", memory: "", ...more });

test("a training's body holds what was said and nothing else", () => {
  assert.deepEqual(bodyOf(V(), "training", "c"), { name: "a1", projectId: "4", clusterId: "c", spec: { image: "quickstart", compute: { gpuDevicesRequest: 1 } } });
});

test("a part of a GPU is a portion of one device", () => {
  assert.deepEqual(bodyOf(V({ gpus: 0.5 }), "training", "c").spec.compute, { gpuDevicesRequest: 1, gpuRequestType: "portion", gpuPortionRequest: 0.5 });
  assert.deepEqual(bodyOf(V({ gpus: 0 }), "training", "c").spec.compute, { gpuDevicesRequest: 0 });
});

test("a distributed training has workers and a master of the same size", () => {
  const body = bodyOf(V({ workers: 7, framework: "PyTorch" }), "distributed", "c");
  assert.deepEqual([body.masterSpecSameAsWorker, body.spec.numWorkers, body.spec.distributedFramework], [true, 7, "PyTorch"]);
  assert.deepEqual(totalGpus(V({ workers: 7 }), "distributed"), { pods: 8, each: 1, all: 8 });
});

test("all fields reach the body", () => {
  const { spec } = bodyOf(V({ command: "python", args: "train.py --lr 1", workingDir: "/w", environment: "A=1\nB=x=y\n", cpu: 0.5, memory: "4Gi", shm: true, pools: ["a100", "h100"], priority: "high", preemptibility: "non-preemptible", backoff: 2, completions: 12, parallelism: 4 }), "training", "c");
  assert.deepEqual(spec, { image: "quickstart", command: "python", args: "train.py --lr 1", workingDir: "/w", environmentVariables: [{ name: "A", value: "1" }, { name: "B", value: "x=y" }], compute: { gpuDevicesRequest: 1, cpuCoreRequest: 0.5, cpuMemoryRequest: "4Gi", largeShmRequest: true }, nodePools: ["a100", "h100"], priorityClass: "high", preemptibility: "non-preemptible", backoffLimit: 2, completions: 12, parallelism: 4 });
});

test("the command line says the same", () => {
  assert.equal(commandOf(V({ gpus: 2, pools: ["a100"], args: "train.py --lr 1", environment: "A=x y" }), "training", "team-a").replaceAll(" \\\n  ", " "), "prorata training submit a1 -p team-a -i quickstart -g 2 --node-pools a100 -e 'A=x y' -- train.py --lr 1");
  assert.match(commandOf(V({ workers: 7 }), "distributed", "team-a"), /^prorata training pytorch submit a1 .*--workers 7/s);
  assert.match(commandOf(V({ gpus: 0.5, command: "bash" }), "workspace", "it's"), /-p 'it'\\''s'.*-g 1 --gpu-portion-request 0\.5.*--command -- bash/s);
});

const BAD = [
  ["no name", { name: "" }, "training", "name"], ["capitals", { name: "A1" }, "training", "name"], ["a dash last", { name: "a-" }, "training", "name"], ["a digit first", { name: "1a" }, "training", "name"], ["too long", { name: "a".repeat(64) }, "training", "name"],
  ["no project", { project: "" }, "training", "project"], ["no image", { image: "" }, "training", "image"], ["no number", { gpus: "x" }, "training", "gpus"], ["less than nothing", { gpus: -1 }, "training", "gpus"], ["one and a half", { gpus: 1.5 }, "training", "gpus"], ["finer than a hundredth", { gpus: 0.005 }, "training", "gpus"],
  ["an amount of nothing", { memory: "much" }, "training", "memory"], ["no worker", { workers: 0 }, "distributed", "workers"], ["no run", { completions: 0 }, "training", "completions"], ["half a retry", { backoff: 0.5 }, "training", "backoff"], ["a variable without a name", { environment: "=1" }, "workspace", "environment"],
];
for (const [name, more, kind, field] of BAD) test(`refused before it is sent: ${name}`, () => assert.ok(check(V(more), kind)[field]));
test("what is right is not refused", () => {
  for (const kind of ["training", "distributed", "workspace"]) assert.deepEqual(check(V({ gpus: 0.25, memory: "100M", environment: "A=" }), kind), {});
});

test("a copy has the same specification under a new name", () => {
  const values = V({ gpus: 0.5, environment: "A=1", pools: ["h100"], priority: "low", completions: 3 });
  const body = bodyOf(values, "training", "c");
  assert.deepEqual(bodyOf(valuesOf(body, "a1"), "training", "c"), body);
  assert.deepEqual(["a1", "a1-copy", "a1-copy-2"].map(copyName), ["a1-copy", "a1-copy-2", "a1-copy-3"]);
});

const POOLS = [{ id: "1", name: "default" }, { id: "2", name: "h100" }];
const RESOURCES = [{ nodePool: { id: "1", name: "default" }, gpu: { deserved: 2, limit: null, overQuotaWeight: 2 }, cpu: { deserved: 4000, limit: null }, memory: { deserved: null, limit: null, units: "MB" }, priority: "High" }];

test("the quota form starts from what is there, and new pools from nothing", () => {
  assert.deepEqual(rowsOf(POOLS, RESOURCES, "MediumLow"), [{ id: "1", name: "default", quota: 2, weight: 2, rank: "High", limit: "" }, { id: "2", name: "h100", quota: 0, weight: 2, rank: "MediumLow", limit: "" }]);
});

test("saving keeps CPU and memory as they were", () => {
  const [first] = resourcesOf(rowsOf(POOLS, RESOURCES, "MediumLow"), RESOURCES);
  assert.deepEqual([first.cpu, first.memory, first.priority, first.gpu.limit], [RESOURCES[0].cpu, RESOURCES[0].memory, "High", null]);
});

test("what a save changes is said", () => {
  const before = rowsOf(POOLS, RESOURCES, "MediumLow");
  assert.deepEqual(changes(before, before), []);
  assert.deepEqual(changes(before, [{ ...before[0], quota: "4", limit: "8" }, before[1]]), ["default: 2 → 4, limit none → 8"]);
});

test("a quota is a number, a limit at least the quota", () => {
  const [row] = rowsOf(POOLS, RESOURCES, "MediumLow");
  for (const [more, field] of [[{ quota: "" }, "quota-1"], [{ quota: "x" }, "quota-1"], [{ quota: -1 }, "quota-1"], [{ weight: "" }, "weight-1"], [{ limit: "1" }, "limit-1"], [{ limit: "x" }, "limit-1"]]) assert.ok(checkRows([{ ...row, ...more }])[field], JSON.stringify(more));
  assert.deepEqual(checkRows([{ ...row, quota: "0.5", limit: "2" }]), {});
});

test("a pool's division says what is promised beyond it", () => {
  assert.deepEqual(division(8, 6, 4), { total: 8, others: 6, mine: 4, free: 0, over: 2, top: 10 });
  assert.equal(division(8, 2, 4).free, 2);
});

test("where a workload goes that names no node pools", () => {
  const pools = [{ name: "a100" }, { name: "default", isDefault: true }];
  assert.deepEqual(standardPools({ effective: { defaultNodePools: ["h100", "a100"] }, defaultNodePools: null }, pools), ["h100", "a100"]);
  assert.deepEqual(standardPools({ effective: {}, defaultNodePools: ["a100"] }, pools), ["a100"]);
  assert.deepEqual(standardPools({ effective: { defaultNodePools: null }, defaultNodePools: [] }, pools), ["default"]);
  assert.deepEqual([standardPools(undefined, pools), standardPools(undefined, [])], [["default"], ["default"]]);
});
