// What pages make of the scheduler's answers: verdicts, fixes as forms, cells, receipts joined, the way through a tree.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "../load.mjs";

const { forecast } = await load("format");
const { withAddress } = await load("pictures/quota_form");
const { cellsOf, closed, hrefOfFix, isExpected, joinReceipts, pathTo, quotaForms, valuesOfFix, valuesOfQuery, verdictOf } = await load("pictures/what_if");
const { gaveWay } = await load("words");

const NOW = Date.UTC(2026, 10, 21, 12);

for (const [verdict, kind, tone, short] of [
  ["Starts", "now", "ok", "Starts at once"],
  ["StartsAfterRelease", "decided", "info", "Starts when a place is free"],
  ["StartsByEviction", "decided", "info", "Starts, others give way"],
  ["Waits", "unknown", "warn", "Waits"],
  ["Waits", "never", "bad", "Not as asked"],
  ["SomethingNew", "unknown", "warn", "Waits"],
]) test(`the verdict ${verdict}, ${kind}, is said as ${short}`, () => {
  const said = verdictOf({ verdict, forecast: { kind } });
  assert.deepEqual([said.tone, said.short], [tone, short]);
});

for (const [f, expected, text] of [
  [null, false, "–"], [{ kind: "unknown", at: null }, false, "–"], [{ kind: "rule", at: null }, false, "–"],
  [{ kind: "never" }, true, "not as asked"], [{ kind: "now" }, true, "now"], [{ kind: "decided", at: null }, true, "decided"], [{ kind: "decided", at: new Date(NOW + 22000).toISOString() }, true, "in 22 s"],
]) test(`a forecast ${JSON.stringify(f)} is ${expected ? "said" : "left out"}`, () => {
  assert.equal(isExpected(f), expected);
  if (f?.kind !== "rule") assert.equal(forecast(f, NOW), text);
});

for (const [fix, kind, values, query] of [
  [{ kind: "FewerGpus", change: { gpuDevicesRequest: 2 } }, "training", { gpus: 2 }, "gpus=2"],
  [{ kind: "OtherNodePool", change: { nodePools: ["a100"] } }, "training", { pools: ["a100"] }, "pools=a100"],
  [{ kind: "OtherPreemptibility", change: { preemptibility: "preemptible" } }, "workspace", { preemptibility: "preemptible" }, "preemptibility=preemptible"],
  [{ kind: "OtherPriority", change: { priority: 90 } }, "training", { priority: "medium-high" }, "priority=medium-high"],
  [{ kind: "FewerPods", change: { pods: 4 } }, "distributed", { workers: 3 }, "workers=3"],
  [{ kind: "FewerPods", change: { pods: 4 } }, "training", { parallelism: 4 }, "parallelism=4"],
]) test(`the fix ${fix.kind} fills the form of a ${kind}, and its address says the same`, () => {
  assert.deepEqual(valuesOfFix(fix, kind), values);
  const href = hrefOfFix(fix, kind, "7");
  assert.equal(href, `/workloads/new/${kind}?copy=7&replace=1&${query}`);
  assert.deepEqual(valuesOfQuery(Object.fromEntries(new URL(href, "http://x").searchParams)), values);
});

test("what no form has, no address has", () => {
  assert.equal(hrefOfFix({ kind: "MoreQuota", change: { quotaGpus: 4 } }, "training", "7"), null);
  assert.equal(hrefOfFix({ kind: "OtherPriority", change: { priority: 41 } }, "training", "7"), null);
  assert.equal(hrefOfFix({ kind: "FewerGpus", change: { gpuDevicesRequest: 1 } }, undefined, "7"), null);
  assert.deepEqual(valuesOfQuery({ gpus: "many", pools: "" }), {});
});

test("more quota opens the department's form before the project's", () => {
  const forms = quotaForms({ change: { nodePool: "h 100", project: "language", quotaGpus: 40, limitGpus: null, department: "research", departmentQuotaGpus: 64, departmentLimitGpus: 80 } }, { projectId: "3", departmentId: "2" });
  assert.deepEqual(forms.map(f => f.href), ["/departments/2/edit?pool=h%20100&quota=64&limit=80", "/projects/3/edit?pool=h%20100&quota=40&limit="]);
});

test("an address fills the quota of its pool alone", () => {
  const rows = [{ name: "h100", quota: 8, limit: 12 }, { name: "a100", quota: 4, limit: "" }];
  assert.deepEqual(withAddress(rows, { pool: "h100", quota: "40", limit: "" }), [{ name: "h100", quota: "40", exceed: true, limit: "" }, rows[1]]);
  assert.deepEqual(withAddress(rows, {}), rows);
});

const device = (...shares) => ({ state: shares.length ? "allocated" : "free", workloads: shares.map(([id, share]) => ({ id, share, projectId: "1" })) });
const looks = cells => cells.map(c => c.state === "new" ? `new ${c.share}` : c.state).join(", ");
for (const [what, devices, asked, givesWay, wanted] of [
  ["free devices first", [device(["a", 1]), device(), device()], 2, [], "held, new 1, new 1"],
  ["then those of who gives way", [device(["a", 1]), device(["b", 1]), device()], 2, ["a"], "new 1, held, new 1"],
  ["a part joins the fullest device with room", [device(), device(["a", 0.5]), device(["b", 0.75])], 0.5, [], "free, new 0.5, held"],
  ["none on what is down", [{ state: "down", workloads: [] }, device()], 2, [], "down, new 1"],
]) test(`what a request takes of a node: ${what}`, () => assert.equal(looks(cellsOf(devices, asked, new Set(givesWay))), wanted));

test("the receipts of one decision are one, with its pods and nodes", () => {
  const receipt = (id, node, more = {}) => ({ id, time: "t1", action: "reclaim", workloadId: "w", beneficiaryId: "b", gpus: 8, node, lostSeconds: 60, moved: false, ...more });
  const [one, two, ...rest] = joinReceipts([receipt("3", "n1"), receipt("2", "n2", { lostSeconds: 90 }), receipt("1", "n1", { time: "t0" })]);
  assert.deepEqual([one.id, one.gpus, one.pods, one.nodes, one.lostSeconds, two.id, rest.length], ["3", 16, 2, ["n1", "n2"], 90, "1", 0]);
});

for (const [receipt, text] of [
  [{ lostSeconds: 5340, gpus: 16, beneficiary: "vit-giant", beneficiaryId: "b", beneficiaryProject: "vision", moved: false }, "Stopped after 1 h 29 min and yielded 16 GPUs to vision/vit-giant."],
  [{ lostSeconds: 3, gpus: 1, beneficiary: "another project's workload", beneficiaryId: null, beneficiaryProject: "another project", moved: false }, "Stopped after 3 s and yielded 1 GPU to another project's workload."],
  [{ lostSeconds: 200, gpus: 4, beneficiary: "big", beneficiaryId: "b", beneficiaryProject: "lab", moved: true }, "Moved after 3 min to make room for lab/big."],
  [{ lostSeconds: 60, gpus: 2, beneficiary: null, moved: false }, "Stopped after 1 min and gave back 2 GPUs."],
]) test(`a receipt is said as "${text}"`, () => assert.equal(gaveWay(receipt), text));

test("sentences of the scheduler end as sentences do, and their times are the reader's", () => {
  assert.deepEqual([closed("It waits"), closed("It waits."), closed(null)], ["It waits.", "It waits.", ""]);
  const at = new Date(2026, 10, 21, 9, 5, 7), day = new Date(2026, 10, 20, 9, 5, 7);
  assert.equal(closed(`From ${at.toISOString()} on, the next at ${day.toISOString()}`, at.getTime()), "From 09:05:07 on, the next at 20 Nov 09:05.");
  const close = new Date(at.getTime() + 250), hour = 3600000;
  assert.equal(closed(`It came at ${at.toISOString()}, the next at ${close.toISOString()}`, at.getTime()), "It came at 09:05:07.000, the next at 09:05:07.250.");
  assert.match(closed(`It came at ${at.toISOString()}, the next at ${close.toISOString()}`, at.getTime() + 72 * hour), /^It came at \d+ \w+ 09:05:07.000, the next at \d+ \w+ 09:05:07.250\.$/);
  assert.equal(closed(`Until ${at.toISOString()}, and again: ${at.toISOString()}`, at.getTime()), "Until 09:05:07, and again: 09:05:07.");
});

test("the way through the tree of shares", () => {
  const tree = { kind: "pool", name: "h100", children: [{ kind: "department", name: "a", children: [{ kind: "project", name: "x", children: [] }] }, { kind: "department", name: "x", children: [{ kind: "project", name: "y", children: [] }] }] };
  assert.deepEqual(pathTo(tree, "project", "y").map(n => n.name), ["h100", "x", "y"]);
  assert.deepEqual(pathTo(tree, "department", "x").map(n => n.name), ["h100", "x"]);
  assert.deepEqual(pathTo(tree, "project", "z"), []);
});
