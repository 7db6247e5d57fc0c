// What did the GPUs do: how many were allocated, how many used, by whom, and what waited?
import { get } from "../api";
import { now } from "../clock";
import { useData } from "../data";
import { NONE, count, gpus, percent, ratio } from "../format";
import { Seg } from "../parts/button";
import { type Asked, LineChart, samplesOf, seriesOf } from "../parts/line_chart";
import { Page } from "../parts/page";
import { Split } from "../parts/pane";
import { PoolChoice } from "../parts/quota_picture";
import { Empty, Loaded } from "../parts/states";
import { Stat, Stats } from "../parts/stats";
import { Swatch } from "../parts/status";
import { type Column, Table } from "../parts/table";
import { type Series, meanOf } from "../pictures/line_chart";
import { route, setQuery } from "../router";
import { may, scopeFilter, scopeUnit } from "../session";
import type { Measurement, Project } from "../types";

const RANGES = [
  { value: "24h", label: "24 h", hours: 24 },
  { value: "7d", label: "7 d", hours: 168 },
  { value: "30d", label: "30 d", hours: 720 },
] satisfies { value: Range; label: string; hours: number }[];
type Range = "24h" | "7d" | "30d";
const SAMPLES = 240,
  HOUR = 3600000;
const HELD = { name: "allocated", tone: "ink", fill: 0.09 };
const LINES = {
  ALLOCATED_GPU: HELD,
  GPU_ALLOCATION: HELD,
  GPU_QUOTA: { name: "quota", tone: "accent", dash: [4, 3] },
  TOTAL_GPU: { name: "all GPUs", tone: "ink-3", dash: [1, 3] },
  GPU_UTILIZATION: { name: "used", tone: "info", fill: 0.09 },
  GPU_MEMORY_UTILIZATION: { name: "memory", tone: "accent", dash: [4, 3] },
  WAITING_WORKLOADS: { name: "waiting", tone: "warn" },
};
const USE = ["GPU_QUOTA", "GPU_UTILIZATION", "GPU_MEMORY_UTILIZATION"],
  WHOLE = [...USE, "ALLOCATED_GPU", "TOTAL_GPU", "WAITING_WORKLOADS"],
  OF_UNIT = [...USE, "GPU_ALLOCATION"];

// Of the scope's unit, or of the whole cluster; by category there as well. In all node pools, or in one: of a pool nobody
// keeps categories.
function useFigures(hours: number, pool?: string) {
  const unit = scopeUnit();
  return useData(`analytics/${hours}/${unit}/${pool}`, async signal => {
    const until = now();
    const ask = async (time: Asked): Promise<Measurement[][]> => {
      const query = { ...time, nodepoolName: pool };
      if (unit) {
        const path = `/api/v1/org-unit/${unit}/metrics` as const;
        return [(await get(path, { ...query, metricType: OF_UNIT }, { signal })).measurements ?? []];
      }
      const [cluster] = await get("/api/v1/clusters", { verbosity: "metadata" }, { signal });
      const path = `/api/v1/clusters/${cluster?.uuid}/metrics` as const;
      const both = await Promise.all([
        get(path, { ...query, metricType: WHOLE }, { signal }),
        pool ? null : get(path, { ...query, metricType: "ALLOCATED_GPU", groupBy: "Category" }, { signal }),
      ]);
      return both.map(a => a?.measurements ?? []);
    };
    const {
      start,
      end,
      answer: [whole, parts = []],
    } = await samplesOf([until - hours * HOUR, until], SAMPLES, ask);
    const ofType = (...types: string[]) =>
      seriesOf(
        whole.filter(m => types.includes(m.type)),
        LINES,
      );
    return {
      start,
      end,
      held: ofType("ALLOCATED_GPU", "GPU_ALLOCATION"),
      others: ofType("GPU_QUOTA", "TOTAL_GPU"),
      used: ofType("GPU_UTILIZATION"),
      inMemory: ofType("GPU_MEMORY_UTILIZATION").filter(s => s.points.length),
      waiting: ofType("WAITING_WORKLOADS"),
      kinds: seriesOf(
        parts.map(m => ({ ...m, type: (m as { groups?: { value: string }[] }).groups?.[0]?.value ?? m.type })),
        {},
      ),
    };
  });
}
type Figures = NonNullable<ReturnType<typeof useFigures>["data"]>;

/** Averages and charts of a time. */
export default function Analytics() {
  const chosen = RANGES.find(r => r.value === route.value.query.range) ?? RANGES[1];
  const { pool } = route.value.query;
  const pools = useData(may("read", "nodepools") ? "pools/names" : null, abort =>
    get("/api/v1/node-pools", { sortBy: "name", limit: 500 }, { signal: abort }),
  );
  const figures = useFigures(chosen.hours, pool),
    f = figures.data;
  return (
    <Page
      title="Analytics"
      scoped
      action={null}
      tools={
        <Seg
          label="Time"
          options={RANGES}
          value={chosen.value}
          onChange={range => setQuery({ range, sort: null, page: null })}
        />
      }
    >
      {f ? (
        <>
          <Tiles of={f} />
          <section class="sheet" aria-labelledby="h-analytics">
            <header>
              <h2 id="h-analytics">Over time</h2>
              <span class="grow" />
              <PoolChoice
                pools={pools.data?.nodepools?.map(p => p.name) ?? []}
                pool={pool ?? "all"}
                setPool={v => setQuery({ pool: v === "all" ? null : v })}
              />
            </header>
            <div class="body analytics">
              <Charts of={f} />
              {pool && <p class="small muted">The averages of projects below are of all node pools.</p>}
            </div>
          </section>
          <Averages key={`${chosen.value}/${scopeUnit()}`} range={chosen.value} />
        </>
      ) : (
        <section class="sheet first-load">
          <Loaded of={figures} what="The history" rows={12} height={44}>
            {() => null}
          </Loaded>
        </section>
      )}
    </Page>
  );
}

function Tiles({ of }: { of: Figures }) {
  const mean = (list?: Series[]) => (list?.[0] ? meanOf(list[0].points) : null);
  const held = mean(of.held),
    used = mean(of.used),
    quota = mean(of.others.filter(s => s.name === "quota")),
    total = mean(of.others.filter(s => s.name !== "quota"));
  const time = of.held[0] ? (of.end - of.held[0].points[0][0]) / HOUR : 0; // what is known of it
  const busy = ((used ?? 0) / 100) * (total ?? held ?? 0);
  return (
    <Stats label="On average">
      <Stat
        label="Allocated on average"
        value={held === null ? NONE : gpus(held)}
        unit={held === null ? "" : "GPUs"}
        line={
          held === null
            ? ""
            : [total !== null && `${ratio(held, total)} of all`, `${ratio(held, quota)} of the quota`]
                .filter(Boolean)
                .join(", ")
        }
      />
      <Stat
        label="Used on average"
        value={used === null ? NONE : percent(used)}
        line={used === null ? "" : total === null ? "of what it held" : `${ratio(busy, held)} of what was allocated`}
        href="/idle"
      />
      <Stat
        label="GPU hours"
        value={held === null ? NONE : count(Math.round(held * time))}
        line={used === null ? "allocated" : `allocated, ${count(Math.round(busy * time))} of them used`}
      />
    </Stats>
  );
}

function Charts({ of: { held, others, used, inMemory, kinds, waiting, start, end } }: { of: Figures }) {
  if (!held.some(s => s.points.length)) return <Empty>Nothing was measured in this time.</Empty>;
  const shared = { from: start, to: end, height: 140, group: "analytics" };
  return (
    <>
      <LineChart title="GPUs allocated" series={[...held, ...others]} format={gpus} {...shared} />
      <LineChart title="GPU utilization" series={[...used, ...inMemory]} format={percent} max={100} {...shared} />
      {kinds.length > 0 && <LineChart title="Allocated by kind of work" series={kinds} format={gpus} {...shared} />}
      {waiting.length > 0 && <LineChart title="Workloads that waited" series={waiting} format={count} {...shared} />}
    </>
  );
}

const averageOf = (p: Project, range: Range) => p.overtimeData?.[`range${range}Data`];

const quotaOf = (p: Project) => p.totalResources.gpuQuota,
  quotaText = (p: Project) => (quotaOf(p) === null ? "unlimited" : gpus(quotaOf(p)));

function columnsOf(range: Range): Column<Project>[] {
  const held = (p: Project) => averageOf(p, range)?.averageGpuAllocation;
  return [
    {
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
    },
    {
      id: "held",
      label: "GPUs on average",
      num: true,
      keep: true,
      sort: `avgGpuAllocation${range}`,
      csv: held,
      text: p => gpus(held(p)),
    },
    {
      id: "quota",
      label: "Quota",
      num: true,
      sort: "totalGpuQuota",
      text: quotaText,
    },
    { id: "ratio", label: "Of the quota", num: true, text: p => ratio(held(p), quotaOf(p)) },
    {
      id: "used",
      label: "Used of what it held",
      num: true,
      sort: `avgGpuUtilization${range}`,
      text: p => percent(averageOf(p, range)?.averageGpuUtilization),
    },
    {
      id: "department",
      label: "Department",
      cap: true,
      low: true,
      sort: "parentName",
      filter: { field: "parentName" },
      text: p => p.parent?.name ?? NONE,
    },
  ];
}

function Averages({ range }: { range: Range }) {
  return (
    <Split label="Projects on average">
      <Table<Project>
        name="analytics"
        caption="Projects, the most on average first"
        source={{
          path: "/api/v1/org-unit/projects",
          key: "projects",
          countPath: "/api/v1/org-unit/projects/count",
          query: { filterBy: scopeFilter("projects") },
        }}
        kinds={["project"]}
        columns={columnsOf(range)}
        sort={`-avgGpuAllocation${range}`}
        searchLabel="Name"
        hrefOf={p => `/projects?open=${p.id}&tab=time`}
        sub={p => `${gpus(averageOf(p, range)?.averageGpuAllocation)} of ${quotaText(p)} on average`}
        empty="No projects yet."
      />
    </Split>
  );
}
