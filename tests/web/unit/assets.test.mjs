// What the form of an asset makes of what is typed, and of what was there.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "../load.mjs";

const { ASSET_PAGES, checkAsset, fieldsNow, pathsOf, specOf, valuesOf } = await load("pictures/asset_kinds", "pictures/asset_form");
const kindOf = (page, id) => ASSET_PAGES[page].kinds.find(k => k.id === id);
const ENVIRONMENT = kindOf("environments", "environment"), COMPUTE = kindOf("compute", "compute"), PVC = kindOf("data-sources", "pvc"), PASSWORD = kindOf("credentials", "password"), TRAINING = kindOf("templates", "Training");
const NAMED = { name: "a", description: "", place: "tenant/" };

test("what is read and sent again is the same, with what the form does not show", () => {
  const specs = [
    [ENVIRONMENT, { image: "i", command: "sh", environmentVariables: [{ name: "A", value: "1=2" }, { name: "S", credential: { assetId: "x", key: "k" } }], connections: [{ name: "c" }], probes: null }],
    [COMPUTE, { gpuDevicesRequest: 1, gpuRequestType: "portion", gpuPortionRequest: 0.5, gpuPortionLimit: 1, cpuCoreRequest: 0, cpuMemoryRequest: "4Gi", largeShmRequest: true, extendedResources: [{ resource: "x/y", quantity: "2" }] }],
    [PVC, { existingPvc: false, path: "/data", claimInfo: { size: "10Gi", volumeMode: "Block", accessModes: { readWriteMany: true } }, readOnly: true }],
    [TRAINING, { image: "i", compute: { gpuDevicesRequest: 2, largeShmRequest: false }, assets: { environment: "e", datasources: [{ id: "d", kind: "pvc" }] }, completions: 3, storage: { pvc: [] } }],
  ];
  for (const [kind, spec] of specs) assert.deepEqual(specOf(kind, valuesOf(kind, spec, NAMED), spec), spec, kind.id);
});

test("an emptied field is gone; one that does not matter any more too", () => {
  const before = { gpuRequestType: "portion", gpuPortionRequest: 0.5, cpuCoreRequest: 2, cpuMemoryRequest: "1G" };
  const after = specOf(COMPUTE, { ...valuesOf(COMPUTE, before, NAMED), gpuRequestType: "", cpuCoreRequest: "" }, before);
  assert.deepEqual(after, { cpuMemoryRequest: "1G", largeShmRequest: false });
  const claim = specOf(PVC, { ...valuesOf(PVC, {}, NAMED), existingPvc: true, claimName: "old", path: "/d" });
  assert.deepEqual(claim, { existingPvc: true, claimName: "old", path: "/d", readOnly: false });
});

test("a part of a GPU is shown and typed in percent, as documents have it, and sent as the fraction it is", () => {
  for (const [fraction, shown] of [[0.5, 50], [0.07, 7], [0.29, 29], [1, 100]]) {
    const spec = { gpuDevicesRequest: 1, gpuRequestType: "portion", gpuPortionRequest: fraction };
    const values = valuesOf(COMPUTE, spec, NAMED);
    assert.equal(values.gpuPortionRequest, shown);
    assert.equal(specOf(COMPUTE, { ...values, gpuPortionRequest: String(shown) }).gpuPortionRequest, fraction);
  }
});

test("values of credentials are sent, never shown", () => {
  assert.equal(valuesOf(PASSWORD, { user: "u", password: "p" }, NAMED).password, "");
  assert.deepEqual(specOf(PASSWORD, { ...valuesOf(PASSWORD, {}, NAMED), user: "u", password: "p" }), { user: "u", password: "p" });
  assert.deepEqual(fieldsNow(PASSWORD, { existingSecretName: "s" }).map(f => f.path), ["existingSecretName"]);
});

const BAD = [
  [ENVIRONMENT, {}, "image"], [ENVIRONMENT, { image: "i", environmentVariables: "A" }, "environmentVariables"], [ENVIRONMENT, { image: "i", environmentVariables: "=1" }, "environmentVariables"],
  [COMPUTE, { gpuDevicesRequest: "x" }, "gpuDevicesRequest"], [COMPUTE, { gpuDevicesRequest: -1 }, "gpuDevicesRequest"], [COMPUTE, { gpuRequestType: "portion" }, "gpuPortionRequest"], [COMPUTE, { gpuRequestType: "portion", gpuPortionRequest: 101 }, "gpuPortionRequest"], [COMPUTE, { cpuMemoryRequest: "much" }, "cpuMemoryRequest"],
  [PVC, { path: "/d" }, "claimInfo.size"], [PASSWORD, { user: "u" }, "password"], [COMPUTE, { name: " " }, "name"], [COMPUTE, { place: "" }, "place"],
];
for (const [kind, more, field] of BAD)
  test(`refused before it is sent: ${kind.id} ${JSON.stringify(more)}`, () => {
    const wrong = checkAsset(kind, { ...valuesOf(kind, {}, NAMED), ...more }, true);
    assert.deepEqual(Object.keys(wrong).filter(k => wrong[k]), [field]);
  });

test("a refusal of the server finds its field", () => {
  assert.equal(pathsOf(PVC)["spec.claimInfo.size"], "claimInfo.size");
  assert.equal(pathsOf(PVC)["meta.projectId"], "place");
});
