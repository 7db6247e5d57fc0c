// Who holds GPUs that he doesn't use, since when, and how much is that?
import { useState } from "preact/hooks";
import { now } from "../clock";
import { NONE, count, day, gpuCount, gpus, iso, percent, plural, time } from "../format";
import { Icon } from "../icons";
import { Seg } from "../parts/button";
import { Page } from "../parts/page";
import { Split } from "../parts/pane";
import { Meter } from "../parts/stats";
import { ProjectName } from "../parts/status";
import { type Column, Table } from "../parts/table";
import { route, setQuery } from "../router";
import { scope } from "../session";
import type { IdleWorkloads } from "../types";
import { TYPES } from "../words";

type Idle = IdleWorkloads["workloads"][number];

const LIMIT = 500; // rows that the server gives at once
const LEAST = [
  { value: 300, label: "5 min" },
  { value: 3600, label: "1 h" },
  { value: 21600, label: "6 h" },
  { value: 86400, label: "1 day" },
];
const hours = (value: number) => count(value < 10 ? Number(value.toPrecision(2)) : Math.round(value));

// The bar is a part of the longest; the number beside it says how much.
function Hours({ of, rows }: { of: Idle; rows: Idle[] }) {
  const most = Math.max(...rows.map(r => r.idleGpuHours));
  return (
    <span class="hours">
      <Meter part={of.idleGpuHours} whole={most} />
      {hours(of.idleGpuHours)}
    </span>
  );
}

const COLUMNS: Column<Idle>[] = [
  {
    id: "name",
    label: "Workload",
    sort: "name",
    filter: { field: "name" },
    text: w => w.name,
    cell: w => (
      <>
        <Icon name={TYPES[w.type] ?? "list"} />
        <span>{w.name}</span>
      </>
    ),
  },
  {
    id: "hours",
    label: "Idle GPU hours",
    num: true,
    keep: true,
    sort: "idleGpuHours",
    text: w => hours(w.idleGpuHours),
    csv: w => w.idleGpuHours,
    cell: (w, rows) => <Hours of={w} rows={rows} />,
  },
  {
    id: "gpus",
    label: "Idle GPUs",
    num: true,
    sort: "gpusIdle",
    text: w => `${gpus(w.gpusIdle)} of ${gpus(w.gpusAllocated)}`,
  },
  {
    id: "since",
    label: "Idle since",
    num: true,
    sort: "idleSince",
    text: w => w.idleSince,
    cell: w => <time data-tip={`${day(w.idleSince)}, ${iso(w.idleSince)}`}>{time(w.idleSince, now())}</time>,
  },
  {
    id: "busy",
    label: "Busy in 24 h",
    num: true,
    low: true,
    sort: "averageUtilization",
    text: w => percent(w.averageUtilization),
  },
  {
    id: "project",
    label: "Project",
    cap: true,
    sort: "projectName",
    filter: { field: "projectName" },
    text: w => w.projectName,
    cell: w => <ProjectName id={w.projectId} name={w.projectName} />,
  },
  {
    id: "department",
    label: "Department",
    cap: true,
    low: true,
    sort: "departmentName",
    filter: { field: "departmentName" },
    text: w => w.departmentName,
  },
  {
    id: "pool",
    label: "Pool",
    low: true,
    sort: "nodePool",
    filter: { field: "nodePool" },
    text: w => w.nodePool || NONE,
  },
  {
    id: "by",
    label: "By",
    cap: true,
    sort: "submittedBy",
    filter: { field: "submittedBy" },
    text: w => w.submittedBy,
  },
];

// What stands below its lines comes with them, so that nothing moves.
function Sum({ of: t }: { of: IdleWorkloads["total"] | null }) {
  if (!t) return <p class="waits" />;
  if (!t.count) return null;
  return (
    <p class="soft sum">
      {plural(t.count, "workload")} {t.count === 1 ? "holds" : "hold"} {gpuCount(t.gpusAllocated)};{" "}
      <b class="strong">{gpus(t.gpusIdle)} of them do nothing</b>, which is {hours(t.idleGpuHours)} GPU hours so far.
      {t.count > LIMIT && ` The ${LIMIT} with the most are shown.`}
    </p>
  );
}

export default function IdleGpus() {
  const chosen = Number(route.value.query.least),
    least = LEAST.find(l => l.value === chosen) ?? LEAST[0];
  const at = scope.value;
  const [total, setTotal] = useState<IdleWorkloads["total"] | null>(null);
  const rows = (answer: unknown) => {
    const { workloads, total: sum } = answer as IdleWorkloads;
    setTotal(sum);
    return workloads;
  };
  const place = at?.projectId ? { projectId: at.projectId } : at ? { departmentId: at.departmentId } : {};
  return (
    <Page title="Idle GPUs" scoped>
      <Split label="Idle GPUs">
        <Sum of={total} />
        <Table
          key={JSON.stringify(at)}
          name="idle"
          caption="Workloads with idle GPUs"
          source={{
            path: "/api/v1/workloads/idle",
            key: "workloads",
            local: true,
            rows,
            query: { ...place, minIdleSeconds: least.value, limit: LIMIT },
          }}
          kinds={["pod"]}
          columns={COLUMNS}
          sort="-idleGpuHours"
          searchLabel="Name, project, person"
          tools={
            <Seg
              label="Idle for at least"
              options={LEAST}
              value={least.value}
              onChange={value => setQuery({ least: value, page: null })}
            />
          }
          hrefOf={w => `/workloads?open=${w.id}`}
          sub={w => `${w.projectName} · ${gpus(w.gpusIdle)} of ${gpuCount(w.gpusAllocated)} · ${w.submittedBy}`}
          empty={`Nobody holds a GPU that has done nothing for ${least.label}. GPUs that nothing measures don't count.`}
        />
      </Split>
    </Page>
  );
}
