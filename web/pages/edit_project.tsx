// New project, and all that can be changed of one that exists.
import type { Project } from "../types";
import { refreshAll } from "../live";
import { renewTables } from "../parts/table";
import { toast } from "../parts/toast";
import { boundsOfProject } from "../pictures/promises";
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

const PATH = "/api/v1/org-unit/projects";

export default function EditProject({ id }: { id?: string }) {
  const facts = useQuotaFacts(id, PATH, "project");
  return (
    <QuotaPage
      title={id ? `Project ${facts.data?.unit?.name ?? ""}` : "New project"}
      why={whyNot("project", id)}
      facts={facts}
    >
      {data => <Form id={id} facts={data} />}
    </QuotaPage>
  );
}

function Form({ id, facts }: { id?: string; facts: QuotaFacts }) {
  const parentOf = (v: QuotaValues) => facts.departments.find(d => d.id === v.parent);
  const call = (v: QuotaValues, body: UnitBody): Planned =>
    id
      ? {
          method: "PUT",
          path: `${PATH}/${id}`,
          body: { ...body, enforceRunaiScheduler: (facts.unit as Project).enforceRunaiScheduler },
        }
      : {
          method: "POST",
          path: PATH,
          body: {
            name: v.name,
            clusterId: parentOf(v)?.clusterId ?? facts.pools[0]?.clusterId,
            parentId: v.parent,
            ...(v.namespace ? { requestedNamespace: v.namespace } : {}),
            ...body,
          },
        };
  const save = async (planned: Planned) => {
    const made = await sendPlanned(planned);
    refreshAll();
    renewTables();
    await go(`/projects?open=${id ?? made.id}`);
    toast(id ? `Saved ${facts.unit?.name}.` : `Created ${made.name}.`);
  };
  return (
    <QuotaForm
      word="project"
      facts={facts}
      parents={facts.departments}
      call={call}
      save={save}
      back={id ? `/projects?open=${id}` : "/projects"}
      boundsOf={(pool, v) =>
        boundsOfProject(pool, id, facts.off.includes("departments") ? null : parentOf(v), facts.projects, facts.size)
      }
    />
  );
}
