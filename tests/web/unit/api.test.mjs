import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "../load.mjs";

globalThis.setInterval = () => 0; // the pages' timer would keep the test alive
globalThis.document = { hidden: true, documentElement: { dataset: {} } };
const { ApiError, fieldErrors, queryString } = await load("api");

test("a query is comma separated, without what is empty", () => {
  assert.equal(queryString({ filterBy: ["phase==Pending", "name=@a&b"], limit: 50, search: "", sortBy: undefined, none: [] }), "?filterBy=phase%3D%3DPending,name%3D%40a%26b&limit=50");
  assert.equal(queryString({}), "");
});

const CASES = [
  ["the message names the field", { message: "spec.compute.gpuDevicesRequest: at least 1, got 0" }, { "spec.compute.gpuDevicesRequest": "at least 1, got 0" }],
  ["the details name more", { message: "name: missing", details: "spec.image: missing" }, { name: "missing", "spec.image": "missing" }],
  ["a policy names fields", { message: "the policy refuses it", complianceIssues: [{ field: "compute.gpuDevicesRequest", details: "at most 4", rule: "max" }] }, { "compute.gpuDevicesRequest": "at most 4" }],
  ["no field is named", { message: "The name is taken" }, {}],
  ["a sentence with a colon is no field", { message: "Try later: the server is draining" }, {}],
];
for (const [name, body, want] of CASES) test(`field errors: ${name}`, () => assert.deepEqual(fieldErrors(new ApiError(400, body)), want));
test("field errors: other errors name none", () => assert.deepEqual(fieldErrors(new TypeError("x: y")), {}));
