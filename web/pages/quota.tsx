// Who is not getting his quota, and where is quota unused?
import { useMemo } from "preact/hooks";
import { getAll } from "../api";
import { useData, useOverview } from "../data";
import { NONE, gpus, plural, ratio } from "../format";
import { Seg } from "../parts/button";
import { Because } from "../parts/because";
import { Page } from "../parts/page";
import { Split } from "../parts/pane";
import { PoolChoice } from "../parts/quota_picture";
import { Loaded, Loading } from "../parts/states";
import { Meter, Meters, Stat, Stats } from "../parts/stats";
import { Swatch } from "../parts/status";
import { type Column, Table } from "../parts/table";
import { type Shares, poolNames, refusedBy, sharesByPool, sharesInBrief, sumParts } from "../pictures/shares";
import { type Entitled, entitledOf, poolSums, quotaSentences } from "../pictures/entitled";
import { hrefWith, route, setQuery } from "../router";
import { may, scope, scopeUnit } from "../session";
import type { Overview } from "../types";
import { figure } from "./overview_stats";
import { OverTime, PoolBars } from "./unit_parts";

const UNITS = [
  { value: "projects", label: "Projects" },
  { value: "departments", label: "Departments" },
];
type Part = "owed" | "unused" | "over";
const part = (value: number) => (value > 0 ? gpus(value) : NONE);

const columnsOf = (unit: string): Column<Entitled>[] => [
  {
    id: "name",
    label: unit === "projects" ? "Project" : "Department",
    sort: "name",
    filter: { field: "name" },
    text: r => r.name,
    cell: r => (
      <>
        {unit === "projects" && <Swatch project={r.unit} />}
        <span>{r.name}</span>
      </>
    ),
  },
  { id: "pool", label: "Pool", sort: "nodePool", filter: { field: "nodePool" }, text: r => r.nodePool },
  {
    id: "ratio",
    label: "Allocated / quota",
    num: true,
    keep: true,
    sort: "ratio",
    csv: r => r.ratio,
    text: r => ratio(r.held, r.quota),
    cell: r => (
      <span class="hours">
        <Meter part={r.held} whole={r.quota} />
        {ratio(r.held, r.quota)}
      </span>
    ),
  },
  { id: "held", label: "Allocated", num: true, sort: "held", text: r => `${gpus(r.held)} of ${gpus(r.quota)}` },
  {
    id: "owed",
    label: "Owed, waiting",
    num: true,
    sort: "owed",
    csv: r => r.owed,
    text: r => part(r.owed),
    cell: r => <span class={r.owed > 0 ? "eta warn" : "muted"}>{part(r.owed)}</span>,
  },
  { id: "unused", label: "Unused", num: true, sort: "unused", csv: r => r.unused, text: r => part(r.unused) },
  { id: "over", label: "Borrowed", num: true, low: true, sort: "over", csv: r => r.over, text: r => part(r.over) },
  ...(unit === "projects"
    ? [
        {
          id: "department",
          label: "Department",
          cap: true,
          low: true,
          sort: "department",
          filter: { field: "department" },
          text: (r: Entitled) => r.department,
        },
      ]
    : []),
];

/** What is allocated of every quota. */
export default function Quota() {
  const overview = useOverview();
  return (
    <Page title="Quota" scoped action={null}>
      {overview.data ? (
        <All of={overview.data} />
      ) : (
        <section class="sheet first-load">
          <Loaded of={overview} what="The quotas" rows={12} height={38}>
            {() => null}
          </Loaded>
        </section>
      )}
    </Page>
  );
}

// Departments have quotas of their own, which the overview doesn't tell.
const useDepartments = (on: boolean) =>
  useData(
    on ? "quota/departments" : null,
    abort =>
      getAll("/api/v1/org-unit/departments", "departments", { verbosity: "verbose" }, { signal: abort, most: 10000 }),
    ["department", "queue"],
  ).data;

// Every quota of the projects or departments, in the chosen pool; the same list until one of them changes.
function useQuotas(of: Overview, unit: string, pool: string) {
  const departments = useDepartments(unit === "departments"),
    at = scope.value;
  return useMemo(() => {
    const units = (of.projects ?? []).map(p => ({ ...p, department: p.departmentName, shares: sharesInBrief(p) })),
      projects = entitledOf(units, pool),
      refused = refusedBy(of.projects ?? [], p => p.departmentId);
    const above = departments
      ?.filter(d => !at || d.id === at.departmentId)
      .map(d => ({ id: d.id, name: d.name, department: "", shares: sharesByPool(d, refused[d.id]) }));
    return { projects, sums: poolSums(units), rows: unit === "projects" ? projects : above && entitledOf(above, pool) };
  }, [of, departments, unit, pool]);
}

function All({ of }: { of: Overview }) {
  const { query } = route.value,
    pools = poolNames(of.projects ?? []),
    pool = query.pool && pools.includes(query.pool) ? query.pool : "all",
    unit = query.by === "departments" && may("read", "department") ? query.by : "projects";
  const { projects, sums, rows } = useQuotas(of, unit, pool);
  const [one, two] = quotaSentences(projects),
    owed = projects.some(r => r.owed > 0);
  return (
    <>
      <section class="sheet answer" aria-label="In words">
        <Because icon={owed ? "wait" : "check"} tone={owed ? "warn" : "ok"} one={one} two={two} />
      </section>
      <Tiles of={of} rows={projects} pool={pool} sums={sums} />
      <div class="grid">
        <AllocationOverTime of={of} pool={pool} />
        <ByPool sums={sums} />
      </div>
      <Split label="Allocation ratio">
        {rows ? (
          <Table<Entitled>
            key={`${unit}/${pool}`}
            name={`quota-${unit}`}
            caption="Quotas, the least allocated first"
            source={{ path: "/api/v1/overview", key: null, local: true, given: rows }}
            kinds={[]}
            columns={columnsOf(unit)}
            sort="ratio"
            searchLabel="Name, department, pool"
            hrefOf={r => `/${unit}?open=${r.unit}`}
            sub={r => `${r.nodePool} · ${gpus(r.held)} of ${gpus(r.quota)}`}
            tools={<Choices unit={unit} pools={pools} pool={pool} />}
            empty="Nobody has a quota here."
          />
        ) : (
          <Loading rows={12} height={40} />
        )}
      </Split>
    </>
  );
}

const Choices = ({ unit, pools, pool }: { unit: string; pools: string[]; pool: string }) => (
  <>
    {may("read", "department") && (
      <Seg label="Rows" options={UNITS} value={unit} onChange={by => setQuery({ by, f: null, page: null })} />
    )}
    <PoolChoice pools={pools} pool={pool} setPool={v => setQuery({ pool: v, page: null })} />
  </>
);

const sumOf = (rows: Entitled[], key: "quota" | "held" | Part) => rows.reduce((all, r) => all + r[key], 0);

// Of all rows together; a click sorts the table by it.
const SumTile = ({ label, rows, of }: { label: string; rows: Entitled[]; of: Part }) => (
  <Stat
    label={label}
    value={figure(sumOf(rows, of))}
    unit="GPUs"
    line={plural(new Set(rows.filter(r => r[of] > 0).map(r => r.unit)).size, "project")}
    href={hrefWith({ sort: `-${of}`, page: null })}
  />
);

function Tiles({ of, rows, pool, sums }: { of: Overview; rows: Entitled[]; pool: string; sums: Shares }) {
  const quota = sumOf(rows, "quota"),
    held = sumOf(rows, "held"),
    inPool = (name: string) => pool === "all" || name === pool;
  const total = (of.nodePools ?? []).reduce((all, p) => all + (inPool(p.name) ? p.gpus : 0), 0);
  const shown = Object.entries(sums).filter(([name, s]) => inPool(name) && s.quota > 0 && Number.isFinite(s.quota)),
    wanted = sumParts(shown.map(([, s]) => s));
  return (
    <Stats label="Quota now">
      <Stat label="Allocated / quota" value={ratio(held, quota)} line={`${gpus(held)} of ${gpus(quota)} GPUs`}>
        <Meters
          rows={shown.slice(0, 4).map(([name, s]) => ({
            name,
            part: s.held,
            whole: s.quota,
            text: ratio(s.held, s.quota),
          }))}
        />
      </Stat>
      {of.nodePools && (
        <Stat
          label="Quota / total"
          value={ratio(quota, total)}
          line={`${gpus(quota)} of ${gpus(total)} GPUs`}
          href="/nodepools"
        />
      )}
      <SumTile label="Owed, waiting" rows={rows} of="owed" />
      <SumTile label="Unused quota" rows={rows} of="unused" />
      <SumTile label="Borrowed" rows={rows} of="over" />
      <Stat
        label="Pending"
        value={figure(wanted.owed + wanted.more)}
        unit="GPUs"
        line={pool === "all" && of.waiting ? plural(of.waiting.count, "workload") : "wanted and not held"}
        href={`/workloads?f=phase==Pending${pool === "all" ? "" : `,nodepool==${pool}`}`}
      />
    </Stats>
  );
}

// Of the scope's unit, or of the whole cluster by those who may read it.
function AllocationOverTime({ of, pool }: { of: Overview; pool: string }) {
  const unit = scopeUnit(),
    cluster = of.clusters?.[0]?.id;
  if (!unit && !cluster) return null;
  const nodepoolName = pool === "all" ? undefined : pool;
  return (
    <section class="sheet" aria-labelledby="h-quota-time">
      <header>
        <h2 id="h-quota-time">Over time</h2>
      </header>
      <div class="body time-body">
        {unit ? (
          <OverTime id="quota" path={`/api/v1/org-unit/${unit}/metrics`} nodepoolName={nodepoolName} />
        ) : (
          <OverTime
            id="quota"
            path={`/api/v1/clusters/${cluster}/metrics`}
            held="ALLOCATED_GPU"
            nodepoolName={nodepoolName}
          />
        )}
      </div>
    </section>
  );
}

const ByPool = ({ sums }: { sums: Shares }) => (
  <section class="sheet tall" aria-labelledby="h-quota-pools">
    <header>
      <h2 id="h-quota-pools">By node pool</h2>
    </header>
    <div class="side-list">
      <div tabindex={0} role="group" aria-label="Node pools" class="pool-bars">
        <PoolBars shares={sums} project={null} />
      </div>
    </div>
  </section>
);
