import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "../load.mjs";

const { checkRules, configurationOf, rulesInWords, valuesOfPool } = await load("pictures/pool_rules");
const { checkTopology, topologyChoices, topologySaid } = await load("pictures/topology");

const SHARE = { enabled: true, historicalUsageWeight: 2.5, decayHalfLife: "12h", windowType: "sliding", windowDuration: "14d" };
const poolWith = schedulingConfiguration => ({ name: "h100", schedulingConfiguration });
const inWords = pool => Object.fromEntries(rulesInWords(pool));

test("a pool's rules go through the form unchanged", () => {
  for (const configuration of [
    { placementStrategy: { gpu: "fragmentation", cpu: "spread" }, minGuaranteedRuntime: "30m", reservation: true, reclaimByRank: true },
    { placementStrategy: { gpu: "spread", cpu: "binpack" }, minGuaranteedRuntime: "0", reservation: false, reclaimByRank: false, timeBasedFairShare: SHARE },
    { placementStrategy: { gpu: "binpack", cpu: "binpack" }, minGuaranteedRuntime: "0", reservation: false, reclaimByRank: true, timeBasedFairShare: { ...SHARE, windowType: "tumbling", tumblingWindowStartTime: "2026-01-05T09:30:00.000Z" } },
    { placementStrategy: { gpu: "binpack", cpu: "binpack" }, minGuaranteedRuntime: "0", reservation: false, reclaimByRank: true, timeBasedFairShare: { ...SHARE, enabled: false } },
  ]) {
    const pool = poolWith(configuration);
    assert.deepEqual(checkRules(valuesOfPool(pool)), {});
    assert.deepEqual(configurationOf(valuesOfPool(pool), pool), configuration);
  }
});

test("a new pool says nothing of past use until it counts", () => {
  const values = valuesOfPool(null);
  assert.deepEqual(configurationOf(values, null), { placementStrategy: { gpu: "binpack", cpu: "binpack" }, minGuaranteedRuntime: "0", reservation: false, reclaimByRank: true });
  assert.deepEqual(configurationOf({ ...values, pastUse: "tumbling", begin: "2026-02-01" }, null).timeBasedFairShare,
    { enabled: true, historicalUsageWeight: 1, decayHalfLife: "0h", windowType: "tumbling", windowDuration: "7d", tumblingWindowStartTime: "2026-02-01T00:00:00Z" });
});

test("what is wrong is said at its field, and only where it matters", () => {
  const bad = { ...valuesOfPool(null), guaranteed: "soon", window: "0", halfLife: "x", weight: "-1", begin: "yesterday" };
  assert.deepEqual(Object.keys(checkRules(bad)), ["guaranteed"]);
  assert.deepEqual(Object.keys(checkRules({ ...bad, pastUse: "sliding" })), ["guaranteed", "window", "halfLife", "weight"]);
  assert.deepEqual(Object.keys(checkRules({ ...bad, pastUse: "tumbling" })), ["guaranteed", "window", "halfLife", "weight", "begin"]);
  assert.ok(checkRules({ ...valuesOfPool(null), pastUse: "tumbling", begin: "2026-02-99" }).begin);
  assert.ok(checkRules({ ...valuesOfPool(null), pastUse: "sliding", weight: " " }).weight);
});

test("rules in words", () => {
  assert.deepEqual(inWords(poolWith(undefined)), { "GPU placement": "bin-pack", "CPU placement": "bin-pack", "Minimum run time": "none: borrowed GPUs can be asked back at once", "Past use": "doesn't count", "Quotas beyond what there is": "higher ranks come first, within quotas too", "Largest waiting gang": "no room is kept for it" });
  const all = inWords(poolWith({ placementStrategy: { gpu: "fragmentation", cpu: "spread" }, minGuaranteedRuntime: "1h", reservation: true, reclaimByRank: false, timeBasedFairShare: SHARE }));
  assert.deepEqual(all, { "GPU placement": "fragmentation", "CPU placement": "spread", "Minimum run time": "1 h", "Past use": "counts with weight 2.5: of the latest 14 d; after 12 h it counts half", "Quotas beyond what there is": "nobody takes from within a quota", "Largest waiting gang": "free GPUs are kept for it" });
  assert.match(inWords(poolWith({ timeBasedFairShare: { ...SHARE, decayHalfLife: "0h", windowType: "tumbling", tumblingWindowStartTime: "2026-01-05T09:30:00Z" } }))["Past use"], /^counts with weight 2.5: since the present window of 14 d began, counted from \d+ Jan \d\d:\d\d$/);
});

test("a topology is chosen, or made from its levels; one that is off says why", () => {
  const list = [{ id: "a", name: "racks", phase: "Ready", levels: ["zone", "rack"] }, { id: "b", name: "rows", phase: "Off", levels: ["row"], status: { message: "It is off: n1 lacks row" } }];
  assert.deepEqual(topologyChoices(list, true).map(o => o.label), ["None", "racks", "rows (off)", "New…"]);
  assert.equal(topologyChoices([], false).length, 1);
  assert.deepEqual([topologySaid(list, "a"), topologySaid(list, "b")], ["Levels, the farthest first: zone, rack", "It is off: n1 lacks row. Levels, the farthest first: row"]);
  const v = { topology: "new", topologyName: "dc", levels: ["topology.kubernetes.io/rack", "kubernetes.io/hostname"] };
  assert.deepEqual([checkTopology(v), checkTopology({ topology: "" }), checkTopology({ topology: "a" })], [{}, {}, {}]);
  for (const [more, field] of [[{ topologyName: "" }, "topologyName"], [{ topologyName: "A" }, "topologyName"], [{ levels: [] }, "levels"], [{ levels: ["a b"] }, "levels"]]) assert.ok(checkTopology({ ...v, ...more })[field]);
});
