// The timeline's places: boxes of devices that stand side by side, moments on the axis, ranges that move and zoom.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "../load.mjs";

const { blockAt, boxes, byProject, layout, moved, nameOf, timeAt, wordsOf, xOf } = await load("pictures/timeline");

const HOUR = 3600;
const TIMELINE = {
  start: "2026-01-01T00:00:00Z", end: "2026-01-01T10:00:00Z", detail: "devices",
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
  assert.equal(blockAt(TIMELINE, map, x + 5, y + 1), TIMELINE.blocks[0]);
  assert.equal(blockAt(TIMELINE, map, x + 5, other - 1), undefined);
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
});

test("a range moves and zooms, never beyond now", () => {
  assert.deepEqual(moved([0, 1e7], 0, 0.5, 1e9), [2.5e6, 7.5e6]);
  assert.deepEqual(moved([0, 1e7], -0.25, 1, 1e9), [-2.5e6, 7.5e6]);
  assert.deepEqual(moved([0, 1e7], 0.5, 1, 1e7), [0, 1e7]);
  assert.equal(moved([0, 1e7], 0, 1e9, 1e15).reduce((a, b) => b - a), 3024e6);
});

test("by project: what each held in all, step by step, others last", () => {
  const block = (lane, from, to, gpus, project) => ({ lane, from, to, gpus, project });
  const of = byProject({ ...TIMELINE, projects: [{ id: "1", name: "vision" }, { id: "2", name: "fraud" }], blocks: [block(0, 0, 10, 2, 0), block(1, 5, 20, 0.5, 0), block(0, 10, 20, 1, 1), block(1, 0, 4, 1, undefined), block(0, 30, 40, 1, 0)], evictions: [{ at: 3, node: "a", gpus: 1, victim: { project: "vision", name: "t" }, beneficiary: null }] });
  assert.deepEqual(of.lanes.map(l => [l.node, l.gpus]), [["fraud", 1], ["vision", 3], ["other", 1]]);
  assert.deepEqual(of.blocks.filter(b => b.lane === 1).map(b => [b.from, b.to, b.gpus]), [[0, 5, 2], [5, 10, 2.5], [10, 20, 0.5], [30, 40, 1]]);
  assert.equal(of.evictions[0].node, "vision");
  assert.match(wordsOf(of, of.blocks.find(b => b.lane === 1)), /^vision: 2 GPUs, /);
});
