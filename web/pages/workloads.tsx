// Where is mine? Why is it pending, when will it run? What did it print?
import { type ApiError, get } from "../api";
import { minute, now, second } from "../clock";
import { useData } from "../data";
import { type Amount, NONE, bytes, count, cpu, duration, gpus, iso, memory, since, time } from "../format";
import { Icon } from "../icons";
import { Button, LinkButton } from "../parts/button";
import { Counted } from "../parts/counted";
import { Page } from "../parts/page";
import { Pane, Split } from "../parts/pane";
import { Fault, Loading } from "../parts/states";
import { SavedViews } from "../parts/saved_views";
import { ProjectName, State, Status } from "../parts/status";
import { type Column, Table, openHref } from "../parts/table";
import { route } from "../router";
import { newWorkload, scope, scopeFilter, session } from "../session";
import type { Workload } from "../types";
import { PHASES, TYPES } from "../words";
import { canRun, canStop, endHere, remove, run, stop, underWay, whyNot } from "../workload_actions";
import { ConnectionCount, Connections } from "./connections";
import { FirstOwn } from "./first_steps";
import { QuickTabs } from "./quick_tabs";
import { WorkloadPane } from "./workload_pane";
import { Pods, podsOf } from "./workload_pods";

const KINDS = ["workload", "pod"];
const asked = (w: Workload) => w.workloadRequestedResources?.gpu?.request ?? 0;
const held = (w: Workload) => w.allocatedResources?.gpu ?? 0;
// What is over holds nothing any more, and asks for nothing.
const OVER = ["Completed", "Failed", "Stopped"];
const isOver = (w: Workload) => OVER.includes(w.phase);
const gpuText = (w: Workload) =>
  held(w) === asked(w) || isOver(w) ? gpus(asked(w)) : `${gpus(held(w))} / ${gpus(asked(w))}`;
export const poolsOf = (w: Workload) => (w.currentNodePools?.length ? w.currentNodePools : w.requestedNodePools) ?? [];
const at = (value: string | null | undefined) => (
  <time datetime={value ?? undefined} data-tip={iso(value)}>
    {time(value, minute.value || now())}
  </time>
);

// Ticks by the second only where that shows: a phase that has just begun.
const YOUNG_S = 60;
function Lasting({ from }: { from: string }) {
  const age = since(from, now());
  return (
    <span class="muted small lasting">
      {duration(since(from, (age !== null && age < YOUNG_S ? second : minute).value && now()))}
    </span>
  );
}
const yes = (value?: boolean | null) => (value ? "Yes" : "No");
const values = (list: string[]) => list.map(value => ({ value, label: PHASES[value]?.word ?? value }));
const amount = (request: Amount, allocated: Amount, format: (amount: Amount) => string) =>
  request ? `${format(allocated ?? 0)} / ${format(request)}` : NONE;

const COLUMNS: Column<Workload>[] = [
  {
    id: "name",
    label: "Workload",
    sort: "name",
    filter: { field: "name", many: true },
    text: w => w.name,
    cell: w => (
      <>
        <Icon name={TYPES[w.type] ?? "list"} />
        <span>{w.name}</span>
      </>
    ),
  },
  {
    id: "phase",
    label: "Status",
    sort: "phase",
    keep: true,
    filter: { field: "phase", many: true, values: values(Object.keys(PHASES)) },
    text: w => w.phase,
    cell: w => (
      <span class="s">
        <Status phase={w.phase} message={w.phaseMessage} />
        <Lasting from={w.phaseUpdatedAt} />
      </span>
    ),
  },
  {
    id: "project",
    label: "Project",
    cap: true,
    sort: "projectName",
    filter: { field: "projectName", many: true },
    text: w => w.projectName,
    cell: w => <ProjectName id={w.projectId} name={w.projectName} />,
  },
  {
    id: "gpu",
    label: "GPUs",
    num: true,
    sort: "allocatedGPU",
    filter: { field: "allocatedGPU", type: "number" },
    text: gpuText,
    csv: w => held(w),
    cell: w =>
      held(w) === asked(w) ? (
        gpus(held(w))
      ) : (
        <span class="muted" data-tip={isOver(w) ? "It asked for these and holds none now." : undefined}>
          {gpuText(w)}
        </span>
      ),
  },
  {
    id: "pool",
    label: "Pool",
    sort: "nodepool",
    filter: { field: "nodepool" },
    text: w => poolsOf(w).join(", ") || NONE,
  },
  { id: "preemptible", label: "Preemptible", text: w => yes(w.preemptible) },
  {
    id: "type",
    label: "Type",
    sort: "type",
    filter: { field: "type", many: true, values: values(["Training", "Distributed", "Workspace", "Inference"]) },
    text: w => w.type,
    low: true,
  },
  {
    id: "by",
    label: "By",
    sort: "submittedBy",
    filter: { field: "submittedBy", many: true },
    text: w => w.submittedBy ?? NONE,
    low: true,
    cap: true,
  },
  {
    id: "pods",
    label: "Pods",
    num: true,
    text: podsOf,
    cell: w => (
      <Counted text={podsOf(w)} count={w.requestedPods?.number ?? 0} title={`Pods of ${w.name}`}>
        {() => <Pods workload={w} />}
      </Counted>
    ),
    low: true,
  },
  {
    id: "created",
    label: "Created",
    num: true,
    sort: "createdAt",
    filter: { field: "createdAt", type: "date" },
    text: w => w.createdAt,
    cell: w => at(w.createdAt),
    low: true,
  },
  {
    id: "department",
    label: "Department",
    sort: "departmentName",
    filter: { field: "departmentName", many: true },
    text: w => w.departmentName,
    hidden: true,
  },
  {
    id: "category",
    label: "Category",
    sort: "category",
    filter: { field: "category", many: true, values: values(["Build", "Train", "Deploy"]) },
    text: w => w.category,
    hidden: true,
  },
  {
    id: "waits",
    label: "Waits for",
    filter: { field: "waitsFor" },
    text: w => w.explanation?.code ?? NONE,
    hidden: true,
  },
  {
    id: "waits-in",
    label: "Waits in",
    filter: { field: "waitsIn" },
    text: w => w.requestedNodePools?.join(", ") || NONE,
    hidden: true,
  },
  { id: "priority", label: "Priority", sort: "priority", text: w => w.priorityClassName, hidden: true },
  {
    id: "completed",
    label: "Completed",
    num: true,
    sort: "completedAt",
    text: w => w.completedAt ?? NONE,
    cell: w => at(w.completedAt),
    hidden: true,
  },
  {
    id: "waited",
    label: "Total waiting",
    num: true,
    sort: "totalPendingTimeSeconds",
    text: w => duration(w.totalPendingTimeSeconds),
    hidden: true,
  },
  {
    id: "ran",
    label: "Total running",
    num: true,
    sort: "totalRunningTimeSeconds",
    text: w => duration(w.totalRunningTimeSeconds),
    hidden: true,
  },
  {
    id: "idle",
    label: "Idle GPUs",
    num: true,
    sort: "idleAllocatedGpus",
    filter: { field: "idleAllocatedGpus", type: "number" },
    text: w => gpus(w.idleAllocatedGpus),
    hidden: true,
  },
  {
    id: "cpu",
    label: "CPU cores",
    num: true,
    text: w => amount(w.workloadRequestedResources?.cpu?.request, w.allocatedResources?.cpu, cpu),
    hidden: true,
  },
  {
    id: "memory",
    label: "CPU memory",
    num: true,
    text: w =>
      amount(w.workloadRequestedResources?.cpuMemory?.request, bytes(w.allocatedResources?.cpuMemory) ?? 0, memory),
    hidden: true,
  },
  {
    id: "connections",
    label: "Connections",
    num: true,
    text: w => String(w.externalConnections?.length ?? 0),
    cell: w => <ConnectionCount workload={w} />,
    hidden: true,
  },
  { id: "image", label: "Image", text: w => w.images?.[0] ?? NONE, hidden: true },
];

// Why it is gone: what it ended with, or who deleted it.
const reasonOf = (w: Workload) =>
  w.phaseMessage && w.phaseMessage !== "Deleting" ? w.phaseMessage.replace(/^DeletionRequested/, "Deleted") : NONE;

const DELETED: Column<Workload>[] = [
  COLUMNS[0],
  {
    ...COLUMNS[1],
    filter: { ...COLUMNS[1].filter!, values: [...values(OVER), { value: "Deleting", label: "Deleted" }] },
    text: w => (isOver(w) ? w.phase : "Deleted"),
    cell: w => (isOver(w) ? <Status phase={w.phase} /> : <State phase="Deleted" />),
  },
  {
    id: "reason",
    label: "Reason",
    cap: true,
    text: reasonOf,
    cell: w => <span data-tip={reasonOf(w)}>{reasonOf(w)}</span>,
  },
  {
    id: "deleted",
    label: "Deleted",
    sort: "deletedAt",
    filter: { field: "deletedAt", type: "date" },
    text: w => w.deletedAt ?? NONE,
    cell: w => at(w.deletedAt),
  },
  ...COLUMNS.slice(2),
];

function Bulk({ list, clear }: { list: Workload[]; clear: () => void }) {
  const after = (action: (list: Workload[]) => Promise<unknown>) => async () => {
    if ((await action(list)) !== false) clear();
  };
  const { done, all, ended } = underWay.value ?? {};
  if (done !== undefined)
    return (
      <>
        <span class="muted" role="status">{`${count(done)} of ${count(all!)} done`}</span>
        <Button small why={ended ? "It ends after these." : ""} onClick={endHere}>
          End here
        </Button>
      </>
    );
  return (
    <>
      <Button small icon="stop" why={whyNot("stop", list)} onClick={after(stop)}>
        Stop
      </Button>
      <Button small icon="play" why={whyNot("run", list)} onClick={after(run)}>
        Run
      </Button>
      <Button small icon="trash" why={whyNot("delete", list)} onClick={after(remove)}>
        Delete
      </Button>
    </>
  );
}

const ROW_KEYS = {
  s: {
    say: "Stop or run the row",
    run: (w?: Workload) => {
      if (w && canStop(w)) stop([w]);
      else if (w && canRun(w)) run([w]);
    },
  },
};
const EMPTY = () => (
  <>
    No workloads yet.
    {newWorkload() && (
      <>
        {" "}
        <a href={newWorkload()}>New workload</a> · or by the command line: <code>prorata training submit …</code>
      </>
    )}
  </>
);

// Who looks at their own alone and has none is told how to begin.
const noneOf = (filters: string[], search: string) =>
  filters.join() === `submittedBy==${session.value.who?.name}` && !search && !scope.value ? <FirstOwn /> : null;

export default function Workloads() {
  const id = route.value.query.open;
  const filterBy = scopeFilter("workloads");
  return (
    <Page title="Workloads" scoped>
      <Split label="Workloads" pane={id && <Details key={id} id={id} />}>
        <QuickTabs columns={COLUMNS} />
        <Table
          key={JSON.stringify(scope.value)}
          name="workloads"
          caption="Workloads"
          source={{
            path: "/api/v1/workloads",
            key: "workloads",
            countPath: "/api/v1/workloads/count",
            query: { filterBy },
          }}
          kinds={KINDS}
          columns={COLUMNS}
          noneOf={noneOf}
          sort="-createdAt"
          searchLabel="Name, project, person"
          hrefOf={w => openHref(w.id)}
          sub={w => `${w.projectName} · ${gpus(asked(w))} × ${poolsOf(w)[0] ?? "GPU"}`}
          bulk={(list, clear) => <Bulk list={list} clear={clear} />}
          bulkFields="name,type,phase,actionsSupport,submittedBy"
          rowKeys={ROW_KEYS}
          extra={<SavedViews page="workloads" name="workloads" columns={COLUMNS} />}
          empty={EMPTY()}
        />
      </Split>
      <Connections />
    </Page>
  );
}

/** What was deleted and is still kept: a table and details without actions. */
export function DeletedWorkloads() {
  const id = route.value.query.open;
  return (
    <Page title="Deleted workloads" scoped>
      <Split label="Deleted workloads" pane={id && <Details key={id} id={id} />}>
        <Table
          key={JSON.stringify(scope.value)}
          name="deleted"
          caption="Deleted workloads"
          source={{
            path: "/api/v1/workloads",
            key: "workloads",
            countPath: "/api/v1/workloads/count",
            query: { filterBy: scopeFilter("workloads"), deleted: true },
          }}
          kinds={KINDS}
          columns={DELETED}
          sort="-deletedAt"
          searchLabel="Name, project, person"
          hrefOf={w => openHref(w.id)}
          sub={w => `${w.projectName} · ${time(w.deletedAt, now())}`}
          empty="Nothing that was deleted is kept."
        />
      </Split>
    </Page>
  );
}

function Details({ id }: { id: string }) {
  const workload = useData(`workload/${id}`, abort => get(`/api/v1/workloads/${id}`, {}, { signal: abort }), KINDS);
  if (workload.data) return <WorkloadPane workload={workload.data} />;
  const gone = (workload.error as ApiError | null)?.status === 404;
  return (
    <Pane id={id} title={gone ? "Not found" : "Workload"}>
      {gone ? (
        <>
          <p class="soft">It was deleted, or it belongs to a project you may not read.</p>
          <p>
            <LinkButton small href="/workloads">
              All workloads
            </LinkButton>
          </p>
        </>
      ) : workload.error ? (
        <Fault error={workload.error} retry={workload.reload} what="The workload" />
      ) : (
        <Loading rows={6} />
      )}
    </Pane>
  );
}
