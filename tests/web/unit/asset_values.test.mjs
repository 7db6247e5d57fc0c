// What environments and compute resources fill into the form of a workload: every field that the API knows of them.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { load } from "../load.mjs";

const { EMPTY, bodyOf } = await load("pictures/submission");
const { environmentOf, fromCompute, fromEnvironment, unseen } = await load("pictures/asset_values");
const { commandOf } = await load("pictures/submission_command");

const V = more => ({ ...EMPTY, name: "a1", project: "4", ...more });
const specOf = values => bodyOf(V(values), "training", "c").spec;

const COMPUTE = {
  gpuDevicesRequest: 1, gpuRequestType: "memory", gpuMemoryRequest: "10G", gpuMemoryLimit: "12G", cpuCoreRequest: 1, cpuCoreLimit: 2,
  cpuMemoryRequest: "1G", cpuMemoryLimit: "2G", largeShmRequest: true, extendedResources: [{ resource: "acme.com/fpga", quantity: "2" }],
};
const PORTION = { gpuDevicesRequest: 1, gpuRequestType: "portion", gpuPortionRequest: 0.5, gpuPortionLimit: 0.8 };
const SECURITY = {
  runAsUid: 7, runAsGid: 8, supplementalGroups: "9,10", allowPrivilegeEscalation: true, capabilities: ["SYS_NICE"], hostIpc: true, hostNetwork: true,
  readOnlyRootFilesystem: true, runAsNonRoot: true, seccompProfileType: "RuntimeDefault", uidGidSource: "custom",
};
const CONTAINER = {
  image: "i", command: "c", args: "a b", workingDir: "/w", imagePullPolicy: "Always", createHomeDir: true, stdin: true, tty: true,
  probes: { readiness: { handler: { path: "/" } } },
};
const ENVIRONMENT = {
  ...CONTAINER, ...SECURITY, overrideUidGidInWorkspace: true,
  environmentVariables: [{ name: "A", value: "1" }, { name: "B", credential: { assetId: "u-1", key: "k" } }, { name: "C", configMap: { name: "m", key: "k" } }, { name: "D", podFieldRef: { path: "metadata.name" } }],
  connections: [
    { name: "lab", internalToolInfo: { toolType: "jupyter-notebook", connectionType: "ExternalUrl", containerPort: 8888, externalUrlInfo: { externalUrl: "https://x" } } },
    { name: "ssh", internalToolInfo: { toolType: "ssh", connectionType: "NodePort", containerPort: 22 } },
    { name: "w", isExternal: true, externalToolInfo: { toolType: "wandb", externalUrl: "https://w" } },
  ],
};

// The names of a schema's fields, as openapi.yaml has them.
function fieldsOf(schema) {
  const text = readFileSync(new URL("../../../openapi/openapi.yaml", import.meta.url), "utf8");
  const [, body] = new RegExp(`\n    ${schema}:\n((?: {6}.*\n)*)`).exec(text);
  return [...body.matchAll(/^ {8}(\w+):/gm)].map(match => match[1]);
}

test("the specifications below have every field of the API", () => {
  assert.deepEqual(fieldsOf("EnvironmentAssetSpec").filter(name => !(name in ENVIRONMENT)), []);
  assert.deepEqual(fieldsOf("ComputeAssetSpec").filter(name => !(name in { ...COMPUTE, ...PORTION })), []);
});

test("a compute resource is sent whole", () => {
  for (const compute of [COMPUTE, PORTION]) assert.deepEqual(specOf(fromCompute(compute)).compute, compute);
  assert.deepEqual([COMPUTE, PORTION].map(compute => unseen(V(fromCompute(compute)))), [["compute.gpuMemoryLimit"], ["compute.gpuPortionLimit"]]);
});

test("an environment is sent whole, its tools as ports and URLs", () => {
  const { compute: _size, ...spec } = specOf(fromEnvironment(ENVIRONMENT));
  assert.deepEqual(spec, {
    ...CONTAINER, security: SECURITY,
    environmentVariables: [{ name: "A", value: "1" }, { name: "B", secret: { name: "u-1", key: "k" } }, { name: "C", configMap: { name: "m", key: "k" } }, { name: "D", podFieldRef: { path: "metadata.name" } }],
    exposedUrls: [{ container: 8888, toolType: "jupyter-notebook", toolName: "lab", url: "https://x" }],
    ports: [{ container: 22, toolType: "ssh", toolName: "ssh", serviceType: "NodePort" }],
    relatedUrls: [{ name: "w", type: "wandb", url: "https://w" }],
  });
  const v = V(fromEnvironment(ENVIRONMENT));
  assert.deepEqual(unseen(v), ["probes", "relatedUrls"]);
  assert.match(commandOf(v, "training", "p"), /^prorata workload submit a1 .*-f/, "no flag says probes: a file does");
});

test("another asset takes back what the one before filled", () => {
  const after = { ...V(fromEnvironment(ENVIRONMENT)), ...fromCompute(COMPUTE), ...fromEnvironment({ image: "j" }), ...fromCompute({ gpuDevicesRequest: 2 }) };
  const { exposedUrls: _urls, ports: _ports, ...spec } = bodyOf(after, "training", "c").spec;
  assert.deepEqual(spec, { image: "j", compute: { gpuDevicesRequest: 2 } });
  assert.deepEqual(unseen(after), []);
});

test("an environment that is saved from the form has all that an environment can have", () => {
  const { connections: _tools, overrideUidGidInWorkspace: _own, environmentVariables, ...plain } = ENVIRONMENT;
  assert.deepEqual(environmentOf(V(fromEnvironment(ENVIRONMENT))), { ...plain, environmentVariables: environmentVariables.filter(v => !v.credential) });
});
