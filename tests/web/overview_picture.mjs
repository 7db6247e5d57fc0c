// docs/overview.png: the Overview of a real server with a made-up laboratory of two departments. `make pictures` calls it.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT, launch, open } from "./browser.mjs";
import { callerOf } from "./big_cluster.mjs";
import { signIn, start } from "./real_server.mjs";

const CLUSTER = `nodePools:
- {name: default}
- {name: h100}
nodes:
- {name: gpu-a, count: 3, gpus: 4, gpuType: NVIDIA-A10, gpuMemoryMib: 24576, cpuCores: 64, memoryBytes: 256Gi}
- {name: gpu-h, nodePool: h100, count: 6, gpus: 8, gpuType: NVIDIA-H100, gpuMemoryMib: 81920, cpuCores: 128, memoryBytes: 1Ti}
`;
// name: projects with their quotas in default and h100
const DEPARTMENTS = {
  core: { language: [2, 16], vision: [4, 6], protein: [0, 6] },
  applied: { search: [2, 8], speech: [2, 8], ads: [2, 4] },
};
// project, name, pool, GPUs of a pod, pods, kind; in the order of their submission
const RUN = [
  ["language", "llm-7b-sft", "h100", 8, 2], ["vision", "vit-large", "h100", 8, 1], ["vision", "detr", "default", 4, 1], ["language", "eval-mmlu", "default", 2, 1],
  ["search", "ranker", "h100", 4, 1], ["search", "embed-v2", "h100", 4, 1], ["speech", "asr-large", "h100", 4, 1], ["speech", "tts", "h100", 2, 1], ["ads", "ctr-big", "h100", 4, 1],
  ["ads", "nb-li", "default", 1, 1, "workspaces"], ["search", "recall", "default", 1, 1], ["protein", "nb-big", "h100", 4, 1, "workspaces"],
];
const WAIT = [["vision", "clip-ft", "h100", 4, 1], ["vision", "sweep", "h100", 2, 1], ["language", "llm-13b", "h100", 8, 2], ["search", "asr-xl", "h100", 2, 2], ["speech", "asr-r2", "h100", 4, 1], ["protein", "fold-v3", "h100", 4, 1]];

async function fill({ ask, all }) {
  const [{ uuid: clusterId }] = await ask("GET", "/api/v1/clusters"), { nodepools } = await ask("GET", "/api/v1/node-pools"), ids = {};
  const pools = ["default", "h100"].map(name => ({ id: nodepools.find(p => p.name === name).id, name }));
  const resources = quotas => pools.map((nodePool, i) => ({ nodePool, gpu: { deserved: quotas[i], overQuotaWeight: 2 } }));
  for (const [name, projects] of Object.entries(DEPARTMENTS)) {
    const sum = i => Object.values(projects).reduce((total, quotas) => total + quotas[i], 0);
    const { id: parentId } = await ask("POST", "/api/v1/org-unit/departments", { name, clusterId, resources: resources([sum(0), sum(1)]) });
    for (const [project, quotas] of Object.entries(projects)) ids[project] = (await ask("POST", "/api/v1/org-unit/projects", { name: project, clusterId, parentId, resources: resources(quotas) })).id;
  }
  const submit = ([project, name, pool, gpus, pods, kind = pods > 1 ? "distributed" : "trainings"]) => {
    const spec = { image: "registry.lab.example/train:4.2", nodePools: [pool], annotations: [{ name: "prorata.io/sim-gpu-utilization", value: name === "tts" ? "0" : "86" }], compute: { gpuDevicesRequest: gpus, cpuCoreRequest: 1 } };
    const gang = kind === "distributed" ? { masterSpecSameAsWorker: true, spec: { ...spec, distributedFramework: "PyTorch", numWorkers: pods - 1 } } : { spec };
    return ask("POST", `/api/v1/workloads/${kind}`, { name, projectId: ids[project], clusterId, ...gang });
  };
  for (const one of RUN) await submit(one);
  await until(async () => (await ask("GET", "/api/v1/workloads/count?filterBy=phase==Running")).count === RUN.length);
  await all(WAIT, submit);
}

async function until(isSo) {
  for (let tries = 0; !(await isSo()); tries++) {
    if (tries > 120) throw new Error("the laboratory does not get to run");
    await new Promise(done => setTimeout(done, 500));
  }
}

const folder = mkdtempSync(join(tmpdir(), "prorata-picture-")), file = join(folder, "cluster.yaml");
writeFileSync(file, CLUSTER);
const server = await start("serve", "--cluster", file, "--data", join(folder, "data")), browser = await launch();
try {
  await fill(await callerOf(server.url));
  const { page } = await open(browser, server.url, { width: 1440, height: 912 });
  await signIn(page, server.url);
  await page.waitForSelector(".wait li");
  await page.waitForFunction(() => !/–/.test(document.querySelector(".stat:nth-child(4) .v").textContent), null, { timeout: 180_000 }); // two minutes of samples
  await page.waitForTimeout(1500);
  await page.screenshot({ path: join(ROOT, "docs/overview.png") });
} finally {
  await browser.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
