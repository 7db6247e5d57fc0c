import assert from "node:assert/strict";
import { test } from "node:test";
import { makeData } from "../mock_data.mjs";
import { nodesInBrief as brieflyTold, overview } from "../mock_overview.mjs";
import { load } from "../load.mjs";

const { axis, axisTop, labels } = await load("pictures/axis");
const { stretches: ansi, plain, shown } = await load("pictures/ansi");
const { hit, layout, wordsAt } = await load("pictures/cluster_canvas");
const { heat, nodesInBrief, piecesOf, poolsOf, rowNote, rowOf, runBox, runLabel, stretches } = await load("pictures/cluster_map");
const { axisOf, besideMark, inPercent, named, quotaMarks, reach, wantedReach } = await load("pictures/quota_bar");
const { poolParts, refusedBy, shareOf, sharesByPool, sharesInBrief, sortShares, sumParts } = await load("pictures/shares");
const { quickStart } = await load("pictures/quick_start");
const { hrefOf, inPlaces, wordsOf } = await load("pictures/waiting");
const { coloured, slotOf } = await load("pictures/slots");
const { shareLine, shareWords } = await load("words");

const data = makeData(Date.parse("2026-11-21T14:32:00Z"));
const brief = overview(data).projects, refused = refusedBy(brief, p => p.id);
const parts = name => shareOf(sharesInBrief(brief.find(p => p.name === name)));

// The eight projects of the drawing: quota, held, in quota, over, non-preemptible, owed, more wanted, limit.
const GOLDEN = {
  vision: [28, 40, 28, 12, 4, 0, 4, 44], language: [40, 34, 32, 2, 0, 0, 16, null], robotics: [16, 26, 16, 10, 0, 0, 0, 32], protein: [20, 16, 16, 0, 0, 4, 0, null],
  ranking: [28, 20, 20, 0, 8, 0, 0, null], speech: [20, 16, 16, 0, 4, 0, 8, null], forecasting: [8, 5, 5, 0, 1, 0, 8, 8], platform: [16, 5, 5, 0, 4.5, 4, 0, null],
};
for (const [name, want] of Object.entries(GOLDEN)) {
  test(`${name} has the parts that were drawn`, () => {
    const t = parts(name);
    assert.deepEqual([t.quota, t.held, t.inQuota, t.over, t.firm, t.owed, t.more, t.limit], want);
  });
}

test("a project under quota in sum borrows in one pool", () => {
  const language = sharesByPool(data.projects.find(p => p.name === "language"));
  assert.equal(language.h100.over, 2);
  assert.equal(language.a100.quota - language.a100.inQuota, 8);
});

test("what can't be served as asked is more wanted, never owed", () => {
  assert.equal(refused[7].a100, 8);
  assert.deepEqual(refusedBy(brief, p => p.departmentId), { 1: { h100: 0, a100: 0, l40s: 0 }, 2: { h100: 0, a100: 8, l40s: 0 } });
  assert.equal(poolParts({ quota: 8, held: 1, refused: 8 }).owed, 0);
  assert.equal(poolParts({ quota: 8, held: 1, refused: 8 }).more, 8);
});

test("unlimited quota has no mark and nothing is over it", () => {
  const t = sumParts([poolParts({ quota: Infinity, held: 5, waiting: 3 })]);
  assert.deepEqual([t.inQuota, t.over, t.owed], [5, 0, 3]);
  assert.ok(!quotaMarks(t, { width: 400, scale: 10, slot: { colour: 1 } }).some(([, a]) => a.key === "mark"));
});

test("a quota of 0 has its mark at 0", () => {
  const mark = quotaMarks(poolParts({ held: 2 }), { width: 400, scale: 10, slot: { colour: 1 } }).find(([, a]) => a.key === "mark");
  assert.match(mark[1].d, /^M-1 /);
});

test("a limit is a sum only where every pool has one", () => {
  assert.equal(sumParts([poolParts({ limit: 4 }), poolParts({ limit: 8 })]).limit, 12);
  assert.equal(sumParts([poolParts({ limit: 4 }), poolParts({})]).limit, null);
  assert.equal(sumParts([]).limit, null);
});

test("marks of the vision row lie where they were drawn", () => {
  const marks = Object.fromEntries(quotaMarks(parts("vision"), { width: 600, scale: 10, slot: slotOf("2") }).map(([, a]) => [a.key, a]));
  assert.deepEqual([marks.held.x, marks.held.width], [0, 280]);
  assert.deepEqual([marks.over.x, marks.over.width], [282, 117.25]);
  assert.deepEqual([marks.more.x, marks.more.width], [402, 37]);
  assert.equal(marks.firm.width, 40);
  assert.match(marks.limit.d, /^M436 /);
  assert.match(marks.mark.d, /^M279 /);
  assert.ok(!marks.owed);
});

test("what is wanted beyond the axis is cut and says by how much", () => {
  const marks = quotaMarks(poolParts({ quota: 2, held: 2, waiting: 60 }), { width: 200, scale: 10, slot: null });
  assert.equal(marks.find(([tag]) => tag === "text")[1].text, "+42 →");
  for (const [tag, a] of marks) if (tag === "rect") assert.ok(a.x + a.width <= 200);
});

test("a department's own quota is its mark; what its projects borrow begins there, or after what they hold by quota", () => {
  const sum = sumParts([poolParts({ quota: 10, held: 14 }), poolParts({ quota: 20, held: 15, waiting: 3 })]);
  const marks = quota => Object.fromEntries(quotaMarks({ ...sum, quota }, { width: 900, scale: 10, slot: null }).map(([, m]) => [m.key, m]));
  assert.deepEqual([marks(40).held.width, marks(40).owed.x, marks(40).over.x], [250, 251, 402]);
  assert.deepEqual([marks(12).over.x, marks(12).mark.d.split(" ")[0]], [282, "M119"]);
  assert.deepEqual([reach({ ...sum, quota: 40 }), reach({ ...sum, quota: 12 })], [44, 29]);
});

test("percent of the quota puts every mark at 100", () => {
  assert.equal(inPercent(parts("vision")).quota, 100);
  assert.equal(Math.round(inPercent(parts("vision")).held), 143);
  assert.equal(inPercent(poolParts({ held: 3 })), null);
});

test("a row's words are the first two that apply", () => {
  const words = name => shareWords(parts(name)).map(([, text]) => text);
  assert.deepEqual(words("vision"), ["12 borrowed", "4 more wanted"]);
  assert.deepEqual(words("protein"), ["4 owed, waiting"]);
  assert.deepEqual(words("ranking"), ["8 unused"]);
  assert.equal(shareLine("vision", parts("vision")), "vision · 40 held = 28 in quota + 12 over · 4 non-preemptible · 4 more wanted · quota 28 · limit 44");
});

test("orders: held, ratio, owed, name; ties go by name", () => {
  const rows = data.projects.map(p => ({ name: p.name, parts: parts(p.name) }));
  const order = by => sortShares(rows, by).map(r => r.name);
  assert.deepEqual(order("held"), ["vision", "language", "robotics", "ranking", "protein", "speech", "forecasting", "platform"]);
  assert.equal(order("ratio")[0], "robotics");
  assert.deepEqual(order("owed").slice(0, 2), ["platform", "protein"]);
  assert.equal(order("name")[0], "forecasting");
});

test("an axis has at most 7 ticks in steps of 1, 2, 5", () => {
  for (const max of [0, 0.5, 1, 2, 3, 6, 7, 12, 41, 58, 61, 99, 184, 1000, 16000]) {
    const a = axis(max);
    assert.ok(a.ticks.length <= 7 && a.top >= max && /^[125]0*$/.test(String(a.step)), `${max}: ${JSON.stringify(a)}`);
  }
  assert.deepEqual(axis(58).ticks, [0, 10, 20, 30, 40, 50, 60]);
  assert.equal(labels(axis(58), 400, "GPUs").at(-1).text, "60 GPUs");
});

test("a row needs the axis as far as it holds, its quota and a near limit; what it wants stands apart", () => {
  assert.equal(reach(parts("language")), 42);
  assert.equal(wantedReach(parts("language")), 58);
  assert.equal(reach(parts("robotics")), 32);
  assert.equal(reach(poolParts({ quota: 8, held: 2, limit: 1000 })), 8);
  assert.equal(reach(poolParts({ quota: Infinity, held: 5 })), 5);
});

test("neither five times the demand nor one outlier presses the marks into a corner", () => {
  const rows = [10, 28, 24, 17, 9, 34, 12, 20].map(quota => poolParts({ quota, held: quota / 2, waiting: 5 * quota }));
  assert.deepEqual([axisTop(rows.map(reach)).top, axisOf(rows).top], [40, 80], "some want 50 in all, others 187");
  const silly = poolParts({ quota: 9999, held: 40, waiting: 9 });
  const { top } = axisTop([...rows, silly].map(reach));
  assert.equal(top, 40);
  const marks = quotaMarks(silly, { width: 400, scale: 400 / top, slot: null });
  assert.equal(marks.find(([tag]) => tag === "text")[1].text, "quota 9999 →");
  for (const [tag, a] of marks) if (tag === "rect") assert.ok(a.x + a.width <= 400, a.key);
  assert.equal(axisTop([]).top, 1);
  assert.equal(axisTop([0, 0, 0, 44]).top, 60); // most hold nothing: that is no reason to cut
});

const cutOf = (row, top, unit) => quotaMarks(row, { width: 400, scale: 400 / top, slot: null, unit }).find(([tag]) => tag === "text")?.[1].text;

test("an axis that would end just before what is wanted reaches it; only what goes further is cut", () => {
  const cut = (...rows) => rows.map(row => cutOf(row, axisOf(rows).top));
  const row = (quota, held, waiting) => poolParts({ quota, held, waiting });
  assert.deepEqual(cut(row(4, 4, 1.5), row(2, 1, 0)), [undefined, undefined], "was +0.5 on an axis to 5");
  assert.deepEqual(cut(row(16, 14, 8.75), row(4, 2, 0)), [undefined, undefined], "was +2.75 on an axis to 20");
  assert.deepEqual(cut(row(4, 4, 4), row(4, 0, 0)), [undefined, undefined], "was +3 on an axis to 5");
  assert.deepEqual(cut(row(4, 4, 1.5), row(2, 2, 600)), [undefined, "+596 →"], "one huge row flattens no other");
  assert.deepEqual([1.5, 0].map(waiting => axisOf([row(4, 4, waiting), row(2, 2, 600)]).top), [6, 5]);
  assert.equal(axisOf([row(4, 4, 3)], true).top, 200);
  assert.equal(axisOf([poolParts({ quota: 8, held: 2, limit: 1000 })]).top, 10, "a limit far beyond is left out");
});

test("what ends within 5 % of the axis is not cut", () => {
  assert.deepEqual([104, 106].map(waiting => cutOf(poolParts({ waiting }), 100)), [undefined, "+6 →"]);
  assert.deepEqual([104, 106].map(held => cutOf(poolParts({ held }), 100)), [undefined, "106 →"]);
  assert.equal(cutOf(poolParts({ quota: 104 }), 100), "quota 104 →", "no mark shows it");
});

test("marks beyond the axis carry the unit, percent without decimals", () => {
  const related = inPercent(poolParts({ quota: 7, held: 10, waiting: 51 }));
  assert.equal(axisOf([poolParts({ quota: 7, held: 70 }), poolParts({ held: 3 })], true).top, 300);
  const cut = scale => quotaMarks(related, { width: 300, scale, slot: null, unit: "%" }).find(([tag]) => tag === "text")[1].text;
  assert.equal(cut(1), "+571\u202f% →");
  assert.equal(cut(3), "143\u202f% →");
});

test("colours are stateless; the first 24 projects differ", () => {
  const seen = new Set(Array.from({ length: 24 }, (_, i) => JSON.stringify(slotOf(String(i + 1)))));
  assert.equal(seen.size, 24);
  assert.deepEqual(slotOf("1"), { colour: 1, texture: "" });
  assert.deepEqual(slotOf("9"), { colour: 1, texture: "dots" });
  assert.deepEqual(slotOf("25"), slotOf("1"));
  assert.ok(slotOf("not-a-number").colour >= 1);
});

test("with more than 12 projects only the 8 largest keep their colour", () => {
  const many = Array.from({ length: 13 }, (_, i) => ({ id: String(i), name: `p${i}`, size: i }));
  assert.equal(coloured(many).size, 8);
  assert.ok(coloured(many).has("12") && !coloured(many).has("0"));
  assert.equal(coloured(many.slice(1)).size, 12);
});

test("the overview in brief gives the same shares and the same map as the lists", () => {
  for (const p of data.projects) assert.deepEqual(sharesInBrief(brief.find(b => b.id === p.id)), sharesByPool(p, refused[p.id]), p.name);
  const rows = nodes => poolsOf(nodes).flatMap(p => p.rows.map(({ name, cells, runs, held, free, state }) => ({ name, states: cells.map(c => c.state), runs: runs.map(r => ({ ...r, departmentId: undefined, department: undefined })), held, free, state })));
  assert.deepEqual(rows(nodesInBrief(brieflyTold(data))), rows(data.nodes));
});

test("pools of the map: what is held, free and down", () => {
  const [h100, a100, l40s] = poolsOf(data.nodes, ["h100", "a100", "l40s"]);
  assert.deepEqual([h100.held, h100.total, a100.held, a100.total, a100.down, l40s.held], [61, 64, 69, 88, 8, 32]);
  assert.equal(rowNote(h100.rows[7]), "3 free");
  assert.equal(rowNote(a100.rows[11]), "down");
  assert.equal(a100.rows[11].runs.length, 0);
});

test("adjacent whole devices of one workload are one run; shared devices split from the left", () => {
  const h08 = rowOf(data.nodes.find(n => n.name === "gpu-h08"));
  assert.deepEqual(h08.runs.map(r => [r.name, r.from, r.size, r.offset, r.whole]), [["eval-harness", 0, 2, 0, true], ["embed-serve", 2, 2, 0, true], ["notebook-ana", 4, 0.5, 0, false], ["ci-gpu", 4, 0.5, 0.5, false]]);
  const l03 = rowOf(data.nodes.find(n => n.name === "gpu-l03"));
  assert.deepEqual(l03.runs.map(r => [r.size, r.ending]), [[8, [6, 7]]]);
  assert.deepEqual(stretches([0, 1, 2, 6]), [[0, 3], [6, 1]]);
});

test("a run's box and name fit its cells", () => {
  assert.deepEqual(runBox({ whole: true, from: 2, size: 3 }, 60, 30), { x: 121, width: 88 });
  assert.equal(runLabel("vit-giant", 240), "vit-giant");
  assert.equal(runLabel("notebook-ana", 20), "");
  assert.equal(runLabel("embedding-server", 60), "embeddi…");
  assert.deepEqual([0, 19, 20, 99, 100, null].map(heat), [0, 0, 1, 4, 4, null]);
});

test("a node without devices of its own still shows its cells", () => {
  const row = rowOf({ name: "n", status: "Ready", nodePool: "default", gpuInfo: { gpuType: "A", gpuCount: 2 } });
  assert.deepEqual([row.cells.length, row.free, row.runs.length], [2, 2, 0]);
  assert.equal(poolsOf([{ name: "cpu", status: "Ready", nodePool: "default" }]).length, 0);
});

test("the canvas knows what lies under a point", () => {
  const map = layout(poolsOf(data.nodes), { width: 900, zoom: 0 });
  const place = map.places[9];
  const found = hit(map, place.x + place.left + place.cell * 2.5, place.y + 3);
  assert.equal(found.place, place);
  assert.equal(found.cell, 2);
  assert.match(wordsAt(found), /^gpu-a\d\d, GPU 2: /);
  assert.equal(hit(map, 5000, 5000), null);
});

test("log lines: colours become tones, every other escape is dropped", () => {
  assert.deepEqual(ansi("\u001b[31mbad\u001b[0m ok"), [{ text: "bad", tone: "bad", bold: false }, { text: " ok", tone: "", bold: false }]);
  for (const [line, want] of [["\u001b]8;;http://x\u0007link\u001b]8;;\u0007", "link"], ["a\u001b[2Kb", "ab"], ["10%\r20%", "20%"], ["x\u0000\u0007y", "xy"], ["<b>&amp;", "<b>&amp;"], ["\u001b[38;5;9mx", "x"], ["end\u001b", "end"]]) assert.equal(plain(line), want);
});

test("what turns the reading order around is shown as its escape; letters from the right stay", () => {
  assert.equal(shown("--flag=\u202eeulav \u2067x\u2069 \u200f \u061c"), "--flag=\\u202eeulav \\u2067x\\u2069 \\u200f \\u061c");
  assert.equal(shown("\u0645\u0631\u062d\u0628\u0627 4e16"), "\u0645\u0631\u062d\u0628\u0627 4e16");
});

test("names of a bar's parts stay inside it and apart", () => {
  const names = (held, asked) => [{ from: 0, to: held, text: `${held} held` }, { from: held, to: held + asked, text: `${asked} asked by this one` }];
  const at = list => list.map(n => [n.x, n.anchor]);
  assert.deepEqual(at(named(names(2, 2), 100, 408)), [[100, "middle"], [300, "middle"]]);
  assert.deepEqual(at(named(names(8, 1), 44, 404)), [[176, "middle"], [404, "end"]]);
  assert.deepEqual(at(named(names(0.1, 10), 40, 408)), [[0, "start"], [204, "middle"]]);
  assert.deepEqual(at(named(names(1, 1), 60, 122)), [[0, "start"], [122, "end"]]);
  assert.deepEqual(besideMark(50, 400), { x: 57, "text-anchor": "start" });
  assert.deepEqual(besideMark(360, 400), { x: 353, "text-anchor": "end" });
});

test("many nodes in few words: what is free in one piece", () => {
  const rows = (free, state = "ready") => ({ cells: Array(8), free, state });
  assert.equal(piecesOf({ rows: [rows(0), rows(0), rows(3), rows(4), rows(5), rows(8), rows(8), rows(0, "down")] }), "2 full, 2 with 1–4 free, 1 with 5–7 free, 2 with 8 free, 1 down");
  assert.equal(piecesOf({ rows: [{ cells: Array(1), free: 1, state: "ready" }, { cells: Array(1), free: 0, state: "ready" }] }), "1 full, 1 with 1 free");
});

test("who waits for the same reason: what they want, why not, who holds it and until when", () => {
  const now = Date.parse("2026-11-22T12:00:00Z"), endsAt = new Date(2026, 10, 22, 15, 10).toISOString();
  const group = { nodePool: "a100", code: "NotEnoughGpus", count: 12, countOwed: 12, gpus: 96, waitingSince: "", expectedAt: null, projects: [], why: null, longest: { id: "1", name: "fold", projectName: "vision" },
    sentence: "Needs 8 GPUs in a100; 0 found a place: 31 GPUs are free on 19 nodes, at most 3 on one", holders: [{ project: "vision", gpusHeld: 40, endsAt }, { project: "language", gpusHeld: 8.5 }, { project: "idle", gpusHeld: 0 }, { project: "a", gpusHeld: 1 }, { project: "b", gpusHeld: 1 }] };
  assert.deepEqual(wordsOf(group, now, []), { who: "12 workloads", wants: "96 GPUs in a100", why: "Owed by quota. 0 found a place: 31 GPUs are free on 19 nodes, at most 3 on one.", held: "Held by vision 40, the first until 15:10; language 8.5; a 1", never: undefined });
  assert.match(wordsOf({ ...group, countOwed: 5 }, now, []).why, /^5 owed by quota\. 0 found/);
  const holds = (name, held, pool = "a100") => ({ name, nodePools: [{ name: pool, held }] }), most = [holds("a", 1), holds("b", 7), holds("c", 90, "h100"), holds("d", 2), holds("e", 3)];
  assert.equal(wordsOf({ ...group, holders: [] }, now, most).held, "Held by b 7; e 3; d 2", "nobody is named: who holds most there");
  assert.equal(hrefOf(group), "/workloads?f=phase==Pending,waitsFor==NotEnoughGpus,waitsIn==a100");
  const refused = wordsOf({ ...group, code: "OverLimit", countOwed: 0, holders: [] }, now, most);
  assert.deepEqual([refused.why, refused.held, Boolean(refused.never)], ["It would exceed a limit.", "", true]);
  const one = { ...group, count: 1, countOwed: 0, gpus: 8, holders: [] }, said = wordsOf(one, now, []);
  assert.deepEqual([said.who, said.wants, said.why, said.held], ["fold", "8 GPUs in a100", group.sentence + ".", ""]);
  assert.equal(hrefOf(one), "/workloads?open=1&tab=why");
  const unseen = { ...group, code: null, sentence: null, countOwed: 0 };
  assert.deepEqual([wordsOf(unseen, now, []).why, hrefOf(unseen)], ["The scheduler has not looked at it yet.", "/workloads?f=phase==Pending,nodepool==a100"]);
});

test("who waits keeps its place; a free one is taken by who is new, else by the last", () => {
  const placed = (kept, now) => inPlaces(kept.map(code => `p/${code}`), [...now].map(code => ({ nodePool: "p", code }))).map(g => g.code).join("");
  assert.equal(placed([], "abc"), "abc");
  assert.equal(placed(["a", "b", "c"], "cbn"), "nbc");
  assert.equal(placed(["a", "b", "c", "d"], "bcd"), "dbc");
  assert.equal(placed(["a", "b"], "nbam"), "abnm");
  assert.equal(placed(["a", "b"], ""), "");
});

test("the quick start takes two projects whose quotas make up a pool", () => {
  const project = (name, quota) => ({ name, nodePools: [{ name: "default", quota }] }), pools = [{ name: "default", gpus: 4 }];
  const { cli } = quickStart([project("default", 0), project("team-a", 2), project("team-b", 2)], pools);
  assert.deepEqual(cli("x").split("\n"), [["a2", "team-a", 2], ["a1", "team-a", 1], ["b1", "team-b", 1], ["b2", "team-b", 1]].map(([name, p, g]) => `prorata training submit ${name} -p ${p} -i x -g ${g} --node-pools default`));
  assert.equal(quickStart([project("team-a", 2), project("team-b", 3)], pools), null);
  assert.equal(quickStart([project("team-a", null)], pools), null);
});
