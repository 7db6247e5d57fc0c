// Why a workload is where it is: what is lacking and where, why nobody gives it, the project's bar with this request, the
// numbers. The sentences are the scheduler's own.
import { get } from "../api.js";
import { minute, now } from "../clock.js";
import { useData } from "../data.js";
import { NONE, duration, gpus, iso, since, time } from "../format.js";
import { html } from "../html.js";
import { Icon } from "../icons.js";
import { EventList } from "../parts/event_list.js";
import { Facts } from "../parts/pane.js";
import { SoloBar } from "../parts/quota_bar.js";
import { Loaded } from "../parts/states.js";
import { poolParts } from "../pictures/shares.js";
import { PHASES, WORDS } from "../words.js";

export function WorkloadWhy({ workload: w }) {
  const why = useData(`why/${w.id}`, abort => get(`/api/v1/workloads/${w.id}/explanation`, {}, { signal: abort }), ["workload", "queue", "event"]);
  return html`<${Loaded} of=${why} what="The explanation">${e => html`<${Card} workload=${w} explanation=${e} />`}<//>`;
}

function Card({ workload: w, explanation: e }) {
  const { icon, tone } = PHASES[w.phase] ?? { icon: "info", tone: "off" };
  const { project, department, requestedGpus = w.workloadRequestedResources?.gpu?.request ?? 0 } = e.numbers ?? {};
  const waits = w.phase === "Pending";
  return html`<section aria-label="Explanation"><div class=${`because ${tone === "ok" ? "ok" : ""}`}><${Icon} name=${icon} tone=${tone} /><p class="one">${e.sentence}</p>${e.why && html`<p class="two">${e.why}</p>`}</div></section>
    ${project && html`<section><h3>${project.name} in ${e.pool}</h3><${Bar} ...${{ w, project, requested: requestedGpus, waits }} /></section>`}
    <section><h3>The numbers</h3><${Facts} rows=${[
      project && ["Held / quota", `${gpus(project.allocated)} / ${project.quota === null ? "unlimited" : gpus(project.quota)}${project.fairShare !== undefined ? `, fair share ${gpus(project.fairShare)}` : ""}`],
      project && ["Non-preemptible", `${gpus(project.allocatedNonPreemptible)} of the quota`],
      project && ["Limit", project.limit === null ? "none" : gpus(project.limit)],
      department && [`Department ${department.name}`, `${gpus(department.allocated)} / ${department.quota === null ? "unlimited" : gpus(department.quota)}, fair share ${gpus(department.fairShare)}`],
      ["Asked for", askedFor(w, requestedGpus)],
      [waits ? "Waiting since" : "Since", w.phaseUpdatedAt ? html`<span data-tip=${iso(w.phaseUpdatedAt)}>${time(w.phaseUpdatedAt, now())}, ${duration(since(w.phaseUpdatedAt, minute.value || now()))}</span>` : NONE],
    ]} /></section>
    ${e.evidence?.length > 0 && html`<section><h3>So far</h3><${EventList} events=${e.evidence} /></section>`}`;
}

function askedFor(w, requested) {
  const pods = w.requestedPods?.number ?? 1;
  return pods > 1 ? `${gpus(requested)} = ${pods} pods × ${gpus(requested / pods)}, ${(w.requestedPods?.min ?? pods) < pods ? `at least ${w.requestedPods.min} pods` : "all or nothing"}` : gpus(requested);
}

// The project's bar in that pool, this request hatched at its end.
function Bar({ w, project, requested, waits }) {
  const never = Boolean(w.phaseReason);
  const quota = project.quota === null ? Infinity : project.quota;
  const parts = poolParts({ quota, held: project.allocated, firm: project.allocatedNonPreemptible, limit: project.limit, waiting: waits && !never ? requested : 0, refused: waits && never ? requested : 0 });
  const inside = Math.min(project.allocated, quota);
  const names = [];
  if (inside > 0) names.push({ from: 0, to: inside, text: `${gpus(inside)} held${project.allocated > inside ? " in quota" : ""}` });
  if (waits && requested > 0) {
    const from = parts.owed > 0 ? inside : (Number.isFinite(quota) ? quota : inside) + parts.over;
    names.push({ from, to: from + requested, text: `${gpus(requested)} asked by this one` });
  }
  return html`<${SoloBar} parts=${parts} project=${w.projectId} name=${project.name} names=${names} />${never && html`<p class="hint bad"><${Icon} name="no" />${WORDS.never[w.phaseReason] ?? "It can't start as asked."}</p>`}`;
}
