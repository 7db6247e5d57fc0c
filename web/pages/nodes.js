// What is free in one piece, what is broken?
import { useMemo, useState } from "preact/hooks";
import { get } from "../api.js";
import { now } from "../clock.js";
import { useData } from "../data.js";
import { NONE, cpu, gpus, iso, memory, percent, time } from "../format.js";
import { html } from "../html.js";
import { Icon } from "../icons.js";
import { Seg } from "../parts/button.js";
import { ClusterMap } from "../parts/cluster_map.js";
import { LineChart, seriesOf } from "../parts/line_chart.js";
import { Page } from "../parts/page.js";
import { Facts, Pane, Split } from "../parts/pane.js";
import { Empty, Fault, Loaded, Loading } from "../parts/states.js";
import { State, Swatch } from "../parts/status.js";
import { Table, openHref } from "../parts/table.js";
import { poolsOf, rowOf } from "../pictures/cluster_map.js";
import { coloured } from "../pictures/slots.js";
import { route } from "../router.js";
import { NodeLabels } from "./node_labels.js";

const KINDS = ["node", "pod", "workload", "nodepool"];
const idOf = n => n.name;
const own = (n, key) => n.prorata?.[key];
const whole = n => rowOf(n);
const statusOf = n => n.status === "Ready" ? "Ready" : "NotReady";
const reasonOf = n => (n.conditions ?? []).filter(c => c.reason && c.reason !== "Ready").map(c => c.message || c.reason).join(", ");

const COLUMNS = [
  { id: "name", label: "Node", sort: "name", filter: { field: "name" }, text: n => n.name, cell: n => html`<${Icon} name="node" /><span>${n.name}</span>` },
  { id: "status", label: "Status", keep: true, sort: "status", filter: { field: "status", values: [{ value: "Ready" }, { value: "NotReady", label: "Not ready" }] }, text: n => n.status, cell: n => html`<span class="s"><${State} phase=${statusOf(n)} message=${reasonOf(n)} />${statusOf(n) === "NotReady" && reasonOf(n) ? html`<span class="muted small reason">${reasonOf(n)}</span>` : own(n, "cordoned") && html`<span class="muted small">cordoned</span>`}</span>` },
  { id: "pool", label: "Pool", sort: "nodePool", filter: { field: "nodePool", op: "==" }, text: n => n.nodePool },
  { id: "type", label: "GPU type", sort: "gpuType", filter: { field: "gpuType" }, text: n => n.gpuInfo?.gpuType ?? NONE, low: true },
  { id: "gpus", label: "GPUs", num: true, text: n => String(n.gpuInfo?.gpuCount ?? 0) },
  { id: "allocated", label: "Allocated", num: true, text: n => gpus(whole(n).held) },
  { id: "free", label: "Wholly free", num: true, text: n => String(whole(n).free) },
  { id: "cpu", label: "CPU cores", num: true, text: n => own(n, "cpuCores") === undefined ? NONE : `${cpu(own(n, "allocatedCpuCores"))} / ${cpu(own(n, "cpuCores"))}`, low: true },
  { id: "memory", label: "CPU memory", num: true, text: n => own(n, "cpuMemoryBytes") === undefined ? NONE : `${memory(own(n, "allocatedCpuMemoryBytes"))} / ${memory(own(n, "cpuMemoryBytes"))}`, low: true },
  { id: "pods", label: "Pods", num: true, text: n => own(n, "podCount") === undefined ? NONE : String(own(n, "podCount")), low: true },
  { id: "gpuMemory", label: "GPU memory", num: true, text: n => own(n, "gpuMemoryMib") ? memory(own(n, "gpuMemoryMib") * 2 ** 20) : NONE, hidden: true },
  { id: "created", label: "Joined", num: true, text: n => n.createdAt?.slice(0, 10) ?? NONE, hidden: true },
];

export default function Nodes() {
  const id = route.value.query.open;
  return html`<${Page} title="Nodes"><${Split} label="Nodes" pane=${id && html`<${Details} key=${id} id=${id} />`}>
    <${Table} name="nodes" caption="Nodes" source=${{ path: "/api/v1/nodes", key: "nodes", countPath: "/api/v1/nodes/count" }} kinds=${KINDS} columns=${COLUMNS} sort="name" searchLabel="Name" idOf=${idOf} hrefOf=${n => openHref(idOf(n))} sub=${n => `${n.nodePool} · ${n.gpuInfo?.gpuCount ?? 0} × ${n.gpuInfo?.gpuType ?? "no GPU"}`} empty=${html`No node has joined yet.`} /><//><//>`;
}

function Details({ id }) {
  const found = useData(`node/${id}`, abort => get("/api/v1/nodes", { filterBy: [`name==${id}`] }, { signal: abort }).then(({ nodes: [node] }) => {
    if (!node) throw Object.assign(new Error("It left the cluster, or you may not read it."), { status: 404 });
    return node;
  }), KINDS);
  const n = found.data;
  if (!n) return html`<${Pane} id=${id} title="Node">${found.error ? html`<${Fault} error=${found.error} retry=${found.reload} what="The node" />` : html`<${Loading} rows=${6} />`}<//>`;
  const tabs = [
    { id: "gpus", label: "GPUs", view: () => html`<${Devices} node=${n} />` },
    { id: "pods", label: "Pods", view: () => html`<${Pods} node=${n} />` },
    { id: "metrics", label: "Metrics", view: () => html`<${Metrics} node=${n} />` },
    { id: "facts", label: "Facts", view: () => html`<${About} node=${n} />` },
  ];
  const row = rowOf(n);
  return html`<${Pane} id=${id} title=${n.name} status=${html`<${State} phase=${statusOf(n)} pill />`} line=${`${n.gpuInfo ? `${n.gpuInfo.gpuCount} × ${n.gpuInfo.gpuType}` : "No GPUs"} in ${n.nodePool}, ${row.state === "down" ? reasonOf(n) || "not ready" : `${row.free} wholly free`}`} tabs=${tabs} />`;
}

function Devices({ node }) {
  const pools = useMemo(() => poolsOf([node]), [node]);
  const row = rowOf(node);
  const colours = coloured(row.runs.map(r => ({ id: r.projectId, name: r.project, size: r.size })));
  if (!row.cells.length) return html`<${Empty}>This node has no GPUs; it runs work that asks for none.<//>`;
  return html`<section>${pools.length > 0 && html`<${ClusterMap} pools=${pools} view="project" colours=${colours} />`}</section>
    <section class="scroll" tabindex="0" aria-label="Devices"><table class="share devices"><thead><tr><th scope="col">GPU</th><th scope="col">State</th><th scope="col">Held by</th><th scope="col" class="num">Share</th></tr></thead>
    <tbody>${row.cells.map(c => html`<tr key=${c.index}><td>${c.index}</td><td>${{ free: "free", allocated: "allocated", releasing: "giving back", down: "not ready" }[c.state] ?? c.state}</td>
      <td>${c.workloads.length ? c.workloads.map(w => w.id ? html`<a key=${w.id} class="plain p" href=${`/workloads?open=${w.id}`}><${Swatch} project=${w.projectId} />${w.projectName}/${w.name}</a>` : w.name) : NONE}</td><td class="num">${c.workloads.length ? c.workloads.map(w => gpus(w.share ?? 1)).join(" + ") : NONE}</td></tr>`)}</tbody></table></section><${Foreign} node=${node} />`;
}

// What the node's driver tells of processes that no pod started; they keep their GPU from being given out.
function Foreign({ node }) {
  const found = useData(`node-devices/${node.name}`, abort => get("/api/v1/devices", { filterBy: [`name==${node.name}`] }, { signal: abort }).then(a => (a.nodes?.[0]?.readings ?? []).flatMap((r, index) => r.processes.filter(p => p.foreign).map(p => ({ ...p, index })))), KINDS);
  if (!found.data?.length) return null;
  return html`<section class="scroll" tabindex="0" aria-label="Processes that nobody submitted"><h3>Processes that nobody submitted</h3><table class="share foreign"><thead><tr><th scope="col">GPU</th><th scope="col">User</th><th scope="col">Command</th><th scope="col" class="num">Process</th><th scope="col" class="num">Memory</th></tr></thead>
    <tbody>${found.data.map(p => html`<tr key=${`${p.index}-${p.pid}`}><td>${p.index}</td><td>${p.user}</td><td class="mono">${p.command}</td><td class="num">${p.pid}</td><td class="num">${memory(p.memoryMib * 2 ** 20)}</td></tr>`)}</tbody></table></section>`;
}

function Pods({ node }) {
  const pods = useData(`node-pods/${node.name}`, abort => get("/api/v1/workloads/pods", { filterBy: [`nodeName==${node.name}`], completed: "false", verbosity: "full", limit: 200 }, { signal: abort }).then(a => a.pods ?? []), ["pod"]);
  return html`<${Loaded} of=${pods} what="Pods">${list => list.length ? html`<table class="share"><thead><tr><th scope="col">Pod</th><th scope="col">Status</th><th scope="col">Project</th><th scope="col" class="num">GPUs</th></tr></thead>
    <tbody>${list.map(p => html`<tr key=${p.id}><td><a class="plain" href=${`/workloads?open=${p.workloadId}&tab=pods`}>${p.name}</a></td><td>${p.k8sPhase}</td><td>${p.projectName ?? NONE}</td><td class="num">${gpus(p.allocatedResources?.gpu ?? 0)}</td></tr>`)}</tbody></table>` : html`<${Empty}>Nothing runs here.<//>`}<//>`;
}

const CHARTS = [
  { title: "GPU utilization", types: ["GPU_UTILIZATION_PER_GPU"], names: { GPU_UTILIZATION_PER_GPU: { name: "GPU" } }, format: percent, max: 100 },
  { title: "CPU cores", types: ["CPU_USAGE_CORES"], names: { CPU_USAGE_CORES: { name: "used", tone: "accent", fill: 0.1 } }, format: cpu },
  { title: "CPU memory", types: ["CPU_MEMORY_USAGE_BYTES"], names: { CPU_MEMORY_USAGE_BYTES: { name: "used", tone: "accent", fill: 0.1 } }, format: memory },
];
const RANGES = [{ value: "1", label: "1 h" }, { value: "24", label: "1 d" }, { value: "168", label: "1 w" }];

function Metrics({ node }) {
  const [hours, setHours] = useState("1");
  const metrics = useData(`node-metrics/${node.id}/${hours}`, async abort => {
    const end = now(), start = end - Number(hours) * 3600000;
    const answer = await get(`/api/v1/nodes/${node.id}/metrics`, { start: new Date(start).toISOString(), end: new Date(end).toISOString(), numberOfSamples: 120, metricType: CHARTS.flatMap(c => c.types) }, { signal: abort });
    return { start, end, charts: CHARTS.map(c => ({ ...c, series: seriesOf((answer.measurements ?? []).filter(m => c.types.includes(m.type)), c.names) })) };
  }, ["pod"]);
  return html`<div class="bar chart-range"><span class="grow"></span><${Seg} label="Time" options=${RANGES} value=${hours} onChange=${setHours} /></div><${Loaded} of=${metrics} what="Metrics">${m => {
    const charts = m.charts.filter(c => c.series.some(s => s.points.some(p => p[1] !== null)));
    return charts.length ? charts.map(c => html`<${LineChart} key=${c.title} title=${c.title} series=${c.series} format=${c.format} max=${c.max} from=${m.start} to=${m.end} height=${140} group=${node.name} />`) : html`<${Empty}>Nothing was measured in this time.<//>`;
  }}<//>`;
}

function About({ node: n }) {
  return html`<${Facts} rows=${[["Pool", html`<a href=${`/nodepools?open=${encodeURIComponent(n.nodePool)}`}>${n.nodePool}</a>`], ["GPUs", n.gpuInfo ? `${n.gpuInfo.gpuCount} × ${n.gpuInfo.gpuType}` : "none"], own(n, "gpuMemoryMib") && ["Memory of a GPU", memory(own(n, "gpuMemoryMib") * 2 ** 20)], own(n, "cpuCores") !== undefined && ["CPU cores", `${cpu(own(n, "allocatedCpuCores"))} of ${cpu(own(n, "cpuCores"))} allocated`], own(n, "cpuMemoryBytes") !== undefined && ["CPU memory", `${memory(own(n, "allocatedCpuMemoryBytes"))} of ${memory(own(n, "cpuMemoryBytes"))} allocated`],
    ["Taints", n.taints?.length ? n.taints.map(t => `${t.key}${t.value ? `=${t.value}` : ""}:${t.effect}`).join(", ") : "none"], ["Joined", html`<time data-tip=${iso(n.createdAt)}>${time(n.createdAt, now())}</time>`], ["Id", html`<span class="mono">${n.id ?? NONE}</span>`]]} /><section class="labels" aria-label="Labels"><${NodeLabels} node=${n} /></section>`;
}
