// The frames of a session's stream, however they are cut on their way.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "../load.mjs";

const { cut, ending, join } = await load("pictures/frames");
const frame = (kind, text) => Buffer.concat([Buffer.from(kind), Buffer.from([0, 0, text.length >> 8, text.length & 255]), Buffer.from(text)]);
const said = ({ kind, data }) => kind + Buffer.from(data).toString();

test("frames come whole, wherever the stream was cut", () => {
  const long = "x".repeat(300);
  const all = Buffer.concat([frame("1", "out"), frame(" ", ""), frame("2", long), frame("x", "3 gone")]);
  for (let at = 0; at <= all.length; at++) {
    const first = cut(all.subarray(0, at)), second = cut(join(first.rest, all.subarray(at)));
    assert.deepEqual([...first.frames, ...second.frames].map(said), ["1out", " ", "2" + long, "x3 gone"], `cut at ${at}`);
    assert.equal(second.rest.length, 0);
  }
});

test("an end is a status and its words", () => {
  const of = text => ending(Buffer.from(text));
  assert.deepEqual(of("0"), [0, ""]);
  assert.deepEqual(of("7 "), [7, ""]);
  assert.deepEqual(of("137 the pod is over"), [137, "the pod is over"]);
});
