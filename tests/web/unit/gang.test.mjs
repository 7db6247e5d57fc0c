import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "../load.mjs";

const { shapeFlags, shapeRows, topologyWords } = await load("pictures/gang");
const { EMPTY, bodyOf, valuesOf } = await load("pictures/submission");
const { commandOf } = await load("pictures/submission_command");

const SHAPE = {
  topology: { name: "dc", preferred: "zone" },
  minSubGroups: 1,
  subGroups: [
    { name: "left", parent: "top", workers: 2, minPods: 1 },
    { name: "top", minSubGroups: 1, topology: { name: "dc", required: "rack", preferred: "host" } },
    { name: "lead", workers: 0, master: true, minPods: 1 },
    { name: "right", parent: "top", workers: 3, minPods: 3 },
  ],
};

test("a tree stands from the top down, each sub-group below its parent", () => {
  assert.deepEqual(
    shapeRows(SHAPE.subGroups).map(row => [row.group.name, row.depth, row.needs]),
    [["top", 0, "1 of 2 sub-groups"], ["left", 1, "1 of 2 pods"], ["right", 1, "3 of 3 pods"], ["lead", 0, "1 of 1 pod, the master"]],
  );
  assert.deepEqual(shapeRows([]), []);
});

test("a topology in words", () => {
  assert.equal(topologyWords(SHAPE.subGroups[1].topology), "in one rack of dc, if possible in one host");
  assert.equal(topologyWords(SHAPE.topology), "if possible in one zone of dc");
  assert.equal(topologyWords(null), "");
});

test("the flags ask for the same again", () => {
  const flags = [
    "--topology name=dc,preferred=zone",
    "--min-sub-groups 1",
    "--sub-group name=left,parent=top,workers=2,min-pods=1",
    "--sub-group name=top,min-sub-groups=1,topology=dc,required=rack,preferred=host",
    "--sub-group name=lead,master,min-pods=1",
    "--sub-group name=right,parent=top,workers=3,min-pods=3",
  ];
  assert.deepEqual(shapeFlags(SHAPE), flags);
  assert.deepEqual(shapeFlags({}), []);
  assert.deepEqual(shapeFlags({ subGroups: [{ name: "a", workers: 1 }] }), ["--sub-group name=a,workers=1", "--no-master"]);
  const line = commandOf({ ...EMPTY, name: "a1", args: "train.py", workers: 5, shape: SHAPE }, "distributed", "p").replaceAll(" \\\n  ", " ");
  assert.ok(line.includes(`--workers 5 ${flags.join(" ")} `) && line.endsWith("-- train.py"), line);
});

test("a copy keeps the shape, and has the master that it names", () => {
  const copy = spec => bodyOf(valuesOf({ projectId: 1, spec }, "a1"), "distributed", "c");
  const body = copy({ image: "x", numWorkers: 5, ...SHAPE });
  const { topology, minSubGroups, subGroups } = body.spec;
  assert.deepEqual({ topology, minSubGroups, subGroups }, SHAPE);
  assert.equal(body.masterSpecSameAsWorker, true);
  assert.equal(copy({ image: "x", numWorkers: 1, subGroups: [{ name: "a", workers: 1 }] }).masterSpecSameAsWorker, false);
  const plain = copy({ image: "x", numWorkers: 1, topology: null });
  assert.deepEqual(["topology", "minSubGroups", "subGroups"].filter(key => key in plain.spec), []);
  assert.equal(plain.masterSpecSameAsWorker, true);
});
