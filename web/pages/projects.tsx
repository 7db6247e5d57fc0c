// Is my team getting its share, and from whom or to whom does the rest go?
import { useMemo } from "preact/hooks";
import { del, get, getAll } from "../api";
import { useData, useOverview } from "../data";
import { NONE, gpus } from "../format";
import { refreshAll } from "../live";
import { Button, LinkButton } from "../parts/button";
import { confirm } from "../parts/dialog";
import { Page, Primary } from "../parts/page";
import { Facts, Pane, Split, closePane } from "../parts/pane";
import { FLAT, PoolChoice, QuotaPicture } from "../parts/quota_picture";
import { ReceiptsOf } from "../parts/receipts";
import { Empty, Fault, Loading } from "../parts/states";
import { State, Swatch } from "../parts/status";
import { type Column, Table, openHref, renewTables } from "../parts/table";
import { toast, toastError } from "../parts/toast";
import { whenColumn } from "../parts/when";
import { type Shares, type Unit, poolNames, refusedBy, sharesByPool } from "../pictures/shares";
import { unitInWords } from "../pictures/unit_rules";
import { route, setQuery } from "../router";
import { kindsToMake, may, missing, scope, scopeFilter } from "../session";
import type { OverviewProject, Project } from "../types";
import { WORDS, rankWord, shareWords } from "../words";
import { QuotaChoices, QuotaFoot, SubBar, chosenParts, useQuotaColumns } from "./quota_columns";
import { PolicyButton } from "./policy_button";
import { BudgetOf } from "./project_budget";
import { PeopleOf, WorkloadsOf, accessTab, placesAbove, subjectsIn, workloadsIn } from "./unit_lists";
import { OverTime, PoolBars, RulesButton, ShareSentence, WhyShare } from "./unit_parts";

const KINDS = ["project", "department", "nodepool", "queue", "workload", "access"];
const NAME: Column<Project> = {
  id: "name",
  label: "Project",
  sort: "name",
  filter: { field: "name" },
  text: p => p.name,
  cell: p => (
    <>
      <Swatch project={p.id} />
      <span>{p.name}</span>
    </>
  ),
};
const OTHERS: Column<Project>[] = [
  {
    id: "department",
    label: "Department",
    sort: "parentName",
    filter: { field: "parentName" },
    text: p => p.parent?.name ?? NONE,
    low: true,
  },
  workloadsIn<Project>(p => ({ filter: `projectId==${p.id}`, list: `projectName==${p.name}` })),
  subjectsIn<Project>(p => placesAbove(p)),
  {
    id: "status",
    label: "Status",
    sort: "phase",
    text: p => p.status?.phase ?? NONE,
    cell: p => <State phase={p.status?.phase ?? "Unknown"} message={p.status?.phaseMessage} />,
    hidden: true,
  },
  { id: "namespace", label: "Namespace", text: p => p.status?.namespace ?? NONE, hidden: true },
  { id: "description", label: "Description", text: p => p.description || NONE, hidden: true },
  whenColumn("created", "Created", p => p.createdAt, { hidden: true, sort: "createdAt" }),
];

export default function Projects() {
  const id = route.value.query.open;
  const at = JSON.stringify(scope.value);
  const overview = useOverview(),
    projects = overview.data?.projects ?? [];
  const refused = useMemo(() => refusedBy(projects, p => p.id), [overview.data]);
  // Where rows are searched, filtered, sorted or paged it is the table that does so.
  const asked = !["view", "f", "q", "sort", "page", "rows"].some(key => route.value.query[key]);
  const grouped = asked && projects.length > FLAT;
  const partsOf = (p: Project) => chosenParts(sharesByPool(p, refused[p.id]));
  const columns = [NAME, ...useQuotaColumns<Project>(partsOf, p => p.id), ...OTHERS];
  const action = <Primary href="/projects/new" icon="plus" label="New project" why={missing("create", "project")} />;
  return (
    <Page title="Projects" scoped action={action}>
      <Split label="Projects" pane={id && <Details key={id} id={id} refused={refused} />}>
        {asked && !overview.data && !overview.error ? (
          <Loading rows={8} height={40} />
        ) : grouped ? (
          <ByDepartment projects={projects} />
        ) : (
          <Table
            key={at}
            name="projects"
            caption="Projects"
            source={{
              path: "/api/v1/org-unit/projects",
              key: "projects",
              countPath: "/api/v1/org-unit/projects/count",
              query: { filterBy: scopeFilter("projects") },
            }}
            kinds={KINDS}
            columns={columns}
            sort="-gpuAllocated"
            searchLabel="Name"
            hrefOf={p => openHref(p.id)}
            tools={<QuotaChoices overview={overview.data} />}
            foot={<QuotaFoot />}
            sub={(p, rows) => (
              <>
                <span class="cut">
                  {shareWords(partsOf(p))
                    .map(w => w[1])
                    .join(" · ") || p.parent?.name}
                </span>
                <SubBar parts={partsOf(p)} name={p.name} project={p.id} rows={rows.map(partsOf)} />
              </>
            )}
            empty={"No projects yet."}
          />
        )}
      </Split>
    </Page>
  );
}

// Many projects: departments to open, with their own quota where one may read it.
function ByDepartment({ projects }: { projects: OverviewProject[] }) {
  const { pool, scale, order } = route.value.query,
    pools = poolNames(projects);
  const own = useData(
    may("read", "department") ? "departments/quotas" : null,
    abort => getAll("/api/v1/org-unit/departments", "departments", {}, { signal: abort }),
    ["department"],
  );
  const departments = useMemo(() => new Map((own.data ?? []).map(d => [d.id, sharesByPool(d)])), [own.data]);
  return (
    <div class="body">
      <PoolChoice pools={pools} pool={pool ?? "all"} setPool={v => setQuery({ pool: v === "all" ? null : v })} />
      <QuotaPicture
        projects={projects}
        pool={pool ?? "all"}
        scale={scale ?? "gpus"}
        order={order ?? "held"}
        setScale={v => setQuery({ scale: v === "gpus" ? null : v })}
        setOrder={v => setQuery({ order: v === "held" ? null : v })}
        departments={departments}
        toTable={() => setQuery({ view: "table" })}
      />
    </div>
  );
}

function Details({ id, refused }: { id: string; refused: Record<string, Record<string, number>> }) {
  const project = useData(
    `project/${id}`,
    abort => get(`/api/v1/org-unit/projects/${id}`, {}, { signal: abort }),
    KINDS,
  );
  const p = project.data;
  if (!p)
    return (
      <Pane id={id} title="Project">
        {project.error ? (
          <Fault error={project.error} retry={project.reload} what="The project" />
        ) : (
          <Loading rows={6} />
        )}
      </Pane>
    );
  const tabs = [
    { id: "share", label: "Share", view: () => <Share project={p} refused={refused[p.id]} /> },
    {
      id: "workloads",
      label: "Workloads",
      view: () => <WorkloadsOf filter={`projectId==${p.id}`} list={`projectName==${p.name}`} />,
    },
    ...(may("read", "workloads") ? [{ id: "people", label: "People", view: () => <PeopleOf project={p} /> }] : []),
    {
      id: "receipts",
      label: "Gave way",
      view: () => <ReceiptsOf query={{ projectId: p.id }} none={`Nothing was taken from ${p.name}.`} />,
    },
    {
      id: "time",
      label: "Over time",
      view: () => <OverTime path={`/api/v1/org-unit/projects/${p.id}/metrics`} id={p.id} />,
    },
    { id: "rules", label: "Rules", view: () => <Rules unit={p} /> },
    ...accessTab(placesAbove(p)),
  ];
  return (
    <Pane
      id={id}
      title={p.name}
      status={<Swatch project={p.id} />}
      line={
        <>
          Project in {p.parent?.name ?? "no department"}
          {p.description ? `. ${p.description}` : ""}
        </>
      }
      tabs={tabs}
      actions={<Actions project={p} />}
    />
  );
}

function Actions({ project: p }: { project: Project }) {
  const why = may("delete", "project") ? "" : WORDS.noRight("delete project");
  const drop = async () => {
    if (
      !(await confirm({
        title: `Delete ${p.name}?`,
        verb: "Delete project",
        type: p.name,
        body: "Its workloads are deleted and its GPUs go back to the department. The namespace stays.",
      }))
    )
      return;
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
  return (
    <>
      {may("update", "project") ? (
        <LinkButton small icon="edit" href={`/projects/${p.id}/edit`}>
          Edit
        </LinkButton>
      ) : (
        <Button small icon="edit" why={WORDS.noRight("update project")}>
          Edit
        </Button>
      )}
      <PolicyButton name={p.name} place={{ scope: "project", projectId: p.id }} />
      <RulesButton kind="project" name={p.name} />
      {kindsToMake().includes("training") ? (
        <LinkButton small icon="plus" href={`/workloads/new/training?project=${p.id}`}>
          New training
        </LinkButton>
      ) : (
        <Button small icon="plus" why={WORDS.noRight("create trainings")}>
          New training
        </Button>
      )}
      <Button small icon="trash" why={why} writes onClick={drop}>
        Delete
      </Button>
    </>
  );
}

function Share({ project, refused }: { project: Project; refused?: Record<string, number> }) {
  const shares = sharesByPool(project, refused);
  return (
    <>
      <section aria-label="In words">
        <ShareSentence name={project.name} shares={shares} />
      </section>
      <section>
        <h3>By node pool</h3>
        <PoolBars shares={shares} project={project.id} />
      </section>
      <section>
        <h3>Quota</h3>
        <PoolTable unit={project} shares={shares} />
      </section>
      <WhyShare shares={shares} kind="project" name={project.name} />
      <BudgetOf project={project} />
    </>
  );
}

export function PoolTable({ unit, shares }: { unit: Unit; shares: Shares }) {
  return (
    <div class="scroll" tabindex={0} role="region" aria-label="Quota by node pool">
      <table class="share">
        <thead>
          <tr>
            <th scope="col">Pool</th>
            <th scope="col" class="num">
              Quota
            </th>
            <th scope="col" class="num">
              Weight
            </th>
            <th scope="col">Rank</th>
            <th scope="col" class="num">
              Limit
            </th>
            <th scope="col" class="num">
              Holds
            </th>
          </tr>
        </thead>
        <tbody>
          {(unit.resources ?? []).map(r => {
            const name = r.nodePool?.name ?? "default",
              s = shares[name];
            return (
              <tr key={name}>
                <td>{name}</td>
                <td class="num">{s && Number.isFinite(s.quota) ? gpus(s.quota) : "unlimited"}</td>
                <td class="num">{gpus(r.gpu?.overQuotaWeight)}</td>
                <td>{rankWord(r.priority ?? r.rank ?? NONE)}</td>
                <td class="num">{s?.limit === null || !s ? "none" : gpus(s.limit)}</td>
                <td class="num">{gpus(s?.held)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

export function Rules({ unit }: { unit: Parameters<typeof unitInWords>[0] }) {
  const pools = useData(may("read", "nodepools") ? "pools/rules" : null, abort =>
    get("/api/v1/node-pools", { limit: 500 }, { signal: abort }),
  );
  const rows = unitInWords(unit, pools.data?.nodepools);
  return rows.length ? (
    <Facts rows={rows} />
  ) : (
    <Empty>No time or idle limits: workloads run as long as they want.</Empty>
  );
}
