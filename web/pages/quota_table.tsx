// The quota in each node pool as a table, and beside the form how each pool is divided.
import { gpuCount, gpus } from "../format";
import { Icon } from "../icons";
import { type Promised, type Sizes, borrowers, lenders } from "../pictures/promises";
import type { Effect } from "../pictures/quota_effect";
import { CELLS, type CellName, type QuotaRow, cellPath, type division } from "../pictures/quota_form";
import { rankWord, weightWord } from "../words";
import { Effects } from "./quota_effect";
import type { Fields } from "./unit_rules";

// Column -> its head, and the head's help.
const COLUMNS: Record<CellName, [head: string, help: string]> = {
  quota: ["GPUs", "Owed"],
  exceed: ["Over quota", "May borrow"],
  limit: ["Limit", "Never more"],
  weight: ["Weight", "Of the rest"],
  rank: ["Rank", "Higher: first"],
  cpu: ["CPU cores", "Owed"],
  memory: ["CPU memory", "64G, 512Mi"],
};

// A column that is there only while this setting is on.
const NEEDS: Partial<Record<CellName, string>> = { cpu: "cpuQuota", memory: "cpuQuota", weight: "overQuotaWeight" };

interface CellsProps extends Omit<Fields, "values"> {
  ranks: { name: string }[];
}
interface TableProps extends CellsProps {
  word: string;
  rows: QuotaRow[];
  size: Sizes;
  /** Settings that are off. */
  off: string[];
  /** Why nothing can be changed. */
  why?: string;
}
interface RowProps extends CellsProps {
  row: QuotaRow;
  shown: CellName[];
  size: Sizes;
}

export function QuotaTable({ word, rows, field, set, ranks, size, off, why }: TableProps) {
  const shown = CELLS.filter(key => !off.includes(NEEDS[key] ?? ""));
  return (
    <fieldset class="full" disabled={!!why}>
      <div class="lg">
        <h2>Quota</h2>
        <p>{why || `What each node pool owes the ${word}. Without “Over quota” it never holds more than that.`}</p>
      </div>
      <table class="quota-table">
        <thead>
          <tr>
            <th scope="col">Node pool</th>
            {shown.map(key => (
              <th key={key} scope="col" class={key}>
                {COLUMNS[key][0]}
                <span>{COLUMNS[key][1]}</span>
              </th>
            ))}
          </tr>
        </thead>
        {rows.map(row => (
          <Row key={row.id} row={row} shown={shown} field={field} set={set} ranks={ranks} size={size} />
        ))}
      </table>
    </fieldset>
  );
}

function Row({ row, shown, field, set, ranks, size }: RowProps) {
  const wrong = shown.map(key => field(cellPath(key, row)).error).filter(Boolean);
  const total = size[row.name];
  return (
    <tbody>
      <tr>
        <th scope="row">
          {row.name}
          <span>{total === undefined ? "" : total ? gpuCount(total) : "no GPUs"}</span>
        </th>
        {shown.map(key => (
          <td key={key} class={key}>
            <Cell cell={key} row={row} f={field(cellPath(key, row))} set={set} ranks={ranks} />
          </td>
        ))}
      </tr>
      {wrong.length > 0 && (
        <tr class="said">
          <td colspan={shown.length + 1}>
            <p class="hint bad" role="alert" id={`wrong-${row.id}`}>
              <Icon name="x" />
              {wrong.join(" ")}
            </p>
          </td>
        </tr>
      )}
    </tbody>
  );
}

const NOTHING: Partial<Record<CellName, string>> = { limit: "none", cpu: "unlimited", memory: "unlimited" };

interface CellProps extends Omit<CellsProps, "field"> {
  cell: CellName;
  row: QuotaRow;
  f: ReturnType<Fields["field"]>;
}

function Cell({ cell, row, f, set, ranks }: CellProps) {
  const id = `f-${f.path}`,
    off = cell === "limit" && !row.exceed;
  const label = (
    <label for={id}>
      {COLUMNS[cell][0]}
      <span class="unseen"> in {row.name}</span>
    </label>
  );
  const common = {
    id,
    "aria-invalid": f.error ? ("true" as const) : undefined,
    "aria-describedby": f.error ? `wrong-${row.id}` : undefined,
    onBlur: f.onBlur,
  };
  if (cell === "exceed")
    return (
      <>
        {label}
        <input type="checkbox" {...common} checked={row.exceed} onChange={e => set(f.path, e.currentTarget.checked)} />
      </>
    );
  if (cell === "rank")
    return (
      <>
        {label}
        <select class="in" {...common} value={row.rank} onChange={e => f.onValue(e.currentTarget.value)}>
          {(ranks.length ? ranks : [{ name: row.rank }]).map(o => (
            <option key={o.name} value={o.name}>
              {rankWord(o.name)}
            </option>
          ))}
        </select>
      </>
    );
  const clean = (text: string) => (cell === "memory" ? text.trim() : text.trim().replace(",", "."));
  return (
    <>
      {label}
      <input
        class="in"
        {...common}
        autocomplete="off"
        inputmode={cell === "memory" ? undefined : "decimal"}
        value={off ? row.quota : row[cell]}
        disabled={off}
        placeholder={NOTHING[cell]}
        onInput={e => f.onValue(clean(e.currentTarget.value))}
      />
      {cell === "weight" && <span class="weight-word muted small">{weightWord(row.weight)}</span>}
    </>
  );
}

/** How one pool is divided; raised: is the quota raised? inside: what the unit's own projects are promised. */
export interface Divided {
  row: QuotaRow;
  raised: boolean;
  inside: number;
  bounds: (ReturnType<typeof division> & { what: string })[];
}

interface DivisionsProps extends Losers {
  word: string;
  rows: Divided[];
}
interface Losers {
  projects: Promised[];
  effects: Effect[] | null;
}

// rows: [{row, raised, inside, bounds: [{what, total, others, mine, free, over, top}]}]; projects: those that may lose.
// effects: by the scheduler, once it has answered.
export function Divisions({ word, rows, projects, effects }: DivisionsProps) {
  const seen = rows.filter(({ row, bounds }) => Number(row.quota) > 0 || bounds.some(b => b.total > 0 || b.others > 0));
  const left = rows.filter(r => !seen.includes(r)).map(r => r.row.name);
  return (
    <>
      {seen.map(r => (
        <Division key={r.row.id} word={word} projects={projects} effects={effects} {...r} />
      ))}
      {left.length > 0 && <p class="small muted apart">No GPUs: {left.join(", ")}.</p>}
    </>
  );
}

// One bar a bound: this one, others, unassigned; what is promised beyond the total in bad.
function Division({ row, raised, inside, bounds, word, projects, effects }: Divided & Losers & { word: string }) {
  const lose = raised && !effects ? borrowers(row, projects) : [];
  const here = effects?.filter(e => e.pool === row.name) ?? [];
  const short = inside > (Number(row.quota) || 0);
  return (
    <section>
      <h3>{row.name}</h3>
      {bounds.length === 0 && <p class="small muted">Your roles don't show what others have here.</p>}
      {bounds
        .filter(b => b.total > 0 || b.others > 0 || b.mine > 0)
        .map(b => (
          <Bar key={b.what} pool={row.name} parts={b} word={word} />
        ))}
      {short && (
        <p class="small over-said">
          <Icon name="no" tone="bad" /> Its projects have {gpuCount(inside)} of quota here.
        </p>
      )}
      {here.length > 0 && <Effects effects={here} />}
      {lose.length > 0 && <p class="small soft">Borrowed there today, and given back when it asks: {lenders(lose)}.</p>}
    </section>
  );
}

function Bar({ pool, parts, word }: { pool: string; parts: Divided["bounds"][number]; word: string }) {
  const x = (value: number) =>
    `${Number.isFinite(value) && Number.isFinite(parts.top) ? (value / parts.top) * 100 : 0}%`;
  const total = Number.isFinite(parts.total) ? gpus(parts.total) : "unlimited";
  const say = [
    `${gpus(parts.mine)} this ${word}`,
    `${gpus(parts.others)} others`,
    parts.over > 0
      ? `${gpus(parts.over)} too many`
      : Number.isFinite(parts.free)
        ? `${gpus(parts.free)} unassigned`
        : "the rest unassigned",
  ].join(", ");
  return (
    <div class="division-of">
      <p class="small muted">
        {parts.what}: {total}
      </p>
      <svg class="division" width="100%" height="18" role="img" aria-label={`${pool}: ${say}`}>
        <rect width={x(parts.total)} height="18" rx="3" class="track" />
        <rect width={x(parts.others)} height="18" rx="3" class="others" />
        <rect x={x(parts.others)} width={x(parts.mine)} height="18" rx="3" class="mine" />
        {parts.over > 0 && (
          <rect x={x(parts.top - parts.over)} width={x(parts.over)} height="18" rx="3" class="too-much" />
        )}
      </svg>
      <p class={"small " + (parts.over > 0 ? "over-said" : "soft")}>
        {parts.over > 0 && (
          <>
            <Icon name="no" tone="bad" />{" "}
          </>
        )}
        {say}
      </p>
    </div>
  );
}
