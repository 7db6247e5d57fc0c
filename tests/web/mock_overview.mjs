// The overview of the made-up organisation: sums of the same workloads and nodes that the lists show.
import { CLUSTER } from "./mock_data.mjs";

const sum = (list, of) => list.reduce((total, x) => total + of(x), 0);
const shares = device => sum(device.workloads, w => w.share);

export const counts = data => ({ workloads: data.workloads.length, projects: data.projects.length, departments: data.departments.length, nodes: data.nodes.length, nodePools: data.pools.length });

function pool(data, { id, name }) {
  const nodes = data.nodes.filter(n => n.nodePool === name), up = nodes.filter(n => n.status === "Ready"), devices = up.flatMap(n => n.prorata.devices);
  return {
    id, name, gpuType: nodes[0]?.gpuInfo.gpuType ?? "", nodes: nodes.length, nodesReady: up.length, gpuNodes: nodes.length, gpuNodesReady: up.length, gpus: devices.length, gpusDown: 8 * (nodes.length - up.length),
    gpusAllocated: sum(devices, shares), gpusIdle: devices.filter(d => d.workloads.length && d.utilization === 0).length, gpusFree: devices.filter(d => !d.workloads.length).length,
    cpuCores: { total: up.length * 64, allocated: up.length * 16, used: name === "l40s" ? null : up.length * 8 }, cpuMemoryBytes: { total: up.length * 2 ** 39, allocated: up.length * 2 ** 37, used: name === "l40s" ? null : up.length * 2 ** 36 },
  };
}

function project(data, p) {
  const waiting = data.workloads.filter(w => w.phase === "Pending" && w.projectId === p.id);
  return {
    id: p.id, name: p.name, departmentId: p.parentId, departmentName: p.parent.name, cpuCoresAllocated: Number(p.id) * 4, cpuMemoryAllocatedBytes: Number(p.id) * 2 ** 33,
    nodePools: p.resources.map(({ nodePool: { name }, gpu }, i) => {
      const { allocated, allocatedNonPreemptible, requested } = p.status.nodePoolQuotaStatuses[i];
      const refused = sum(waiting.filter(w => w.phaseReason && w.requestedNodePools[0] === name), w => w.workloadRequestedResources.gpu.request), asked = Math.max(0, requested.gpu - allocated.gpu - refused);
      return { name, quota: gpu.deserved, limit: gpu.limit, held: allocated.gpu, nonPreemptible: allocatedNonPreemptible.gpu, fairShare: gpu.deserved, waiting: asked, owed: Math.min(asked, Math.max(0, gpu.deserved - allocated.gpu)), refused };
    }),
  };
}

export function overview(data) {
  const projects = data.projects.map(p => project(data, p)), pending = data.workloads.filter(w => w.phase === "Pending"), phases = {};
  for (const w of data.workloads) phases[w.phase] = (phases[w.phase] ?? 0) + 1;
  const down = data.nodes.filter(n => n.status !== "Ready");
  return {
    clusters: [{ id: CLUSTER, name: "lab" }], nodePools: data.pools.map(p => pool(data, p)), notReady: down.slice(0, 8).map(n => ({ name: n.name, nodePool: n.nodePool, reason: n.conditions[0].reason })), phases,
    waiting: { count: pending.length, gpus: sum(pending, w => w.workloadRequestedResources.gpu.request), gpusOwed: sum(projects, p => sum(p.nodePools, q => q.owed)), gpusRefused: sum(projects, p => sum(p.nodePools, q => q.refused)) },
    projects,
  };
}

export function nodesInBrief(data) {
  const workloads = [], places = new Map();
  const departmentOf = projectId => data.projects.find(p => p.id === projectId)?.parent ?? { id: null, name: null };
  const place = ({ id, name, projectId, projectName, preemptible }) => places.get(id) ?? places.set(id, workloads.push({ id, name, projectId, projectName, departmentId: departmentOf(projectId).id, departmentName: departmentOf(projectId).name, preemptible }) - 1).get(id);
  const nodes = data.nodes.map(n => ({
    id: n.id, name: n.name, nodePool: n.nodePool, status: n.status, ...(n.status === "Ready" ? {} : { reason: n.conditions[0].reason }), cordoned: false, gpuType: n.gpuInfo.gpuType, gpuCount: 8,
    gpusDown: n.prorata.devices.filter(d => d.state === "down").map(d => d.index), gpusIdle: n.prorata.devices.filter(d => d.utilization === 0).map(d => d.index), utilization: n.prorata.devices.map(d => d.utilization),
    held: n.prorata.devices.flatMap(d => d.workloads.map(w => ({ workload: place(w), gpus: [d.index], share: w.share, ...(d.state === "releasing" ? { releasing: true } : {}) }))),
  }));
  return { nodes, workloads };
}

export const about = at => ({
  version: "0.1.0", backend: "simulated", startedAt: new Date(at - 90 * 60000).toISOString(), scheduler: { decidedAt: new Date(at - 40000).toISOString(), planningSince: null }, cycles: 12345, lastCycleUs: 3400,
  parts: [["Database"], ["Scheduler"], ["Backend", "2 pods run that no workload asks for: prorata pods list."], ["Journal of decisions"], ["Audit"]].map(([name, problem = null]) => ({ name, state: problem ? "warning" : "ok", problem })),
  storage: [["Database", 48e6], ["Room in the database's file", 2e6], ["Journal of decisions", 9e6], ["Backups", 0], ["Logs", 0], ["Homes", 0], ["Images", 0]].map(([name, sizeBytes]) => ({ name, sizeBytes })),
  disk: { sizeBytes: 5e11, freeBytes: 2e11 }, backups: { count: 0, newestAt: null },
});
