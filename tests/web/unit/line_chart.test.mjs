// What line charts draw: golden numbers, gaps, names apart, round ticks, many lines, zoom, CSV.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "../load.mjs";

const { gpus, memory } = await load("format");
const { corners, csvOf, endNames, linesOf, mean, named, span, timeTicks, valueAt, valueAxis, valueTicks, zoomed } = await load("pictures/line_chart");

const MINUTE = 60000, T0 = Date.UTC(2026, 10, 21, 12);
const points = values => values.map((v, i) => [T0 + i * MINUTE, v]);
const minutes = list => list.map(({ x, y }) => [(x - T0) / MINUTE, y]);

for (const [what, top, options, wanted] of [
  ["whole numbers", 7, {}, [0, 2, 4, 6, 8]],
  ["a full top", 10, {}, [0, 2, 4, 6, 8, 10]],
  ["below one", 0.3, {}, [0, 0.1, 0.2, 0.3]],
  ["an end that is given", 64, { max: 100 }, [0, 20, 40, 60, 80, 100]],
  ["bytes", 3 * 1024 ** 3, { binary: true }, [0, 1024 ** 3, 2 * 1024 ** 3, 3 * 1024 ** 3]],
  ["bytes a little above one unit", 1.02 * 1024 ** 3, { binary: true }, [0, 256, 512, 768, 1024, 1280].map(m => m * 1024 ** 2)],
  ["bytes a little below one unit", 820 * 1024 ** 2, { binary: true }, [0, 256, 512, 768, 1024].map(m => m * 1024 ** 2)],
  ["bytes of tens of a unit", 80 * 1024 ** 3, { binary: true }, [0, 20, 40, 60, 80].map(g => g * 1024 ** 3)],
  ["bytes of hundreds of a unit", 160 * 1024 ** 3, { binary: true }, [0, 50, 100, 150, 200].map(g => g * 1024 ** 3)],
  ["less than a byte", 0.3, { binary: true }, [0, 0.25, 0.5]],
  ["bytes above a thousand", 1500 * 1024 ** 2, { binary: true }, [0, 0.5, 1, 1.5].map(g => g * 1024 ** 3)],
]) test(`values go in round steps: ${what}`, () => assert.deepEqual(valueTicks(top, options).ticks.map(v => Math.round(v * 1e6) / 1e6), wanted));

test("memory is labelled in whole units, and no word stands twice", () => {
  assert.deepEqual(valueAxis([{ points: points([1e9, 2e9, 3e9]) }], { format: memory, binary: true }).ticks.map(t => t.label), ["0 B", "1 GiB", "2 GiB", "3 GiB"]);
  assert.deepEqual(valueAxis([{ points: points([0.3]) }], { format: v => String(Math.round(v)), least: 0 }).ticks.map(t => t.label), ["0", "", "", ""]);
});

test("times go in round steps", () => assert.deepEqual(timeTicks(T0 + 30000, T0 + 3600000, 6).map(t => (t.value - T0) / MINUTE), [10, 20, 30, 40, 50, 60]));

for (const [what, values, view, wanted] of [
  ["a value holds until the next", [1, 2, 1], [0, 2], [[0, 1], [1, 2], [2, 1]]],
  ["a gap begins where nothing was measured, and stays a gap", [1, 2, null, 1, 1], [0, 4], [[0, 1], [1, 2], [2, 2], [2, NaN], [3, 1], [4, 1]]],
  ["what was before the frame holds at its edge", [2, 1, 1], [0.5, 2], [[0.5, 2], [1, 1], [2, 1]]],
  ["what holds at the end reaches it", [2, 1, 3], [0, 1.5], [[0, 2], [1, 1], [1.5, 1]]],
  ["a gap before the frame is none in it", [null, 1, 1], [0, 2], [[1, 1], [2, 1]]],
  ["nothing at all", [], [0, 2], []],
]) test(`corners: ${what}`, () => assert.deepEqual(minutes(corners(points(values), view.map(m => T0 + m * MINUTE))), wanted));

test("the value at a time; without one, the last known", () => {
  assert.equal(valueAt(points([1, 2, null]), T0 + 90000), 2);
  assert.equal(valueAt(points([1, 2, null]), T0 + 3 * MINUTE), null);
  assert.equal(valueAt(points([1, 2, null]), null), 2);
  assert.equal(valueAt([], null), null);
});

const PLACE = { y: value => 120 - value * 10, top: 8, bottom: 120 };
test("names stand apart and inside", () => {
  const names = endNames(["a", "b", "c"].map(name => ({ name, tone: "ink", points: points([0, 0, 0]) })), PLACE, gpus, null);
  assert.deepEqual(names.map(n => n.y), [88, 102, 116]);
  assert.deepEqual(names.map(n => n.text), ["0 a", "0 b", "0 c"]);
});

const eight = Array.from({ length: 8 }, (_, g) => ({ name: `GPU ${g}`, tone: "ink", points: points([g, 7 - g, g === 3 ? null : 4]) }));
test("a few lines are drawn as they are", () => assert.equal(linesOf(eight.slice(0, 4)).length, 4));
test("of many lines the mean is loud, and the highest and the lowest at that time are named", () => {
  const lines = linesOf(eight);
  assert.deepEqual(lines.filter(s => !s.quiet).map(s => s.name), ["mean"]);
  assert.deepEqual(named(lines, T0).map(s => s.name), ["GPU 7", "mean", "GPU 0"]);
  assert.deepEqual(named(lines, T0 + MINUTE).map(s => s.name), ["GPU 0", "mean", "GPU 7"]);
  assert.deepEqual(endNames(lines, PLACE, gpus, T0).map(n => n.text), ["7 GPU 7", "3.5 mean", "0 GPU 0"]);
});
test("the mean is of what was measured", () => {
  assert.deepEqual(mean(eight).map(p => p[1]), [3.5, 3.5, 4]);
  assert.deepEqual(mean([{ points: points([null]) }]).map(p => p[1]), [null]);
});

test("a history that is young fills the picture", () => {
  const young = after => [{ points: [[T0, null], [T0 + after * MINUTE, 1]] }];
  assert.deepEqual(span(young(50), T0, T0 + 60 * MINUTE), [T0 + 50 * MINUTE, T0 + 60 * MINUTE]);
  assert.deepEqual(span(young(10), T0, T0 + 60 * MINUTE), [T0, T0 + 60 * MINUTE]);
  assert.deepEqual(span([{ points: [] }], T0, T0 + 60 * MINUTE), [T0, T0 + 60 * MINUTE]);
});

const HOUR = [T0, T0 + 60 * MINUTE];
for (const [what, from, around, factor, wanted] of [
  ["closer around a time", [0, 60], 15, 0.5, [7.5, 37.5]],
  ["never past the ends", [30, 60], 60, 0.5, [45, 60]],
  ["wider to the whole is the whole", [20, 50], 30, 2, null],
  ["never closer than two minutes", [10, 12], 11, 0.5, [10, 12]],
]) test(`zoom: ${what}`, () => assert.deepEqual(zoomed(from.map(m => T0 + m * MINUTE), HOUR, T0 + around * MINUTE, factor)?.map(t => (t - T0) / MINUTE) ?? null, wanted));

test("CSV has a row for each time, and nothing for a gap", () => {
  const rows = csvOf([{ name: "held", points: points([1, null]) }, { name: "=quota", points: points([2, 2]) }]).split("\r\n");
  assert.equal(rows[0], "time,held,'=quota");
  assert.deepEqual(rows.slice(1).map(r => r.split(",").slice(1).join()), ["1,2", ",2", ""]);
});
