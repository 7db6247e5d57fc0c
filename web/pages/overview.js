// Who uses what now? Who waits, and why? What just happened?
import { useMemo, useRef, useState } from "preact/hooks";
import { get, getAll } from "../api.js";
import { now, second } from "../clock.js";
import { useData, useEachMinute } from "../data.js";
import { duration, forecast, gpus, since } from "../format.js";
import { html } from "../html.js";
import { LinkButton, Seg } from "../parts/button.js";
import { ClusterMap, MapKey, VIEWS } from "../parts/cluster_map.js";
import { EventList } from "../parts/event_list.js";
import { LineChart, seriesOf } from "../parts/line_chart.js";
import { Page } from "../parts/page.js";
import { PoolChoice, QuotaPicture } from "../parts/quota_picture.js";
import { Empty, Loaded, Loading } from "../parts/states.js";
import { Swatch } from "../parts/status.js";
import { poolsOf } from "../pictures/cluster_map.js";
import { closed, isExpected } from "../pictures/what_if.js";
import { refusedByProject, sharesByPool } from "../pictures/shares.js";
import { coloured } from "../pictures/slots.js";
import { route, setQuery } from "../router.js";
import { may, scope, scopeFilter } from "../session.js";
import { OverviewStats } from "./overview_stats.js";

const PICTURE = ["project", "department", "nodepool", "node", "workload", "pod"];

export default function Overview() {
  const at = JSON.stringify(scope.value);
  const projects = useData("projects" + at, abort => getAll("/api/v1/org-unit/projects", "projects", { sortBy: "name", filterBy: scopeFilter("projects") }, { signal: abort }), PICTURE);
  const seesNodes = may("read", "nodes");
  const nodes = useData(seesNodes ? "nodes" : null, abort => getAll("/api/v1/nodes", "nodes", { sortBy: "name" }, { signal: abort, most: 4000 }), PICTURE);
  useEachMinute(nodes, seesNodes); // what is used of them
  const waiting = useData("waiting" + at, abort => get("/api/v1/workloads", { filterBy: ["phase==Pending", ...scopeFilter("workloads")], sortBy: "phaseUpdatedAt", limit: 200 }, { signal: abort }).then(a => a.workloads), PICTURE);
  const cluster = projects.data?.[0]?.clusterId ?? nodes.data?.[0]?.clusterUuid;
  const lately = useHistory(may("read", "cluster") && cluster, "1");
  const refused = useMemo(() => refusedByProject(waiting.data ?? []), [waiting.data]);
  const pools = useMemo(() => poolsOf(nodes.data ?? [], poolNames(projects.data)), [nodes.data, projects.data]);
  return html`<${Page} title="Overview" scoped>
    <${OverviewStats} ...${{ projects, nodes, pools, refused, used: usedNow(lately.data) }} />
    ${projects.loading || seesNodes && nodes.loading || waiting.loading ? html`<section class="sheet first-load"><${Loading} rows=${12} height=${38} /></section>` : html`<div class="grid">
      <${WhoUsesWhat} projects=${projects} refused=${refused} />
      <${Waiting} waiting=${waiting} projects=${projects} refused=${refused} />
      ${seesNodes && html`<${Cluster} nodes=${nodes} pools=${pools} />`}
      ${may("read", "cluster") && html`<${OverTime} cluster=${cluster} lately=${lately} />`}
      <${Happened} />
    </div>`}<//>`;
}

function poolNames(projects) {
  const names = new Set();
  for (const p of projects ?? []) for (const r of p.resources ?? []) if (r.nodePool?.name) names.add(r.nodePool.name);
  return [...names];
}

function WhoUsesWhat({ projects, refused }) {
  const { query } = route.value;
  const pools = poolNames(projects.data);
  const pool = pools.includes(query.pool) ? query.pool : "all";
  return html`<section class="sheet" aria-labelledby="h-quota"><header><h2 id="h-quota">Who uses what</h2><p>Left of the mark is owed, right of it is borrowed</p><span class="grow"></span>
    <${PoolChoice} pools=${pools} pool=${pool} setPool=${v => setQuery({ pool: v === "all" ? null : v })} /></header>
    <div class="body"><${Loaded} of=${projects} what="Projects" rows=${8} height=${38}>${list => list.length
      ? html`<${QuotaPicture} projects=${list} refused=${refused} pool=${pool} scale=${query.scale ?? "gpus"} order=${query.order ?? "held"}
          setScale=${v => setQuery({ scale: v === "gpus" ? null : v })} setOrder=${v => setQuery({ order: v === "held" ? null : v })} />`
      : html`<${Empty} action=${may("create", "project") && html`<${LinkButton} href="/projects/new">New project<//>`}>No projects yet.<//>`}<//></div></section>`;
}

const askedGpus = w => w.workloadRequestedResources?.gpu?.request ?? 0;
const poolOf = w => w.requestedNodePools?.[0] ?? w.currentNodePools?.[0] ?? "";

// At most 8: owed first, then the longest waiting. The order is taken once; what comes later stands at the end.
function inOrder(workloads, projects, refused, kept) {
  const owed = new Map();
  for (const p of projects ?? []) for (const [pool, parts] of Object.entries(sharesByPool(p, refused[p.id]))) owed.set(`${p.id}/${pool}`, parts.owed > 0);
  const rank = new Map(kept.map((id, i) => [id, i]));
  const rankOf = w => rank.get(w.id) ?? kept.length;
  return workloads.map(w => ({ ...w, owed: !w.phaseReason && owed.get(`${w.projectId}/${poolOf(w)}`) === true }))
    .sort((a, b) => rankOf(a) - rankOf(b) || b.owed - a.owed || Date.parse(a.phaseUpdatedAt) - Date.parse(b.phaseUpdatedAt) || a.name.localeCompare(b.name)).slice(0, 8);
}

function Waiting({ waiting, projects, refused }) {
  const count = waiting.data?.length ?? 0;
  const kept = useRef([]);
  const list = inOrder(waiting.data ?? [], projects.data, refused, kept.current);
  kept.current = list.map(w => w.id);
  return html`<section class="sheet tall" aria-labelledby="h-wait"><header><h2 id="h-wait">Waiting, and why</h2><span class="grow"></span>${count > 0 && html`<a class="small" href="/workloads?f=phase==Pending">All ${count}</a>`}</header>
    <div class="side-list"><div tabindex="0" role="group" aria-label="Waiting workloads"><${Loaded} of=${waiting} what="The queue" rows=${6} height=${40}>${() => list.length ? html`<ul class="wait">${list.map(w => html`<${Waiter} key=${w.id} workload=${w} />`)}</ul>`
      : html`<${Empty}>Nothing waits: whatever was asked for is running.<//>`}<//></div></div></section>`;
}

// Expected, where that can be said; else how long it has waited, in grey.
function Waiter({ workload: w }) {
  const { sentence, forecast: expected } = w.explanation ?? {};
  const why = sentence ? closed(sentence) : w.phaseMessage ?? "";
  const never = expected?.kind === "never" || w.phaseReason === "NonPreemptibleOverQuota" || w.phaseReason === "OverLimit";
  const known = !never && isExpected(expected);
  const when = never ? "not as asked" : known ? forecast(expected, second.value || now()) : duration(since(w.phaseUpdatedAt, second.value));
  const asked = askedGpus(w);
  return html`<li><a href=${`/workloads?open=${w.id}&tab=why`}><span class="w"><${Swatch} project=${w.projectId} /><span>${w.name}</span><span class="muted nowrap">${gpus(asked)} × ${poolOf(w) || (asked === 1 ? "GPU" : "GPUs")}</span></span>
    <span key=${when.length} class=${"eta " + (never ? "bad" : known ? "ok" : w.owed ? "warn" : "")} data-tip=${known ? closed(expected.sentence) : never ? null : "How long it has waited."}>${when}</span>
    <span key=${`why${w.owed}`} class="why">${w.owed && !/^owed/i.test(why) ? "Owed by quota. " : ""}${why}</span></a></li>`;
}

function Cluster({ nodes, pools }) {
  const [view, setView] = useState("project");
  const [lifted, setLifted] = useState(null);
  const projects = useMemo(() => holders(pools), [pools]);
  const colours = useMemo(() => coloured(projects), [projects]);
  return html`<section class="sheet wide" aria-labelledby="h-map"><header><h2 id="h-map">Cluster</h2><p>A row is a node, a cell is a GPU</p><span class="grow"></span><${Seg} label="Colour by" options=${VIEWS} value=${view} onChange=${setView} /><${LinkButton} small href="/nodes">Table<//></header>
    <div class="body"><${Loaded} of=${nodes} what="Nodes" rows=${6} height=${24}>${() => pools.length
      ? html`<${ClusterMap} pools=${pools} view=${view} lifted=${lifted} colours=${colours}><${MapKey} projects=${projects} colours=${colours} lift=${setLifted} /><//>`
      : html`<${Empty}>No node with GPUs has joined yet.<//>`}<//></div></section>`;
}

function holders(pools) {
  const held = new Map();
  for (const pool of pools) for (const row of pool.rows) for (const run of row.runs) {
    const size = run.size + (held.get(run.projectId)?.size ?? 0);
    held.set(run.projectId, { id: run.projectId, name: run.project, size });
  }
  return [...held.values()].sort((a, b) => b.size - a.size || a.name.localeCompare(b.name)).slice(0, 16);
}

const RANGES = [{ value: "1", label: "1 h" }, { value: "6", label: "6 h" }, { value: "24", label: "24 h" }, { value: "168", label: "7 d" }];
const LINES = {
  ALLOCATED_GPU: { name: "allocated", tone: "ink", fill: 0.09 },
  TOTAL_GPU: { name: "ready", tone: "ink-3", dash: [1, 3] },
};

// Of the last hours; the last one serves the figures above as well.
function useHistory(cluster, hours) {
  const history = useData(cluster && hours ? `metrics/${cluster}/${hours}` : null, async abort => {
    const end = now(), start = end - Number(hours) * 3600000;
    const { measurements = [] } = await get(`/api/v1/clusters/${cluster}/metrics`, { start: new Date(start).toISOString(), end: new Date(end).toISOString(), numberOfSamples: 120, metricType: [...Object.keys(LINES), "GPU_UTILIZATION"] }, { signal: abort });
    return { start, end, series: seriesOf(measurements.filter(m => m.type in LINES), LINES), used: measurements.find(m => m.type === "GPU_UTILIZATION")?.values ?? [] };
  });
  useEachMinute(history, Boolean(cluster && hours));
  return history;
}

// The utilization of the last ten minutes; undefined: not asked yet, null: nothing was measured.
function usedNow(history) {
  const last = history?.used.findLast(v => v.value !== "" && Number.isFinite(Number(v.value)));
  return history && (last && Date.parse(last.timestamp) >= history.end - 600000 ? Number(last.value) : null);
}

function OverTime({ cluster, lately }) {
  const [hours, setHours] = useState("1");
  const longer = useHistory(cluster, hours !== "1" && hours);
  const metrics = hours === "1" ? lately : longer;
  return html`<section class="sheet" aria-labelledby="h-time"><header><h2 id="h-time">GPUs over time</h2><p>What was allocated of what was ready</p><span class="grow"></span><${Seg} label="Time" options=${RANGES} value=${hours} onChange=${setHours} /></header>
    <div class="body time-body"><${Loaded} of=${metrics} what="The history" rows=${5}>${m => m.series.some(s => s.points.length)
      ? html`<${LineChart} bare title="GPUs over time" series=${m.series} format=${gpus} from=${m.start} to=${m.end} height=${280} />`
      : html`<${Empty}>No samples in this time yet.<//>`}<//></div></section>`;
}

// What every start and stop goes through: told in the workload's own events.
const STEPS = new Set(["Pulling", "Pulled", "Created", "Scheduled", "Killing", "Pipelined"]);

function Happened() {
  const events = useData("events", abort => get("/api/v1/events", { limit: 100 }, { signal: abort }).then(a => (a.events ?? []).filter(e => !STEPS.has(e.reason)).slice(0, 20)), ["event", ...PICTURE]);
  const who = e => e.workloadName && html`<a class="plain strong" href=${`/workloads?open=${e.workloadId}&tab=events`}>${e.projectName ? `${e.projectName}/` : ""}${e.workloadName}</a>`;
  return html`<section class="sheet tall" aria-labelledby="h-ev"><header><h2 id="h-ev">What happened</h2></header>
    <div class="side-list"><div tabindex="0" role="group" aria-label="Events"><${Loaded} of=${events} what="Events" rows=${7} height=${34}>${list => list.length ? html`<${EventList} events=${list} who=${who} />` : html`<${Empty}>Nothing has happened yet.<//>`}<//></div></div></section>`;
}
