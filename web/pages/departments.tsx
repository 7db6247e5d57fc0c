// As projects, one level up: does each department get its share?
import { useMemo } from "preact/hooks";
import { del, get, getAll } from "../api";
import { useData, useOverview } from "../data";
import { NONE, gpus, plural } from "../format";
import { Icon } from "../icons";
import { refreshAll } from "../live";
import { Button, LinkButton } from "../parts/button";
import { Counted } from "../parts/counted";
import { confirm } from "../parts/dialog";
import { Page, Primary } from "../parts/page";
import { Pane, Split, closePane } from "../parts/pane";
import { ReceiptsOf } from "../parts/receipts";
import { Empty, Fault, Loaded, Loading } from "../parts/states";
import { Swatch } from "../parts/status";
import { type Column, Table, openHref, renewTables } from "../parts/table";
import { toast, toastError } from "../parts/toast";
import { whenColumn } from "../parts/when";
import { type Unit as Shown, poolParts, refusedBy, sharesByPool, sumParts } from "../pictures/shares";
import { route } from "../router";
import { may, missing } from "../session";
import type { Department, DepartmentForList, Project, QuotaStatus } from "../types";
import { WORDS, shareWords } from "../words";
import { PoolTable, Rules } from "./projects";
import { QuotaChoices, QuotaFoot, SubBar, chosenParts, useQuotaColumns } from "./quota_columns";
import { PolicyButton } from "./policy_button";
import { WorkloadsOf, accessTab, placesAbove, subjectsIn, workloadsIn } from "./unit_lists";
import { OverTime, PoolBars, RulesButton, ShareSentence, WhyShare } from "./unit_parts";

const NAMED_MAX = 20; // projects that go with a department

const KINDS = ["department", "project", "nodepool", "queue", "workload", "access"];

type Unit = DepartmentForList & { status?: Shown["status"] };

// A department's own figures; without figures per pool the sum stands for the whole.
function partsOf(d: Unit, refused?: Record<string, number>) {
  const perPool = d.status?.nodePoolQuotaStatuses?.length || (d.resources ?? []).length === 1;
  if (perPool) return chosenParts(sharesByPool(d, refused));
  const s: QuotaStatus = d.status?.quotaStatus ?? {},
    held = s.allocated?.gpu ?? 0;
  return poolParts({
    quota: d.totalResources?.gpuQuota ?? Infinity,
    held,
    firm: s.allocatedNonPreemptible?.gpu ?? 0,
    waiting: Math.max(0, (s.requested?.gpu ?? 0) - held),
  });
}

const NAME: Column<Unit> = {
  id: "name",
  label: "Department",
  sort: "name",
  filter: { field: "name" },
  text: d => d.name,
  cell: d => (
    <>
      <Icon name="dept" />
      <span>{d.name}</span>
    </>
  ),
};
const OTHERS: Column<Unit>[] = [
  {
    id: "projects",
    label: "Projects",
    num: true,
    text: d => String(d.children?.length ?? 0),
    cell: d => (
      <Counted text={String(d.children?.length ?? 0)} count={d.children?.length ?? 0} title={`Projects of ${d.name}`}>
        {() => <ProjectsOf department={d} />}
      </Counted>
    ),
    low: true,
  },
  workloadsIn<Unit>(d => ({ filter: `departmentId==${d.id}`, list: `departmentName==${d.name}` })),
  subjectsIn<Unit>(d => placesAbove(d)),
  { id: "description", label: "Description", text: d => d.description || NONE, hidden: true },
  whenColumn("created", "Created", d => d.createdAt, { hidden: true, sort: "createdAt" }),
];

export default function Departments() {
  const id = route.value.query.open;
  const query = { verbosity: "verbose" };
  const overview = useOverview().data;
  const refused = useMemo(() => refusedBy(overview?.projects ?? [], p => p.departmentId), [overview]);
  const parts = (d: Unit) => partsOf(d, refused[d.id]);
  const columns = [NAME, ...useQuotaColumns<Unit>(parts, () => null), ...OTHERS];
  const action = (
    <Primary href="/departments/new" icon="plus" label="New department" why={missing("create", "department")} />
  );
  return (
    <Page title="Departments" action={action}>
      <Split label="Departments" pane={id && <Details key={id} id={id} refused={refused[id]} />}>
        <Table
          name="departments"
          caption="Departments"
          source={{
            path: "/api/v1/org-unit/departments",
            key: "departments",
            countPath: "/api/v1/org-unit/departments/count",
            query,
          }}
          kinds={KINDS}
          columns={columns}
          sort="name"
          searchLabel="Name"
          searchBy="name"
          hrefOf={d => openHref(d.id)}
          tools={<QuotaChoices overview={overview} />}
          foot={<QuotaFoot />}
          sub={(d, rows) => (
            <>
              <span class="cut">
                {shareWords(parts(d))
                  .map(w => w[1])
                  .join(" · ") || plural(d.children?.length ?? 0, "project")}
              </span>
              <SubBar parts={parts(d)} name={d.name} project={null} rows={rows.map(parts)} />
            </>
          )}
          empty={"No departments yet."}
        />
      </Split>
    </Page>
  );
}

function Details({ id, refused }: { id: string; refused?: Record<string, number> }) {
  const found = useData(
    `department/${id}`,
    async abort => {
      const [department, projects] = await Promise.all([
        get(`/api/v1/org-unit/departments/${id}`, {}, { signal: abort }),
        getAll(
          "/api/v1/org-unit/projects",
          "projects",
          { filterBy: [`parentId==${id}`], sortBy: "name" },
          { signal: abort },
        ),
      ]);
      return { department, projects };
    },
    KINDS,
  );
  if (!found.data)
    return (
      <Pane id={id} title="Department">
        {found.error ? <Fault error={found.error} retry={found.reload} what="The department" /> : <Loading rows={6} />}
      </Pane>
    );
  const { department: d, projects } = found.data;
  const tabs = [
    { id: "share", label: "Share", view: () => <Share department={d} projects={projects} refused={refused} /> },
    {
      id: "workloads",
      label: "Workloads",
      view: () => <WorkloadsOf filter={`departmentId==${d.id}`} list={`departmentName==${d.name}`} />,
    },
    {
      id: "receipts",
      label: "Gave way",
      view: () => <ReceiptsOf query={{ departmentId: d.id }} none={`Nothing was taken from projects of ${d.name}.`} />,
    },
    {
      id: "time",
      label: "Over time",
      view: () => <OverTime path={`/api/v1/org-unit/departments/${d.id}/metrics`} id={d.id} />,
    },
    { id: "rules", label: "Rules", view: () => <Rules unit={d} /> },
    ...accessTab(placesAbove(d)),
  ];
  return (
    <Pane
      id={id}
      title={d.name}
      line={
        <>
          Department with {projects.length} {projects.length === 1 ? "project" : "projects"}
          {d.description ? `. ${d.description}` : ""}
        </>
      }
      tabs={tabs}
      actions={<Actions department={d} projects={projects} />}
    />
  );
}

// What is shown here is what is asked for: the server says no where a department has work of which nothing was told.
const goingWith = (projects: Project[]) => [
  `${projects.length === 1 ? "Its project goes" : `Its ${projects.length} projects go`} with it, and all their workloads, also those that run:`,
  projects
    .slice(0, NAMED_MAX)
    .map(p => (p.prorata?.workloads ? `${p.name} (${plural(p.prorata.workloads, "workload")})` : p.name))
    .join(", ") + (projects.length > NAMED_MAX ? `, and ${projects.length - NAMED_MAX} more.` : "."),
];

function Actions({ department: d, projects }: { department: Department; projects: Project[] }) {
  const drop = async () => {
    const body = projects.length ? goingWith(projects) : "It has no projects.";
    if (!(await confirm({ title: `Delete ${d.name}?`, verb: "Delete department", type: d.name, body }))) return;
    try {
      await del(`/api/v1/org-unit/departments/${d.id}`, { withProjects: projects.length > 0 });
      closePane();
      toast(`Deleted ${d.name}.`);
    } catch (error) {
      toastError(error);
    }
    refreshAll();
    renewTables();
  };
  return (
    <>
      {may("update", "department") ? (
        <LinkButton small icon="edit" href={`/departments/${d.id}/edit`}>
          Edit
        </LinkButton>
      ) : (
        <Button small icon="edit" why={WORDS.noRight("update department")}>
          Edit
        </Button>
      )}
      <PolicyButton name={d.name} place={{ scope: "department", departmentId: d.id }} />
      <RulesButton kind="department" name={d.name} />
      <Button
        small
        icon="trash"
        writes
        why={may("delete", "department") ? "" : WORDS.noRight("delete department")}
        onClick={drop}
      >
        Delete
      </Button>
    </>
  );
}

interface ShareProps {
  department: Department;
  projects: Project[];
  refused?: Record<string, number>;
}

function Share({ department: d, projects, refused }: ShareProps) {
  const shares = sharesByPool(d, refused);
  return (
    <>
      <section aria-label="In words">
        <ShareSentence name={d.name} shares={shares} />
      </section>
      <section>
        <h3>By node pool</h3>
        <PoolBars shares={shares} project={null} />
      </section>
      <section>
        <h3>Quota</h3>
        <PoolTable unit={d} shares={shares} />
      </section>
      <section>
        <h3>Projects</h3>
        {projects.length ? <Projects projects={projects} /> : <Empty>No projects yet.</Empty>}
      </section>
      <WhyShare shares={shares} kind="department" name={d.name} />
    </>
  );
}

// Behind the number in the table.
function ProjectsOf({ department: d }: { department: Unit }) {
  const found = useData(
    `projects-of/${d.id}`,
    abort =>
      getAll(
        "/api/v1/org-unit/projects",
        "projects",
        { filterBy: [`parentId==${d.id}`], sortBy: "name" },
        { signal: abort },
      ),
    KINDS,
  );
  return (
    <Loaded of={found} what="Projects">
      {list => (list.length ? <Projects projects={list} /> : <Empty>None that you may read.</Empty>)}
    </Loaded>
  );
}

function Projects({ projects }: { projects: Project[] }) {
  const rows = projects.map(p => ({ p, t: sumParts(Object.values(sharesByPool(p))) }));
  return (
    <table class="share">
      <thead>
        <tr>
          <th scope="col">Project</th>
          <th scope="col" class="num">
            Quota
          </th>
          <th scope="col" class="num">
            Holds
          </th>
          <th scope="col" class="num">
            Borrowed
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ p, t }) => (
          <tr key={p.id}>
            <td>
              <a class="plain p" href={`/projects?open=${p.id}`}>
                <Swatch project={p.id} />
                {p.name}
              </a>
            </td>
            <td class="num">{Number.isFinite(t.quota) ? gpus(t.quota) : "unlimited"}</td>
            <td class="num">{gpus(t.held)}</td>
            <td class="num">{t.over > 0 ? gpus(t.over) : NONE}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
