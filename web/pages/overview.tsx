// Who uses what now? Who waits, and why? What just happened?
import { useState } from "preact/hooks";
import { get } from "../api";
import { now } from "../clock";
import { useData, useEachMinute, useNodesInBrief, useOverview } from "../data";
import { gpus } from "../format";
import { LinkButton, Seg } from "../parts/button";
import { Later } from "../parts/later";
import { LineChart, samplesOf, seriesOf } from "../parts/line_chart";
import { Page } from "../parts/page";
import { PoolChoice, QuotaPicture } from "../parts/quota_picture";
import { Empty, Fault, Loaded, Loading } from "../parts/states";
import { poolNames } from "../pictures/shares";
import { route, setQuery } from "../router";
import { may } from "../session";
import type { Overview as OverviewData, OverviewProject } from "../types";
import { FirstSteps } from "./first_steps";
import { Cluster } from "./overview_cluster";
import { Happened } from "./overview_events";
import { OverviewStats } from "./overview_stats";
import { Waiting, useGroups } from "./overview_waiting";

const loadCpu = () => import("./overview_cpu");
const KINDS = [
  { value: "gpu", label: "GPU" },
  { value: "cpu", label: "CPU" },
];

export default function Overview() {
  const overview = useOverview(),
    all: OverviewData = overview.data ?? {};
  const seesNodes = may("read", "nodes"),
    ofCpu = seesNodes && route.value.query.view === "cpu",
    nodes = useNodesInBrief(seesNodes && !ofCpu),
    waits = useGroups(may("read", "workloads") && !ofCpu);
  useEachMinute(overview); // what is used of the GPUs
  useEachMinute(nodes, seesNodes && !ofCpu);
  const cluster = all.clusters?.[0]?.id;
  const lately = useHistory(cluster, !ofCpu && "1");
  if (!overview.data)
    return (
      <Page title="Overview" scoped>
        <section class="sheet first-load">
          {overview.error ? (
            <Fault error={overview.error} retry={overview.reload} what="The overview" />
          ) : (
            <Loading rows={12} height={38} />
          )}
        </section>
      </Page>
    );
  const view = seesNodes && (
    <Seg
      label="Shown of the cluster"
      options={KINDS}
      value={ofCpu ? "cpu" : "gpu"}
      onChange={v => setQuery({ view: v === "cpu" ? v : null })}
    />
  );
  if (ofCpu)
    return (
      <Page title="Overview" scoped tools={view}>
        <Later load={loadCpu} what="The CPU side" all={all} />
      </Page>
    );
  return (
    <Page title="Overview" scoped tools={view}>
      <OverviewStats all={all} used={usedNow(lately.data)} />
      {isEmpty(all) ? (
        <div class="grid">
          <FirstSteps all={all} />
          {all.nodePools?.some(p => p.gpus > 0) && <Cluster nodes={nodes} order={all.nodePools} />}
        </div>
      ) : (
        <div class="grid">
          {all.projects && <WhoUsesWhat projects={all.projects} />}
          {all.waiting && <Waiting of={waits} projects={all.projects ?? []} />}
          {seesNodes && <Cluster nodes={nodes} order={all.nodePools} />}
          {cluster && <OverTime cluster={cluster} lately={lately} />}
          {all.waiting && <Happened />}
        </div>
      )}
    </Page>
  );
}

// Was nothing submitted yet?
const isEmpty = ({ phases }: OverviewData) => phases && Object.values(phases).every(n => n === 0);

function WhoUsesWhat({ projects }: { projects: OverviewProject[] }) {
  const { query } = route.value;
  const pools = poolNames(projects);
  const pool = query.pool && pools.includes(query.pool) ? query.pool : "all";
  return (
    <section class="sheet" aria-labelledby="h-quota">
      <header>
        <h2 id="h-quota">Who uses what</h2>
        <p>Left of the mark: within quota. Right of it: borrowed.</p>
        <span class="grow" />
        <PoolChoice pools={pools} pool={pool} setPool={v => setQuery({ pool: v === "all" ? null : v })} />
      </header>
      <div class="body">
        {projects.length ? (
          <QuotaPicture
            projects={projects}
            pool={pool}
            scale={query.scale ?? "gpus"}
            order={query.order ?? "held"}
            setScale={v => setQuery({ scale: v === "gpus" ? null : v })}
            setOrder={v => setQuery({ order: v === "held" ? null : v })}
          />
        ) : (
          <Empty action={may("create", "project") && <LinkButton href="/projects/new">New project</LinkButton>}>
            No projects yet.
          </Empty>
        )}
      </div>
    </section>
  );
}

const RANGES = [
  { value: "1", label: "1 h" },
  { value: "6", label: "6 h" },
  { value: "24", label: "24 h" },
  { value: "168", label: "7 d" },
];
const LINES = {
  ALLOCATED_GPU: { name: "allocated", tone: "ink", fill: 0.09 },
  TOTAL_GPU: { name: "ready", tone: "ink-3", dash: [1, 3] },
};

// Of the last hours; the last one serves the figures above as well.
function useHistory(cluster: string | undefined, hours: string | false) {
  const history = useData(cluster && hours ? `metrics/${cluster}/${hours}` : null, async abort => {
    const end = now(),
      metricType = [...Object.keys(LINES), "GPU_UTILIZATION"];
    const { start, answer: measurements } = await samplesOf(
      [end - Number(hours) * 3600000, end],
      120,
      async query =>
        (await get(`/api/v1/clusters/${cluster}/metrics`, { ...query, metricType }, { signal: abort })).measurements ??
        [],
    );
    return {
      start,
      end,
      series: seriesOf(
        measurements.filter(m => m.type in LINES),
        LINES,
      ),
      used: measurements.find(m => m.type === "GPU_UTILIZATION")?.values ?? [],
    };
  });
  useEachMinute(history, Boolean(cluster && hours));
  return history;
}

// The utilization of the last ten minutes; undefined: not asked yet, null: nothing was measured.
function usedNow(history: ReturnType<typeof useHistory>["data"]) {
  const last = history?.used.findLast(v => v.value !== "" && Number.isFinite(Number(v.value)));
  return history
    ? last && Date.parse(last.timestamp ?? "") >= history.end - 600000
      ? Number(last.value)
      : null
    : undefined;
}

function OverTime({ cluster, lately }: { cluster: string; lately: ReturnType<typeof useHistory> }) {
  const [hours, setHours] = useState("1");
  const longer = useHistory(cluster, hours !== "1" && hours);
  const metrics = hours === "1" ? lately : longer;
  return (
    <section class="sheet" aria-labelledby="h-time">
      <header>
        <h2 id="h-time">GPUs over time</h2>
        <p>What was allocated of what was ready</p>
        <span class="grow" />
        <Seg label="Time" options={RANGES} value={hours} onChange={setHours} />
      </header>
      <div class="body time-body">
        <Loaded of={metrics} what="The history" rows={5}>
          {m =>
            m.series.some(s => s.points.length) ? (
              <LineChart
                bare
                title="GPUs over time"
                series={m.series}
                format={gpus}
                from={m.start}
                to={m.end}
                height={280}
              />
            ) : (
              <Empty>No samples in this time yet.</Empty>
            )
          }
        </Loaded>
      </div>
    </section>
  );
}
