// New department, and all that can be changed of one that exists.

import { refreshAll } from "../live";
import { renewTables } from "../parts/table";
import { toast } from "../parts/toast";
import { boundsOfDepartment } from "../pictures/promises";
import { go } from "../router";
import {
  type Planned,
  type QuotaFacts,
  QuotaForm,
  QuotaPage,
  type QuotaValues,
  type UnitBody,
  sendPlanned,
  useQuotaFacts,
  whyNot,
} from "./quota_form";

const PATH = "/api/v1/org-unit/departments";

export default function EditDepartment({ id }: { id?: string }) {
  const facts = useQuotaFacts(id, PATH, "department");
  return (
    <QuotaPage
      title={id ? `Department ${facts.data?.unit?.name ?? ""}` : "New department"}
      why={whyNot("department", id)}
      facts={facts}
    >
      {data => <Form id={id} facts={data} />}
    </QuotaPage>
  );
}

function Form({ id, facts }: { id?: string; facts: QuotaFacts }) {
  const call = (v: QuotaValues, body: UnitBody): Planned =>
    id
      ? { method: "PUT", path: `${PATH}/${id}`, body }
      : { method: "POST", path: PATH, body: { name: v.name, clusterId: facts.pools[0]?.clusterId, ...body } };
  const save = async (planned: Planned) => {
    const made = await sendPlanned(planned);
    refreshAll();
    renewTables();
    await go(`/departments?open=${id ?? made.id}`);
    toast(id ? `Saved ${facts.unit?.name}.` : `Created ${made.name}.`);
  };
  return (
    <QuotaForm
      word="department"
      facts={facts}
      call={call}
      save={save}
      back={id ? `/departments?open=${id}` : "/departments"}
      boundsOf={pool => boundsOfDepartment(pool, id, facts.departments, facts.size)}
      members={facts.projects.filter(p => id && p.parentId === id)}
    />
  );
}
