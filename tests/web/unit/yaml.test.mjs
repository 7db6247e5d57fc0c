// The YAML of policies: what is read, at which line, what is refused and where; and what is written is read back.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "../load.mjs";

const { lineOf, readYaml, writeYaml } = await load("pictures/yaml");
const value = text => readYaml(text).value;

const GOOD = [
  ["nothing", "", null], ["a comment alone", "# nothing\n\n", null], ["a document's head", "---\na: 1\n", { a: 1 }],
  ["blocks", "a:\n  b:\n    c: 1\nd: x\n", { a: { b: { c: 1 } }, d: "x" }],
  ["a list below its key, as deep as it", "a:\n- 1\n- two\nb: 3", { a: [1, "two"], b: 3 }],
  ["a list of blocks", "a:\n  - name: x\n    value: 1\n  - name: y", { a: [{ name: "x", value: 1 }, { name: "y" }] }],
  ["lists in lists", "- - 1\n  - 2\n-\n  - 3", [[1, 2], [3]]],
  ["an empty value", "a:\nb: ~\nc: null", { a: null, b: null, c: null }],
  ["words, numbers and what looks like them", "a: 0644\nb: 1.5\nc: -2\nd: 1e3\ne: true\nf: yes\ng: 4Gi\nh: '1'\ni: \"true\"", { a: "0644", b: 1.5, c: -2, d: 1000, e: true, f: "yes", g: "4Gi", h: "1", i: "true" }],
  ["quotes", "'it''s': \"a\\n\\u00e9 # no comment\"", { "it's": "a\né # no comment" }],
  ["comments", "a: 1 # one\n# two\nb: x#y\n", { a: 1, b: "x#y" }],
  ["an address", "a: http://x:80/y\nb: nvcr.io/a:1.0", { a: "http://x:80/y", b: "nvcr.io/a:1.0" }],
  ["flow", "a: {b: 1, c: [x, 'y', {}], d: http://x:1}\ne: []", { a: { b: 1, c: ["x", "y", {}], d: "http://x:1" }, e: [] }],
  ["JSON over lines", '{\n  "a": [1, 2],\n  "b": {"c": null, "d": "x: y"}\n}\n', { a: [1, 2], b: { c: null, d: "x: y" } }],
  ["Windows' ends of lines", "a:\r\n  b: 1\r\nc: x\r\n", { a: { b: 1 }, c: "x" }],
];
for (const [name, text, expected] of GOOD) test(`read: ${name}`, () => assert.deepEqual(value(text), expected));

test("a key that means something to scripts is a key", () => assert.deepEqual(Object.keys(value("__proto__: 1\nconstructor: {__proto__: 2}")), ["__proto__", "constructor"]));

const BAD = [
  ["a tab", "a:\n\tb: 1", 1], ["too deep in", "a: 1\n  b: 2", 1], ["too far out", "  a: 1\nb: 2", 1], ["a key twice", "a: 1\nb: 2\na: 3", 2], ["no colon", "a: 1\nb", 1], ["two colons", "a: b: c", 0],
  ["an anchor", "a: &x 1", 0], ["an alias", "a: *x", 0], ["a tag", "a: !x 1", 0], ["block text", "a: |\n  b", 0], ["a quote without end", "a: 1\nb: 'x", 1], ["a wrong escape", 'a: "\\q"', 0],
  ["a bracket without end", "a:\n  b: [1,\n  2", 1], ["no comma", '{"a": 1\n"b": 2}', 1], ["text after a list", "a: [1] x", 0], ["a list in a mapping", "a: 1\n- b", 1], ["no end of depth", "[".repeat(5000), 0], ["no value", "{a: }", 0],
];
for (const [name, text, line] of BAD)
  test(`refused: ${name}`, () => assert.throws(() => value(text), error => error.name === "YamlError" && error.line === line && error.message.length > 5));

test("every value knows its line; what is not there has the line of what it would be in", () => {
  const read = readYaml("defaults:\n  image: x\nrules:\n  compute:\n    gpuDevicesRequest:\n      max: 4\n  image: {options: [\n    {value: a}]}\n");
  assert.deepEqual(["defaults.image", "rules.compute.gpuDevicesRequest.max", "rules.compute.gpuDevicesRequest.min", "rules.image.options[0].value", "other"].map(p => lineOf(read, p)), [1, 5, 4, 7, 0]);
});

// Made from a number, so that a failure is told by its seed.
function made(seed, depth = 0) {
  const random = n => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
  const words = ["", "a", "x y", "- x", "4Gi", "1", "true", "null", "# no", "a: b", "{", "[x]", "'", '"', "é\n", "~", "&a", "0x1", " pad ", "key:", "1e3", "@x", "?"];
  const kind = random(depth > 3 ? 4 : 7);
  const parts = Array.from({ length: random(4) }, (_, i) => [words[random(words.length)] + i, made(random(1e6), depth + 1)]);
  return [null, words[random(words.length)], random(1000) / 8, random(2) === 1, parts.map(p => p[1]), Object.fromEntries(parts), Object.fromEntries(parts)][kind];
}
test("what is written is read back", () => {
  for (let seed = 1; seed < 3000; seed++) {
    const one = made(seed);
    assert.deepEqual(value(writeYaml(one)), one, `seed ${seed}:\n${writeYaml(one)}`);
    assert.deepEqual(value(JSON.stringify(one, null, 2)), one, `seed ${seed} as JSON`);
  }
});
