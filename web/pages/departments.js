// As projects, one level up: does each department get its share?
import { useMemo } from "preact/hooks";
import { del, get, getAll } from "../api.js";
import { useData, useOverview } from "../data.js";
import { NONE, gpus, plural } from "../format.js";
import { html } from "../html.js";
import { Icon } from "../icons.js";
import { refreshAll } from "../live.js";
import { Button, LinkButton } from "../parts/button.js";
import { confirm } from "../parts/dialog.js";
import { Page, Primary } from "../parts/page.js";
import { Pane, Split, closePane } from "../parts/pane.js";
import { ReceiptsOf } from "../parts/receipts.js";
import { Empty, Fault, Loaded, Loading } from "../parts/states.js";
import { Swatch } from "../parts/status.js";
import { Table, openHref, renewTables } from "../parts/table.js";
import { toast, toastError } from "../parts/toast.js";
import { poolParts, refusedBy, sharesByPool, sumParts } from "../pictures/shares.js";
import { route } from "../router.js";
import { may } from "../session.js";
import { WORDS, shareWords } from "../words.js";
import { PoolTable, Rules, WorkloadsOf } from "./projects.js";
import { QuotaChoices, QuotaFoot, SubBar, chosenParts, useQuotaColumns } from "./quota_columns.js";
import { OverTime, PoolBars, ShareSentence, WhyShare } from "./unit_parts.js";

const KINDS = ["department", "project", "nodepool", "queue", "workload"];

// A department's own figures; without figures per pool the sum stands for the whole.
function partsOf(d, refused) {
  const perPool = d.status?.nodePoolQuotaStatuses?.length || (d.resources ?? []).length === 1;
  if (perPool) return chosenParts(sharesByPool(d, refused));
  const s = d.status?.quotaStatus ?? {}, held = s.allocated?.gpu ?? 0;
  return poolParts({ quota: d.totalResources?.gpuQuota ?? Infinity, held, firm: s.allocatedNonPreemptible?.gpu ?? 0, waiting: Math.max(0, (s.requested?.gpu ?? 0) - held) });
}

export default function Departments() {
  const id = route.value.query.open;
  const query = { verbosity: "verbose" };
  const overview = useOverview().data;
  const refused = useMemo(() => refusedBy(overview?.projects ?? [], p => p.departmentId), [overview]);
  const parts = d => partsOf(d, refused[d.id]);
  const columns = [
    { id: "name", label: "Department", sort: "name", filter: { field: "name" }, text: d => d.name, cell: d => html`<${Icon} name="dept" /><span>${d.name}</span>` },
    ...useQuotaColumns(parts, () => null),
    { id: "projects", label: "Projects", num: true, text: d => String(d.children?.length ?? 0), low: true },
    { id: "description", label: "Description", text: d => d.description || NONE, hidden: true },
    { id: "created", label: "Created", num: true, sort: "createdAt", text: d => d.createdAt?.slice(0, 10) ?? NONE, hidden: true },
  ];
  const action = may("create", "department") && html`<${Primary} href="/departments/new" icon="plus" label="New department" />`;
  return html`<${Page} title="Departments" action=${action}><${Split} label="Departments" pane=${id && html`<${Details} key=${id} id=${id} refused=${refused[id]} />`}>
    <${Table} name="departments" caption="Departments" source=${{ path: "/api/v1/org-unit/departments", key: "departments", countPath: "/api/v1/org-unit/departments/count", query }} kinds=${KINDS} columns=${columns} sort="name" searchLabel="Name" searchBy="name" hrefOf=${d => openHref(d.id)} tools=${html`<${QuotaChoices} overview=${overview} />`} foot=${html`<${QuotaFoot} />`} sub=${(d, rows) => html`<span class="cut">${shareWords(parts(d)).map(w => w[1]).join(" · ") || plural(d.children?.length ?? 0, "project")}</span><${SubBar} parts=${parts(d)} name=${d.name} project=${null} rows=${rows.map(parts)} />`} empty=${html`No departments yet.`} /><//><//>`;
}

function Details({ id, refused }) {
  const found = useData(`department/${id}`, async abort => {
    const [department, projects] = await Promise.all([get(`/api/v1/org-unit/departments/${id}`, {}, { signal: abort }), getAll("/api/v1/org-unit/projects", "projects", { filterBy: [`parentId==${id}`], sortBy: "name" }, { signal: abort })]);
    return { department, projects };
  }, KINDS);
  if (!found.data) return html`<${Pane} id=${id} title="Department">${found.error ? html`<${Fault} error=${found.error} retry=${found.reload} what="The department" />` : html`<${Loading} rows=${6} />`}<//>`;
  const { department: d, projects } = found.data;
  const tabs = [
    { id: "share", label: "Share", view: () => html`<${Share} department=${d} projects=${projects} refused=${refused} />` },
    { id: "workloads", label: "Workloads", view: () => html`<${WorkloadsOf} filter=${`departmentId==${d.id}`} list=${`departmentName==${d.name}`} />` },
    { id: "receipts", label: "Gave way", view: () => html`<${ReceiptsOf} query=${{ departmentId: d.id }} none=${`Nothing was taken from projects of ${d.name}.`} />` },
    { id: "time", label: "Over time", view: () => html`<${OverTime} path=${`/api/v1/org-unit/departments/${d.id}/metrics`} id=${d.id} />` },
    { id: "rules", label: "Rules", view: () => html`<${Rules} unit=${d} />` },
  ];
  return html`<${Pane} id=${id} title=${d.name} line=${html`Department with ${projects.length} ${projects.length === 1 ? "project" : "projects"}${d.description ? `. ${d.description}` : ""}`} tabs=${tabs} actions=${html`<${Actions} department=${d} projects=${projects} />`} />`;
}

function Actions({ department: d, projects }) {
  const drop = async () => {
    const with_ = projects.length ? `Its ${projects.length === 1 ? "project" : `${projects.length} projects`} (${projects.slice(0, 4).map(p => p.name).join(", ")}${projects.length > 4 ? ", …" : ""}) and their workloads are deleted with it.` : "It has no projects.";
    if (!(await confirm({ title: `Delete ${d.name}?`, verb: "Delete department", type: d.name, body: with_ }))) return;
    try {
      await del(`/api/v1/org-unit/departments/${d.id}`);
      closePane();
      toast(`Deleted ${d.name}.`);
    } catch (error) {
      toastError(error);
    }
    refreshAll();
    renewTables();
  };
  return html`${may("update", "department") ? html`<${LinkButton} small icon="edit" href=${`/departments/${d.id}/edit`}>Edit<//>` : html`<${Button} small icon="edit" why=${WORDS.noRight("update department")}>Edit<//>`}
    <${Button} small icon="trash" writes why=${may("delete", "department") ? "" : WORDS.noRight("delete department")} onClick=${drop}>Delete<//>`;
}

function Share({ department: d, projects, refused }) {
  const shares = sharesByPool(d, refused);
  const rows = projects.map(p => ({ p, t: sumParts(Object.values(sharesByPool(p))) }));
  return html`<section aria-label="In words"><${ShareSentence} name=${d.name} shares=${shares} /></section>
    <section><h3>By node pool</h3><${PoolBars} shares=${shares} project=${null} /></section>
    <section><h3>Quota</h3><${PoolTable} unit=${d} shares=${shares} /></section>
    <section><h3>Projects</h3><${Loaded} of=${{ data: rows, loading: false, error: null }} what="Projects">${list => list.length ? html`<table class="share"><thead><tr><th scope="col">Project</th><th scope="col" class="num">Quota</th><th scope="col" class="num">Holds</th><th scope="col" class="num">Borrowed</th></tr></thead>
      <tbody>${list.map(({ p, t }) => html`<tr key=${p.id}><td><a class="plain p" href=${`/projects?open=${p.id}`}><${Swatch} project=${p.id} />${p.name}</a></td><td class="num">${Number.isFinite(t.quota) ? gpus(t.quota) : "unlimited"}</td><td class="num">${gpus(t.held)}</td><td class="num">${t.over > 0 ? gpus(t.over) : NONE}</td></tr>`)}</tbody></table>` : html`<${Empty}>No projects yet.<//>`}<//></section>
    <${WhyShare} shares=${shares} kind="department" name=${d.name} />`;
}
