// The key picture: quota against usage, one row a project, all rows on one axis. Left of the mark is owed, right of it is
// borrowed. The order is taken when the page opens and on a click on sort; live changes don't reorder.
import { type ComponentChildren, Fragment } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useWidth } from "../data";
import { gpus, plural } from "../format";
import { Icon } from "../icons";
import type { Axis } from "../pictures/axis";
import { axisOf, inPercent } from "../pictures/quota_bar";
import {
  ORDERS,
  type Parts,
  type ShareRow,
  type Shares,
  isEmpty,
  shareOf,
  sharesInBrief,
  sortShares,
  sumParts,
} from "../pictures/shares";
import { hrefWith } from "../router";
import type { OverviewProject } from "../types";
import { shareLine, shareWords } from "../words";
import { Seg } from "./button";
import { QuotaAxis, QuotaBar, QuotaLegend } from "./quota_bar";
import { Empty } from "./states";
import { Swatch } from "./status";

export const FLAT = 12; // more projects are departments to open, or the most in need alone, in that order
const THIN = 60, // from so many open rows on they are thin, and drawn while in view
  AT_ONCE = 50;

interface ShareOf extends ShareRow {
  id: string;
  department: string;
  departmentId: string;
}

// Projects of the overview with their parts over the chosen pool, in the order of the last sort; many by need.
function useShares(projects: OverviewProject[], pool: string, order: string, grouped: boolean) {
  const kept = useRef<{ question: string; ids: string[] }>({ question: "", ids: [] });
  const rows = projects.map((p): ShareOf => ({
    id: p.id,
    name: p.name,
    department: p.departmentName,
    departmentId: p.departmentId,
    parts: shareOf(sharesInBrief(p), pool),
  }));
  const few = rows.filter(r => !isEmpty(r.parts)).length <= FLAT,
    by = few || grouped ? order : "need";
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
  /** Departments as groups to open, with their own shares by id as far as they are known. */
  departments?: Map<string, Shares>;
  /** Shows the table; none: the picture has one of its own. */
  toTable?: () => void;
  children?: ComponentChildren;
}

/** How rows are drawn, on one axis. */
interface Shape {
  width: number;
  axis: Axis;
  percent: boolean;
  thin?: boolean;
  /** The pane opens on the same page. */
  here: boolean;
}

const partsOf = (rows: ShareRow[]) => rows.map(r => r.parts);

// projects: of the overview.
export function QuotaPicture(props: PictureProps) {
  const { projects, pool, departments } = props,
    [ref, width] = useWidth();
  const [table, setTable] = useState(false),
    [open, setOpen] = useState(new Set<string>());
  const rows = useShares(projects, pool, props.order, Boolean(departments));
  const shown = rows.filter(r => !isEmpty(r.parts));
  if (!shown.length) return <Empty>No project has a quota or asks for GPUs here.</Empty>;
  const list = departments ? shown : shown.slice(0, FLAT),
    all = list.length === shown.length;
  const groups = byDepartment(list).map(g => ({ ...g, parts: sumOf(g, departments?.get(g.id), pool) }));
  const opened = departments ? list.filter(r => open.has(r.departmentId)) : list;
  const percent = props.scale === "percent",
    axis = axisOf(partsOf(opened.length ? opened : groups), percent);
  const shape = { width, axis, percent, here: Boolean(departments), thin: opened.length >= THIN };
  return (
    <div class="quota-picture">
      {table ? (
        <Numbers rows={list} />
      ) : (
        <>
          <Head {...props} all={all}>
            <span class="ax" ref={ref}>
              <QuotaAxis top={axis.top} width={width} unit={percent ? "% of quota" : "GPUs"} />
            </span>
          </Head>
          {departments ? (
            groups.map(g => <Group key={g.id} group={g} open={open} setOpen={setOpen} shape={shape} />)
          ) : all ? (
            <Parted groups={groups} shape={shape} />
          ) : (
            <Rows rows={list} shape={shape} />
          )}
        </>
      )}
      <Fold number={rows.length - shown.length} />
      <div class="q-foot">
        <QuotaLegend />
        {departments ? (
          <Switch onClick={() => setOpen(new Set(open.size ? [] : groups.map(g => g.id)))}>
            {open.size ? "Close all" : "Open all"}
          </Switch>
        ) : (
          list.length < rows.length && (
            <a class="small" href="/projects">
              All {rows.length}
            </a>
          )
        )}
        <TableSwitch table={table} show={props.toTable ?? setTable} />
      </div>
    </div>
  );
}

// The choices, around the axis. all: every project with a share is shown.
function Head({ all, order, setOrder, scale, setScale, children }: PictureProps & { all: boolean }) {
  return (
    <div class="q-head">
      <span>
        {all ? (
          <Choice label="Sort" options={SORTS} value={order} onChange={setOrder} />
        ) : (
          <span class="muted small">{FLAT} most in need</span>
        )}
      </span>
      {children}
      <span class="num">Held</span>
      <span>
        <Choice label="Scale" options={SCALES} value={scale} onChange={setScale} />
      </span>
    </div>
  );
}

function Fold({ number }: { number: number }) {
  return number > 0 ? <p class="q-fold">{plural(number, "project")} without a share here</p> : null;
}

const TableSwitch = ({ table, show }: { table: boolean; show: (table: boolean) => void }) => (
  <Switch pressed={table} onClick={() => show(!table)}>
    {table ? "Picture" : "Table"}
  </Switch>
);

function Switch(props: { pressed?: boolean; onClick: () => void; children: ComponentChildren }) {
  return (
    <button type="button" class="btn sm quiet" aria-pressed={props.pressed} onClick={props.onClick}>
      {props.children}
    </button>
  );
}

interface DepartmentGroup extends ShareRow {
  id: string;
  rows: ShareOf[];
}

// Groups in the order of their first row.
function byDepartment(rows: ShareOf[]) {
  const groups = new Map<string, ShareOf[]>();
  for (const row of rows) groups.set(row.departmentId, [...(groups.get(row.departmentId) ?? []), row]);
  return [...groups].map(([id, list]) => ({ id, name: list[0].department, rows: list }));
}

// What its projects have, beside the department's own quota where it is known.
function sumOf({ rows }: { rows: ShareOf[] }, own: Shares | undefined, pool: string) {
  const sum = sumParts(rows.map(r => r.parts));
  return own ? { ...sum, quota: shareOf(own, pool).quota } : sum;
}

const quotaOf = ({ quota }: Parts) => (Number.isFinite(quota) ? gpus(quota) : "unlimited");

function Department({ group: { name, parts } }: { group: DepartmentGroup }) {
  return (
    <div class="q-group">
      <span class="strong cut">{name}</span>
      <span class="num">{`${gpus(parts.held)} / ${Number.isFinite(parts.quota) ? gpus(parts.quota) : "∞"}`}</span>
      <span>{parts.over > 0 && `${gpus(parts.over)} borrowed`}</span>
    </div>
  );
}

const Parted = ({ groups, shape }: { groups: DepartmentGroup[]; shape: Shape }) =>
  groups.map(g => (
    <Fragment key={g.id}>
      <Department group={g} />
      <Rows rows={g.rows} shape={shape} />
    </Fragment>
  ));

interface GroupProps {
  group: DepartmentGroup;
  open: Set<string>;
  setOpen: (open: Set<string>) => void;
  shape: Shape;
}

// A department with its own bar; its projects below it while it is open, some at a time.
function Group({ group, open: all, setOpen, shape }: GroupProps) {
  const { id, name, parts, rows } = group,
    open = all.has(id);
  const toggle = () => setOpen(new Set(open ? [...all].filter(o => o !== id) : [...all, id]));
  const [most, setMost] = useState(AT_ONCE);
  return (
    <section aria-label={name}>
      <div class="q-row dept" data-tip={shareLine(name, parts)}>
        <button type="button" class="name" aria-expanded={open} onClick={toggle}>
          <Icon name="down" />
          <span>{name}</span>
        </button>
        <Figures row={group} shape={{ ...shape, thin: false }} project={null} />
      </div>
      {open && <Rows rows={rows.slice(0, most)} shape={shape} />}
      {open && rows.length > most && (
        <Switch onClick={() => setMost(most + AT_ONCE)}>
          {Math.min(AT_ONCE, rows.length - most)} more of {rows.length}
        </Switch>
      )}
    </section>
  );
}

// Is it in view? Where that is not asked, it always is.
function useSeen(asked?: boolean) {
  const ref = useRef<HTMLAnchorElement>(null);
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    if (!asked) return undefined;
    const watch = new IntersectionObserver(([entry]) => setSeen(entry.isIntersecting));
    watch.observe(ref.current!);
    return () => watch.disconnect();
  }, [asked]);
  return [ref, seen || !asked] as const;
}

const Rows = ({ rows, shape }: { rows: ShareOf[]; shape: Shape }) =>
  rows.map(r => <Row key={r.id} row={r} shape={shape} />);

function Row({ row, shape }: { row: ShareOf; shape: Shape }) {
  const [ref, seen] = useSeen(shape.thin);
  return (
    <a
      ref={ref}
      class={"q-row" + (shape.thin ? " thin" : "")}
      href={shape.here ? hrefWith({ open: row.id, tab: null }) : `/projects?open=${row.id}`}
      data-tip={`${row.department} · ${shareLine(row.name, row.parts)}`}
    >
      <span class="name">
        <Swatch project={row.id} />
        <span>{row.name}</span>
      </span>
      <Figures row={row} shape={shape} project={row.id} seen={seen} />
    </a>
  );
}

// The bar of a row, its numbers and its words.
function Figures({
  row: { name, parts },
  shape: { width, axis, percent, thin },
  project,
  seen = true,
}: {
  row: ShareRow;
  shape: Shape;
  project: string | null;
  seen?: boolean;
}) {
  const words = shareWords(parts);
  const related = percent ? inPercent(parts) : parts;
  return (
    <>
      {!seen ? (
        <span />
      ) : related ? (
        <QuotaBar
          parts={related}
          width={width}
          scale={Math.max(0, width - 8) / axis.top}
          height={thin ? 24 : 38}
          bar={thin ? 8 : 16}
          project={project}
          unit={percent ? "%" : ""}
          ticks={axis.ticks}
          name={name}
          say={shareLine(name, parts)}
        />
      ) : (
        <span class="muted small">no quota to relate to</span>
      )}
      <span class="num">
        <span class="strong">{gpus(parts.held)}</span> <span class="muted">/ {quotaOf(parts)}</span>
      </span>
      <span class="say" key={words.length}>
        {words.slice(0, thin ? 1 : 2).map(([tone, text], i) => (
          <span key={i} class={tone}>
            {text}
          </span>
        ))}
      </span>
    </>
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
