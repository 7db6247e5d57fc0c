// Is my team getting its share, and from whom or to whom does the rest go?
import { useMemo } from "preact/hooks";
import { del, get } from "../api.js";
import { useData, useOverview } from "../data.js";
import { NONE, gpus } from "../format.js";
import { html } from "../html.js";
import { refreshAll } from "../live.js";
import { Button, LinkButton } from "../parts/button.js";
import { confirm } from "../parts/dialog.js";
import { Page, Primary } from "../parts/page.js";
import { Facts, Pane, Split, closePane } from "../parts/pane.js";
import { ReceiptsOf } from "../parts/receipts.js";
import { Empty, Fault, Loading, Loaded } from "../parts/states.js";
import { State, Status, Swatch } from "../parts/status.js";
import { Table, openHref, renewTables } from "../parts/table.js";
import { toast, toastError } from "../parts/toast.js";
import { refusedBy, sharesByPool } from "../pictures/shares.js";
import { unitInWords } from "../pictures/unit_rules.js";
import { route } from "../router.js";
import { may, scope, scopeFilter } from "../session.js";
import { WORDS, rankWord, shareWords } from "../words.js";
import { QuotaChoices, QuotaFoot, SubBar, chosenParts, useQuotaColumns } from "./quota_columns.js";
import { OverTime, PoolBars, ShareSentence, WhyShare } from "./unit_parts.js";

const KINDS = ["project", "department", "nodepool", "queue", "workload"];
export default function Projects() {
  const id = route.value.query.open;
  const at = JSON.stringify(scope.value);
  const overview = useOverview().data;
  const refused = useMemo(() => refusedBy(overview?.projects ?? [], p => p.id), [overview]);
  const partsOf = p => chosenParts(sharesByPool(p, refused[p.id]));
  const columns = [
    { id: "name", label: "Project", sort: "name", filter: { field: "name" }, text: p => p.name, cell: p => html`<${Swatch} project=${p.id} /><span>${p.name}</span>` },
    ...useQuotaColumns(partsOf, p => p.id),
    { id: "department", label: "Department", sort: "parentName", filter: { field: "parentName" }, text: p => p.parent?.name ?? NONE, low: true },
    { id: "status", label: "Status", sort: "phase", text: p => p.status?.phase ?? NONE, cell: p => html`<${State} phase=${p.status?.phase ?? "Unknown"} message=${p.status?.phaseMessage} />`, hidden: true },
    { id: "namespace", label: "Namespace", text: p => p.status?.namespace ?? NONE, hidden: true },
    { id: "description", label: "Description", text: p => p.description || NONE, hidden: true },
    { id: "created", label: "Created", num: true, sort: "createdAt", text: p => p.createdAt?.slice(0, 10) ?? NONE, hidden: true },
  ];
  const action = may("create", "project") && html`<${Primary} href="/projects/new" icon="plus" label="New project" />`;
  return html`<${Page} title="Projects" scoped action=${action}><${Split} label="Projects" pane=${id && html`<${Details} key=${id} id=${id} refused=${refused} />`}>
    <${Table} key=${at} name="projects" caption="Projects" source=${{ path: "/api/v1/org-unit/projects", key: "projects", countPath: "/api/v1/org-unit/projects/count", query: { filterBy: scopeFilter("projects") } }} kinds=${KINDS} columns=${columns} sort="-gpuAllocated" searchLabel="Name" hrefOf=${p => openHref(p.id)}
      tools=${html`<${QuotaChoices} overview=${overview} />`} foot=${html`<${QuotaFoot} />`} sub=${(p, rows) => html`<span class="cut">${shareWords(partsOf(p)).map(w => w[1]).join(" · ") || p.parent?.name}</span><${SubBar} parts=${partsOf(p)} name=${p.name} project=${p.id} rows=${rows.map(partsOf)} />`} empty=${html`No projects yet.`} /><//><//>`;
}

function Details({ id, refused }) {
  const project = useData(`project/${id}`, abort => get(`/api/v1/org-unit/projects/${id}`, {}, { signal: abort }), KINDS);
  const p = project.data;
  if (!p) return html`<${Pane} id=${id} title="Project">${project.error ? html`<${Fault} error=${project.error} retry=${project.reload} what="The project" />` : html`<${Loading} rows=${6} />`}<//>`;
  const tabs = [
    { id: "share", label: "Share", view: () => html`<${Share} project=${p} refused=${refused[p.id]} />` },
    { id: "workloads", label: "Workloads", view: () => html`<${WorkloadsOf} filter=${`projectId==${p.id}`} list=${`projectName==${p.name}`} />` },
    { id: "receipts", label: "Gave way", view: () => html`<${ReceiptsOf} query=${{ projectId: p.id }} none=${`Nothing was taken from ${p.name}.`} />` },
    { id: "time", label: "Over time", view: () => html`<${OverTime} path=${`/api/v1/org-unit/projects/${p.id}/metrics`} id=${p.id} />` },
    { id: "rules", label: "Rules", view: () => html`<${Rules} unit=${p} />` },
  ];
  return html`<${Pane} id=${id} title=${p.name} status=${html`<${Swatch} project=${p.id} />`} line=${html`Project in ${p.parent?.name ?? "no department"}${p.description ? `. ${p.description}` : ""}`} tabs=${tabs} actions=${html`<${Actions} project=${p} />`} />`;
}

function Actions({ project: p }) {
  const why = may("delete", "project") ? "" : WORDS.noRight("delete project");
  const drop = async () => {
    if (!(await confirm({ title: `Delete ${p.name}?`, verb: "Delete project", type: p.name, body: "Its workloads are deleted and its GPUs go back to the department. The namespace stays." }))) return;
    try {
      await del(`/api/v1/org-unit/projects/${p.id}`);
      closePane();
      toast(`Deleted ${p.name}.`);
    } catch (error) {
      toastError(error);
    }
    refreshAll();
    renewTables();
  };
  return html`${may("update", "project") ? html`<${LinkButton} small icon="edit" href=${`/projects/${p.id}/edit`}>Edit<//>` : html`<${Button} small icon="edit" why=${WORDS.noRight("update project")}>Edit<//>`}
    <${LinkButton} small icon="plus" href=${`/workloads/new/training?project=${p.id}`}>New training<//><${Button} small icon="trash" why=${why} writes onClick=${drop}>Delete<//>`;
}

function Share({ project, refused }) {
  const shares = sharesByPool(project, refused);
  return html`<section aria-label="In words"><${ShareSentence} name=${project.name} shares=${shares} /></section>
    <section><h3>By node pool</h3><${PoolBars} shares=${shares} project=${project.id} /></section>
    <section><h3>Quota</h3><${PoolTable} unit=${project} shares=${shares} /></section>
    <${WhyShare} shares=${shares} kind="project" name=${project.name} />`;
}

export function PoolTable({ unit, shares }) {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Quota by node pool"><table class="share"><thead><tr><th scope="col">Pool</th><th scope="col" class="num">Quota</th><th scope="col" class="num">Weight</th><th scope="col">Rank</th><th scope="col" class="num">Limit</th><th scope="col" class="num">Holds</th></tr></thead>
    <tbody>${(unit.resources ?? []).map(r => {
      const name = r.nodePool?.name ?? "default", s = shares[name];
      return html`<tr key=${name}><td>${name}</td><td class="num">${s && Number.isFinite(s.quota) ? gpus(s.quota) : "unlimited"}</td><td class="num">${gpus(r.gpu?.overQuotaWeight)}</td><td>${rankWord(r.priority ?? r.rank ?? NONE)}</td><td class="num">${s?.limit === null || !s ? "none" : gpus(s.limit)}</td><td class="num">${gpus(s?.held)}</td></tr>`;
    })}</tbody></table></div>`;
}

export function WorkloadsOf({ filter, list }) {
  const found = useData(`of/${filter}`, abort => get("/api/v1/workloads", { filterBy: [filter], sortBy: "createdAt", sortOrder: "desc", limit: 50 }, { signal: abort }).then(a => a.workloads), ["workload"]);
  return html`<${Loaded} of=${found} what="Workloads">${rows => rows.length ? html`<table class="share"><thead><tr><th scope="col">Workload</th><th scope="col">Status</th><th scope="col" class="num">GPUs</th></tr></thead>
    <tbody>${rows.map(w => html`<tr key=${w.id}><td><a class="plain" href=${`/workloads?open=${w.id}`}>${w.name}</a></td><td><${Status} phase=${w.phase} /></td><td class="num">${gpus(w.allocatedResources?.gpu ?? 0)}</td></tr>`)}</tbody></table><p class="small"><a href=${`/workloads?f=${encodeURIComponent(list)}`}>All in the table</a></p>` : html`<${Empty}>It has no workloads.<//>`}<//>`;
}

export function Rules({ unit }) {
  const rows = unitInWords(unit);
  return rows.length ? html`<${Facts} rows=${rows} />` : html`<${Empty}>No time or idle limits: workloads run as long as they want.<//>`;
}
