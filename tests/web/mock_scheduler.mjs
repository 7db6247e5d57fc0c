// What the made-up organisation's scheduler says: explanations, what-if, shares, the queue, receipts, in the API's shapes.
const soon = (at, seconds) => new Date(at + seconds * 1000).toISOString();

const FORECASTS = {
  "ci-matrix": at => ({ kind: "decided", at: soon(at, 600), sentence: "Starts when robotics/render-farm has given back its GPUs; a place that is lost until then is looked for again" }),
  "fold-v3-ablation": at => ({ kind: "rule", at: soon(at, 2280), sentence: "Protected workloads may be displaced from then on; until then it starts only if room becomes free" }),
  "notebook-big": () => ({ kind: "never", at: null, sentence: "It would have to ask for less, or the quota to be raised" }),
};
export const forecastOf = (at, w) => w.phase === "Pending" ? FORECASTS[w.name]?.(at) ?? { kind: "unknown", at: null, sentence: "Depends on others to free or yield room" } : null;

function numbers(data, unit, pool) {
  const status = unit.status.nodePoolQuotaStatuses?.find(s => s.nodePoolName === pool) ?? unit.status.quotaStatus, resource = unit.resources.find(r => r.nodePool.name === pool);
  return { name: unit.name, quota: resource.gpu.deserved, limit: resource.gpu.limit, fairShare: resource.gpu.deserved + 4, allocated: status.allocated.gpu, allocatedNonPreemptible: status.allocatedNonPreemptible.gpu, requested: status.requested.gpu };
}

function findings(data, w, pool) {
  return [{
    nodePool: pool, code: "NotEnoughGpus", message: w.phaseMessage, queue: null, nodeReasons: [{ reason: "not enough GPUs", nodes: 8 }], progress: w.type === "Distributed" ? { placed: 0, needed: 2, subGroup: null } : null, protectedUntil: null,
    reclaim: [{ project: "vision", department: "Research", gpusHeld: 16, gpusReclaimable: 8, reason: "TooSmall", sentence: "vision holds 8 over its quota of 8, and language, at 26 of a fair share of 28, may take 2 of them; a gang gives way as a whole", protectedUntil: null },
      { project: "protein", department: "Research", gpusHeld: 4, gpusReclaimable: 0, reason: "WithinFairShare", sentence: "protein holds 4 of its quota of 8", protectedUntil: null },
      { project: "speech", department: "Applied", gpusHeld: 8, gpusReclaimable: 0, reason: "MinimumRunTime", sentence: "speech/asr-large has not run for the minimum of 30 min yet", protectedUntil: soon(data.at, 1380) }],
  }];
}

export function explanation(data, w) {
  const project = data.projects.find(p => p.id === w.projectId), pool = w.requestedNodePools[0];
  return {
    workloadId: w.id, workloadName: w.name, phase: w.phase, sentence: w.phaseMessage || `${w.name} runs in ${pool}.`, why: w.phase === "Pending" ? `${project.name} holds 26 GPUs in ${pool} and its fair share is 28 now, so other projects need to give it 2, not 16.` : null, code: null, pool, phaseReason: w.phaseReason,
    numbers: { requestedGpus: w.workloadRequestedResources.gpu.request, project: numbers(data, project, pool), department: numbers(data, data.departments.find(d => d.id === project.parentId), pool) },
    forecast: w.name === "llm-13b-sft" ? { kind: "rule", at: soon(data.at, 9180), sentence: "vision/vit-giant reaches its time limit and frees gpu-h04 and gpu-h05; projects below their quota go first" } : forecastOf(data.at, w),
    findings: w.phase === "Pending" ? findings(data, w, pool) : [], evidence: data.events.filter(e => e.workloadId === w.id), messages: [], updatedAt: new Date(data.at).toISOString(),
  };
}

const FIXES = [
  { kind: "OtherNodePool", sentence: "Ask for a100", price: "A100 40 GB instead of H100 80 GB", change: { nodePools: ["a100"] }, verdict: "Starts", effect: "Starts at once on gpu-a10 and gpu-a11, within the quota there", displaced: [] },
  { kind: "FewerGpus", sentence: "Ask for 1 GPU in each pod", price: "14 of 16 GPUs", change: { gpuDevicesRequest: 1 }, verdict: "Starts", effect: "Starts at once on gpu-h08 with 2 pods and 2 GPUs", displaced: [] },
  { kind: "MoreQuota", sentence: "Raise the quota of language in h100 from 24 to 40 GPUs", price: "16 GPUs that others can't borrow for long", change: { nodePool: "h100", project: "language", quotaGpus: 40, limitGpus: null }, verdict: "StartsByEviction", effect: "Starts on gpu-h04 and gpu-h05, once 1 workload of vision yields 16 GPUs", displaced: [] },
];

// A request of up to 8 GPUs starts in a100; more waits.
export function whatIf(data, w) {
  const project = data.projects.find(p => p.id === String(w.projectId)), pool = w.nodePools?.[0] ?? w.requestedNodePools?.[0] ?? "a100", gpus = w.gpus;
  const before = numbers(data, project, pool), starts = gpus <= 8 && !w.id;
  const queue = { nodePool: pool, project: { name: project.name, before, with: { ...before, allocated: before.allocated + (starts ? gpus : 0), requested: before.requested + gpus } } };
  const common = { nodePool: starts ? pool : null, displaced: [], queue, plans: 9, verifiedAt: new Date(data.at).toISOString(), cycle: 4711 };
  if (!starts) return { ...common, verdict: "Waits", sentence: `Needs ${gpus} GPUs in ${pool}; 3 are free there`, reason: `${project.name} is owed nothing more there, and nobody else holds more than its fair share`, nodes: [], couldLoseTo: null, forecast: { kind: "unknown", at: null, sentence: "Depends on others to free or yield room" }, explanation: [], fixes: FIXES };
  return { ...common, verdict: "Starts", sentence: `Starts at once on gpu-a10 with ${gpus} ${gpus === 1 ? "GPU" : "GPUs"}`, reason: null, nodes: gpus ? [{ name: "gpu-a10", gpus, pods: 1 }] : [], couldLoseTo: `Only work of ${project.name} with a higher priority than 40: with it the project stays within its quota`, forecast: { kind: "now", at: null, sentence: "Starts now" }, explanation: [], fixes: [] };
}

export function fairshare(data, pool) {
  const leaf = p => {
    const n = numbers(data, p, pool), deserved = Math.min(n.quota, n.requested), over = Math.max(0, Math.min(n.requested - deserved, 4));
    return { kind: "project", name: p.name, id: p.id, fairShare: deserved + over, deserved: n.quota, limit: n.limit, requested: n.requested, allocated: n.allocated, rank: 0, weight: 2, usage: 0, children: [],
      terms: [...(deserved ? [{ rule: "deserved", given: deserved, of: 64, sentence: `It asks for ${n.requested} and is owed its quota of ${n.quota}: it gets ${deserved} of these` }] : []), ...(over ? [{ rule: "overQuota", given: over, of: 12, weight: 2, weightSum: 6, sentence: `Of 12 GPUs left over it gets ${over}: weight 2 of 6 in round 1` }] : [])] };
  };
  const add = (list, key) => list.reduce((sum, n) => sum + (n[key] ?? 0), 0);
  const parts = (kind, name, id, children) => ({ kind, name, id, ...Object.fromEntries(["fairShare", "deserved", "requested", "allocated"].map(key => [key, add(children, key)])), limit: null, rank: 0, weight: 2, usage: 0, children, terms: [{ rule: "deserved", given: add(children, "fairShare"), sentence: `${name} gets what its projects are owed and what is left over for them` }] });
  const departments = data.departments.map(d => parts("department", d.name, d.id, data.projects.filter(p => p.parentId === d.id).map(leaf)));
  return { nodePool: pool, resource: "gpu", total: 64, kValue: 0, root: parts("pool", pool, null, departments) };
}

export function queueOrder(data, pool, offset, limit) {
  const waiting = data.workloads.filter(w => w.phase === "Pending" && w.requestedNodePools[0] === pool);
  return { nodePool: pool, total: waiting.length, workloads: waiting.slice(offset, offset + limit).map((w, i) => ({ position: offset + i + 1, workload: w.name, workloadId: w.id, project: w.projectName, department: w.departmentName, gpus: w.workloadRequestedResources.gpu.request, pods: w.type === "Distributed" ? 2 : 1, priority: 40, waitingSince: w.phaseUpdatedAt, rule: "starved first", sentence: i + 1 < waiting.length ? `before ${waiting[i + 1].name}: ${w.projectName} holds less of its fair share` : "the last" })) };
}

export function receipts(data, query) {
  const victim = data.workloads.find(w => w.name === "llm-13b-sft"), beneficiary = data.workloads.find(w => w.name === "vit-giant");
  const rows = [0, 1].map(i => ({
    id: String(700 - i), time: new Date(data.at - 207 * 60000).toISOString(), action: "reclaim", rule: "over quota", workload: victim.name, workloadId: victim.id, pod: `llm-13b-sft-${i}`, project: victim.projectName, projectId: victim.projectId, department: victim.departmentName, departmentId: victim.departmentId, nodePool: "h100", node: `gpu-h0${4 + i}`, gpus: 8, gpuIndices: [0, 1, 2, 3, 4, 5, 6, 7],
    beneficiary: beneficiary.name, beneficiaryId: beneficiary.id, beneficiaryProject: beneficiary.projectName, moved: false, lostSeconds: 5340, sentence: "yields to vision/vit-giant: language holds 42 of its quota of 24 in h100, vision 0 of 8",
    victim: { project: "language", deserved: 24, limit: null, fairShare: 28, allocatedBefore: 42, allocatedAfter: 26, department: { name: "Research", deserved: 48, limit: null, fairShare: 52, allocatedBefore: 46, allocatedAfter: 46 } }, beneficiaryQueue: { project: "vision", deserved: 8, limit: 16, fairShare: 16, allocatedBefore: 0, allocatedAfter: 16 },
  }));
  return { receipts: rows.filter(r => (!query.get("workloadId") || query.get("workloadId") === r.workloadId) && (!query.get("projectId") || query.get("projectId") === r.projectId)) };
}

// Who holds what he doesn't use, the most GPU hours first.
export function idle(data, query) {
  const least = Number(query.get("minIdleSeconds")) * 1000;
  const rows = data.workloads.filter((w, i) => w.idleAllocatedGpus || (i % 3 === 0 && w.allocatedResources.gpu)).map((w, i) => {
    const ago = (i + 1) * 47 * 60000, held = w.idleAllocatedGpus || Math.min(2, w.allocatedResources.gpu);
    return { id: w.id, name: w.name, type: w.type, projectId: w.projectId, projectName: w.projectName, departmentId: w.departmentId, departmentName: w.departmentName, nodePool: w.requestedNodePools[0], submittedBy: w.submittedBy, gpusAllocated: w.allocatedResources.gpu, gpusIdle: held, averageUtilization: i % 3 ? 12.5 * i : null, idleSince: new Date(data.at - ago).toISOString(), idleGpuHours: Math.round(held * ago / 3600) / 1000, ago };
  }).filter(w => w.ago >= least && [["projectId", w.projectId], ["departmentId", w.departmentId]].every(([name, id]) => (query.get(name) ?? id) === id));
  const sum = key => rows.reduce((n, w) => n + w[key], 0);
  return { workloads: rows.sort((a, b) => b.idleGpuHours - a.idleGpuHours).map(w => ({ ...w, ago: undefined })), total: { count: rows.length, gpusAllocated: sum("gpusAllocated"), gpusIdle: sum("gpusIdle"), idleGpuHours: sum("idleGpuHours") } };
}

// Each node of a pool was held by two of the day's workloads, one after the other; the first gave way or failed.
export function timeline(data, query) {
  const start = Date.parse(query.get("start")), end = Date.parse(query.get("end")), whole = (end - start) / 1000;
  const nodes = data.nodes.filter(n => (query.get("node") ?? n.name) === n.name).slice(0, 12), own = data.workloads.filter(w => w.phase === "Running").slice(0, 24);
  const projects = data.projects.map(p => ({ id: p.id, name: p.name })), placeOf = w => projects.findIndex(p => p.id === w.projectId);
  const blocks = nodes.flatMap((_, i) => [
    { lane: i, from: 0, to: Math.round(whole * (0.3 + i / 40)), devices: [0, 1, 2, 3, 4, 5, 6, 7], gpus: 8, project: placeOf(own[i % own.length]), workload: i % own.length, end: ["preempted", "failed", "finished"][i % 3] },
    { lane: i, from: Math.round(whole * 0.7), to: Math.round(whole), devices: [0, 1, 2, 3], gpus: 4, project: placeOf(own[(i + 5) % own.length]), workload: (i + 5) % own.length },
    { lane: i, from: Math.round(whole * 0.7), to: Math.round(whole), devices: [4, 5], gpus: 2 },
  ]);
  const sideOf = w => ({ id: w.id, name: w.name, project: w.projectName });
  const evictions = nodes.flatMap((n, i) => i % 3 ? [] : [{ at: Math.round(whole * (0.3 + i / 40)), action: "reclaim", node: n.name, nodePool: "h100", devices: [0, 1, 2, 3, 4, 5, 6, 7], gpus: 8, victim: sideOf(own[i % own.length]), beneficiary: sideOf(own[(i + 1) % own.length]) }]).reverse();
  const steps = make => Array.from({ length: 200 }, (_, i) => make(i));
  const by = { pools: "pools", projects: "projects" }[query.get("by")] ?? "nodes", isPools = by === "pools";
  // Of pools and projects each project holds two GPUs more from the half on.
  const shares = projects.slice(0, 6).flatMap((_, project) => [0, 0.5].map(part => ({ lane: isPools ? 0 : project, from: Math.round(whole * part), to: Math.round(whole * (part + 0.5)), gpus: 4 + project + part * 4, project, count: 2 })));
  const lanes = { nodes: nodes.map(n => ({ node: n.name, nodePool: "h100", gpus: 8 })), pools: [{ nodePool: "h100", nodes: 12, gpus: 96 }], projects: projects.slice(0, 6).map((_, project) => ({ project, gpus: 6 + project })) }[by];
  return { start: query.get("start"), end: query.get("end"), heldSince: null, by, detail: by === "nodes" ? "devices" : "shares", partSeconds: whole / 1200, lanes, projects, workloads: own.map(w => ({ id: w.id, name: w.name })), blocks: by === "nodes" ? blocks : shares, evictions,
    figures: { step: whole / 200, allocated: steps(i => 60 + i % 30), ready: steps(() => 96), waiting: steps(i => 8 + i % 7) } };
}

// GET /scheduler/waiting: by pool and reason, owed first.
export function waiting(data) {
  const groups = new Map();
  for (const w of data.workloads.filter(o => o.phase === "Pending")) {
    const nodePool = w.requestedNodePools[0], code = w.phaseReason ?? "NotEnoughGpus", key = `${nodePool}/${code}`, gpus = w.workloadRequestedResources.gpu.request;
    if (!groups.has(key)) groups.set(key, { nodePool, code, count: 0, countOwed: 0, gpus: 0, waitingSince: w.phaseUpdatedAt, sentence: w.phaseMessage, why: null, expectedAt: null, projects: [], longest: { id: w.id, name: w.name, projectName: w.projectName },
      holders: data.workloads.filter(o => o.phase === "Running" && o.requestedNodePools[0] === nodePool).slice(0, 2).map(o => ({ project: o.projectName, gpusHeld: o.allocatedResources.gpu, sentence: "It is within its quota." })) });
    const group = groups.get(key), at = forecastOf(data.at, w)?.at ?? null;
    group.count += 1;
    group.gpus += gpus;
    if (at && (!group.expectedAt || at < group.expectedAt)) group.expectedAt = at;
    if (w.phaseUpdatedAt < group.waitingSince) Object.assign(group, { waitingSince: w.phaseUpdatedAt, sentence: w.phaseMessage, longest: { id: w.id, name: w.name, projectName: w.projectName } });
    const mine = group.projects.find(p => p.id === w.projectId);
    if (mine) Object.assign(mine, { count: mine.count + 1, gpus: mine.gpus + gpus });
    else group.projects.push({ id: w.projectId, name: w.projectName, count: 1, gpus });
  }
  const list = [...groups.values()].sort((a, b) => b.gpus - a.gpus);
  return { groups: list, count: list.reduce((n, g) => n + g.count, 0), gpus: list.reduce((n, g) => n + g.gpus, 0), scheduler: { decidedAt: new Date(data.at - 40000).toISOString(), planningSince: null } };
}
