// The timeline's places: boxes of devices that stand side by side, moments on the axis, ranges that move and zoom.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "../load.mjs";

const { bandNames, blockAt, boxes, counted, drawn, holders, laneOf, layout, moved, nameOf, namesOf, ordered, timeAt, wordsOf, xOf } = await load("pictures/timeline");

const HOUR = 3600;
const TIMELINE = {
  start: "2026-01-01T00:00:00Z", end: "2026-01-01T10:00:00Z", by: "nodes", detail: "devices",
  lanes: [{ node: "a", nodePool: "p", gpus: 4 }, { node: "b", nodePool: "p", gpus: 4 }],
  projects: [{ id: "1", name: "vision" }], workloads: [{ id: "w", name: "train" }],
  blocks: [{ lane: 0, from: 0, to: 5 * HOUR, devices: [0, 1, 3], gpus: 3, project: 0, workload: 0 }, { lane: 1, from: 5 * HOUR, to: 20 * HOUR, devices: [2], gpus: 1 }],
  evictions: [], figures: {},
};
const map = layout(TIMELINE, 1208);

test("devices side by side are one box, and what ends later ends with the axis", () => {
  const [first, second] = boxes(TIMELINE, map, TIMELINE.blocks[0]);
  assert.equal(first[3], second[3] * 2);
  assert.deepEqual([first[0], first[2]], [map.left, (map.right - map.left) / 2]);
  const [[x, , width]] = boxes(TIMELINE, map, TIMELINE.blocks[1]);
  assert.equal(x + width, map.right);
});

test("a point finds the block on its device, and none between", () => {
  const [[x, y], [, other]] = boxes(TIMELINE, map, TIMELINE.blocks[0]);
  assert.equal(blockAt(TIMELINE, TIMELINE.blocks, map, x + 5, y + 1), TIMELINE.blocks[0]);
  assert.equal(blockAt(TIMELINE, TIMELINE.blocks, map, x + 5, other - 1), undefined);
});

test("a place on the axis is a time, and back", () => {
  const at = Date.parse("2026-01-01T04:00:00Z");
  assert.equal(timeAt(map, xOf(map, at)), at);
  assert.equal(timeAt(map, -100), map.from);
});

test("names: a workload, several of a project, and others", () => {
  assert.equal(nameOf(TIMELINE, TIMELINE.blocks[0]), "vision/train");
  assert.equal(nameOf(TIMELINE, { project: 0, count: 3 }), "3 workloads, vision");
  assert.equal(nameOf(TIMELINE, TIMELINE.blocks[1]), "other");
  assert.equal(nameOf(TIMELINE, { count: 7 }), "7 workloads");
});

test("a range moves and zooms, never beyond now", () => {
  assert.deepEqual(moved([0, 1e7], 0, 0.5, 1e9), [2.5e6, 7.5e6]);
  assert.deepEqual(moved([0, 1e7], -0.25, 1, 1e9), [-2.5e6, 7.5e6]);
  assert.deepEqual(moved([0, 1e7], 0.5, 1, 1e7), [0, 1e7]);
  assert.equal(moved([0, 1e7], 0, 1e9, 1e15).reduce((a, b) => b - a), 3024e6);
});

const block = (lane, from, to, gpus, project) => ({ lane, from, to, gpus, ...(project !== undefined && { project }) });
const POOLS = {
  ...TIMELINE, by: "pools", detail: "shares", projects: [{ id: "1", name: "vision" }, { id: "2", name: "fraud" }],
  lanes: [{ nodePool: "h100", nodes: 2, gpus: 8 }, { nodePool: "", nodes: 1, gpus: 0 }],
  blocks: [block(0, 0, 4 * HOUR, 1), block(0, 0, 2 * HOUR, 2, 0), block(0, 2 * HOUR, 10 * HOUR, 4, 0), block(0, HOUR, 10 * HOUR, 1, 1), block(1, 0, HOUR, 2, 1)],
};

test("a pool's projects stand on each other: who held most at the bottom, others at the top", () => {
  const seen = drawn(POOLS).filter(b => b.lane === 0).map(b => [b.project, b.from / HOUR, b.to / HOUR, b.base, b.gpus]);
  assert.deepEqual(seen.filter(([project]) => project === 0), [[0, 0, 2, 0, 2], [0, 2, 10, 0, 4]]);
  assert.deepEqual(seen.filter(([project]) => project === 1), [[1, 1, 2, 2, 1], [1, 2, 10, 4, 1]]);
  assert.deepEqual(seen.filter(([project]) => project === undefined), [[undefined, 0, 1, 2, 1], [undefined, 1, 2, 3, 1], [undefined, 2, 4, 5, 1]]);
  assert.equal(drawn(TIMELINE), TIMELINE.blocks);
});

test("a pointed band tells its whole block, however it was cut", () => {
  const wide = layout(POOLS, 1208), all = drawn(POOLS), at = all.find(b => b.project === 1 && b.base === 2);
  const [[x, y, , height]] = boxes(POOLS, wide, at);
  const found = blockAt(POOLS, all, wide, x + 2, y + height / 2);
  assert.equal(found.project, 1);
  assert.match(wordsOf(POOLS, found), /^fraud: 1 GPU of h100, .* to .*$/);
  assert.equal(wordsOf(POOLS, found), wordsOf(POOLS, POOLS.blocks[3]));
});

test("a band is named once, where it stays at one height for longest", () => {
  const wide = layout(POOLS, 1208), names = bandNames(POOLS, wide, drawn(POOLS), 5).filter(n => n.block.lane === 0);
  const of = project => names.filter(n => n.block.project === project);
  assert.equal(of(1).length, 1);
  assert.equal(of(1)[0].x, xOf(wide, Date.parse("2026-01-01T02:00:00Z")), "from where nothing under it changes");
  assert.deepEqual(bandNames(POOLS, wide, drawn(POOLS), 1000), []);
});

test("lanes are named: a pool with what it has, nodes that have gone, a project, others", () => {
  assert.deepEqual(namesOf(POOLS, 0), ["h100", "8 GPUs", "2 nodes"]);
  assert.deepEqual(namesOf(POOLS, 1), ["gone"]);
  assert.deepEqual(namesOf(TIMELINE, 1), ["b"]);
  const projects = ordered({ ...POOLS, by: "projects", lanes: [{ gpus: 1 }, { project: 0, gpus: 2 }, { project: 1, gpus: 3 }], blocks: [block(0, 0, 5, 1), block(1, 0, 5, 2, 0), block(2, 0, 5, 3, 1)] });
  assert.deepEqual(projects.lanes.map((_, i) => namesOf(projects, i)[0]), ["fraud", "vision", "other"]);
  assert.deepEqual(projects.blocks.map(b => [b.lane, b.gpus]), [[2, 1], [1, 2], [0, 3]]);
});

test("an eviction is drawn in the lane that it took from", () => {
  const eviction = { node: "b", nodePool: "h100", victim: { project: "vision" } };
  assert.equal(laneOf(TIMELINE, eviction), 1);
  assert.equal(laneOf(POOLS, eviction), 0);
  assert.equal(laneOf(POOLS, { ...eviction, nodePool: null }), 1);
  const projects = { ...POOLS, by: "projects", lanes: [{ gpus: 1 }, { project: 0, gpus: 2 }] };
  assert.equal(laneOf(projects, eviction), 1);
  assert.equal(laneOf(projects, { ...eviction, victim: { project: null } }), 0);
  assert.equal(laneOf(TIMELINE, { ...eviction, node: "gone" }), -1);
});

test("who held most is known by colour; two that look alike are not", () => {
  const { shown, others } = holders({ ...POOLS, projects: [{ id: "1", name: "vision" }, { id: "25", name: "fraud" }] });
  assert.deepEqual(shown.map(p => p.name), ["vision"], "1 and 25 have the same colour and texture");
  assert.equal(others, (4 + 9 + 2) * HOUR);
});

test("a line that is said again is counted", () => {
  const facts = [{ text: "a", id: "1" }, { text: "b" }, { text: "a", id: "2" }];
  assert.deepEqual(counted(facts), [{ text: "a", id: "1", times: 2 }, { text: "b", times: 1 }]);
});
