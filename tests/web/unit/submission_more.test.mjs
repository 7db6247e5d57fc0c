// What a submission has besides the plain fields: volumes, ports, tolerations, security; as body, as flags, in a copy.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "../load.mjs";

const { EMPTY, bodyOf, check, copyOf } = await load("pictures/submission");
const { commandOf } = await load("pictures/submission_command");
const { PATHS, brokenRules, ruledFields, withDefaults } = await load("pictures/submission_fields");
const { THINGS, rowOf } = await load("pictures/submission_more");

const V = more => ({ ...EMPTY, name: "a1", project: "4", image: "x", cpu: "", memory: "", ...more });
const line = (...of) => commandOf(...of).replaceAll(" \\\n  ", " ");
const row = (id, values) => {
  const thing = THINGS.find(t => t.id === id), { values: first, was } = rowOf(thing);
  return { values: { ...first, ...values }, was };
};
const PROJECT = { name: "vision", parent: { name: "research" } };

const WHOLE = {
  image: "x",
  compute: { gpuDevicesRequest: 2, gpuRequestType: "memory", gpuMemoryRequest: "10G", cpuCoreLimit: 4, extendedResources: [{ resource: "acme.com/fpga", quantity: "2" }] },
  environmentVariables: [{ name: "A", value: "1" }, { name: "B", secret: { name: "s", key: "k" } }, { name: "C", podFieldRef: { path: "metadata.name" } }],
  storage: {
    pvc: [{ path: "/n", ephemeral: true, claimInfo: { size: "10Gi", storageClass: "fast", accessModes: { readWriteMany: true } } }, { path: "/e", existingPvc: true, claimName: "e", readOnly: true }],
    nfs: [{ server: "nas", path: "/x", mountPath: "/m", readOnly: true }, { server: "nas", path: "/y", mountPath: "/w", readOnly: false }],
    configMapVolume: [{ configMap: "m", mountPath: "/c", defaultMode: "0644" }],
    secretVolume: [{ secret: "s", mountPath: "/s" }],
    emptyDirVolume: [{ path: "/t", sizeLimit: "1Gi" }],
  },
  ports: [{ container: 22, serviceType: "NodePort", external: 30022 }],
  exposedUrls: [{ container: 8888, toolType: "jupyter-notebook", authorizationType: "authorizedUsers", authorizedUsers: ["a@b", "c@d"] }],
  after: [{ name: "prep", when: "ok" }, { name: "check", when: "any" }],
  tolerations: [{ key: "k", operator: "Exists", effect: "NoExecute", seconds: 60 }],
  startAt: "2026-01-31T22:00:00.000Z",
  restartPolicy: "Never",
  terminationGracePeriodSeconds: 90,
  autoDeletionTimeAfterCompletionSeconds: 7200,
  terminateAfterPreemption: true,
  security: { runAsUid: 1000, capabilities: ["SYS_NICE", "IPC_LOCK"], runAsNonRoot: true, hostIpc: false },
  labels: [{ name: "team", value: "vision" }],
  imagePullPolicy: "Always",
};
test("a copy has all of it, and the command line says all of it", () => {
  const v = copyOf({ projectId: 4, spec: WHOLE }, "a1", "training");
  assert.deepEqual(bodyOf(v, "training", "c").spec, WHOLE);
  assert.deepEqual([v.rest, v["spec.autoDeletionTimeAfterCompletionSeconds"]], [{}, "2h"]);
  assert.equal(line(v, "training", "p"), "prorata training submit a1 -p p -i x -g 2 -e A=1 --image-pull-policy Always --gpu-memory-request 10G --cpu-core-limit 4 --extended-resource acme.com/fpga=2 --begin 2026-01-31T22:00:00.000Z --restart-policy Never --termination-grace-period 90s --auto-deletion-time-after-completion 7200s --terminate-after-preemption --run-as-uid 1000 --capability SYS_NICE --capability IPC_LOCK --run-as-non-root --host-ipc=false --label team=vision --env-secret B=s,key=k --env-pod-field-ref C=metadata.name --new-pvc path=/n,size=10Gi,storageclass=fast,accessmode-rwm,ephemeral --existing-pvc claimname=e,path=/e,ro --nfs server=nas,path=/x,mountpath=/m --nfs server=nas,path=/y,mountpath=/w,readwrite --configmap-map-volume name=m,path=/c,default-mode=0644 --secret-volume name=s,path=/s --empty-dir-volume path=/t,size-limit=1Gi --port container=22,service-type=NodePort,external=30022 --external-url container=8888,tool-type=jupyter-notebook,authorization-type=authorizedUsers,authusers=a@b,authusers=c@d --after prep:ok --after check:any --toleration key=k,operator=Exists,effect=NoExecute,seconds=60");
});

test("what no field shows stays in a copy, and is sent as a file where no flag says it", () => {
  const spec = { image: "x", compute: { gpuDevicesRequest: 1 }, probes: { readiness: { handler: { path: "/" } } }, storage: { dataVolume: [{ id: "7", mountPath: "/d" }] }, sshAuthMountPath: "/root/.ssh" };
  const v = copyOf({ projectId: 4, spec }, "it's", "training");
  const { sshAuthMountPath: _standard, ...kept } = spec;
  assert.deepEqual(bodyOf(v, "training", "c").spec, kept);
  const [first, ...file] = commandOf(v, "training", "p").split("\n");
  assert.equal(first, "prorata workload submit 'it'\\''s' -p p -f /dev/stdin <<'END'");
  assert.deepEqual(JSON.parse(file.slice(0, -1).join("\n")), { type: "Training", name: "it's", spec: kept });
  for (const more of [{ "spec.environmentVariables.userCredential": [row("environmentVariables.userCredential", { name: "A", "userCredential.name": "u", "userCredential.key": "k" })] }, { "spec.storage.emptyDirVolume": [row("storage.emptyDirVolume", { path: "/a,b" })] }])
    assert.match(commandOf(V(more), "training", "p"), /^prorata workload submit a1/, "a flag would be split at the comma, or there is none");
});

test("what is not typed is not sent, and inferences leave out what they don't have", () => {
  assert.deepEqual(bodyOf(V({ "spec.security.hostIpc": "" }), "training", "c").spec, { image: "x", compute: { gpuDevicesRequest: 1 } });
  const { spec } = bodyOf(V({ "spec.restartPolicy": "Never", "spec.security.hostNetwork": true, "spec.security.runAsUid": 7 }), "inference", "c");
  assert.deepEqual([spec.restartPolicy, spec.security], [undefined, { runAsUid: 7 }]);
  assert.deepEqual(bodyOf(V({ datasources: ["nfs:17"] }), "training", "c").assets, { datasources: [{ id: "17" }] });
  assert.match(line(V({ datasources: ["nfs:17"] }), "training", "p", id => id === "17" && "the sets"), /--datasource 'the sets'$/);
});

test("what is wrong is said of its field", () => {
  const wrong = more => check(V(more), "training");
  for (const [key, value, text] of [
    ["spec.terminationGracePeriodSeconds", "soon", /^A time/],
    ["spec.security.runAsUid", "root", /number/],
    ["spec.labels", "no label", /NAME=value/],
    ["spec.compute.cpuMemoryLimit", "much", /^An amount/],
  ]) assert.match(wrong({ [key]: value })[key], text, key);
  for (const container of ["", "0", "65536", "8888.5", "http"]) assert.ok(wrong({ "spec.ports": [row("ports", { container })] })["spec.ports"], container);
  assert.deepEqual(wrong({ "spec.ports": [row("ports", { container: 80 })] }), {});
  assert.equal(wrong({ "spec.storage.pvc": [row("storage.pvc", { path: "/p" })] })["spec.storage.pvc"], "Missing.", "a new volume has a size");
  assert.deepEqual(wrong({ gpus: 0.5, "spec.compute.gpuMemoryRequest": "1G" }), { "spec.compute.gpuMemoryRequest": "Of at least 1 GPU." });
});

test("policies bound it, lock it and add to it", () => {
  const rules = { terminationGracePeriodSeconds: { max: 300 }, security: { runAsUid: { canEdit: false } }, tolerations: { instances: { canAdd: false } }, labels: { instances: { canAdd: false } } };
  const said = more => ruledFields({ rules }, "training", V(more), PROJECT);
  assert.deepEqual(Object.entries(said()).map(([key, { text, locked }]) => [key, text, locked]), [["spec.terminationGracePeriodSeconds", "at most 5m", false], ["spec.security.runAsUid", "fixed", true], ["spec.tolerations", "nothing may be added", true], ["spec.labels", "nothing may be added", true]]);
  const broken = time => Object.keys(brokenRules(V({ "spec.terminationGracePeriodSeconds": time }), said()));
  assert.deepEqual([broken("5m"), broken("301s"), broken("")], [[], ["spec.terminationGracePeriodSeconds"], []]);
  const policy = { defaults: { security: { runAsUid: 7 }, labels: { instances: [{ name: "a", value: "b" }] }, storage: { nfs: { instances: [{ server: "s" }] } } } };
  assert.deepEqual(withDefaults(V(), EMPTY, EMPTY, policy, "training").values, { "spec.security.runAsUid": 7 });
  assert.deepEqual(["spec.storage.pvc", "tolerations", "spec.environmentVariables", "assets", "worker.security.runAsUid"].map(path => PATHS[path]), ["spec.storage.pvc", "spec.tolerations", "environment", "datasources", "spec.security.runAsUid"]);
});

test("what is held is sent so, by body and by flag; an inference cannot be", () => {
  const held = V({ held: true });
  assert.equal(bodyOf(held, "training", "c").suspend, true);
  assert.equal(bodyOf(V(), "training", "c").suspend, undefined);
  assert.match(line(held, "workspace", "p"), / --hold$/);
  assert.equal(bodyOf(held, "inference", "c").suspend, undefined);
  assert.doesNotMatch(line(held, "inference", "p"), /--hold/);
});
