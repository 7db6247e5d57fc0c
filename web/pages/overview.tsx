// Who uses what now? Who waits, and why? What just happened?
import { useMemo, useRef, useState } from "preact/hooks";
import { get } from "../api";
import { now, second } from "../clock";
import { type Data, useData, useEachMinute, useNodesInBrief, useOverview } from "../data";
import { count, duration, forecast, gpus, since } from "../format";
import { LinkButton, Seg } from "../parts/button";
import { ClusterMap, MapKey, VIEWS } from "../parts/cluster_map";
import { EventList, type Happening } from "../parts/event_list";
import { LineChart, seriesOf } from "../parts/line_chart";
import { Page } from "../parts/page";
import { PoolChoice, QuotaPicture } from "../parts/quota_picture";
import { Empty, Fault, Loaded, Loading } from "../parts/states";
import { Swatch } from "../parts/status";
import { type MapPool, nodesInBrief, poolsOf } from "../pictures/cluster_map";
import { type Group, groupsOf, inPlaces } from "../pictures/waiting";
import { closed, isExpected } from "../pictures/what_if";
import { poolNames } from "../pictures/shares";
import { coloured } from "../pictures/slots";
import { route, setQuery } from "../router";
import { may } from "../session";
import type {
  Overview as OverviewData,
  OverviewNodes,
  OverviewPool,
  OverviewProject,
  Waiting as Waiter,
} from "../types";
import { FirstSteps } from "./first_steps";
import { OverviewStats } from "./overview_stats";

export default function Overview() {
  const overview = useOverview(),
    all: OverviewData = overview.data ?? {};
  const seesNodes = may("read", "nodes"),
    nodes = useNodesInBrief(seesNodes);
  useEachMinute(overview); // what is used of the GPUs
  useEachMinute(nodes, seesNodes);
  const cluster = all.clusters?.[0]?.id;
  const lately = useHistory(cluster, "1");
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
  return (
    <Page title="Overview" scoped>
      <OverviewStats all={all} used={usedNow(lately.data)} />
      {isEmpty(all) ? (
        <div class="grid">
          <FirstSteps all={all} />
          {all.nodePools?.some(p => p.gpus > 0) && <Cluster nodes={nodes} order={all.nodePools} />}
        </div>
      ) : (
        <div class="grid">
          {all.projects && <WhoUsesWhat projects={all.projects} />}
          {all.waiting && <Waiting waiting={all.waiting} />}
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

// A group keeps its place while it waits.
function usePlaces(workloads: Waiter[]) {
  const kept = useRef<string[][]>([]);
  const groups = inPlaces(kept.current, groupsOf(workloads));
  kept.current = groups.map(g => g.workloads.map(w => w.id));
  return groups;
}

function Waiting({ waiting }: { waiting: NonNullable<OverviewData["waiting"]> }) {
  const groups = usePlaces(waiting.workloads);
  return (
    <section class="sheet tall" aria-labelledby="h-wait">
      <header>
        <h2 id="h-wait">Waiting, and why</h2>
        {waiting.count > waiting.workloads.length && (
          <p class="num cut">
            {waiting.workloads.length} of {count(waiting.count)}, owed first
          </p>
        )}
        <span class="grow" />
        {waiting.count > 0 && (
          <a class="small num nowrap" href="/workloads?f=phase==Pending">
            All {count(waiting.count)}
          </a>
        )}
      </header>
      <div class="side-list">
        <div tabindex={0} role="group" aria-label="Waiting workloads">
          {groups.length ? (
            <ul class="wait">
              {groups.map((g, place) => (
                <li key={place}>
                  <WaitingGroup key={g.workloads[0].id} group={g} />
                </li>
              ))}
            </ul>
          ) : (
            <Empty>Nothing waits: whatever was asked for is running.</Empty>
          )}
        </div>
      </div>
    </section>
  );
}

// One workload, or several with the same reason. Expected, where that can be said; else how long it has waited, in grey.
function WaitingGroup({ group: { workloads, why } }: { group: Group }) {
  const [w] = workloads,
    expected = w.forecast;
  const never =
    expected?.kind === "never" || w.phaseReason === "NonPreemptibleOverQuota" || w.phaseReason === "OverLimit";
  const known = !never && isExpected(expected);
  const when = never
    ? "not as asked"
    : known
      ? forecast(expected, second.value || now())
      : duration(since(w.waitingSince, second.value));
  const asked = workloads.reduce((sum, o) => sum + o.gpus, 0),
    several = workloads.length > 1;
  const href = several ? `/workloads?f=phase==Pending,nodepool==${w.nodePool}` : `/workloads?open=${w.id}&tab=why`;
  return (
    <a href={href}>
      <span class="w">
        {several ? (
          <span class="several">{workloads.length} workloads</span>
        ) : (
          <>
            <Swatch project={w.projectId} />
            <span>{w.name}</span>
          </>
        )}
        <span class="muted nowrap">
          {gpus(asked)} × {w.nodePool || (asked === 1 ? "GPU" : "GPUs")}
        </span>
      </span>
      <span
        class={"eta " + (never ? "bad" : known ? "ok" : w.owed ? "warn" : "")}
        data-tip={known ? closed(expected?.sentence) : never ? undefined : "How long it has waited."}
      >
        {several && !known && !never ? "up to " : ""}
        {when}
      </span>
      {several && (
        <span class="who">
          {workloads.map(o => (
            <span key={o.id} class="p">
              <Swatch project={o.projectId} />
              {o.name}
            </span>
          ))}
        </span>
      )}
      <span key={`why${several}`} class="why">
        {w.owed && !/^owed/i.test(why) ? "Owed by quota. " : ""}
        {why}
      </span>
    </a>
  );
}

function Cluster({ nodes, order = [] }: { nodes: Data<OverviewNodes>; order?: OverviewPool[] }) {
  const pools = useMemo(
    () =>
      nodes.data
        ? poolsOf(
            nodesInBrief(nodes.data),
            order.map(p => p.name),
          )
        : [],
    [nodes.data],
  );
  const [view, setView] = useState("project");
  const [lifted, setLifted] = useState<string | null>(null);
  const projects = useMemo(() => holders(pools), [pools]);
  const colours = useMemo(() => coloured(projects), [projects]);
  return (
    <section class="sheet wide" aria-labelledby="h-map">
      <header>
        <h2 id="h-map">Cluster</h2>
        <p>A row is a node, a cell is a GPU</p>
        <span class="grow" />
        <Seg label="Colour by" options={VIEWS} value={view} onChange={setView} />
        <LinkButton small href="/nodes">
          Table
        </LinkButton>
      </header>
      <div class="body">
        <Loaded of={nodes} what="Nodes" rows={6} height={24}>
          {() =>
            pools.length ? (
              <ClusterMap pools={pools} view={view} lifted={lifted} colours={colours}>
                <MapKey projects={projects} colours={colours} lift={setLifted} />
              </ClusterMap>
            ) : (
              <Empty>No node with GPUs has joined yet.</Empty>
            )
          }
        </Loaded>
      </div>
    </section>
  );
}

function holders(pools: MapPool[]) {
  const held = new Map<string, { id: string; name: string; size: number }>();
  for (const pool of pools)
    for (const row of pool.rows)
      for (const run of row.runs.filter(r => r.projectId)) {
        const id = run.projectId!;
        held.set(id, { id, name: run.project ?? "", size: run.size + (held.get(id)?.size ?? 0) });
      }
  return [...held.values()].sort((a, b) => b.size - a.size || a.name.localeCompare(b.name)).slice(0, 16);
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
      start = end - Number(hours) * 3600000;
    const { measurements = [] } = await get(
      `/api/v1/clusters/${cluster}/metrics`,
      {
        start: new Date(start).toISOString(),
        end: new Date(end).toISOString(),
        numberOfSamples: 120,
        metricType: [...Object.keys(LINES), "GPU_UTILIZATION"],
      },
      { signal: abort },
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

// What every start and stop goes through: told in the workload's own events.
const STEPS = new Set(["Pulling", "Pulled", "Created", "Scheduled", "Killing", "Pipelined"]);

function Happened() {
  const events = useData(
    "events",
    abort =>
      get("/api/v1/events", { limit: 100 }, { signal: abort }).then(a =>
        (a.events ?? []).filter(e => !STEPS.has(e.reason ?? "")).slice(0, 20),
      ),
    ["event", "workload", "node"],
  );
  const who = (e: Happening) =>
    e.workloadName && (
      <a class="plain strong" href={`/workloads?open=${e.workloadId}&tab=events`}>
        {e.projectName ? `${e.projectName}/` : ""}
        {e.workloadName}
      </a>
    );
  return (
    <section class="sheet tall" aria-labelledby="h-ev">
      <header>
        <h2 id="h-ev">What happened</h2>
      </header>
      <div class="side-list">
        <div tabindex={0} role="group" aria-label="Events">
          <Loaded of={events} what="Events" rows={7} height={34}>
            {list => (list.length ? <EventList events={list} who={who} /> : <Empty>Nothing has happened yet.</Empty>)}
          </Loaded>
        </div>
      </div>
    </section>
  );
}
