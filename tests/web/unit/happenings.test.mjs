// What happened as facts, from sequences as the server writes them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "../load.mjs";

const { breakBefore, factsIn, pageOf, piecesOf, sentenceOf } = await load("pictures/happenings");
const BEGIN = Date.parse("2026-11-24T13:05:00.000Z");

// Events of a workload, oldest first: [seconds, reason, pod or "", message, node]
let ids = 0;
const events = (workload, rows) => rows.map(([seconds, reason, pod, message, node]) => ({
  id: String(ids++), createdAt: new Date(BEGIN + seconds * 1000).toISOString(), type: "Normal", reason, message, nodeName: node ?? null,
  workloadId: `id-of-${workload}`, workloadName: workload, projectName: "team-a", involvedObject: pod ? { kind: "Pod", name: pod } : { kind: "Workload", name: workload },
}));
const newestFirst = (...lists) => lists.flat().map((e, i) => [e, i]).sort(([a, i], [b, k]) => b.createdAt.localeCompare(a.createdAt) || k - i).map(([e]) => e);
const told = (list, now = BEGIN + 600000) => factsIn(list).map(f => sentenceOf(f, now));

const start = (pod, node, from, took = 0) => [
  [from, "Scheduled", pod, `${pod} was given a place on node ${node} of node pool default`, node],
  [from + took, "Pulled", pod, `The image of ${pod} is present on ${node}`, node],
  [from + took, "Created", pod, `Created the container of ${pod}`, node],
  [from + took, "Started", pod, `Started ${pod} on ${node}`, node],
];
const failure = (pod, at) => [at, "Failed", pod, `${pod} ended with exit code 3: the simulated process failed`, "n1"];

test("the steps of a start are one fact, and an end is told once", () => {
  const list = newestFirst(events("a1", [
    [0, "Submitted", "", "ann@lab.example submitted a1"],
    ...start("a1-0-0", "gpu-h-4", 1, 4),
    [65, "Completed", "a1-0-0", "a1-0-0 ended well", "gpu-h-4"],
    [65, "Completed", "", "a1: Completed"],
  ]));
  assert.deepEqual(told(list), ["completed after 1 min", "started in 4 s on gpu-h-4", "ann@lab.example submitted a1"]);
  assert.deepEqual(factsIn(list).map(f => f.steps.length), [2, 4, 1], "each event is a step of one fact");
});

test("a time in a sentence is the reader's", () => {
  const at = new Date(BEGIN + 60000), two = n => String(n).padStart(2, "0");
  const [waits] = told(newestFirst(events("a1", [[0, "Unschedulable", "", `Starts no sooner than ${at.toISOString()}, as its submitter asked`]])));
  const here = [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(":");
  assert.equal(waits, `waits: starts no sooner than ${here}, as its submitter asked`);
  assert.deepEqual(told(newestFirst(events("a1", [[0, "Unschedulable", "", "Waits for prep to complete"]]))), ["waits for prep to complete"]);
});

test("a start in the making says where it is", () => {
  const rows = start("a1-0-0", "n1", 1, 40);
  assert.deepEqual(told(newestFirst(events("a1", rows.slice(0, 1)))), ["got a place on n1 and is starting"]);
  assert.deepEqual(told(newestFirst(events("a1", rows.slice(3)))), ["started on n1"], "how long it took is not known");
});

test("a gang starts once, on its nodes, and gives way once", () => {
  const pods = [["gang-master-0", "n0"], ["gang-worker-0", "n0"], ["gang-worker-1", "n1"], ["gang-worker-2", "n1"]];
  const yields = "Yields to owner of project team-b, which held 0 of its fair share of 2 GPUs; project team-a held 4 GPUs and deserves 2";
  const list = newestFirst(events("gang", [
    ...pods.flatMap(([pod, node]) => start(pod, node, 0, 3)).sort((a, b) => a[0] - b[0]),
    ...pods.flatMap(([pod, node]) => [[8, "Preempted", pod, `${pod}: ${yields}`, node], [8, "Killing", pod, `Stopping ${pod}: Preempted`, node]]),
    [8, "Unschedulable", "", "Needs 4 pods of 1 GPU in default; 2 found a place: 2 GPUs are free, on one node"],
  ]));
  assert.deepEqual(told(list), [
    "waits: needs 4 pods of 1 GPU in default; 2 found a place: 2 GPUs are free, on one node",
    `${yields.replace("Yields", "yields")} (4 pods)`,
    "started 4 pods in 3 s on n0 and 1 more node",
  ]);
  const some = list.filter(e => e.reason !== "Started" || e.nodeName === "n0").filter(e => e.reason !== "Preempted" && e.reason !== "Killing");
  assert.equal(told(some).at(-1), "started 2 of 4 pods in 3 s on n0");
});

test("a job that is tried again and again is one failure with its number", () => {
  const tries = Array.from({ length: 7 }, (_, i) => [...start(`flop-0-${i}`, "n1", i * 60), failure(`flop-0-${i}`, i * 60 + 1)]).flat();
  const list = events("flop", [[0, "Submitted", "", "ann@lab.example submitted flop"], ...tries]);
  const cause = "ended with exit code 3: the simulated process failed", since = local(1);
  assert.deepEqual(told(newestFirst(list)), [`failed 7 times since ${since}: ${cause}`, "started at once on n1", "ann@lab.example submitted flop"]);
  const running = events("flop", start("flop-0-7", "n2", 500));
  assert.deepEqual(told(newestFirst(list, running)).slice(0, 2), ["started at once on n2", `failed 7 times since ${since}: ${cause}`], "the try that runs stands alone");
  const given = events("flop", [[361, "Failed", "", "flop: Failed 7 times, and backoffLimit allows 6"]]);
  assert.equal(told(newestFirst(list, given))[0], `failed for good, 7 times since ${since}: ${cause}`);
  assert.deepEqual(told(newestFirst(events("one", [failure("one-0-0", 2)]))), [`failed: ${cause}`]);
});
const local = seconds => new Date(BEGIN + seconds * 1000).toTimeString().slice(0, 8);

test("a taker waits until its place is free: the promise, and what gave way for it", () => {
  const loser = events("a3", [[0, "Preempted", "a3-0-0", "a3-0-0: Yields to b2 of project team-b", "n1"], [0, "Killing", "a3-0-0", "Stopping a3-0-0: Preempted", "n1"]]);
  const taker = events("b2", [[0, "Pipelined", "b2-0-0", "b2-0-0 was promised a place on node n1 that is still being freed", "n1"]]);
  assert.deepEqual(told(newestFirst(loser, taker)), ["was promised a place on node n1 that is still being freed", "yields to b2 of project team-b"]);
  const later = newestFirst(loser, taker, events("b2", start("b2-0-0", "n1", 30, 2)));
  assert.deepEqual(told(later), ["started in 2 s on n1", "yields to b2 of project team-b"], "the promise is a step of the start");
});

test("what repeats has a number and since when; what is new is told apart", () => {
  const waits = at => [at, "Unschedulable", "", `Needs 8 GPUs in default; ${at % 3} of its 16 GPUs are free`];
  assert.deepEqual(told(newestFirst(events("big", Array.from({ length: 12 }, (_, i) => waits(i * 20))))), [`waits: needs 8 GPUs in default; 1 of its 16 GPUs are free (12 times since ${local(0)})`]);
  const notes = (message, ...at) => at.map(s => [s, "FailedMount", "p-0-0", `p-0-0: ${message}`]);
  assert.deepEqual(told(newestFirst(events("p", [...notes("no such claim", 0, 9), ...notes("claim is lost", 10)]))), ["claim is lost", `no such claim (2 times since ${local(0)})`]);
  const hours = told(newestFirst(events("big", [waits(0), waits(60)])), BEGIN + 7200000)[0];
  assert.ok(hours.endsWith(`(2 times since ${local(0).slice(0, 5)})`), "seconds in the last hour alone");
});

test("names are links: whose it is in front or at the end, and the node", () => {
  const list = newestFirst(events("a", [[0, "Submitted", "", "ann@lab.example submitted a"], ...start("a-0-0", "n1", 1, 4)]));
  const [started, submitted] = factsIn(list), whose = { text: "team-a/a", href: "/workloads?open=id-of-a&tab=events" };
  assert.deepEqual(piecesOf(started, BEGIN, true), [whose, " ", "started in 4 s on ", { text: "n1", href: "/nodes?open=n1" }, ""]);
  assert.deepEqual(piecesOf(started, BEGIN, false), ["Started in 4 s on ", { text: "n1", href: "/nodes?open=n1" }, ""]);
  assert.deepEqual(piecesOf(submitted, BEGIN, true), ["ann@lab.example submitted ", whose]);
  assert.deepEqual(piecesOf(submitted, BEGIN, false), ["ann@lab.example submitted a"]);
  const node = { id: "x", createdAt: new Date(BEGIN).toISOString(), reason: "GpuLost", message: "n10: GPU 3 fell off the bus; n1 is well", nodeName: "n1", involvedObject: { kind: "Node", name: "n1" } };
  assert.deepEqual(piecesOf(factsIn([node])[0], BEGIN, true), ["n10: GPU 3 fell off the bus; ", { text: "n1", href: "/nodes?open=n1" }, " is well"]);
});

// Of what is no workload, oldest first: [seconds, reason, kind, name, message, id]
const others = rows => rows.map(([seconds, reason, kind, name, message, objectId]) => ({
  id: String(ids++), createdAt: new Date(BEGIN + seconds * 1000).toISOString(), type: "Normal", reason, message, workloadId: null, objectId,
  nodeName: kind === "Node" ? name : null, involvedObject: { kind, name },
}));
const failing = (count, from = 0) => Array.from({ length: count }, (_, i) => [from + i, "NodeNotReady", "Node", `r1-n${i}`, `r1-n${i} is not ready: KubeletStopped`, `id-${i}`]);

test("a rack that goes is one fact with its nodes, and comes back as another", () => {
  const back = failing(40, 90).map(([at, , kind, name]) => [at, "NodeReady", kind, name, `${name} is ready again`]);
  const [ready, lost, ...rest] = factsIn(newestFirst(others([...failing(40), ...back, [0, "GPUsUnusable", "Node", "r1-n0", "GPU 3: XID 79"]])));
  assert.deepEqual([ready, lost].map(f => sentenceOf(f, BEGIN)), ["40 nodes are ready again: r1-n0, r1-n1, r1-n2 and 37 more", "40 nodes are not ready: r1-n0, r1-n1, r1-n2 and 37 more"]);
  assert.deepEqual([lost.steps.length, lost.steps[7].message, rest.length], [40, "r1-n7 is not ready: KubeletStopped", 1]);
  assert.deepEqual(piecesOf(lost, BEGIN, true).filter(p => p.href).map(p => p.href), ["/nodes?open=r1-n0", "/nodes?open=r1-n1", "/nodes?open=r1-n2"]);
  assert.deepEqual(told(newestFirst(others([...failing(1), ...failing(1, 120)]))), Array(2).fill("r1-n0 is not ready: KubeletStopped"), "what is minutes apart is told apart");
  const flaps = [0, 20, 40].flatMap(at => [...failing(1, at), [at + 9, "NodeReady", "Node", "r1-n0", "r1-n0 is ready again"]]);
  assert.deepEqual(told(newestFirst(others(flaps))), [`r1-n0 is ready again (3 times since ${local(9)})`, `r1-n0 is not ready: KubeletStopped (3 times since ${local(0)})`]);
  const many = newestFirst(others(failing(70))), pages = [pageOf(many.slice(0, 30), 0, 20, 10), pageOf(many.slice(10, 50), 10, 20, 10), pageOf(many.slice(30, 70), 10, 20, 10)];
  assert.deepEqual(pages.map(p => p.map(f => f.steps.length)), [[30], [20], [20]], "more than a page sees goes on on the next, and none twice");
});

test("what was changed of the organisation leads to it", () => {
  const [pool, project] = factsIn(newestFirst(others([
    [0, "ProjectChanged", "Project", "a", "a@lab.example changed project a: GPU quota from 1 to 2 GPUs", "7"],
    [1, "NodePoolCreated", "NodePool", "h100", "ann created node pool h100 of nodes with gpu=h100", "3"],
  ])));
  assert.deepEqual(piecesOf(project, BEGIN, true), ["a@lab.example changed project ", { text: "a", href: "/projects?open=7" }, ": GPU quota from 1 to 2 GPUs"]);
  assert.deepEqual(piecesOf(pool, BEGIN, true)[1], { text: "h100", href: "/nodepools?open=3" });
  const [gone] = factsIn(others([[2, "ProjectDeleted", "Project", "a", "ann deleted project a", "7"]]));
  assert.deepEqual(piecesOf(gone, BEGIN, true), ["ann deleted project a"]);
});

test("pages of rows: each fact stands on one of them, whole", () => {
  const list = newestFirst(...Array.from({ length: 9 }, (_, i) => events(`w${i}`, start(`w${i}-0-0`, "n1", i, 5))));
  const all = factsIn(list), pages = [0, 10, 20, 30].map(skip => {
    const lead = Math.min(skip, 20);
    return pageOf(list.slice(skip - lead, skip + 10 + 30), lead, 10, 20);
  });
  assert.deepEqual(pages.flat().map(f => sentenceOf(f, BEGIN)), all.map(f => sentenceOf(f, BEGIN)));
  assert.deepEqual(pages.flat().map(f => f.tells.workloadName), all.map(f => f.tells.workloadName));
});

test("a line at midnight, and where long nothing happened", () => {
  const noon = new Date(2026, 10, 24, 12).getTime(), day = t => `day ${new Date(t).getDate()}`;
  const above = (before, time) => breakBefore(before && new Date(before).toISOString(), new Date(time).toISOString(), noon, day);
  assert.equal(above(undefined, noon - 1000), "");
  assert.equal(above(noon, noon - 60000), "");
  assert.equal(above(noon, noon - 3 * 3600000), "3 h before");
  assert.equal(above(noon, noon - 13 * 3600000), "day 23");
  assert.equal(above(undefined, noon - 25 * 3600000), "day 23");
});
