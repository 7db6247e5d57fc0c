// The strip of six figures at the head of Overview.
import { get } from "../api.js";
import { useData } from "../data.js";
import { NONE, count, gpus, percent, ratio } from "../format.js";
import { html } from "../html.js";
import { Meters, Stat, Stats } from "../parts/stats.js";
import { sharesByPool, sumParts } from "../pictures/shares.js";
import { may, scope, scopeFilter } from "../session.js";

const STARTING = ["Creating", "Initializing", "Resuming"];
const ENDING = ["Stopping", "Terminating", "Deleting"];

async function phaseCounts(abort) {
  const at = scope.peek();
  const filter = at?.departmentId && !at.projectId ? { departmentId: at.departmentId } : {};
  const { values = [] } = await get("/api/v1/workloads/telemetry", { telemetryType: "WORKLOADS_COUNT", groupBy: "Phase", ...filter }, { signal: abort });
  const byPhase = {};
  for (const v of values) {
    const phase = v.groups?.find(g => g.key === "Phase")?.value;
    byPhase[phase] = (byPhase[phase] ?? 0) + Number(v.value);
  }
  return byPhase;
}

const sumOf = (byPhase, phases) => phases.reduce((sum, p) => sum + (byPhase?.[p] ?? 0), 0);

// used: percent of what is allocated; null: not measured lately, undefined: not known yet.
export function OverviewStats({ projects, nodes, pools, refused, used }) {
  const byPhase = useData(`phases/${scopeFilter("workloads")}`, phaseCounts, ["workload"]).data;
  const idle = pools.reduce((sum, p) => sum + p.idle, 0);
  const total = pools.reduce((sum, p) => sum + p.total, 0), held = pools.reduce((sum, p) => sum + p.held, 0), down = pools.reduce((sum, p) => sum + p.down, 0);
  const shares = sumParts((projects.data ?? []).flatMap(p => Object.values(sharesByPool(p, refused[p.id]))));
  const wanted = shares.owed + shares.more;
  const gpuNodes = (nodes.data ?? []).filter(n => n.gpuInfo || n.prorata?.devices?.length);
  const broken = gpuNodes.filter(n => n.status !== "Ready");
  const turning = [[sumOf(byPhase, STARTING), "starting"], [sumOf(byPhase, ENDING), "stopping"]].filter(([n]) => n > 0).map(([n, word]) => `${count(n)} ${word}`).join(", ");
  const ready = nodes.data !== null, seesNodes = may("read", "nodes");
  return html`<${Stats} label="The cluster now">
    ${seesNodes && html`<${Stat} label="GPUs allocated" value=${ready ? gpus(held) : NONE} unit=${ready && `of ${gpus(total)}`} line=${ready ? ratio(held, total) + (down ? `, ${gpus(down)} more not ready` : "") : ""} href="/nodes">
      <${Meters} rows=${pools.slice(0, 4).map(p => ({ name: p.name, part: p.held, whole: p.total, text: `${gpus(p.held)} / ${gpus(p.total)}` }))} /><//>`}
    <${Stat} label="Waiting" value=${projects.data ? gpus(wanted) : NONE} unit=${wanted === 1 ? "GPU" : "GPUs"} line=${shares.owed > 0 ? `${gpus(shares.owed)} owed by quota` : "none of it owed"} href="/workloads?f=phase==Pending" />
    <${Stat} label="Running" value=${byPhase ? count(byPhase.Running ?? 0) : NONE} unit=${byPhase?.Running === 1 ? "workload" : "workloads"} line=${turning || "none starting"} href="/workloads?f=phase==Running" />
    ${may("read", "cluster") && html`<${Stat} label="GPU utilization" value=${Number.isFinite(used) ? percent(used).slice(0, -2) : NONE} unit=${Number.isFinite(used) ? "%" : ""} line="of what is allocated" tip=${used === null ? "No sample in the last 10 minutes." : null} href=${seesNodes ? "/nodes" : null} />`}
    ${seesNodes && html`<${Stat} label="Allocated, idle" value=${ready ? gpus(idle) : NONE} unit=${idle === 1 ? "GPU" : "GPUs"} line="held, but 0 % used now" href="/nodes" />
    <${Stat} label="Nodes ready" value=${ready ? count(gpuNodes.length - broken.length) : NONE} unit=${ready && `of ${count(gpuNodes.length)}`} tone=${broken.length ? "bad" : ""} line=${broken.length ? broken.slice(0, 2).map(n => n.name).join(", ") + (broken.length > 2 ? ` and ${broken.length - 2} more` : "") : "all of them"} href=${broken.length ? "/nodes?f=status==NotReady" : "/nodes"} />`}<//>`;
}
