import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "../load.mjs";

const { groupsIn, heatOf, layout, lookOf, nodesInBrief, paintMap, piecesOf, poolsOf, rowNote, within, wordsAt } = await load("pictures/cluster_map", "pictures/cluster_canvas", "pictures/map_paint");

// Twelve nodes: whole runs, a part of a device, what is idle, a free node, a cordoned, a drained and a failed one.
const work = Array.from({ length: 14 }, (_, i) => ({ id: `w${i}`, name: `training-${i}`, projectId: String(i + 1), projectName: `p${i + 1}`, departmentId: String(i % 2 + 1), departmentName: ["research", "applied"][i % 2], preemptible: i !== 3 }));
const node = (n, more = {}) => ({ id: `n${n}`, name: `gpu-${n}`, nodePool: "h100", status: "Ready", cordoned: false, gpuType: "H100", gpuCount: 8, gpusDown: [], gpusIdle: [], utilization: Array(8).fill(null), held: [], ...more });
const whole = (workload, ...gpus) => ({ workload, gpus, share: 1 });
const brief = {
  workloads: work,
  nodes: [
    node(1, { held: [whole(0, 0, 1, 2, 3), whole(1, 4, 5), whole(2, 6), { workload: 3, gpus: [7], share: 0.5 }], utilization: [90, 91, 5, 60, 0, 0, null, 40], gpusIdle: [4, 5] }),
    node(2, { held: [{ ...whole(4, 0, 1, 2, 3, 4, 5, 6, 7), releasing: true }] }),
    node(3), node(4, { cordoned: true, held: [whole(5, 0)] }), node(5, { cordoned: true, drained: true, held: [whole(6, 0)] }), node(6, { cordoned: true, drained: true }), node(7, { status: "NotReady", gpusDown: [0, 1, 2, 3, 4, 5, 6, 7] }),
    ...work.slice(7).map((_, i) => node(8 + i, { held: [whole(7 + i, 0, 1, 2)] })),
  ],
};
const pools = poolsOf(nodesInBrief(brief)), [pool] = pools;

// What a pen was told, as lines of words; only those that match.
function drawn(zoom, { view = "project", lifted = null, cut = m => m } = {}, wanted = /./) {
  const said = [], state = {};
  const tone = new Proxy({}, { get: (_, name) => name });
  const pen = new Proxy(state, {
    get: (_, name) => name in state ? state[name] : name === "measureText" ? text => ({ width: text.length * 6 }) : (...args) => said.push([name, ...args.map(a => typeof a === "number" ? Math.round(a * 100) / 100 : a), /^fill/.test(name) ? `${state.fillStyle}@${state.globalAlpha ?? 1}` : /^stroke/.test(name) ? state.strokeStyle : ""].join(" ").trim()),
    set: (_, name, value) => (state[name] = value, true),
  });
  paintMap(pen, { map: cut(layout(pools, { width: 900, zoom })), zoom, view, lifted, groups: groupsIn(pools, view), at: null, tone, texture: kind => kind });
  return said.filter(s => wanted.test(s));
}
const first = (zoom, options, wanted) => drawn(zoom, { ...options, cut: map => ({ ...map, places: map.places.filter(p => p.row.name === "gpu-1") }) }, wanted);

test("a pool says what is free in one piece, and which nodes take nothing", () => {
  assert.equal(piecesOf(pool), "2 full, 7 with 5–7 free, 1 with 8 free, 3 cordoned, 1 down");
  assert.deepEqual(pool.rows.slice(3, 7).map(rowNote), ["cordoned", "draining", "drained", "down"]);
  assert.deepEqual(drawn(0, {}, /fillText (h100|Nodes|30)/), ["fillText h100 0 10 ink@1", "fillText Nodes: 2 full, 7 with 5–7 free, 1 with 8 free, 3 cordoned, 1 down 156 10 ink-3@1"]);
});

test("who holds something, by project and by department; of many projects one of each colour has it", () => {
  const projects = groupsIn(pools, "project"), departments = groupsIn(pools, "department");
  assert.deepEqual([...projects.values()].slice(0, 2).map(g => [g.name, g.size]), [["p5", 8], ["p1", 4]]);
  assert.deepEqual([...projects.values()].filter(g => g.slot).map(g => g.slot.colour).sort(), [1, 2, 3, 4, 5, 6, 7, 8]);
  assert.deepEqual([...departments.values()].map(g => [g.name, g.size, g.slot.colour]), [["research", 23, 1], ["applied", 15.5, 2]]);
});

test("by department a run has its department's colour and its project's name; who is lifted has a colour in any case", () => {
  const [run] = pool.rows[0].runs, grey = pool.rows.flatMap(r => r.runs).find(r => !groupsIn(pools, "project").get(r.projectId).slot);
  const look = (r, view, lifted = null) => lookOf(r, { view, lifted, groups: groupsIn(pools, view) });
  assert.deepEqual([look(run, "project").name, look(run, "department").name, look(run, "department").slot.colour], ["training-0", "p1", 1]);
  assert.deepEqual([look(grey, "project").slot, look(grey, "project", grey.projectId).hot, look(grey, "project", grey.projectId).slot.colour >= 1], [null, true, true]);
  assert.equal(look(run, "project", "2").hot, false);
});

test("large rows have the names of runs that are wide enough, on their own colour", () => {
  assert.deepEqual(first(0, {}, /fillText (train|p)/).map(s => s.split(" ").slice(1, 2)[0]), ["training-0", "train…"]);
  assert.deepEqual(first(0, {}, /p1@/), ["fill p1@1", "fillRect 76 25 60 12 p1@1"]); // the run, and the ground of its name
  assert.deepEqual(first(1, {}, /fillText train/), []);
});

test("what is non-preemptible has a strip, what is given back a dashed frame", () => {
  assert.deepEqual(first(0, {}, /ink@1/).filter(s => s.startsWith("fillRect")).length, 1);
  assert.deepEqual(first(0, { view: "utilization" }, /ink@1/).filter(s => s.startsWith("fillRect")), []);
  assert.equal(drawn(0, {}, /setLineDash 3,2/).length, 1);
});

test("a lifted name leaves the others at 18 %", () => {
  const of = lifted => first(0, { lifted }, /^fill (p[1-8]|ink-3)@/);
  assert.deepEqual(of("1").map(s => s.split("@")[1]), ["1", "0.18", "0.18", "0.18"]);
  assert.deepEqual(of(null).map(s => s.split("@")[1]), ["1", "0.45", "0.45", "0.45"]);
});

test("by utilization free is an outline, idle is dotted, busy a tone with its number", () => {
  assert.deepEqual(pool.rows[0].cells.map(heatOf), [4, 4, 0, 3, "idle", "idle", "none", 2]);
  const cells = first(0, { view: "utilization" });
  assert.deepEqual(cells.filter(s => /accent@/.test(s)).map(s => s.split("@")[1]), ["1", "1", "0.22", "0.75", "0.55"]);
  assert.equal(cells.filter(s => / idle@/.test(s)).length, 2);
  assert.deepEqual(cells.filter(s => /^fillText \d+ /.test(s)).map(s => s.split(" ")[1]), ["90", "91", "5", "60", "40"]);
  const free = drawn(0, { view: "utilization", cut: map => ({ ...map, places: map.places.filter(p => p.row.name === "gpu-3"), heads: [] }) });
  assert.deepEqual([free.filter(s => /^strokeRect .*line-strong$/.test(s)).length, free.filter(s => /^fillRect/.test(s)).length], [8, 0]);
});

test("cordoned and failed nodes are marked before their cells at every size", () => {
  for (const zoom of [0, 1, 2]) assert.deepEqual(drawn(zoom, {}, /^fillRect \S+ \S+ 3 \S+ (warn|bad)@1$/).map(s => s.split(" ").at(-1)), ["warn@1", "warn@1", "warn@1", "bad@1"]);
  assert.equal(drawn(0, {}, /^moveTo/).length, 7 + 7 + 8 + 16); // a bar in each free cell of the closed, a cross in each of the failed
});

test("small sizes have narrower columns; names of rows don't meet", () => {
  const many = poolsOf(nodesInBrief({ workloads: [], nodes: Array.from({ length: 300 }, (_, n) => node(n)) }));
  assert.deepEqual([0, 1, 2].map(zoom => layout(many, { width: 1156, zoom }).perRow), [4, 5, 6]);
  for (const { line, y } of layout(many, { width: 1156, zoom: 2 }).places) assert.equal((y - 24) / 4, line);
  const map = layout(many, { width: 1156, zoom: 0 }), part = within(map, 400, 600);
  assert.ok(part.places.every(p => p.y > 376 && p.y < 600) && part.places.length === 4 * 13 && part.heads.length === 0 && part.height === map.height);
});

test("the cursor says who holds a device and how it is used", () => {
  const [place] = layout(pools, { width: 900, zoom: 0 }).places, at = cell => wordsAt({ place, cell });
  assert.deepEqual([at(0), at(4), at(6), at(7), at(null)], ["gpu-1, GPU 0: p1/training-0, 90 % used", "gpu-1, GPU 4: p2/training-1, idle", "gpu-1, GPU 6: p3/training-2", "gpu-1, GPU 7: p4/training-3 (0.5), 40 % used", "gpu-1 · 0.5 free"]);
});
