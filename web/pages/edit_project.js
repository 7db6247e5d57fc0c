// New project, and the quota of one that exists.
import { post, put } from "../api.js";
import { refreshAll } from "../live.js";
import { html } from "../html.js";
import { renewTables } from "../parts/table.js";
import { toast } from "../parts/toast.js";
import { go } from "../router.js";
import { QuotaForm, QuotaPage, useQuotaFacts } from "./quota_form.js";

const PATH = "/api/v1/org-unit/projects";
const quotaIn = (unit, pool) => unit?.resources?.find(r => r.nodePool?.id === pool.id)?.gpu?.deserved ?? 0;

export default function EditProject({ id }) {
  const facts = useQuotaFacts(id, PATH);
  return html`<${QuotaPage} title=${id ? `Quota of ${facts.data?.unit?.name ?? "project"}` : "New project"} facts=${facts}>${data => html`<${Form} id=${id} facts=${data} />`}<//>`;
}

function Form({ id, facts }) {
  const parentOf = v => facts.departments.find(d => d.id === v.parent);
  const call = (v, resources) => id ? { method: "PUT", path: `${PATH}/${id}/resources`, body: resources }
    : { method: "POST", path: PATH, body: { name: v.name, clusterId: parentOf(v)?.clusterId ?? facts.pools[0]?.clusterId, parentId: v.parent, resources } };
  const save = async planned => {
    const made = planned.method === "PUT" ? await put(planned.path, planned.body) : await post(planned.path, planned.body);
    refreshAll();
    renewTables();
    await go(`/projects?open=${id ?? made.id}`);
    toast(id ? `Saved the quota of ${facts.unit.name}.` : `Created ${made.name}.`);
  };
  return html`<${QuotaForm} word="project" facts=${facts} parents=${facts.departments} call=${call} save=${save} back=${id ? `/projects?open=${id}` : "/projects"} totalWord="the department's quota"
    totalOf=${(pool, v) => quotaIn(parentOf(v), pool)} othersOf=${(pool, v) => facts.projects.filter(p => p.parentId === v.parent && p.id !== id).reduce((sum, p) => sum + quotaIn(p, pool), 0)} />`;
}
