import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "../load.mjs";

const { changes, checkRows, division, resourcesOf, rowsOf } = await load("pictures/quota_form");
const { goSeconds } = await load("format");
const { boundsOfProject, isOverPools, raised, raisesOf, warnings } = await load("pictures/promises");
const { checkRules: checkUnitRules, goText, inheritedInWords, knownTypes, limitsOf, nodeTypesOf, rulesOf, unitInWords, valuesOfRules } = await load("pictures/unit_rules");
const { budgetInWords, budgetPeople } = await load("pictures/budget");
const { byPool, poolNames, sorted, standardPools, startPools, typeChoice } = await load("pictures/choices");
const { shellWords: words } = await load("pictures/shell_words");
const { EMPTY, bodyOf, check, copyName, gpusTyped, totalGpus, valuesOf } = await load("pictures/submission");
const { commandOf } = await load("pictures/submission_command");

const V = more => ({ ...EMPTY, name: "a1", project: "4", image: "quickstart", cpu: "", memory: "", ...more });

test("a training's body holds what was said and nothing else", () => {
  assert.deepEqual(bodyOf(V(), "training", "c"), { name: "a1", projectId: "4", clusterId: "c", spec: { image: "quickstart", compute: { gpuDevicesRequest: 1 } } });
});

test("a part of a GPU is a portion of one device", () => {
  assert.deepEqual(bodyOf(V({ gpus: 0.5 }), "training", "c").spec.compute, { gpuDevicesRequest: 1, gpuRequestType: "portion", gpuPortionRequest: 0.5 });
  assert.deepEqual(bodyOf(V({ gpus: 0 }), "training", "c").spec.compute, { gpuDevicesRequest: 0 });
});

test("replicas at the start that are half typed count as the least", () => {
  assert.deepEqual(["x", "", "0", 3].map(initial => totalGpus(V({ least: 2, initial }), "inference").all), [2, 2, 0, 3]);
});

for (const [typed, means] of [["50%", 0.5], ["7 %", 0.07], ["12.5%", 0.125], ["100%", 1], ["5", "5"], [2, 2], ["%", "%"], ["", ""]])
  test(`GPUs typed as ${JSON.stringify(typed)} are ${JSON.stringify(means)}`, () => assert.equal(gpusTyped(typed), means));

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

// [the text of the form, what stands behind --]; the shell hands on the words that the server splits the text into.
for (const [text, line] of [
  ["sh -c 'echo a; ls | wc'", "sh -c 'echo a; ls | wc'"],
  ['sh -c "echo \\"$HOME\\" > /tmp/x"', `sh -c 'echo "$HOME" > /tmp/x'`],
  ["python train.py; ls", "python 'train.py;' ls"],
  ["a\\ b  c\n--d=*", "'a b' c '--d=*'"],
  ["echo ''", "echo ''"],
  ["it's open", "'it'\\''s open'"],
])
  test(`the command line quotes ${text}`, () => {
    assert.equal(commandOf(V({ command: text }), "training", "p").split(" -- ")[1], line);
    if (!text.includes("it's")) assert.deepEqual(words(line), words(text), "a shell hears the same words");
  });

const BAD = [
  ["no name", { name: "" }, "training", "name"], ["capitals", { name: "A1" }, "training", "name"], ["a dash last", { name: "a-" }, "training", "name"], ["a digit first", { name: "1a" }, "training", "name"], ["too long", { name: "a".repeat(64) }, "training", "name"],
  ["no project", { project: "" }, "training", "project"], ["no image", { image: "" }, "training", "image"], ["no number", { gpus: "x" }, "training", "gpus"], ["less than nothing", { gpus: -1 }, "training", "gpus"], ["one and a half", { gpus: 1.5 }, "training", "gpus"], ["finer than a hundredth", { gpus: 0.005 }, "training", "gpus"],
  ["an amount of nothing", { memory: "much" }, "training", "memory"], ["no worker", { workers: 0 }, "distributed", "workers"], ["no run", { completions: 0 }, "training", "completions"], ["half a retry", { backoff: 0.5 }, "training", "backoff"], ["a variable without a name", { environment: "=1" }, "workspace", "environment"],
  ["a point of memory", { memory: "." }, "training", "memory"], ["less memory than asked for", { memory: "4Gi", "spec.compute.cpuMemoryLimit": "1G" }, "training", "spec.compute.cpuMemoryLimit"], ["fewer cores than asked for", { cpu: 2, "spec.compute.cpuCoreLimit": 1 }, "training", "spec.compute.cpuCoreLimit"],
  ["a device without a number", { "spec.compute.extendedResources": "lab/fpga=" }, "training", "spec.compute.extendedResources"], ["a toleration of nothing", { "spec.tolerations": [{ values: { operator: "Equal", key: "" }, was: {} }] }, "training", "spec.tolerations"],
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
const RESOURCES = [{ nodePool: { id: "1", name: "default" }, gpu: { deserved: 2, limit: null, overQuotaWeight: 2 }, cpu: { deserved: 4000, limit: 8000, overQuotaWeight: 1 }, memory: { deserved: 65536, limit: null, overQuotaWeight: 1, units: "Mib" }, priority: "High" }];
const ROW = { id: "2", name: "h100", quota: 0, exceed: true, weight: 2, rank: "MediumLow", limit: "", cpu: "", memory: "" };
const DEFAULT = { ...ROW, id: "1", name: "default", quota: 2, rank: "High", cpu: 4, memory: "64Gi" };
const row = more => rowsOf([POOLS[0]], [{ ...RESOURCES[0], ...more }], "MediumLow")[0];

test("the quota form starts from what is there, and new pools from nothing; pools without GPUs come last", () => {
  assert.deepEqual(rowsOf(POOLS, RESOURCES, "MediumLow"), [DEFAULT, ROW]);
  assert.deepEqual(rowsOf(POOLS, [], "MediumLow", { h100: 8, default: 0 }).map(r => r.name), ["h100", "default"]);
});

test("a limit equal to the quota is the switch that is off, at 0 too", () => {
  assert.deepEqual([row({ gpu: { deserved: 2, limit: 2 } }).exceed, row({ gpu: { deserved: 0, limit: 0 } }).exceed, row({ gpu: { deserved: 2, limit: 3 } }).exceed, row({ gpu: { deserved: 0, limit: null } }).exceed], [false, false, true, true]);
  const [off] = resourcesOf([{ ...DEFAULT, exceed: false, quota: "3" }], RESOURCES);
  assert.deepEqual([off.gpu.limit, off.cpu.limit, off.memory.limit], [3, 4000, 65536]);
  const [on] = resourcesOf([{ ...DEFAULT, exceed: true }], [off]);
  assert.deepEqual([on.gpu.limit, on.cpu.limit, on.memory.limit], [null, null, null]);
});

test("CPU and memory that weren't touched stay as they were", () => {
  const [first] = resourcesOf(rowsOf(POOLS, RESOURCES, "MediumLow"), RESOURCES);
  assert.deepEqual([first.cpu, first.memory, first.priority, first.gpu.limit], [RESOURCES[0].cpu, RESOURCES[0].memory, "High", null]);
});

test("memory is read and written in the units that it has", () => {
  const texts = [["MB", 64000, "64G"], ["MB", 512, "512M"], ["GB", 2, "2G"], ["Mib", 4096, "4Gi"], ["Mib", 100, "100Mi"], ["MB", null, ""]];
  for (const [units, deserved, text] of texts) assert.equal(row({ memory: { deserved, units } }).memory, text);
  for (const [text, deserved, units] of [["64G", 64000, "MB"], ["1Ti", 1048576, "Mib"], ["0", 0, "MB"], ["", null, "MB"]]) {
    const [{ memory }] = resourcesOf([{ ...ROW, memory: text }]);
    assert.deepEqual([memory.deserved, memory.units, memory.limit], [deserved, units, null], text);
  }
});

test("what a save changes is said", () => {
  const before = rowsOf(POOLS, RESOURCES, "MediumLow");
  assert.deepEqual(changes(before, before), []);
  assert.deepEqual(changes(before, [{ ...before[0], quota: "4", limit: "8", cpu: "", memory: "1G" }, { ...before[1], exceed: false }]), ["default: 2 → 4, limit none → 8, CPU 4 → unlimited, memory 64Gi → 1G", "h100: may not exceed its quota"]);
});

test("a quota is a number, a limit at least the quota", () => {
  for (const [more, field] of [[{ quota: "" }, "quota-2"], [{ quota: "x" }, "quota-2"], [{ quota: -1 }, "quota-2"], [{ weight: "" }, "weight-2"], [{ quota: 2, limit: "1" }, "limit-2"], [{ limit: "x" }, "limit-2"], [{ cpu: "x" }, "cpu-2"], [{ memory: "much" }, "memory-2"], [{ memory: "-1G" }, "memory-2"]]) assert.ok(checkRows([{ ...ROW, ...more }])[field], JSON.stringify(more));
  assert.deepEqual(checkRows([{ ...ROW, quota: "0.5", limit: "2", cpu: "1.5", memory: "4Gi" }, { ...ROW, quota: 4, exceed: false, limit: "1" }]), {});
});

test("rules are durations, and only those that are set are sent", () => {
  const values = valuesOfRules({ trainingJobTimeLimitSeconds: 129600, reclaimMinRuntimeSeconds: 0 });
  assert.deepEqual(rulesOf(values), { trainingJobTimeLimitSeconds: 129600, reclaimMinRuntimeSeconds: 0 });
  assert.deepEqual([values["rule-trainingJobTimeLimitSeconds"], values["rule-reclaimMinRuntimeSeconds"], values["rule-interactiveJobTimeLimitSeconds"]], ["1d12h", "0", null]);
  for (const seconds of [1, 59, 60, 3661, 86400, 90061]) assert.equal(goSeconds(goText(seconds)), seconds);
  for (const text of ["", "soon", "0", "0.5s", "-1h"]) assert.ok(checkUnitRules({ "rule-trainingJobTimeLimitSeconds": text })["rule-trainingJobTimeLimitSeconds"], text);
  assert.deepEqual(checkUnitRules({ "rule-reclaimMinRuntimeSeconds": "0", "rule-trainingJobTimeLimitSeconds": "1d12h" }), {});
});

test("fairness is a switch with a half-life", () => {
  const fair = { fairAmongPeople: true, fairHalfLifeSeconds: 86400 };
  assert.deepEqual(rulesOf(valuesOfRules(fair)), fair);
  assert.deepEqual(rulesOf(valuesOfRules({ fairAmongPeople: false })), { fairAmongPeople: false });
  assert.equal(valuesOfRules({})["rule-fairAmongPeople"], null);
  for (const text of ["", "30m", "400d"]) assert.ok(checkUnitRules({ "rule-fairHalfLifeSeconds": text })["rule-fairHalfLifeSeconds"], text);
  assert.deepEqual(unitInWords({ schedulingRules: fair }), [["Fair among people", "who has used least goes first"], ["Fair among people: half-life of past use", "1 d"]]);
});

test("bounds on people are numbers, and the nearest counts", () => {
  const bounds = { maxGpusPerPerson: 0.5, maxWorkloadsPerPerson: 1 };
  assert.deepEqual(rulesOf(valuesOfRules(bounds)), bounds);
  for (const [key, texts] of [["maxGpusPerPerson", ["", "-1", "1h", "0.0001", "1e3"]], ["maxWorkloadsPerPerson", ["", "1.5", "x"]]]) for (const text of texts) assert.ok(checkUnitRules({ [`rule-${key}`]: text })[`rule-${key}`], `${key} ${text}`);
  assert.deepEqual(checkUnitRules({ "rule-maxGpusPerPerson": "0", "rule-maxWorkloadsPerPerson": "12" }), {});
  assert.deepEqual(unitInWords({ schedulingRules: bounds }), [["Each person: GPUs at once", "at most 0.5 GPUs"], ["Each person: running workloads", "at most 1 workload"]]);
  assert.deepEqual(inheritedInWords(valuesOfRules({ maxGpusPerPerson: 2 }), { schedulingRules: bounds }, []), ["Inherited until it is said here: Each person: running workloads: at most 1 workload (department)."]);
});

test("budgets are GPU hours and words, and the nearest counts", () => {
  const budgets = { gpuHourBudget: 12000.5, gpuHourBudgetPerPerson: 1, budgetPeriod: "week", budgetEnforcement: "refuse" };
  assert.deepEqual(rulesOf(valuesOfRules(budgets)), budgets);
  assert.deepEqual(valuesOfRules({})["rule-budgetPeriod"], null);
  for (const text of ["", "-1", "1h", "0.0001"]) assert.ok(checkUnitRules({ "rule-gpuHourBudget": text })["rule-gpuHourBudget"], text);
  assert.deepEqual(checkUnitRules({ "rule-gpuHourBudget": "0.125", "rule-budgetPeriod": "week" }), {});
  assert.deepEqual(unitInWords({ schedulingRules: { gpuHourBudget: 5 }, effective: { schedulingRules: { ...budgets, gpuHourBudget: 5 } } }), [["Budget: GPU hours of the project", "at most 5 GPU hours each week"], ["Budget: GPU hours of each person", "at most 1 GPU hour each week, as its department says"], ["Budget: begins again each", "week, as its department says"], ["Budget: when it is used up", "new work is refused, too, as its department says"]]);
  assert.deepEqual(unitInWords({ schedulingRules: { gpuHourBudget: 0 } }), [["Budget: GPU hours of the project", "at most 0 GPU hours each month"]]);
  assert.deepEqual(inheritedInWords(valuesOfRules({ budgetPeriod: "quarter" }), { schedulingRules: budgets }, []), ["Inherited until it is said here: Budget: GPU hours of the project: at most 12\u202f000.5 GPU hours each quarter (department); Budget: GPU hours of each person: at most 1 GPU hour each quarter (department); Budget: when it is used up: new work is refused, too (department)."]);
});

const BUDGET = { gpuHours: 1000, gpuHoursPerPerson: null, period: "month", periodStart: "2026-02-01T00:00:00Z", periodEnd: "2026-03-01T00:00:00Z", enforcement: "wait", usedGpuHours: 812.5, allocatedGpus: 8, isUsedUp: false, usedUpAt: "2026-02-20T23:26:15Z", people: [] };
const PERSON = { name: "ann", usedGpuHours: 200, allocatedGpus: 2, isUsedUp: true, usedUpAt: null };
test("what is used of a budget is a sentence, and what follows another", () => {
  const words = more => Object.values(budgetInWords({ ...BUDGET, ...more }));
  assert.deepEqual(words(), ["812.5 of 1000 GPU hours used for February 2026; used up on 20 Feb at this rate.", "", false]);
  assert.deepEqual(words({ usedUpAt: "2026-03-01T00:00:00Z", period: "week", periodStart: "2026-02-23T00:00:00Z" })[0], "812.5 of 1000 GPU hours used for the week from 23 Feb.");
  assert.deepEqual(words({ gpuHours: 1, isUsedUp: true, usedUpAt: null, period: "quarter", periodStart: "2026-01-01T00:00:00Z" }), ["812.5 of 1 GPU hour used for the quarter from January 2026.", "Used up: work beyond the quota waits until 1 Mar (UTC).", true]);
  assert.equal(words({ isUsedUp: true, usedUpAt: null, enforcement: "refuse" })[1], "Used up: work beyond the quota waits until 1 Mar (UTC); new work that asks for GPUs is refused.");
  assert.deepEqual(words({ gpuHours: null, gpuHoursPerPerson: 12000, people: [PERSON] }), ["Each person may use 12\u202f000 GPU hours in February 2026.", "1 person has used up theirs: work beyond the quota waits until 1 Mar (UTC).", true]);
});

test("of a budget's people those who used most come first, ten of them", () => {
  const people = Array.from({ length: 12 }, (_, i) => ({ ...PERSON, name: `p${i}`, usedGpuHours: i, isUsedUp: i > 10, usedUpAt: i === 10 ? "2026-02-20T23:26:15Z" : null }));
  const shown = budgetPeople({ ...BUDGET, gpuHoursPerPerson: 11, people });
  assert.deepEqual([shown.people.length, shown.more, shown.people.slice(0, 3).map(p => [p.name, p.usedUp])], [10, 2, [["p11", "yes"], ["p10", "20 Feb"], ["p9", ""]]]);
});

test("node types: a list of its own, else the department's", () => {
  assert.deepEqual(nodeTypesOf({ "types-training": ["a100"], "types-workspace": [] }, { names: { a100: "A100 40 GB" } }), { training: ["a100"], names: { a100: "A100 40 GB" } });
  assert.deepEqual(nodeTypesOf({ "types-training": [], "types-workspace": [] }, { names: {} }), {});
  assert.deepEqual(knownTypes([{ prorata: { labels: { "run.ai/type": "v100" } } }, { prorata: { labels: { "run-ai/node-type": "a100", "run.ai/type": "v100" } } }, {}]), ["a100", "v100"]);
  assert.deepEqual(unitInWords({ defaultNodePools: ["a", "b"], schedulingRules: { trainingJobTimeLimitSeconds: 3600, preemptMinRuntimeSeconds: 0 }, nodeTypes: { workspace: ["x"], names: { x: "X" } } }), [["Node pools, in this order", "a, b"], ["Training: time limit", "at most 1 h"], ["Not stopped for the same project", "no protection"], ["Workspaces: node types", "X"]]);
});

test("what is inherited is said with whose it is: the stricter limit, the nearest minimum run time", () => {
  const pools = [{ name: "h100", schedulingConfiguration: { minGuaranteedRuntime: "30m" } }, { name: "a100" }],
    above = { schedulingRules: { trainingJobTimeLimitSeconds: 3600, preemptMinRuntimeSeconds: 0 } };
  const nothing = valuesOfRules({});
  assert.deepEqual(inheritedInWords(nothing, above, pools), ["Of the department, the stricter counts: Training: time limit: at most 1 h.", "Inherited until it is said here: Not stopped for the same project: no protection (department); Not stopped for other projects: 30 min in h100 (node pool)."]);
  assert.deepEqual(inheritedInWords(valuesOfRules({ preemptMinRuntimeSeconds: 1, reclaimMinRuntimeSeconds: 1 }), above, pools).length, 1);
  assert.deepEqual(inheritedInWords(nothing, null, [{ name: "a100" }]), []);
  const effective = { schedulingRules: { trainingJobTimeLimitSeconds: 3600, preemptMinRuntimeSeconds: 60 } };
  assert.deepEqual(unitInWords({ schedulingRules: { preemptMinRuntimeSeconds: 60 }, effective }, pools), [["Training: time limit", "at most 1 h, as its department says"], ["Not stopped for the same project", "for 1 min after its start"], ["Not stopped for other projects", "30 min in h100, as the node pool says"]]);
});

const unitOf = (name, parentId, deserved, held = 0) => ({ id: name, name, parentId, resources: [{ nodePool: { id: "2", name: "h100" }, gpu: { deserved } }], status: { nodePoolQuotaStatuses: [{ nodePoolName: "h100", nodePoolId: "2", allocated: { gpu: held } }] } });
test("a save that promises more than there is says so, with who gives back", () => {
  const projects = [unitOf("vision", "d", 2, 2), unitOf("speech", "d", 2, 5), unitOf("fraud", "e", 2, 3)], department = unitOf("d", null, 4);
  const others = projects.slice(1), before = [{ ...ROW, quota: 2 }];
  const ask = quota => warnings({ name: "vision", before, after: [{ ...ROW, quota }], boundsOf: r => boundsOfProject(r, "vision", department, projects, { h100: 8 }), projects: others, heldIn: () => 2 });
  assert.deepEqual([ask(2), ask(1)], [[], []], "what isn't raised takes nothing");
  assert.deepEqual(ask(3), ["h100: 5 GPUs of quota in all, and department d has a quota of 4: 1 too many.", "vision holds 2 GPUs in h100 today. Others borrow 4 GPUs there and give them back when it asks: speech 3, fraud 1."]);
  assert.equal(ask(9999).length, 3);
  assert.deepEqual(warnings({ name: "d", before: [{ ...ROW, quota: 8 }], after: [{ ...ROW, quota: 3 }], boundsOf: () => [], projects: [], children: projects.slice(0, 2) }), ["h100: its projects have 4 GPUs of quota, 1 more than 3."]);
  assert.deepEqual(boundsOfProject(ROW, "vision", department, projects, {}).map(b => b.what), ["Quota of department d"], "a pool whose GPUs aren't known bounds nothing");
});

test("a department's quota that is too small can be raised along, and what 0 means is said", () => {
  const projects = [unitOf("speech", "d", 2), unitOf("fraud", "e", 2)], before = [{ ...ROW, quota: 0 }];
  const of = (deserved, more) => { const d = unitOf("d", null, deserved); Object.assign(d.resources[0].gpu, more); return d; };
  const bounds = department => r => boundsOfProject(r, "vision", department, projects, { h100: 8 });
  const raises = (quota, department) => raisesOf(before, [{ ...ROW, quota }], bounds(department)).map(r => [r.department.id, r.pool.name, r.to, raised(r)[0].gpu]);
  assert.deepEqual(raises(4, of(0, { limit: null, overQuotaWeight: 3 })), [["d", "h100", 6, { deserved: 6, limit: null, overQuotaWeight: 3 }]]);
  assert.deepEqual(raises(4, of(4, { limit: 5 })), [["d", "h100", 6, { deserved: 6, limit: 6 }]], "the limit goes along");
  assert.deepEqual(raises(4, of(4, { limit: 9 })), [["d", "h100", 6, { deserved: 6, limit: 9 }]]);
  assert.deepEqual([raises(2, of(4)), raises(0, of(0)), raises(9, of(-1)), raises(9, null)], [[], [], [], []], "enough, not raised, unlimited, departments off");
  assert.deepEqual([4, 5].map(quota => isOverPools(before, [{ ...ROW, quota }], bounds(of(0)))), [false, true], "others have 4 of the pool's 8");
  const said = deserved => warnings({ name: "vision", before, after: [{ ...ROW, quota: 3 }], boundsOf: bounds(of(deserved)), projects: [] });
  assert.match(said(0)[1], /with 0 in h100 it never starts there\.$/);
  assert.deepEqual([said(1).filter(s => /never starts/.test(s)), said(5)], [[], []], "nothing is wrong: nothing is said");
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

test("a node type reaches the body, the command line and a copy", () => {
  const values = V({ nodeType: "a100" }), body = bodyOf(values, "workspace", "c");
  assert.equal(body.spec.nodeType, "a100");
  assert.match(commandOf(values, "workspace", "p"), /--node-type a100$/);
  assert.deepEqual(bodyOf(valuesOf(body, "a1"), "workspace", "c"), body);
});

const inPools = (quota, held = {}) => ({ resources: Object.entries(quota).map(([name, deserved]) => ({ nodePool: { id: name, name }, gpu: { deserved, limit: null } })), status: { nodePoolQuotaStatuses: Object.entries(quota).map(([name]) => ({ nodePoolName: name, nodePoolId: name, allocated: { gpu: held[name] ?? 0 } })) } });
test("a form starts with a pool that has GPUs", () => {
  const pools = [{ name: "default", isDefault: true }, { name: "a100" }, { name: "h100" }], unknown = { free: null, total: null }, all = { free: { default: 0, a100: 3, h100: 19 }, total: { default: 0, a100: 8, h100: 64 } };
  assert.deepEqual(startPools(inPools({ default: 0, a100: 4, h100: 8 }, { h100: 8 }), pools, all, true), ["a100"], "where quota is left");
  assert.deepEqual(startPools(inPools({ default: 0, a100: 0, h100: 0 }), pools, all, true), ["h100"], "without quota, where most is free");
  assert.deepEqual(startPools(inPools({ default: 0, a100: 4 }), pools, all, false), [], "who wants no GPU needs no such pool");
  assert.deepEqual(startPools(inPools({ default: 0, a100: 4 }), pools, { ...all, total: { ...all.total, default: 4 } }, true), [], "the standard pool has some");
  assert.deepEqual(startPools({ ...inPools({ default: 0, a100: 4, h100: 4 }), defaultNodePools: ["h100"] }, pools, all, true), [], "the project's own order has some");
  assert.deepEqual(startPools(inPools({ default: 0, a100: 4 }), null, unknown, true), ["a100"], "who may not read pools sees the project's");
  assert.deepEqual(startPools(inPools({ default: 0, a100: 0 }), null, unknown, true), [], "nothing is known");
});

test("what a form offers: the project's pools, node types, sizes in order", () => {
  assert.deepEqual([poolNames(inPools({ default: 0, h100: 8 }), null), poolNames(undefined, null), poolNames(inPools({ x: 1 }), [{ name: "h100" }])], [["default", "h100"], [], ["h100"]]);
  const project = { effective: { nodeTypes: { training: ["t1"], workspace: [], names: { t1: "A100" } } } };
  assert.deepEqual(typeChoice(project, "distributed", ["v100"]), { list: ["t1"], options: [{ value: "t1", label: "A100" }] });
  assert.deepEqual(typeChoice(project, "workspace", ["v100"]).options, [{ value: "v100", label: "v100" }]);
  const asset = (name, spec) => ({ meta: { name }, spec });
  assert.deepEqual(sorted([asset("two-gpus", { gpuDevicesRequest: 2 }), asset("one-gpu-10", { gpuDevicesRequest: 1 }), asset("one-gpu-2", { gpuDevicesRequest: 1 }), asset("half-gpu", { gpuDevicesRequest: 1, gpuRequestType: "portion", gpuPortionRequest: 0.5 }), asset("cpu-only", {})]).map(c => c.meta.name), ["cpu-only", "half-gpu", "one-gpu-2", "one-gpu-10", "two-gpus"]);
  assert.deepEqual(byPool({ values: [{ value: "19", groups: [{ key: "Nodepool", value: "h100" }] }] }), { h100: 19 });
  assert.deepEqual([limitsOf({ trainingJobTimeLimitSeconds: 3600, interactiveJobMaxIdleDurationSeconds: 60 }, false, false), limitsOf({ interactiveJobMaxIdleDurationSeconds: 60, interactiveJobPreemptIdleDurationSeconds: 30 }, true, true), limitsOf({}, true, true)], ["after 1 h", "after 1 min with idle GPUs", ""]);
});

test("a weight has the documents' word, where they have one", async () => {
  const { weightWord } = await load("words");
  assert.deepEqual([0, 1, 2, 3, "0", "3", "", "2.5", 4, "x"].map(weightWord), ["lowest", "low", "medium", "high", "lowest", "high", "", "", "", ""]);
});
