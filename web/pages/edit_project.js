// New project, and all that can be changed of one that exists.
import { post, put } from "../api.js";
import { refreshAll } from "../live.js";
import { html } from "../html.js";
import { renewTables } from "../parts/table.js";
import { toast } from "../parts/toast.js";
import { boundsOfProject } from "../pictures/promises.js";
import { go } from "../router.js";
import { QuotaForm, QuotaPage, useQuotaFacts } from "./quota_form.js";

const PATH = "/api/v1/org-unit/projects";

export default function EditProject({ id }) {
  const facts = useQuotaFacts(id, PATH, "project");
  return html`<${QuotaPage} title=${id ? `Project ${facts.data?.unit?.name ?? ""}` : "New project"} facts=${facts}>${data => html`<${Form} id=${id} facts=${data} />`}<//>`;
}

function Form({ id, facts }) {
  const parentOf = v => facts.departments.find(d => d.id === v.parent);
  const call = (v, body) => id ? { method: "PUT", path: `${PATH}/${id}`, body: { ...body, enforceRunaiScheduler: facts.unit.enforceRunaiScheduler } }
    : { method: "POST", path: PATH, body: { name: v.name, clusterId: parentOf(v)?.clusterId ?? facts.pools[0]?.clusterId, parentId: v.parent, ...(v.namespace ? { requestedNamespace: v.namespace } : {}), ...body } };
  const save = async planned => {
    const made = planned.method === "PUT" ? await put(planned.path, planned.body) : await post(planned.path, planned.body);
    refreshAll();
    renewTables();
    await go(`/projects?open=${id ?? made.id}`);
    toast(id ? `Saved ${facts.unit.name}.` : `Created ${made.name}.`);
  };
  return html`<${QuotaForm} word="project" facts=${facts} parents=${facts.departments} call=${call} save=${save} back=${id ? `/projects?open=${id}` : "/projects"} boundsOf=${(pool, v) => boundsOfProject(pool, id, facts.off.includes("departments") ? null : parentOf(v), facts.projects, facts.size)} />`;
}
