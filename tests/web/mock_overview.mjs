// The overview of the made-up organisation: sums of the same workloads and nodes that the lists show.
import { CLUSTER } from "./mock_data.mjs";
import { forecastOf } from "./mock_scheduler.mjs";

const sum = (list, of) => list.reduce((total, x) => total + of(x), 0);
const shares = device => sum(device.workloads, w => w.share);

export const counts = data => ({ workloads: data.workloads.length, projects: data.projects.length, departments: data.departments.length, nodes: data.nodes.length, nodePools: data.pools.length });

function pool(data, { id, name }) {
  const nodes = data.nodes.filter(n => n.nodePool === name), up = nodes.filter(n => n.status === "Ready"), devices = up.flatMap(n => n.prorata.devices);
  return {
    id, name, gpuType: nodes[0]?.gpuInfo.gpuType ?? "", nodes: nodes.length, nodesReady: up.length, gpuNodes: nodes.length, gpuNodesReady: up.length, gpus: devices.length, gpusDown: 8 * (nodes.length - up.length),
    gpusAllocated: sum(devices, shares), gpusIdle: devices.filter(d => d.workloads.length && d.utilization === 0).length, gpusFree: devices.filter(d => !d.workloads.length).length,
  };
}

function project(data, p) {
  const waiting = data.workloads.filter(w => w.phase === "Pending" && w.projectId === p.id);
  return {
    id: p.id, name: p.name, departmentId: p.parentId, departmentName: p.parent.name,
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
  const owed = w => !w.phaseReason && projects.find(p => p.id === w.projectId).nodePools.find(p => p.name === w.requestedNodePools[0]).owed > 0;
  const shown = pending.map(w => ({
    id: w.id, name: w.name, type: w.type, projectId: w.projectId, projectName: w.projectName, nodePool: w.requestedNodePools[0], gpus: w.workloadRequestedResources.gpu.request, pods: w.requestedPods.number,
    waitingSince: w.phaseUpdatedAt, owed: owed(w), phaseMessage: "Waits for resources", phaseReason: w.phaseReason, sentence: w.phaseMessage, forecast: forecastOf(data.at, w),
  })).sort((a, b) => b.owed - a.owed || Date.parse(a.waitingSince) - Date.parse(b.waitingSince));
  const down = data.nodes.filter(n => n.status !== "Ready");
  return {
    clusters: [{ id: CLUSTER, name: "lab" }], nodePools: data.pools.map(p => pool(data, p)), notReady: down.slice(0, 8).map(n => ({ name: n.name, nodePool: n.nodePool, reason: n.conditions[0].reason })), phases,
    waiting: { count: pending.length, gpus: sum(shown, w => w.gpus), gpusOwed: sum(projects, p => sum(p.nodePools, q => q.owed)), gpusRefused: sum(projects, p => sum(p.nodePools, q => q.refused)), workloads: shown.slice(0, 8) },
    projects,
  };
}

export function nodesInBrief(data) {
  const workloads = [], places = new Map();
  const place = ({ id, name, projectId, projectName, preemptible }) => places.get(id) ?? places.set(id, workloads.push({ id, name, projectId, projectName, preemptible }) - 1).get(id);
  const nodes = data.nodes.map(n => ({
    id: n.id, name: n.name, nodePool: n.nodePool, status: n.status, ...(n.status === "Ready" ? {} : { reason: n.conditions[0].reason }), cordoned: false, gpuType: n.gpuInfo.gpuType, gpuCount: 8,
    gpusDown: n.prorata.devices.filter(d => d.state === "down").map(d => d.index), utilization: n.prorata.devices.map(d => d.utilization),
    held: n.prorata.devices.flatMap(d => d.workloads.map(w => ({ workload: place(w), gpus: [d.index], share: w.share, ...(d.state === "releasing" ? { releasing: true } : {}) }))),
  }));
  return { nodes, workloads };
}
