// What a person's boxes become: as few writes as needed, and the boxes again.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "../load.mjs";

const { CHANNEL_KINDS, specOf, subscriptionWrites, ticksOf, valuesOf } = await load("pictures/channels", "pictures/asset_form");
const TICKS = new Set(["Status/Failed/email", "Status/Completed/email", "Quota/Digest/email", "Status/Failed/hook-1"]);
const made = subscriptionWrites([], TICKS, "own").map((w, i) => ({ ...w.body, id: String(i) }));

test("boxes become a subscription a channel, and are the same boxes again", () => {
  assert.deepEqual(made.map(s => s.channels), [["email"], ["hook-1"]]);
  assert.deepEqual(made[0].events, [{ category: "Quota", types: ["Digest"] }, { category: "Status", types: ["Completed", "Failed"] }]);
  assert.deepEqual(ticksOf(made), TICKS);
});

test("what is as it was is not sent", () => assert.deepEqual(subscriptionWrites(made, TICKS, "own"), []));

const CASES = [
  ["another scope changes each", made, TICKS, "all", ["PUT 0", "PUT 1"]], ["a channel without boxes goes", made, new Set([...TICKS].filter(t => !t.endsWith("hook-1"))), "own", ["DELETE 1"]],
  ["no box at all", made, new Set(), "own", ["DELETE 0", "DELETE 1"]], ["one that names two channels becomes two", [{ id: "x", channels: ["email", "slack"], events: made[0].events }], new Set(["Quota/Digest/email"]), "own", ["POST", "DELETE x"]],
  ["two of one channel become one", [made[0], { ...made[0], id: "9" }], ticksOf([made[0]]), "own", ["DELETE 9"]],
];
for (const [name, old, ticks, scope, expected] of CASES) test(name, () => assert.deepEqual(subscriptionWrites(old, ticks, scope).map(w => [w.method, w.id].filter(Boolean).join(" ")), expected));

test("a secret that is left empty is not sent; recipients are lines", () => {
  const email = CHANNEL_KINDS[0];
  const config = { smtpHost: "m", from: "a@b", recipients: ["x@y", "z@y"], smtpTlsEnabled: false };
  assert.deepEqual(specOf(email, valuesOf(email, config, {}), config), { ...config, smtpPort: 587 });
  assert.equal(valuesOf(email, {}, {}).smtpTlsEnabled, true);
});
