// Made-up organisation for the browser tests, in the shapes of the API: 2 departments, 8 projects, 3 node pools, 24 nodes x
// 8 GPUs. Everything else is computed from the workloads, so the pages agree with one another.
export const CLUSTER = "6f1c1c7e-3a53-4c52-9a3e-2b7d51f0c001";
export const POOLS = [
  { id: "2", name: "h100", gpu: "H100 80 GB", prefix: "gpu-h", nodes: 8 },
  { id: "3", name: "a100", gpu: "A100 40 GB", prefix: "gpu-a", nodes: 12 },
  { id: "4", name: "l40s", gpu: "L40S 48 GB", prefix: "gpu-l", nodes: 4 },
];
const DOWN = { "gpu-a12": "GPU 3 fell off the bus" };
const DEPARTMENTS = [{ id: "1", name: "Research" }, { id: "2", name: "Applied" }];
// quota in h100, a100, l40s; limit over all pools, null is none
const PROJECTS = [
  ["1", "language", "1", [24, 16, 0], null, 3], ["2", "vision", "1", [8, 16, 4], [16, 20, 8], 2], ["3", "protein", "1", [8, 12, 0], null, 2], ["4", "robotics", "1", [0, 8, 8], [0, 8, 24], 1],
  ["5", "speech", "2", [8, 8, 4], null, 2], ["6", "ranking", "2", [8, 16, 4], null, 2], ["7", "forecasting", "2", [0, 8, 0], [0, 8, 0], 0], ["8", "platform", "2", [4, 4, 8], null, 1],
];
// name, project, type, pool, [[node, first GPU, GPUs, offset of a share]], minutes ago, more
const RUNNING = [
  ["llm-7b-pretrain", "1", "Distributed", "h100", [[1, 0, 8], [2, 0, 8], [3, 0, 8]], 3130], ["eval-harness", "1", "Training", "h100", [[8, 0, 2]], 30], ["vit-giant", "2", "Distributed", "h100", [[4, 0, 8], [5, 0, 8]], 202],
  ["asr-large", "5", "Distributed", "h100", [[6, 0, 8]], 292], ["fold-v3", "3", "Distributed", "h100", [[7, 0, 4]], 267], ["twotower", "6", "Training", "h100", [[7, 4, 4]], 132], ["embed-serve", "6", "Inference", "h100", [[8, 2, 2]], 12960, { firm: true }],
  ["notebook-ana", "8", "Workspace", "h100", [[8, 4, 0.5, 0]], 327, { firm: true }], ["ci-gpu", "8", "Training", "h100", [[8, 4, 0.5, 0.5]], 4], ["detr-coco", "2", "Distributed", "a100", [[1, 0, 8], [2, 0, 8]], 1560],
  ["docking-screen", "3", "Training", "a100", [[3, 0, 8], [4, 0, 4]], 400, { idle: 6 }], ["sam-distill", "2", "Training", "a100", [[4, 4, 4]], 61], ["rlhf-sweep", "1", "Training", "a100", [[5, 0, 8]], 51], ["sim2real", "4", "Distributed", "a100", [[6, 0, 8]], 222],
  ["ctr-nightly", "6", "Training", "a100", [[7, 0, 8]], 95], ["tts-multi", "5", "Training", "a100", [[8, 0, 4]], 75], ["serve-a", "6", "Inference", "a100", [[8, 4, 4]], 30240, { firm: true }], ["demand-tft", "7", "Training", "a100", [[9, 0, 4]], 44],
  ["notebook-emil", "7", "Workspace", "a100", [[9, 4, 1]], 310, { firm: true }], ["label-assist", "2", "Inference", "l40s", [[1, 0, 4]], 17280, { firm: true }], ["stream-asr", "5", "Inference", "l40s", [[1, 4, 4]], 43200, { firm: true }], ["vla-small", "4", "Training", "l40s", [[2, 0, 8]], 88],
  ["render-farm", "4", "Training", "l40s", [[3, 0, 8], [4, 0, 2]], 140, { ending: [["gpu-l04", 0], ["gpu-l04", 1], ["gpu-l03", 6], ["gpu-l03", 7]] }], ["ab-shadow", "6", "Inference", "l40s", [[4, 2, 2]], 4320, { firm: true }], ["notebooks", "8", "Workspace", "l40s", [[4, 4, 4]], 600, { firm: true }],
];
const PENDING = [
  ["ci-matrix", "8", "Training", "l40s", 4, 0.4, "robotics/render-farm is giving back 4 GPUs."], ["fold-v3-ablation", "3", "Training", "h100", 4, 26, "vision/vit-giant gives way when its minimum run time ends."],
  ["asr-large-r2", "5", "Training", "h100", 8, 41, "speech holds its quota of 8 in h100, and no node there has 8 free."], ["vit-ablation-3", "2", "Training", "h100", 4, 65, "vision already borrows 8 in h100. 3 GPUs are free, 4 are asked."],
  ["llm-13b-sft", "1", "Distributed", "h100", 16, 207, "Needs 2 whole nodes in h100; 3 GPUs are free there, on one node."], ["notebook-big", "7", "Workspace", "a100", 8, 47, "Non-preemptible work must fit the quota, and 1 + 8 is more than 8.", "NonPreemptibleOverQuota"],
];
const OTHERS = [["vit-probe", "2", "Training", "h100", "Failed", 172], ["eval-harness-0", "1", "Training", "h100", "Completed", 62], ["render-test", "4", "Training", "l40s", "Stopped", 180], ["bert-smoke", "6", "Training", "a100", "Initializing", 0.2]];
const EVENTS = [
  [0, "Warning", "Preempted", "render-farm", "Gives 4 GPUs back to platform/ci-matrix, still within its quota in l40s."], [4, "Normal", "Started", "ci-gpu", "Started on gpu-h08, half of GPU 4."],
  [47, "Warning", "NonPreemptibleOverQuota", "notebook-big", "Cannot start as asked: non-preemptible, 9 of 8 GPUs."], [104, "Warning", "NodeNotReady", "", "Node gpu-a12 is not ready: GPU 3 fell off the bus. 8 GPUs left pool a100."],
  [134, "Warning", "Preempted", "eval-big", "Stopped after 2 h 8 min and yielded 4 GPUs to ranking/twotower (language held 4 over quota)."], [172, "Warning", "Failed", "vit-probe", "Failed: exit code 137, out of memory."],
  [207, "Warning", "Preempted", "llm-13b-sft", "Stopped after 1 h 29 min and yielded 16 GPUs to vision/vit-giant."],
];

const uuid = n => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
const ago = (minutes, at) => new Date(at - minutes * 60000).toISOString();
const sum = list => list.reduce((a, b) => a + b, 0);

export function makeData(at = Date.now(), scale = 1) {
  const data = { at, revision: 1, signedIn: true };
  data.workloads = [
    ...PENDING.map(([name, project, type, pool, gpu, minutes, why, phaseReason], i) => workload(at, { id: uuid(i + 1), name, project, type, pool, gpu, held: 0, minutes, phase: "Pending", why, phaseReason, firm: type === "Workspace" })),
    ...OTHERS.map(([name, project, type, pool, phase, minutes], i) => workload(at, { id: uuid(i + 50), name, project, type, pool, gpu: 1, held: 0, minutes, phase })),
    ...RUNNING.map(([name, project, type, pool, places, minutes, more = {}], i) => workload(at, { id: uuid(i + 100), name, project, type, pool, places, gpu: sum(places.map(p => p[2])), held: sum(places.map(p => p[2])), minutes, phase: "Running", ...more })),
  ];
  data.nodes = POOLS.flatMap(pool => Array.from({ length: pool.nodes * scale }, (_, i) => node(at, data.workloads, pool, i + 1)));
  data.projects = PROJECTS.map(p => project(at, data.workloads, p));
  data.computes = [["half-gpu", 0.5], ["one-gpu", 1], ["two-gpus", 2], ["eight-gpus", 8]].map(([name, gpu], i) => ({ meta: { id: uuid(700 + i), name, kind: "compute", scope: "system", description: "", createdBy: "prorata", createdAt: "2026-11-20T10:00:00.000Z" }, spec: { ...(gpu < 1 ? { gpuDevicesRequest: 1, gpuRequestType: "portion", gpuPortionRequest: gpu } : { gpuDevicesRequest: gpu }), cpuCoreRequest: 0.1, cpuMemoryRequest: "100M" } }));
  data.environments = [{ meta: { id: uuid(720), name: "quickstart", kind: "environment", scope: "system", createdBy: "prorata", createdAt: "2026-11-20T10:00:00.000Z" }, spec: { image: "registry.lab.example/quickstart:1" } }];
  data.departments = DEPARTMENTS.map(d => department(at, data.projects, d));
  data.pools = POOLS.map(p => nodepool(at, data.nodes, p));
  data.events = EVENTS.map(([minutes, type, reason, name, message], i) => {
    const w = data.workloads.find(o => o.name === name);
    return { id: uuid(900 + i), createdAt: ago(minutes, at), type, reason, message, clusterId: CLUSTER, source: "prorata", workloadId: w?.id ?? null, workloadName: w?.name ?? name, projectName: w?.projectName ?? (name ? "language" : "") };
  });
  return data;
}

function workload(at, { id, name, project, type, pool, gpu, held, minutes, phase, why = "", phaseReason = null, firm = false, places = [], ending = [], idle = 0 }) {
  const [, projectName, departmentId] = PROJECTS.find(p => p[0] === project);
  return {
    id, name, type, phase, phaseReason, phaseMessage: why, projectId: project, projectName, departmentId, departmentName: DEPARTMENTS.find(d => d.id === departmentId).name, clusterId: CLUSTER, tenantId: 1,
    createdAt: ago(minutes + 3, at), phaseUpdatedAt: ago(minutes, at), updatedAt: ago(minutes, at), completedAt: ["Failed", "Completed"].includes(phase) ? ago(minutes, at) : null, deletedAt: null, submittedBy: ["mira@lab.example", "jonas@lab.example", "li@lab.example"][Number(project) % 3],
    priority: firm ? 125 : 40, priorityClassName: firm ? "high" : "low", preemptible: !firm, category: { Workspace: "Build", Inference: "Deploy" }[type] ?? "Train", requestedNodePools: [pool], currentNodePools: held ? [pool] : [], images: ["registry.lab.example/train:4.2"],
    requestedPods: { number: places.length || 1 }, runningPods: held ? places.length : 0, workloadRequestedResources: { gpu: { request: gpu }, cpu: { request: 8 }, cpuMemory: { request: "64G" } }, allocatedResources: { gpu: held, cpu: held ? 8 : 0, cpuMemory: held ? "64G" : "0" },
    idleAllocatedGpus: idle, totalPendingTimeSeconds: 60, totalRunningTimeSeconds: held ? minutes * 60 : 0, actionsSupport: { delete: true, suspend: true }, source: "Control-plane", k8sPhase: held ? "Running" : "Pending", k8sPhaseUpdatedAt: ago(minutes, at), namespace: `runai-${projectName}`, conditions: [], places, ending,
  };
}

function node(at, workloads, pool, number) {
  const name = pool.prefix + String(number).padStart(2, "0");
  const devices = Array.from({ length: 8 }, (_, index) => ({ index, state: DOWN[name] ? "down" : "free", utilization: null, workloads: [] }));
  for (const w of workloads) for (const [n, first, size, offset] of w.requestedNodePools[0] === pool.name ? w.places : []) {
    if (n !== number) continue;
    for (let g = first; g < first + Math.ceil(size); g++) {
      devices[g].workloads.push({ id: w.id, name: w.name, projectId: w.projectId, projectName: w.projectName, share: size < 1 ? size : 1, preemptible: w.preemptible });
      devices[g].state = w.ending.some(([host, index]) => host === name && index === g) ? "releasing" : "allocated";
      devices[g].utilization = g - first < w.idle && number === w.places[0][0] ? 0 : 1 + (g * 13 + number * 7 + (offset ?? 0) * 10) % 99;
    }
  }
  return { id: uuid(1000 + POOLS.indexOf(pool) * 1000 + number), name, status: DOWN[name] ? "NotReady" : "Ready", conditions: DOWN[name] ? [{ type: "Ready", reason: DOWN[name] }] : [], taints: [], nodePool: pool.name, createdAt: ago(90000, at), updatedAt: ago(5, at), clusterUuid: CLUSTER, gpuInfo: { gpuType: pool.gpu, gpuCount: 8 }, prorata: { podCount: new Set(devices.flatMap(d => d.workloads.map(w => w.id))).size, devices } };
}

const figures = (workloads, test) => {
  const mine = workloads.filter(test), add = key => sum(mine.map(key));
  return {
    allocated: { gpu: add(w => w.allocatedResources.gpu), cpu: 0, memory: 0 },
    allocatedNonPreemptible: { gpu: add(w => w.preemptible ? 0 : w.allocatedResources.gpu), cpu: 0, memory: 0 },
    requested: { gpu: add(w => w.phase === "Pending" ? w.workloadRequestedResources.gpu.request : w.allocatedResources.gpu), cpu: 0, memory: 0 },
  };
};

function project(at, workloads, [id, name, parentId, quota, limit, weight]) {
  return {
    id, name, parentId, parent: { id: parentId, name: DEPARTMENTS.find(d => d.id === parentId).name }, clusterId: CLUSTER, description: "", createdAt: ago(90000, at), updatedAt: ago(900, at), enforceRunaiScheduler: true, totalResources: { gpuQuota: sum(quota), cpuQuota: null, memoryQuota: null }, effective: {}, schedulingRules: {}, defaultNodePools: POOLS.map(p => p.name),
    resources: POOLS.map((p, i) => ({ nodePool: { id: p.id, name: p.name }, gpu: { deserved: quota[i], limit: limit ? limit[i] : null, overQuotaWeight: weight }, cpu: { deserved: null, limit: null }, memory: { deserved: null, limit: null, units: "MB" }, priority: "MediumLow" })),
    overtimeData: Object.fromEntries(["24h", "7d", "30d"].map((range, i) => [`range${range}Data`, { averageGpuAllocation: sum(quota) - i - 0.5, averageGpuUtilization: 40 + 10 * i }])),
    status: { phase: "Ready", namespace: `runai-${name}`, quotaStatus: figures(workloads, w => w.projectId === id), nodePoolQuotaStatuses: POOLS.map(p => ({ nodePoolId: p.id, nodePoolName: p.name, ...figures(workloads, w => w.projectId === id && w.requestedNodePools[0] === p.name) })) },
  };
}

function department(at, projects, { id, name }) {
  const mine = projects.filter(p => p.parentId === id);
  const add = key => sum(mine.map(key));
  return {
    id, name, clusterId: CLUSTER, createdAt: ago(90000, at), updatedAt: ago(900, at), children: mine.map(p => ({ id: p.id, name: p.name })), totalResources: { gpuQuota: add(p => p.totalResources.gpuQuota) },
    resources: POOLS.map((p, i) => ({ nodePool: { id: p.id, name: p.name }, gpu: { deserved: add(o => o.resources[i].gpu.deserved), limit: null, overQuotaWeight: 2 }, cpu: {}, memory: { units: "MB" }, priority: "MediumLow" })),
    status: { quotaStatus: Object.fromEntries(["allocated", "allocatedNonPreemptible", "requested"].map(k => [k, { gpu: add(p => p.status.quotaStatus[k].gpu) }])) },
  };
}

function nodepool(at, nodes, { id, name }) {
  return { id, name, labelKey: "prorata.io/pool", labelValue: name, clusterId: CLUSTER, clusterName: "lab", tenantId: 1, isDefault: false, phase: "Ready", createdBy: "mira@lab.example", createdAt: ago(90000, at), updatedBy: "mira@lab.example", updatedAt: ago(900, at), schedulingConfiguration: { placementStrategy: { gpu: "binpack", cpu: "binpack" }, minGuaranteedRuntime: "30m" }, status: { nodes: nodes.filter(n => n.nodePool === name).map(n => n.name) } };
}

export function metrics(at, types, start, end, samples) {
  const n = Number(samples) || 20, t0 = Date.parse(start), t1 = Date.parse(end);
  const value = { ALLOCATED_GPU: i => 150 + Math.round(14 * Math.sin(i / 9) + 8 * Math.sin(i / 3.1)), TOTAL_GPU: i => i < n * 0.7 ? 192 : 184, GPU_UTILIZATION: () => 71, CPU_UTILIZATION: i => 40 + i % 7, CPU_MEMORY_UTILIZATION: () => 55, GPU_MEMORY_UTILIZATION: () => 63,
    GPU_MEMORY_USAGE_BYTES: i => (52 + i % 3) * 2 ** 30, GPU_MEMORY_REQUEST_BYTES: () => 80 * 2 ** 30, CPU_USAGE_CORES: i => 5 + i % 4, CPU_REQUEST_CORES: () => 12, CPU_MEMORY_USAGE_BYTES: i => (19 + i % 5) * 2 ** 30, CPU_MEMORY_REQUEST_BYTES: () => 64 * 2 ** 30 };
  const values = type => Array.from({ length: n }, (_, i) => ({ value: String(type(i)), timestamp: new Date(t0 + (t1 - t0) * (i + 1) / n).toISOString() }));
  return { measurements: types.flatMap(type => type === "GPU_UTILIZATION_PER_GPU" // one is idle, one was not measured for a while
    ? Array.from({ length: 8 }, (_, g) => ({ type, labels: { gpu: String(g) }, values: values(i => g === 5 ? 0 : g === 3 && i > n / 3 && i < n / 2 ? "" : Math.round(88 + 9 * Math.sin(i / (4 + g) + g))) }))
    : type === "GPU_MEMORY_USAGE_BYTES_PER_GPU"
    ? Array.from({ length: 8 }, (_, g) => ({ type, labels: { gpu: String(g) }, values: values(() => g === 5 ? 0 : (60 + g) * 2 ** 30) }))
    : [{ type, labels: {}, values: values(value[type] ?? (() => 50)) }]) };
}

// What a node's driver says of its GPUs; the last one tells no temperature.
export function readings(node, at) {
  const devices = node.prorata.devices.map(d => ({ ...d, ...(d.utilization === 0 ? { idleSince: new Date(at - 5400000).toISOString() } : {}) }));
  return { id: node.id, name: node.name, gpuMemoryMib: 81920, devices, pods: [], readings: devices.map(d => ({ name: `GPU-${d.index}`, healthy: d.state !== "down", reason: d.state === "down" ? "fallen off the bus" : "", utilization: d.utilization ?? 0, memoryMib: 81920, memoryUsedMib: d.workloads.length ? 40960 : 3, temperatureCelsius: d.index < 7 ? 40 + d.index : null, processes: [] })) };
}
