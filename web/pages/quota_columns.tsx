// The columns of quota and usage that the tables of projects and of departments share: bars on one axis for the rows in
// view, over all node pools or one, in GPUs or in % of the quota.
import { useEffect, useState } from "preact/hooks";
import { useWidth } from "../data";
import { type Amount, NONE, gpus, ratio } from "../format";
import { QuotaAxis, QuotaBar, QuotaLegend } from "../parts/quota_bar";
import { Choice, SCALES } from "../parts/quota_picture";
import type { Axis } from "../pictures/axis";
import { axisOf, inPercent } from "../pictures/quota_bar";
import { type Parts, type Shares, poolNames, shareOf } from "../pictures/shares";
import type { Column } from "../parts/table";
import { route, setQuery } from "../router";
import type { Overview } from "../types";

const MARGIN = 8; // of a bar's drawing, both sides together
const poolOf = () => route.value.query.pool ?? "all";
const inPercents = () => route.value.query.scale === "percent";
const limited = (parts: Parts) => Number.isFinite(parts.quota);

// The parts of a unit's shares over the chosen pool.
export const chosenParts = (shares: Shares) => shareOf(shares, poolOf());

// Above the table: which pool, which scale. Both live in the address.
export function QuotaChoices({ overview }: { overview: Overview | null }) {
  const pools = poolNames(overview?.projects ?? []);
  return (
    <>
      {pools.length !== 1 && (
        <Choice
          label="Node pool"
          options={[{ value: "all", label: "All pools" }, ...pools.map(p => ({ value: p, label: p }))]}
          value={poolOf()}
          onChange={v => setQuery({ pool: v === "all" ? null : v })}
        />
      )}
      <Choice
        label="Scale"
        options={SCALES}
        value={inPercents() ? "percent" : "gpus"}
        onChange={v => setQuery({ scale: v === "gpus" ? null : v })}
      />
    </>
  );
}

export const QuotaFoot = () => (
  <div class="table-foot">
    <QuotaLegend />
  </div>
);

// What a CSV file has of it: numbers alone, under names that need no bar beside them.
const FIGURES = {
  quota: ["GPU quota", p => (limited(p) ? p.quota : "unlimited")],
  held: ["GPUs allocated", p => p.held],
  over: ["GPUs borrowed", p => p.over],
  waiting: ["GPUs waiting", p => p.owed + p.more],
  firm: ["GPUs non-preemptible", p => p.firm],
  limit: ["GPU limit", p => p.limit ?? "none"],
} satisfies Record<string, [string, (parts: Parts) => Amount]>;
const figures =
  <R,>(partsOf: (row: R) => Parts) =>
  (...names: (keyof typeof FIGURES)[]): Column<R>["csv"] =>
    names.map(name => [FIGURES[name][0], row => FIGURES[name][1](partsOf(row))]);

function numbersOf<R>(partsOf: (row: R) => Parts): Column<R>[] {
  const csv = figures(partsOf);
  return [
    {
      id: "ratio",
      label: "Ratio",
      num: true,
      text: row => ratio(partsOf(row).held, limited(partsOf(row)) ? partsOf(row).quota : null),
    },
    {
      id: "waiting",
      label: "Waiting",
      num: true,
      text: row => (partsOf(row).owed + partsOf(row).more > 0 ? gpus(partsOf(row).owed + partsOf(row).more) : NONE),
      csv: csv("waiting"),
    },
    {
      id: "over",
      label: "Borrowed",
      num: true,
      text: row => (partsOf(row).over > 0 ? gpus(partsOf(row).over) : NONE),
      csv: csv("over"),
      low: true,
    },
    {
      id: "firm",
      label: "Non-preemptible",
      num: true,
      text: row => gpus(partsOf(row).firm),
      csv: csv("firm"),
      hidden: true,
    },
    {
      id: "limit",
      label: "Limit",
      num: true,
      text: row => (partsOf(row).limit === null ? "none" : gpus(partsOf(row).limit)),
      csv: csv("limit"),
      hidden: true,
    },
  ];
}

// partsOf(row) -> parts; projectOf(row) -> the id that gives the colour, null is ink.
export function useQuotaColumns<R extends { name: string }>(
  partsOf: (row: R) => Parts,
  projectOf: (row: R) => string | null,
): Column<R>[] {
  const [width, setWidth] = useState(0);
  const seen = new WeakMap<R[], Axis>(); // the axis of each list of rows
  const axis = (rows: R[]) => seen.get(rows) ?? seen.set(rows, axisOf(rows.map(partsOf), inPercents())).get(rows)!;
  const sort: Partial<Column<R>> =
    poolOf() === "all" ? { sort: "gpuAllocated", filter: { field: "gpuAllocated", type: "number" } } : {};
  const csv = figures(partsOf);
  const quota = (parts: Parts) => (limited(parts) ? gpus(parts.quota) : "unlimited");
  return [
    {
      id: "bar",
      label: "Quota and usage",
      wide: true,
      head: rows => <Head axis={axis(rows)} onWidth={setWidth} />,
      cell: (row, rows) => (
        <Bar parts={partsOf(row)} name={row.name} project={projectOf(row)} axis={axis(rows)} width={width} />
      ),
      text: row => gpus(partsOf(row).held),
      csv: csv("quota", "held", "over", "waiting", "firm", "limit"),
    },
    {
      id: "held",
      label: "Held / quota",
      num: true,
      keep: true,
      ...sort,
      text: row => `${gpus(partsOf(row).held)} / ${quota(partsOf(row))}`,
      csv: csv("quota", "held"),
      cell: row => (
        <>
          <span class="strong">{gpus(partsOf(row).held)}</span> <span class="muted">/ {quota(partsOf(row))}</span>
        </>
      ),
    },
    ...numbersOf(partsOf),
  ];
}

function Head({ axis, onWidth }: { axis: Axis; onWidth: (width: number) => void }) {
  const [ref, width] = useWidth();
  useEffect(() => onWidth(width), [width]);
  return (
    <span class="cell-bar" ref={ref}>
      <span class="sr">Quota and usage</span>
      <QuotaAxis top={axis.top} width={width} unit={inPercents() ? "% of quota" : "GPUs"} />
    </span>
  );
}

interface BarProps {
  parts: Parts;
  name: string;
  project: string | null;
  axis: Axis;
  width: number;
}

function Bar({ parts, name, project, axis, width }: BarProps) {
  const shown = inPercents() ? inPercent(parts) : parts;
  if (!shown) return <span class="muted small">no quota to relate to</span>;
  return (
    <span class="cell-bar">
      <QuotaBar
        parts={shown}
        width={width}
        scale={Math.max(0, width - MARGIN) / axis.top}
        project={project}
        ticks={axis.ticks}
        unit={inPercents() ? "%" : ""}
        name={name}
      />
    </span>
  );
}

// Under the name, on a phone: it measures itself.
export function SubBar({ parts, name, project, rows }: Omit<BarProps, "axis" | "width"> & { rows: Parts[] }) {
  const [ref, width] = useWidth();
  return (
    <span class="sub-bar" ref={ref}>
      <Bar parts={parts} name={name} project={project} axis={axisOf(rows, inPercents())} width={width} />
    </span>
  );
}
