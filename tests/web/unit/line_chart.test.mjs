// The line chart's geometry: golden numbers, gaps, names apart, round ticks.
import assert from "node:assert/strict";
import { test } from "node:test";
import { gpus, memory } from "../../../web/format.js";
import { begin, endNames, frame, paths, timeTicks, valueAt, valueTicks } from "../../../web/pictures/line_chart.js";

const MINUTE = 60000, T0 = Date.UTC(2026, 10, 21, 12);
const points = values => values.map((v, i) => [T0 + i * MINUTE, v]);
const chart = (series, more = {}) => frame({ series, width: 400, height: 140, format: gpus, from: T0, to: T0 + 4 * MINUTE, names: 96, ...more });

for (const [what, top, options, wanted] of [
  ["whole numbers", 7, {}, [0, 2, 4, 6, 8]],
  ["a full top", 10, {}, [0, 2, 4, 6, 8, 10]],
  ["below one", 0.3, {}, [0, 0.1, 0.2, 0.3]],
  ["an end that is given", 64, { max: 100 }, [0, 20, 40, 60, 80, 100]],
  ["bytes", 3 * 1024 ** 3, { binary: true }, [0, 1024 ** 3, 2 * 1024 ** 3, 3 * 1024 ** 3]],
  ["bytes above a thousand", 1500 * 1024 ** 2, { binary: true }, [0, 0.5, 1, 1.5].map(g => g * 1024 ** 3)],
]) test(`values go in round steps: ${what}`, () => assert.deepEqual(valueTicks(top, options).ticks.map(v => Math.round(v * 1e6) / 1e6), wanted));

test("times go in round steps", () => assert.deepEqual(timeTicks(T0 + 30000, T0 + 3600000, 6).map(t => (t.at - T0) / MINUTE), [10, 20, 30, 40, 50, 60]));

test("a value holds until the next, and a gap stays a gap", () => {
  const f = chart([{ name: "held", points: points([1, 2, null, 1, 1]) }]);
  assert.deepEqual([f.left, f.right, f.top, f.bottom], [52, 304, 8, 120]);
  assert.equal(paths(points([1, 2, null, 1, 1]), f).line, "M52 64H115V8H178M241 64H304V64H304");
  assert.match(paths(points([1, 2, null, 1, 1]), f).area, /^M52 64H115V8H178V120H52ZM241 64/);
});

test("what was before the frame holds at its left edge", () => {
  const f = chart([{ name: "held", points: points([2, 1, 1, 1, 1]) }], { from: T0 + 30000 });
  assert.match(paths(points([2, 1, 1, 1, 1]), f).line, /^M52 8H88V64/);
});

test("the value at a time; without one, the last known", () => {
  assert.equal(valueAt(points([1, 2, null]), T0 + 90000), 2);
  assert.equal(valueAt(points([1, 2, null]), T0 + 3 * MINUTE), null);
  assert.equal(valueAt(points([1, 2, null]), null), 2);
  assert.equal(valueAt([], null), null);
});

test("names stand apart and inside", () => {
  const series = ["a", "b", "c"].map(name => ({ name, tone: "ink", points: points([0, 0, 0, 0, 0]) }));
  const names = endNames(series, chart(series), gpus, null);
  assert.deepEqual(names.map(n => n.y), [88, 102, 116]);
  assert.deepEqual(names.map(n => n.text), ["0 a", "0 b", "0 c"]);
});

test("a history that is young fills the picture", () => {
  assert.equal(begin(T0, T0 + 50 * MINUTE, T0 + 60 * MINUTE), T0 + 50 * MINUTE);
  assert.equal(begin(T0, T0 + 10 * MINUTE, T0 + 60 * MINUTE), T0);
  assert.equal(begin(T0, Infinity, T0 + 60 * MINUTE), T0);
});

test("memory is labelled in whole units", () => {
  const series = [{ name: "used", points: points([1e9, 2e9, 3e9, 3e9, 3e9]) }];
  assert.deepEqual(chart(series, { format: memory, binary: true }).values.map(v => v.text), ["0 B", "1 GiB", "2 GiB", "3 GiB"]);
});
