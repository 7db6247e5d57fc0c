// A server as a large laboratory has it: 5 pools, 200 GPU nodes and 4 without, 60 projects in 7 departments, 1,500
// workloads of which about 480 wait, 3 failed nodes. For the budget test, and to look at:
// `node tests/web/big_cluster.mjs` prints the address and serves until Ctrl-C.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ADMIN, PASSWORD, start } from "./real_server.mjs";

const POOLS = [["h100", "gpu-h", 80, "NVIDIA-H100-80GB"], ["a100", "gpu-a", 60, "NVIDIA-A100-40GB"], ["l40s", "gpu-l", 40, "NVIDIA-L40S-48GB"], ["b200", "gpu-b", 20, "NVIDIA-B200"]];
const DEPARTMENTS = {
  research: ["vision", "language", "alignment", "multimodal", "world-models", "rl-agents", "theory", "graphs", "retrieval"],
  applied: ["search", "maps", "pricing", "fraud", "translate", "ads-ranking", "summaries", "assistants", "ocr"],
  "life-sciences": ["protein", "imaging", "pathology", "cryo-em", "genomics", "docking", "trials", "single-cell", "neuro"],
  robotics: ["legged", "planning", "perception", "humanoid", "fleet", "grasping", "driving", "sim-to-real"],
  platform: ["infra", "storage", "mlops", "compilers", "sandbox", "security", "benchmarks", "a-very-long-project-name-somebody-chose"],
  "speech-and-audio": ["tts", "noise", "dialog", "codec", "voice-clone", "keyword", "music", "diarization"],
  climate: ["weather", "ocean", "carbon", "wildfire", "hydrology", "atmosphere", "crops", "ice", "air-quality"],
};
const WORK = ["moe-8x7b", "mamba", "llm-7b", "sd3", "eval", "whisper", "distill", "fold", "ablation", "ctr-nightly", "rlhf", "vit"];
const FAILED = ["gpu-h-7", "gpu-a-12", "gpu-b-3"];

const clusterFile = () => `nodePools:\n- {name: default}\n${POOLS.map(([name]) => `- {name: ${name}}\n`).join("")}nodes:\n${POOLS.map(([pool, prefix, count, type]) =>
  `- {name: ${prefix}, nodePool: ${pool}, count: ${count}, gpus: 8, gpuType: ${type}, gpuMemoryMib: 81920, cpuCores: 128, memoryBytes: 1Ti}\n`).join("")}- {name: cpu, count: 4, cpuCores: 64, memoryBytes: 256Gi}\n`;

// The same numbers each time.
function dice(seed) {
  let state = seed;
  return most => {
    state = Math.imul(state ^ state >>> 15, 1 | state) + 0x6d2b79f5 | 0;
    const mixed = state ^ state + Math.imul(state ^ state >>> 7, 61 | state);
    return ((mixed ^ mixed >>> 14) >>> 0) % most;
  };
}

// One call on a connection of its own: none is kept that the server may close meanwhile.
const call = (url, method, headers, body) => new Promise((done, failed) => {
  request(url, { method, headers, agent: false }, async answer => {
    const text = Buffer.concat(await answer.toArray()).toString();
    if (answer.statusCode >= 300) failed(new Error(`${method} ${url}: ${answer.statusCode} ${text}`));
    else done(text && JSON.parse(text));
  }).on("error", failed).end(body);
});

/** Calls as the administrator; eight at a time. */
export async function callerOf(url) {
  const send = (method, path, body, token) => call(url + path, method, { "Content-Type": "application/json", ...(token && { Authorization: `Bearer ${token}` }) }, body && JSON.stringify(body));
  const { accessToken } = await send("POST", "/api/v1/token", { grantType: "password", username: ADMIN, password: PASSWORD, clientId: "cli" });
  const ask = (method, path, body) => send(method, path, body, accessToken);
  const all = async (things, call) => {
    const done = [];
    let next = 0;
    await Promise.all(Array.from({ length: 8 }, async () => {
      while (next < things.length) {
        const at = next++;
        done[at] = await call(things[at], at);
      }
    }));
    return done;
  };
  return { ask, all };
}

// Quotas of a project by pool: most pools none, one or two with a handful.
function quotas(pools, roll) {
  const mine = [roll(4), roll(4)];
  return pools.map((pool, i) => ({ nodePool: pool, gpu: { deserved: i === mine[0] ? 8 + roll(20) : i === mine[1] ? 2 + roll(10) : 0, overQuotaWeight: 1 + roll(3) } }));
}

function workload(number, projects, clusterId, roll) {
  const project = projects[roll(projects.length)], pool = POOLS[roll(20) < 8 ? 0 : roll(3) + 1][0], kind = roll(20), name = `${WORK[roll(WORK.length)]}-${String(number).padStart(4, "0")}`;
  const common = { name, projectId: project.id, clusterId };
  const spec = { image: "registry.lab.example/train:4.2", nodePools: [pool], annotations: [{ name: "prorata.io/sim-gpu-utilization", value: String(roll(4) ? 30 + roll(70) : 0) }] };
  const compute = gpuDevicesRequest => ({ gpuDevicesRequest, cpuCoreRequest: 2, cpuMemoryRequest: "4G" });
  if (kind < 3) return ["distributed", { ...common, masterSpecSameAsWorker: true, spec: { ...spec, distributedFramework: "PyTorch", numWorkers: 1 + roll(4), compute: compute(kind ? 4 : 8) } }];
  if (kind < 6) return ["workspaces", { ...common, spec: { ...spec, compute: { ...compute(1), gpuRequestType: "portion", gpuPortionRequest: [0.25, 0.5][roll(2)] } } }];
  if (kind < 8 && number % 2) return ["trainings", { ...common, spec: { ...spec, annotations: [{ name: "prorata.io/sim-duration", value: "2s" }, { name: "prorata.io/sim-exit-code", value: String(kind === 6 ? 0 : 3) }], backoffLimit: 0, compute: compute(1) } }];
  return ["trainings", { ...common, spec: { ...spec, compute: compute([1, 1, 1, 2, 2, 4][roll(6)]) } }];
}

// {url, stop()}: a server with all of it; counted in workloads, the rest follows.
export async function startBigCluster({ workloads = 1500 } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "prorata-big-")), file = join(folder, "cluster.yaml");
  writeFileSync(file, clusterFile());
  const server = await start("serve", "--cluster", file, "--workloads-per-person", "0", "--data", join(folder, "data"));
  const roll = dice(4711), { ask, all } = await callerOf(server.url);
  const [{ uuid: clusterId }] = await ask("GET", "/api/v1/clusters");
  const { nodepools } = await ask("GET", "/api/v1/node-pools");
  const pools = POOLS.map(([name]) => ({ id: nodepools.find(p => p.name === name).id, name }));
  const departments = await all(Object.keys(DEPARTMENTS), name => ask("POST", "/api/v1/org-unit/departments", { name, clusterId, resources: pools.map((nodePool, i) => ({ nodePool, gpu: { deserved: [88, 66, 44, 22][i] } })) }));
  const wanted = departments.flatMap(d => DEPARTMENTS[d.name].map(name => ({ name, clusterId, parentId: d.id, resources: quotas(pools, roll) })));
  const projects = await all(wanted, body => ask("POST", "/api/v1/org-unit/projects", body));
  const list = Array.from({ length: workloads }, (_, i) => workload(i, projects, clusterId, roll));
  await all(list, ([kind, body]) => ask("POST", `/api/v1/workloads/${kind}`, body));
  await all(FAILED, name => ask("POST", `/api/v1/simulation/nodes/${name}/fail`));
  const stop = async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  return { url: server.url, stop, ask };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const big = await startBigCluster();
  console.log(`${big.url} as ${ADMIN}, password "${PASSWORD}"`);
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => big.stop().then(() => process.exit()));
}
