// New department, and the quota of one that exists.
import { post, put } from "../api.js";
import { refreshAll } from "../live.js";
import { html } from "../html.js";
import { renewTables } from "../parts/table.js";
import { toast } from "../parts/toast.js";
import { go } from "../router.js";
import { QuotaForm, QuotaPage, useQuotaFacts } from "./quota_form.js";

const PATH = "/api/v1/org-unit/departments";
const quotaIn = (unit, pool) => unit.resources?.find(r => r.nodePool?.id === pool.id)?.gpu?.deserved ?? 0;

export default function EditDepartment({ id }) {
  const facts = useQuotaFacts(id, PATH);
  return html`<${QuotaPage} title=${id ? `Quota of ${facts.data?.unit?.name ?? "department"}` : "New department"} facts=${facts}>${data => html`<${Form} id=${id} facts=${data} />`}<//>`;
}

function Form({ id, facts }) {
  const call = (v, resources) => id ? { method: "PUT", path: `${PATH}/${id}/resources`, body: resources } : { method: "POST", path: PATH, body: { name: v.name, clusterId: facts.pools[0]?.clusterId, resources } };
  const save = async planned => {
    const made = planned.method === "PUT" ? await put(planned.path, planned.body) : await post(planned.path, planned.body);
    refreshAll();
    renewTables();
    await go(`/departments?open=${id ?? made.id}`);
    toast(id ? `Saved the quota of ${facts.unit.name}.` : `Created ${made.name}.`);
  };
  return html`<${QuotaForm} word="department" facts=${facts} call=${call} save=${save} back=${id ? `/departments?open=${id}` : "/departments"} totalWord="the pool's GPUs"
    totalOf=${pool => facts.size[pool.name] ?? 0} othersOf=${pool => facts.departments.filter(d => d.id !== id).reduce((sum, d) => sum + quotaIn(d, pool), 0)} />`;
}
