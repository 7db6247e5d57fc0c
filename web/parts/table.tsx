// Tables: the server pages, sorts, searches and filters; what is chosen lives in the query string, so that a link shows
// what its sender saw. Keys: j and k walk through rows, Enter opens, x selects.
import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { allRows } from "../api";
import { type Amount, count } from "../format";
import { Icon } from "../icons";
import { keys } from "../keys";
import { hrefWith, route, setQuery } from "../router";
import type { AnyQuery } from "../types";
import { WORDS } from "../words";
import { Button } from "./button";
import { useFit } from "./table_columns";
import { Foot, SIZES } from "./table_foot";
import { type List, filterBy, useRows } from "./table_rows";
import { MOST_ROWS, Tools, readFilters } from "./table_tools";
import { Empty, Fault, Loading } from "./states";
import { toastError } from "./toast";

export { renewTables } from "./table_rows";

const CAP_LETTERS = 24;

/** Where rows come from. query: what is always asked; countPath: where there is no total in the answer. */
export interface Source {
  path: string;
  key: string | null;
  countPath?: string;
  query?: AnyQuery & { filterBy?: string[] };
  /** The operation answers with a bare list of all rows: they are sorted, filtered and paged here. */
  local?: boolean;
  /** The rows themselves, where the page has them already: nothing is asked. */
  given?: unknown[];
  /** The rows of such an answer, where it is no bare list. */
  rows?: (answer: unknown) => unknown[];
  /** How the operation calls the size of a page, if not limit. */
  limitAs?: string;
}
export interface Filter {
  field: string;
  values?: { value: string; label?: string }[];
  type?: "number" | "date";
  /** Several values may be asked for: a row has one of them. */
  many?: boolean;
  /** The operators that the operation knows, where it does not know all. */
  ops?: string[];
}
type CsvColumn<R> = [label: string, of: (row: R) => Amount];
/** A column; the first is the name. */
export interface Column<R> {
  id: string;
  label: string;
  /** What stands in the head, if not the label. */
  head?: (rows: R[]) => ComponentChildren;
  /** What stands in a cell, if not its text. */
  cell?: (row: R, rows: R[]) => ComponentChildren;
  text?: (row: R) => string;
  /** Its cell in a CSV file; or the columns that stand there for it, each once whatever it is named by. */
  csv?: ((row: R) => Amount) | CsvColumn<R>[];
  /** The API's word to sort by. */
  sort?: string;
  filter?: Filter;
  num?: boolean;
  /** It goes first where there is no room. */
  low?: boolean;
  /** It never goes. */
  keep?: boolean;
  /** A long name is cut. */
  cap?: boolean;
  /** It takes the room that is left. */
  wide?: boolean;
  /** Not shown unless chosen. */
  hidden?: boolean;
}
interface TableProps<R> {
  /** Of the table, for what is kept. */
  name: string;
  caption: string;
  source: Source;
  /** Of live changes. */
  kinds: string[];
  columns: Column<R>[];
  sort?: string;
  idOf?: (row: R) => string;
  hrefOf?: (row: R) => string;
  labelOf?: (row: R) => string;
  /** Hears of the rows that are shown. */
  onRows?: (rows: R[]) => void;
  /** The line under the name on a phone. */
  sub?: (row: R, rows: R[]) => ComponentChildren;
  /** Buttons for the selected rows. */
  bulk?: (rows: R[], clear: () => void) => ComponentChildren;
  /** What the buttons need of a row: with it all rows that match can be selected. */
  bulkFields?: string;
  rowKeys?: Record<string, { say: string; run: (row: R) => void }>;
  empty: ComponentChildren;
  /** In place of "nothing matches": what to say of these filters. */
  noneOf?: (filters: string[], search: string) => ComponentChildren;
  tools?: ComponentChildren;
  extra?: ComponentChildren;
  /** Where the server has the rows as a file of its own. */
  csvHref?: string;
  /** Under the table. */
  foot?: ComponentChildren;
  searchLabel?: string;
  /** A filter's field to search by where the operation has no search of its own. */
  searchBy?: string;
}

// What the address asks for: page, rows, sort, filters, search.
function questionOf<R>({ columns, sort: standard, searchBy }: TableProps<R>) {
  const { query } = route.value;
  const size = SIZES.includes(Number(query.rows)) ? Number(query.rows) : SIZES[0];
  const page = Math.max(1, Number(query.page) || 1);
  const filters = readFilters(query.f, columns);
  const known = columns.some(c => c.sort && c.sort === query.sort?.replace("-", "")); // old links name what is gone
  const sort = known ? query.sort : standard;
  const wanted = query.q ?? "",
    texts = filters.map(f => f.text);
  const asked = searchBy
    ? { filters: [...texts, ...(wanted ? [`${searchBy}=@${wanted.replaceAll(",", " ")}`] : [])], search: "" }
    : { filters: texts, search: wanted };
  return { query, size, page, filters, sort, wanted, asked };
}

// The chosen rows; a choice is over when other rows are asked for. all: every row that matches, once it is chosen.
function usePicked<R>(again: unknown[]) {
  const [picked, choose] = useState(new Set<string>());
  const [all, setAll] = useState<R[] | null>(null);
  const setPicked: typeof choose = next => {
    setAll(null);
    choose(next);
  };
  const pick = (id: string, on: boolean) =>
    setPicked(old => {
      const next = new Set(old);
      if (on) next.add(id);
      else next.delete(id);
      return next;
    });
  const clear = () => setPicked(new Set());
  useEffect(clear, again);
  return { picked, pick, clear, setPicked, all, setAll };
}

/** A table of the server's rows. */
export function Table<R extends { id?: string | number; name?: string }>(props: TableProps<R>) {
  const { name, caption, source, kinds, columns, bulk, rowKeys, empty, tools, extra, foot } = props;
  const idOf = props.idOf ?? (r => String(r.id));
  const { query, size, page, filters, sort, wanted, asked } = questionOf(props);
  const list = useRows<R>(source, { limit: size, offset: (page - 1) * size, sort, ...asked }, kinds, idOf);
  const [box, shown] = useFit(name, columns, list.url?.replace(/offset=\d+/, ""));
  const rows = list.rows ?? [];
  const body = useRef<HTMLTableSectionElement>(null);
  useEffect(() => list.rows && props.onRows?.(list.rows), [list.rows]);
  const choice = usePicked<R>([page, query.f, query.q]);
  const { picked, pick } = choice;
  const chosen = choice.all ?? rows.filter(r => picked.has(idOf(r)));
  useWalk<R>({ body, rows, idOf, pick: bulk && (row => pick(idOf(row), !picked.has(idOf(row)))), rowKeys });
  const bar = {
    name,
    columns,
    shown,
    filters,
    asked,
    search: wanted,
    source,
    sort,
    url: list.url,
    extra,
    csvHref: props.csvHref,
  };
  return (
    <>
      {chosen.length ? (
        <Picked key="picked" table={props} list={list} choice={choice} chosen={chosen} asked={asked} />
      ) : (
        <Tools key="tools" {...bar} searchLabel={props.searchLabel ?? "Name"}>
          {tools}
        </Tools>
      )}
      {list.error && !rows.length ? (
        <Fault error={list.error} retry={list.retry} what={caption} />
      ) : list.rows === undefined ? (
        <Loading rows={8} height={40} />
      ) : !rows.length ? (
        (props.noneOf?.(
          filters.map(f => f.text),
          wanted,
        ) ?? <NoRows filters={filters.length} search={wanted} empty={empty} />)
      ) : (
        <div key="rows" class="scroll" ref={box} tabindex={0} role="region" aria-label={`${caption}, scrolls sideways`}>
          <Rows table={props} list={list} rows={rows} shown={shown} sort={sort} body={body} choice={choice} />
        </div>
      )}
      {list.rows !== undefined && (rows.length > 0 || page > 1) && (
        <>
          <Foot key="foot" list={list} page={page} size={size} number={rows.length} />
          {foot}
        </>
      )}
    </>
  );
}

interface PickedProps<R> {
  table: TableProps<R>;
  list: List<R>;
  choice: ReturnType<typeof usePicked<R>>;
  chosen: R[];
  asked: { filters: string[]; search: string };
}

// In place of the tools: what can be done with the selected rows.
function Picked<R>({ table, list, choice, chosen, asked: { filters, search } }: PickedProps<R>) {
  const { source, bulk, bulkFields: fields } = table,
    { clear } = choice;
  const number = list.rows?.length ?? 0;
  const query = { ...source.query, fields, filterBy: filterBy(source, filters), search };
  const all = () => allRows<R>(source.path, source.key, query, MOST_ROWS).then(choice.setAll, toastError);
  return (
    <div class="bar tools picked" role="toolbar" aria-label="For the selected rows">
      <b class="strong">{count(chosen.length)} selected</b>
      {fields && chosen.length === number && Number(list.total) > number && (
        <Button small kind="quiet" onClick={all}>
          Select all {count(list.total)} that match
        </Button>
      )}
      {bulk?.(chosen, clear)}
      <span class="grow" />
      <Button small kind="quiet" icon="close" label="Select none" onClick={clear} />
    </div>
  );
}

function NoRows({ filters, search, empty }: { filters: number; search: string; empty: ComponentChildren }) {
  const narrowed = filters > 0 || search;
  const clear = () => setQuery({ f: null, q: null, page: null });
  return (
    <Empty
      action={
        narrowed ? (
          <Button small onClick={clear}>
            Clear
          </Button>
        ) : null
      }
    >
      {narrowed ? WORDS.emptyFilter(filters, search) : empty}
    </Empty>
  );
}

interface RowsProps<R> {
  table: TableProps<R>;
  list: List<R>;
  rows: R[];
  shown: Column<R>[];
  sort?: string;
  body: RefObject<HTMLTableSectionElement | null>;
  choice: ReturnType<typeof usePicked<R>>;
}

function Rows<R extends { id?: string | number; name?: string }>({
  table,
  list,
  rows,
  shown,
  sort,
  body,
  choice,
}: RowsProps<R>) {
  const { caption, columns, bulk, idOf = r => String(r.id), labelOf = r => r.name ?? "", hrefOf, sub } = table;
  const { picked, pick, setPicked } = choice;
  const by = sort ? `, sorted by ${columns.find(c => c.sort === sort.replace("-", ""))?.label ?? sort}` : "";
  return (
    <table class={list.stale ? "waiting" : undefined}>
      <caption class="sr">
        {caption}
        {by}
      </caption>
      <thead>
        <tr>
          {bulk && (
            <th class="pick">
              <input
                type="checkbox"
                aria-label="Select all on this page"
                checked={rows.every(r => picked.has(idOf(r)))}
                onChange={e => setPicked(new Set(e.currentTarget.checked ? rows.map(idOf) : []))}
              />
            </th>
          )}
          {shown.map((c, i) => (
            <Head key={c.id} column={c} first={i === 0} sort={sort} rows={rows} />
          ))}
        </tr>
      </thead>
      <tbody ref={body}>
        {rows.map(row => (
          <Row
            key={idOf(row)}
            row={row}
            columns={shown}
            id={idOf(row)}
            href={hrefOf?.(row)}
            label={labelOf(row)}
            rows={rows}
            sub={sub?.(row, rows)}
            open={route.value.query.open === String(idOf(row))}
            left={list.isAll && list.left?.has(idOf(row))}
            pickable={Boolean(bulk)}
            picked={picked.has(idOf(row))}
            pick={pick}
          />
        ))}
      </tbody>
    </table>
  );
}

const classOf = <R,>(column: Column<R>, first: boolean) =>
  [
    column.num && "num",
    !first && (column.keep ? "keep" : "opt"),
    column.cap && "cap",
    column.wide && "barcell",
    first && "first",
  ]
    .filter(Boolean)
    .join(" ") || undefined;

interface HeadProps<R> {
  column: Column<R>;
  first: boolean;
  sort?: string;
  rows: R[];
}

function Head<R>({ column, first, sort, rows }: HeadProps<R>) {
  if (!column.sort)
    return (
      <th scope="col" class={classOf(column, first)}>
        {column.head?.(rows) ?? column.label}
      </th>
    );
  const now = sort === column.sort ? "ascending" : sort === "-" + column.sort ? "descending" : undefined;
  const next = now === "ascending" ? "-" + column.sort : column.sort;
  return (
    <th scope="col" class={classOf(column, first)} aria-sort={now}>
      <button type="button" onClick={() => setQuery({ sort: next, page: null })}>
        {now && <Icon name={now === "ascending" ? "up" : "down"} />}
        {column.label}
      </button>
    </th>
  );
}

interface RowProps<R> {
  row: R;
  rows: R[];
  columns: Column<R>[];
  id: string;
  href?: string;
  label: string;
  sub?: ComponentChildren;
  open: boolean;
  left?: boolean;
  pickable: boolean;
  picked: boolean;
  pick: (id: string, on: boolean) => void;
}

// Cells that change while they are shown are tinted for a second.
function useTint<R>(columns: Column<R>[], texts: (string | undefined)[]) {
  const ref = useRef<HTMLTableRowElement>(null),
    before = useRef<Record<string, string | undefined>>({});
  useEffect(() => {
    const old = before.current;
    before.current = Object.fromEntries(columns.map((c, i) => [c.id, texts[i]]));
    const cells = [...ref.current!.children].slice(-columns.length);
    const changed = cells.filter((_, i) => columns[i].id in old && old[columns[i].id] !== texts[i]);
    if (!changed.length) return undefined;
    changed.forEach(cell => cell.classList.add("changed"));
    const timer = setTimeout(() => changed.forEach(cell => cell.classList.remove("changed")), 1000);
    return () => {
      clearTimeout(timer);
      changed.forEach(cell => cell.classList.remove("changed"));
    };
  }, [texts.join("\n")]);
  return ref;
}

function Row<R>(props: RowProps<R>) {
  const { row, rows, columns, id, href, label, sub, open, left, pickable, picked, pick } = props;
  const texts = columns.map(c => c.text?.(row));
  const ref = useTint(columns, texts);
  return (
    <tr ref={ref} data-row={id} aria-selected={open ? "true" : undefined} class={left ? "left" : undefined}>
      {pickable && (
        <td class="pick">
          <input
            type="checkbox"
            aria-label={`Select ${label}`}
            checked={picked}
            onChange={e => pick(id, e.currentTarget.checked)}
          />
        </td>
      )}
      {columns.map((column, i) => cellOf({ column, row, rows, first: i === 0, text: texts[i], href, sub }))}
    </tr>
  );
}

interface CellParts<R> {
  column: Column<R>;
  row: R;
  rows: R[];
  first: boolean;
  text?: string;
  href?: string;
  sub?: ComponentChildren;
}

// The first cell holds the row's link and the line under its name.
function cellOf<R>({ column, row, rows, first, text, href, sub }: CellParts<R>) {
  const content = (
    <>
      {column.cell ? column.cell(row, rows) : text}
      {first && sub && <span class="sub">{sub}</span>}
    </>
  );
  return (
    <td
      key={column.id}
      class={classOf(column, first)}
      data-tip={column.cap && (text?.length ?? 0) > CAP_LETTERS && !(first && href) ? text : undefined}
    >
      {first && href ? (
        <a class="w plain" href={href}>
          {content}
        </a>
      ) : (
        content
      )}
    </td>
  );
}

// j, k, x and the page's own row keys act on the row that has the focus, else on the open one, else on the first.
interface Walk<R> {
  body: RefObject<HTMLTableSectionElement | null>;
  rows: R[];
  idOf: (row: R) => string;
  pick?: (row: R) => void;
  rowKeys: TableProps<R>["rowKeys"];
}

function useWalk<R>({ body, rows, idOf, pick, rowKeys }: Walk<R>) {
  const state = useRef({ rows, pick, rowKeys });
  state.current = { rows, pick, rowKeys };
  useLayoutEffect(() => {
    const at = () => {
      const id = document.activeElement?.closest?.<HTMLElement>("[data-row]")?.dataset.row ?? route.peek().query.open;
      return state.current.rows.findIndex(r => String(idOf(r)) === id);
    };
    const walk = (step: number) => () => {
      const { rows: list } = state.current;
      const next = list[Math.max(0, Math.min(list.length - 1, at() + step))];
      if (!next || !body.current) return;
      if (route.peek().query.open) setQuery({ open: idOf(next) });
      const row = [...body.current.children].find(tr => (tr as HTMLElement).dataset.row === String(idOf(next)));
      (row?.querySelector("a") ?? row?.querySelector("input"))?.focus();
    };
    const own = Object.entries(state.current.rowKeys ?? {}).map(([key, { say, run }]) => [
      key,
      { say, run: () => run(state.current.rows[Math.max(0, at())]) },
    ]);
    return keys({
      j: { say: "Next row", run: walk(1) },
      k: { say: "Row before", run: walk(-1) },
      ...(state.current.pick
        ? {
            x: {
              say: "Select the row",
              run: () => state.current.rows[at()] && state.current.pick!(state.current.rows[at()]),
            },
          }
        : {}),
      ...Object.fromEntries(own),
    });
  }, []);
}

// The href that opens a row's pane, keeping filters and page.
export const openHref = (id: string) => hrefWith({ open: id, tab: null });
