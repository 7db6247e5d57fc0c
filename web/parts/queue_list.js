// Who is next in a node pool, and by which rule.
import { useState } from "preact/hooks";
import { get } from "../api.js";
import { minute, now } from "../clock.js";
import { useData } from "../data.js";
import { NONE, count, duration, gpus, iso, since } from "../format.js";
import { html } from "../html.js";
import { closed } from "../pictures/what_if.js";
import { Button } from "./button.js";
import { Empty, Loaded } from "./states.js";

const PAGE = 25;

export function QueueList({ pool }) {
  const [offset, setOffset] = useState(0);
  const queue = useData(`queue/${pool}/${offset}`, abort => get("/api/v1/scheduler/queue", { nodePool: pool, offset, limit: PAGE }, { signal: abort }), ["workload", "queue"]);
  return html`<${Loaded} of=${queue} what="The queue" rows=${4} height=${40}>${({ workloads = [], total = workloads.length }) => workloads.length ? html`<p class="soft">The order in which the scheduler looks at what waits; who doesn't fit lets the next one try.</p>
    <ol class="queue" start=${workloads[0].position}>${workloads.map(w => html`<li key=${w.workloadId ?? w.position}><span class="n">${w.position}</span><div><span class="who">${w.workloadId ? html`<a class="plain strong" href=${`/workloads?open=${w.workloadId}&tab=why`}>${w.project}/${w.workload}</a>` : html`<b class="strong">${w.workload}</b>`} <span class="muted nowrap">${gpus(w.gpus)} ${w.gpus === 1 ? "GPU" : "GPUs"}${w.pods > 1 ? ` in ${w.pods} pods` : ""}</span><span class="grow"></span><time class="muted nowrap" datetime=${w.waitingSince} data-tip=${iso(w.waitingSince)}>${w.waitingSince ? duration(since(w.waitingSince, minute.value || now())) : NONE}</time></span>${(w.sentence ?? w.rule) && html`<p>${closed(w.sentence ?? w.rule)}</p>`}</div></li>`)}</ol>
    ${total > PAGE && html`<div class="bar"><span class="muted small">${count(offset + 1)}–${count(offset + workloads.length)} of ${count(total)}</span><span class="grow"></span><${Button} small why=${offset > 0 ? "" : "This is the first page."} onClick=${() => setOffset(Math.max(0, offset - PAGE))}>Back<//><${Button} small why=${offset + workloads.length < total ? "" : "This is the last page."} onClick=${() => setOffset(offset + PAGE)}>Next<//></div>`}`
    : html`<${Empty}>Nothing waits in ${pool}.<//>`}<//>`;
}
