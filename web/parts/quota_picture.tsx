// The key picture: quota against usage, one row a project, all rows on one axis. Left of the mark is owed, right of it is
// borrowed. The order is taken when the page opens and on a click on sort; live changes don't reorder.
import { useRef, useState } from "preact/hooks";
import { useWidth } from "../data";
import { gpus, plural } from "../format";
import { type Axis, axisTop } from "../pictures/axis";
import { inPercent, percentAxis, reach } from "../pictures/quota_bar";
import {
  ORDERS,
  type Parts,
  type ShareRow,
  isEmpty,
  shareOf,
  sharesInBrief,
  sortShares,
  sumParts,
} from "../pictures/shares";
import type { OverviewProject } from "../types";
import { shareLine, shareWords } from "../words";
import { Seg } from "./button";
import { QuotaAxis, QuotaBar, QuotaLegend } from "./quota_bar";
import { Empty } from "./states";
import { Swatch } from "./status";

const FLAT = 12;

interface ShareOf extends ShareRow {
  id: string;
  department: string;
}

// Projects of the overview with their parts over the chosen pool, in the order of the last sort; many by need.
function useShares(projects: OverviewProject[], { pool, order }: { pool: string; order: string }) {
  const kept = useRef<{ question: string; ids: string[] }>({ question: "", ids: [] });
  const rows = projects.map((p): ShareOf => ({
    id: p.id,
    name: p.name,
    department: p.departmentName,
    parts: shareOf(sharesInBrief(p), pool),
  }));
  const few = rows.filter(r => !isEmpty(r.parts)).length <= FLAT,
    by = few ? order : "need";
  const question = `${pool}/${by}`;
  if (kept.current.question !== question) kept.current = { question, ids: sortShares(rows, by).map(r => r.id) };
  const rank = new Map(kept.current.ids.map((id, i) => [id, i]));
  return rows.sort((a, b) => (rank.get(a.id) ?? 1e9) - (rank.get(b.id) ?? 1e9) || a.name.localeCompare(b.name));
}

interface PoolChoiceProps {
  pools: string[];
  pool: string;
  setPool: (pool: string) => void;
  /** Is there a choice of all pools? */
  all?: boolean;
}

export function PoolChoice({ pools, pool, setPool, all = true }: PoolChoiceProps) {
  const options = [...(all ? [{ value: "all", label: "All pools" }] : []), ...pools.map(p => ({ value: p, label: p }))];
  if (pools.length < 2) return null;
  return pools.length > 4 ? (
    <Choice label="Node pool" options={options} value={pool} onChange={setPool} />
  ) : (
    <Seg label="Node pool" options={options} value={pool} onChange={setPool} />
  );
}

interface ChoiceProps {
  label: string;
  options: { value: string; label: string }[];
  value: string;
  onChange: (value: string) => void;
}

export function Choice({ label, options, value, onChange }: ChoiceProps) {
  return (
    <select class="in slim quiet" aria-label={label} value={value} onChange={e => onChange(e.currentTarget.value)}>
      {options.map(o => (
        <option key={o.value} value={o.value}>
          {o.label}
        </option>
      ))}
    </select>
  );
}
const SORTS = Object.entries(ORDERS)
  .filter(([, { label }]) => label)
  .map(([value, { label }]) => ({ value, label: `by ${label!.toLowerCase()}` }));
export const SCALES = [
  { value: "gpus", label: "in GPUs" },
  { value: "percent", label: "in % of quota" },
];

interface PictureProps {
  projects: OverviewProject[];
  pool: string;
  scale: string;
  order: string;
  setScale: (scale: string) => void;
  setOrder: (order: string) => void;
}

// projects: of the overview.
export function QuotaPicture({ projects, pool, scale, order, setScale, setOrder }: PictureProps) {
  const [ref, width] = useWidth();
  const [table, setTable] = useState(false);
  const rows = useShares(projects, { pool, order });
  const shown = rows.filter(r => !isEmpty(r.parts));
  const folded = rows.length - shown.length;
  if (!shown.length) return <Empty>No project has a quota or asks for GPUs here.</Empty>;
  const list = shown.slice(0, FLAT);
  const percent = scale === "percent";
  const top = percent ? percentAxis(list.map(r => r.parts)) : axisTop(list.map(r => reach(r.parts)));
  const unit = percent ? "% of quota" : "GPUs";
  return (
    <div class="quota-picture">
      {table ? (
        <Numbers rows={list} />
      ) : (
        <>
          <div class="q-head">
            <span>
              {list.length < shown.length ? (
                <span class="muted small">{FLAT} most in need</span>
              ) : (
                <Choice label="Sort" options={SORTS} value={order} onChange={setOrder} />
              )}
            </span>
            <span class="ax" ref={ref}>
              <QuotaAxis top={top.top} width={width} unit={unit} />
            </span>
            <span class="num">Held</span>
            <span>
              <Choice label="Scale" options={SCALES} value={scale} onChange={setScale} />
            </span>
          </div>
          {byDepartment(list).map(group => (
            <>
              <Department key={group.name} group={group} show={list.length === shown.length} />
              {group.rows.map(row => (
                <Row key={row.id} row={row} width={width} axis={top} percent={percent} />
              ))}
            </>
          ))}
        </>
      )}
      {folded > 0 && <p class="q-fold">{plural(folded, "project")} without a share here</p>}
      <div class="q-foot">
        <QuotaLegend />
        {list.length < rows.length && (
          <a class="small" href="/projects">
            All {rows.length}
          </a>
        )}
        <button type="button" class="btn sm quiet" aria-pressed={table} onClick={() => setTable(!table)}>
          {table ? "Picture" : "Table"}
        </button>
      </div>
    </div>
  );
}

// Groups in the order of their first row.
function byDepartment(rows: ShareOf[]) {
  const groups = new Map<string, ShareOf[]>();
  for (const row of rows) groups.set(row.department, [...(groups.get(row.department) ?? []), row]);
  return [...groups].map(([name, list]) => ({ name, rows: list }));
}

function Department({ group, show }: { group: { name: string; rows: ShareOf[] }; show: boolean }) {
  const sum = sumParts(group.rows.map(r => r.parts));
  return (
    <div class="q-group">
      <span class="strong cut">{group.name}</span>
      <span />
      <span class="num">{show && `${gpus(sum.held)} / ${Number.isFinite(sum.quota) ? gpus(sum.quota) : "∞"}`}</span>
      <span>{show && sum.over > 0 && `${gpus(sum.over)} borrowed`}</span>
    </div>
  );
}

function Row({ row, width, axis: a, percent }: { row: ShareOf; width: number; axis: Axis; percent: boolean }) {
  const { parts } = row;
  const words = shareWords(parts);
  const related = percent ? inPercent(parts) : parts;
  return (
    <a class="q-row" href={`/projects?open=${row.id}`} data-tip={shareLine(row.name, parts)}>
      <span class="name">
        <Swatch project={row.id} />
        <span>{row.name}</span>
      </span>
      {related ? (
        <QuotaBar
          parts={related}
          width={width}
          scale={Math.max(0, width - 8) / a.top}
          project={row.id}
          unit={percent ? "%" : ""}
          ticks={a.ticks}
          name={row.name}
          say={shareLine(row.name, parts)}
        />
      ) : (
        <span class="muted small">no quota to relate to</span>
      )}
      <span class="num">
        <span class="strong">{gpus(parts.held)}</span>{" "}
        <span class="muted">/ {Number.isFinite(parts.quota) ? gpus(parts.quota) : "unlimited"}</span>
      </span>
      <span class="say" key={words.length}>
        {words.map(([tone, text], i) => (
          <span key={i} class={tone}>
            {text}
          </span>
        ))}
      </span>
    </a>
  );
}

const COLUMNS: [string, keyof Parts][] = [
  ["Held", "held"],
  ["Quota", "quota"],
  ["In quota", "inQuota"],
  ["Borrowed", "over"],
  ["Owed, waiting", "owed"],
  ["More wanted", "more"],
  ["Non-preemptible", "firm"],
  ["Limit", "limit"],
];
function Numbers({ rows }: { rows: ShareOf[] }) {
  return (
    <div class="scroll" tabindex={0} role="region" aria-label="Quota and usage, numbers">
      <table class="share">
        <caption class="sr">Quota and usage in GPUs</caption>
        <thead>
          <tr>
            <th scope="col">Project</th>
            {COLUMNS.map(([label]) => (
              <th key={label} scope="col" class="num">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(r => (
            <tr key={r.id}>
              <td>
                <a class="plain" href={`/projects?open=${r.id}`}>
                  {r.name}
                </a>
              </td>
              {COLUMNS.map(([label, key]) => (
                <td key={label} class="num">
                  {gpus(r.parts[key])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
