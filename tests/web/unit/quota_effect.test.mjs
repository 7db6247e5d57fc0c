// Who gains and who loses by a change of quotas, from the scheduler's answer.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "../load.mjs";

const { effectsOf, hit, isLoss, quotaQuestion, sayEffect } = await load("pictures/quota_effect");
const { resourcesOf, rowsOf } = await load("pictures/quota_form");

const queue = (name, id, before, after, nodePool = "h100") => ({ kind: "project", name, id, nodePool, before: { allocated: before }, after: { allocated: after } });
const work = (workload, project, projectId, outcome, nodePool = "h100") => ({ workload, project, projectId, outcome, nodePool });

test("effects are of a pool and a project, who loses most first; strangers are one", () => {
  const effects = effectsOf({
    queues: [
      { ...queue("research", "1", 9, 2), kind: "department" },
      queue("vision", "3", 2, 6),
      queue("another project", null, 8, 6),
      queue("another project", null, 4, 3),
      queue("language", "4", 16, 4),
      queue("language", "4", 4, 4, "a100"),
    ],
    workloads: [
      work("v1", "vision", "3", "Starts"),
      ...["l1", "l2", "l3", "l4"].map(name => work(name, "language", "4", "GivesWay")),
      work("l5", "language", "4", "StaysPending"),
      work("another project's workload", "another project", null, "GivesWay"),
      work("t1", "theory", "5", "Restarts", "a100"),
    ],
  });
  assert.deepEqual(effects.map(e => [e.pool, sayEffect(e), hit(e), isLoss(e)]), [
    ["h100", "language loses 12 GPUs: 4 workloads give way, 1 workload stays pending", "l1, l2, l3 and 2 more", true],
    ["h100", "another project loses 3 GPUs: 1 workload gives way", "another project's workload", true],
    ["a100", "theory: 1 workload restarts", "t1", true],
    ["h100", "vision gains 4 GPUs: 1 workload starts", "", false],
  ]);
});

test("the question is the rows that differ, whatever was typed; none: no question", () => {
  const pools = [{ id: "1", name: "h100" }, { id: "2", name: "a100" }], before = rowsOf(pools, [], "MediumLow");
  const same = before.map(r => ({ ...r, quota: String(r.quota) })), other = before.map((r, i) => ({ ...r, quota: i ? "4" : r.quota }));
  assert.equal(quotaQuestion("project", "3", before, same, resourcesOf(same)), null);
  const { departments, projects } = JSON.parse(quotaQuestion("department", "7", before, other, resourcesOf(other)));
  assert.equal(projects, undefined);
  assert.deepEqual([departments[0].id, departments[0].resources.map(r => [r.nodePool.name, r.gpu.deserved])], ["7", [["a100", 4]]]);
});
