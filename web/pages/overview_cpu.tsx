// The CPU side of the Overview: what of CPU and memory is there, allocated and used, where, by whom, and for how long.
import type { ComponentChild } from "preact";
import { get } from "../api";
import { useData } from "../data";
import { type Amount, NONE, count, cpu, duration, memory, percent, ratio } from "../format";
import { type MetricChart, Metrics } from "../parts/metrics";
import { Empty, Loaded } from "../parts/states";
import { Meters, Stat, Stats } from "../parts/stats";
import { ProjectName } from "../parts/status";
import type { Overview, OverviewPool } from "../types";

const SHOWN = 12; // projects
type Key = "cpuCores" | "cpuMemoryBytes";

// What is there, allocated and used of one resource; used: of the pools in which somebody measures it.
function sums(pools: OverviewPool[], key: Key) {
  const sum = (list: OverviewPool[], part: "total" | "allocated" | "used") =>
    list.reduce((all, p) => all + (p[key][part] ?? 0), 0);
  const measured = pools.filter(p => p[key].used !== null);
  return {
    total: sum(pools, "total"),
    allocated: sum(pools, "allocated"),
    used: measured.length ? (sum(measured, "used") / sum(measured, "total")) * 100 : null,
  };
}

export default function OverviewCpu({ all }: { all: Overview }) {
  const pools = all.nodePools?.filter(p => p.nodes > 0) ?? [];
  const cluster = all.clusters?.[0]?.id;
  return (
    <>
      <Stats label="CPU and memory now">
        <Allocated label="CPU cores allocated" pools={pools} of="cpuCores" />
        <Used label="CPU used" pools={pools} of="cpuCores" />
        <Allocated label="Memory allocated" pools={pools} of="cpuMemoryBytes" />
        <Used label="Memory used" pools={pools} of="cpuMemoryBytes" />
        <Stat
          label="Nodes ready"
          value={count(pools.reduce((n, p) => n + p.nodesReady, 0))}
          unit={`of ${count(pools.reduce((n, p) => n + p.nodes, 0))}`}
          line="with and without GPUs"
          href="/nodes"
        />
        <Stat
          label="Running"
          value={count(all.phases?.Running ?? 0)}
          unit="workloads"
          line={`${count(all.phases?.Pending ?? 0)} wait`}
          href="/workloads?f=phase==Running"
        />
      </Stats>
      <div class="grid">
        <Pools pools={pools} />
        <Projects projects={all.projects ?? []} />
        {cluster && (
          <section class="sheet" aria-labelledby="h-cpu-time">
            <header>
              <h2 id="h-cpu-time">Over time</h2>
            </header>
            <div class="body">
              <Metrics path={`/api/v1/clusters/${cluster}/metrics`} charts={CHARTS} group="cpu" />
            </div>
          </section>
        )}
        <Longest />
      </div>
    </>
  );
}

interface FigureProps {
  label: string;
  pools: OverviewPool[];
  of: Key;
}

function Allocated({ label, pools, of }: FigureProps) {
  const { total, allocated } = sums(pools, of);
  if (of === "cpuMemoryBytes")
    return (
      <Stat
        label={label}
        value={memory(allocated)}
        line={`${ratio(allocated, total)} of ${memory(total)}`}
        href="/nodes"
      />
    );
  return (
    <Stat label={label} value={cpu(allocated)} unit={`of ${cpu(total)}`} line={ratio(allocated, total)} href="/nodes">
      <Meters
        rows={pools.slice(0, 4).map(({ name, cpuCores: c }) => ({
          name,
          part: c.allocated,
          whole: c.total,
          text: ratio(c.allocated, c.total),
        }))}
      />
    </Stat>
  );
}

function Used({ label, pools, of }: FigureProps) {
  const { used } = sums(pools, of);
  return (
    <Stat
      label={label}
      value={used === null ? NONE : percent(used)}
      line="of what is there"
      tip={used === null ? "Nothing measures it here." : undefined}
    />
  );
}

function Pools({ pools }: { pools: OverviewPool[] }) {
  const part = (p: OverviewPool, key: Key, words: (amount: Amount) => string) => [
    `${words(p[key].allocated)} of ${words(p[key].total)}`,
    p[key].used === null ? NONE : percent((p[key].used! / p[key].total) * 100),
  ];
  return (
    <Sheet title="By node pool" heads={["Node pool", "Nodes", "Cores allocated", "Used", "Memory allocated", "Used"]}>
      {pools.map(p => (
        <tr key={p.id}>
          <td>
            <a class="plain" href={`/nodes?f=nodePool==${encodeURIComponent(p.name)}`}>
              {p.name}
            </a>
          </td>
          <td class="num">{count(p.nodes)}</td>
          {[...part(p, "cpuCores", cpu), ...part(p, "cpuMemoryBytes", memory)].map((text, i) => (
            <td key={i} class="num">
              {text}
            </td>
          ))}
        </tr>
      ))}
    </Sheet>
  );
}

function Projects({ projects }: { projects: NonNullable<Overview["projects"]> }) {
  const rows = projects
    .filter(p => p.cpuCoresAllocated || p.cpuMemoryAllocatedBytes)
    .sort((a, b) => b.cpuCoresAllocated - a.cpuCoresAllocated || a.name.localeCompare(b.name));
  return (
    <Sheet title="Who holds most" heads={["Project", "Cores", "Memory"]} none="Nobody holds any.">
      {rows.slice(0, SHOWN).map(p => (
        <tr key={p.id}>
          <td>
            <a class="plain" href={`/projects?open=${p.id}`}>
              <ProjectName id={p.id} name={p.name} />
            </a>
          </td>
          <td class="num">{cpu(p.cpuCoresAllocated)}</td>
          <td class="num">{memory(p.cpuMemoryAllocatedBytes)}</td>
        </tr>
      ))}
    </Sheet>
  );
}

function Longest() {
  const found = useData(
    "longest",
    abort =>
      get(
        "/api/v1/workloads",
        { filterBy: ["phase==Running"], sortBy: "totalRunningTimeSeconds", sortOrder: "desc", limit: 5 },
        { signal: abort },
      ).then(a => a.workloads ?? []),
    ["workload"],
  );
  return (
    <Loaded of={found} what="Workloads">
      {list => (
        <Sheet title="Run longest" heads={["Workload", "Cores", "Runs for"]} none="Nothing runs.">
          {list.map(w => (
            <tr key={w.id}>
              <td>
                <a class="plain" href={`/workloads?open=${w.id}`}>
                  {w.name}
                </a>
              </td>
              <td class="num">{cpu(w.allocatedResources?.cpu)}</td>
              <td class="num">{duration(w.totalRunningTimeSeconds)}</td>
            </tr>
          ))}
        </Sheet>
      )}
    </Loaded>
  );
}

const CHARTS: MetricChart[] = [
  {
    title: "CPU and memory used, of what is measured",
    types: ["CPU_UTILIZATION", "CPU_MEMORY_UTILIZATION"],
    names: {
      CPU_UTILIZATION: { name: "CPU", tone: "accent" },
      CPU_MEMORY_UTILIZATION: { name: "memory", tone: "ink" },
    },
    format: percent,
    max: 100,
  },
];

interface SheetProps {
  title: string;
  heads: string[];
  none?: string;
  children: ComponentChild[];
}

function Sheet({ title, heads, none, children }: SheetProps) {
  return (
    <section class="sheet" aria-label={title}>
      <header>
        <h2>{title}</h2>
      </header>
      <div class="body scroll" tabindex={0} role="region" aria-label={`${title}, scrolls sideways`}>
        {children.length ? (
          <table class="share">
            <thead>
              <tr>
                {heads.map((head, i) => (
                  <th key={i} scope="col" class={i ? "num" : undefined}>
                    {head}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>{children}</tbody>
          </table>
        ) : (
          <Empty>{none}</Empty>
        )}
      </div>
    </section>
  );
}
