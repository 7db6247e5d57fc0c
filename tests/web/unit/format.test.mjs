import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "../load.mjs";

const f = await load("format");

process.env.TZ = "UTC";
const NOW = Date.parse("2026-11-21T14:32:07Z");
const THIN = "\u202f";

const TABLE = [
  ["GPUs", f.gpus, [[162, "162"], [0.5, "0.5"], [12.25, "12.25"], [0.333333, "0.33"], [0, "0"], [null, "–"], [undefined, "–"], ["", "–"], ["x", "–"], [NaN, "–"], [Infinity, "–"]]],
  ["GPUs with their unit", f.gpuCount, [[1, "1 GPU"], [0.5, "0.5 GPUs"], [8, "8 GPUs"], [null, "–"]]],
  ["counts", f.count, [[9999, "9999"], [10000, `10${THIN}000`], [82247, `82${THIN}247`], [1234567, `1${THIN}234${THIN}567`], [0, "0"], [null, "–"]]],
  ["percent", f.percent, [[71.4, `71${THIN}%`], [0, `0${THIN}%`], [null, "–"]]],
  ["memory", f.memory, [["100M", "95.4 MiB"], ["80G", "74.5 GiB"], ["1Gi", "1 GiB"], [85443215360, "79.6 GiB"], [0, "0 B"], ["1.5Ti", "1.5 TiB"], [1023 * 1024, "0.999 MiB".replace("0.999", "1")], ["", "–"], ["12 apples", "–"], [null, "–"]]],
  ["CPU", f.cpu, [[0.1, "0.1"], [0.025, "25 m"], [64, "64"], [1.25, "1.3"], [0, "0"], [null, "–"]]],
  ["durations", f.duration, [[24, "24 s"], [0, "0 s"], [59.9, "59 s"], [60, "1 min"], [1560, "26 min"], [12420, "3 h 27 min"], [3600, "1 h"], [187200, "2 d 4 h"], [86400, "1 d"], [-5, "0 s"], [null, "–"]]],
  ["Go durations", f.goSeconds, [["1d2h30m", 95400], ["30m", 1800], ["0", 0], ["1w", 604800], ["", 0], ["soon", null]]],
];
for (const [name, format, rows] of TABLE) for (const [value, want] of rows) test(`${name}: ${JSON.stringify(value)} is written ${want}`, () => assert.equal(format(value), want));

test("a ratio of a quota of 0 is unknown", () => {
  assert.equal(f.ratio(40, 28), `143${THIN}%`);
  assert.equal(f.ratio(5, 0), "–");
  assert.equal(f.ratio(null, 8), "–");
});

test("times are as short as the day allows", () => {
  assert.equal(f.time("2026-11-21T09:31:00Z", NOW), "09:31");
  assert.equal(f.time("2026-11-16T10:21:00Z", NOW), "16 Nov 10:21");
  assert.equal(f.time("2025-11-16T10:21:00Z", NOW), "2025-11-16");
  assert.equal(f.time(null, NOW), "–");
  assert.equal(f.iso("2026-11-21T09:31:00Z"), "2026-11-21T09:31:00Z");
});

test("a forecast says how sure it is", () => {
  assert.equal(f.forecast({ kind: "decided", at: NOW + 22000 }, NOW), "in 22 s");
  assert.equal(f.forecast({ kind: "rule", at: "2026-11-21T15:10:00Z" }, NOW), "15:10");
  assert.equal(f.forecast({ kind: "estimate", at: "2026-11-21T17:05:00Z" }, NOW), "about 17:05");
  assert.equal(f.forecast({ kind: "never" }, NOW), "not as asked");
  assert.equal(f.forecast(null, NOW), "–");
});

test("a cell of a CSV file is quoted where it must be and never runs as a formula", () => {
  for (const [value, want] of [["a", "a"], ["a,b", '"a,b"'], ['say "x"', '"say ""x"""'], ["=1+1", "'=1+1"], ["@x", "'@x"], [-5, "-5"], [null, ""], ["two\nlines", '"two\nlines"']]) assert.equal(f.csvCell(value), want);
});
