// Tables: the server pages, sorts, searches and filters; what is chosen lives in the query string, so that a link shows
// what its sender saw. Keys: j and k walk through rows, Enter opens, x selects.
import { useEffect, useRef, useState } from "preact/hooks";
import { plural, count } from "../format";
import { Icon } from "../icons";
import { keys } from "../keys";
import { hrefWith, route, setQuery } from "../router";
import { WORDS } from "../words";
import { Button } from "./button";
import { useFit } from "./table_columns";
import { useRows } from "./table_rows";
import { Tools, readFilters } from "./table_tools";
import { Empty, Fault, Loading } from "./states";

export { renewTables } from "./table_rows";

const SIZES = [20, 50, 100],
  CAP_LETTERS = 24;

// name: of the table, for what is kept; source: {path, key, countPath, query}; kinds: of live changes.
// columns: [{id, label, head(rows), cell(row, rows), text(row), sort, filter, num, low, keep, cap, wide, hidden}], the first
// is the name: sort: the API's sortBy word; filter: {field, values?, op?, type?}; low: goes first where there is no room;
// keep: never goes; cap: a long name is cut; wide: takes the room that is left; hidden: by default.
// idOf(row), hrefOf(row), labelOf(row); sub(row, rows): the line under the name on a phone; foot: vnode under the table.
// searchBy: a filter field to search by where the operation has no search of its own.
// bulk(rows, clear) -> buttons for the selected rows; rowKeys: {key: {say, run(row)}}; empty: vnode; tools: vnode.
export function Table({
  name,
  caption,
  source,
  kinds,
  columns,
  sort: standard,
  idOf = r => r.id,
  hrefOf,
  labelOf = r => r.name,
  sub,
  bulk,
  rowKeys,
  empty,
  tools,
  extra,
  foot,
  searchLabel = "Name",
  searchBy,
}) {
  const { query } = route.value;
  const size = SIZES.includes(Number(query.rows)) ? Number(query.rows) : SIZES[0];
  const page = Math.max(1, Number(query.page) || 1);
  const filters = readFilters(query.f, columns);
  const sort = query.sort ?? standard;
  const wanted = query.q ?? "";
  const asked = searchBy
    ? {
        filters: [...filters.map(f => f.text), ...(wanted ? [`${searchBy}=@${wanted.replaceAll(",", " ")}`] : [])],
        search: "",
      }
    : { filters: filters.map(f => f.text), search: wanted };
  const list = useRows(source, { limit: size, offset: (page - 1) * size, sort, ...asked }, kinds, idOf);
  const [box, shown] = useFit(name, columns, list.url);
  const rows = list.rows ?? [];
  const [picked, setPicked] = useState(new Set());
  const chosen = rows.filter(r => picked.has(idOf(r)));
  const pick = (id, on) =>
    setPicked(old => {
      const next = new Set(old);
      if (on) next.add(id);
      else next.delete(id);
      return next;
    });
  const body = useRef(null);
  useWalk({ body, rows, idOf, hrefOf, pick: bulk && (row => pick(idOf(row), !picked.has(idOf(row)))), rowKeys });
  useEffect(() => setPicked(new Set()), [page, query.f, query.q]);
  const clear = () => setPicked(new Set());
  const narrowed = filters.length + (query.q ? 1 : 0);
  return (
    <>
      {chosen.length ? (
        <div key="picked" class="bar tools picked" role="toolbar" aria-label="For the selected rows">
          <b class="strong">{chosen.length} selected</b>
          {bulk(chosen, clear)}
          <span class="grow" />
          <Button small kind="quiet" icon="close" label="Select none" onClick={clear} />
        </div>
      ) : (
        <Tools
          key="tools"
          name={name}
          columns={columns}
          shown={shown}
          filters={filters}
          asked={asked}
          search={wanted}
          searchLabel={searchLabel}
          source={source}
          sort={sort}
          url={list.url}
          extra={extra}
        >
          {tools}
        </Tools>
      )}
      {list.error && !rows.length ? (
        <Fault error={list.error} retry={list.retry} what={caption} />
      ) : list.rows === undefined ? (
        <Loading rows={8} height={40} />
      ) : !rows.length ? (
        <Empty
          action={
            narrowed ? (
              <Button small onClick={() => setQuery({ f: null, q: null, page: null })}>
                Clear
              </Button>
            ) : null
          }
        >
          {narrowed ? WORDS.emptyFilter(filters.length, wanted) : empty}
        </Empty>
      ) : (
        <div key="rows" class="scroll" ref={box} tabindex={0} role="region" aria-label={`${caption}, scrolls sideways`}>
          <table class={list.stale ? "waiting" : undefined}>
            <caption class="sr">
              {caption}
              {sort ? `, sorted by ${columns.find(c => c.sort === sort.replace("-", ""))?.label ?? sort}` : ""}
            </caption>
            <thead>
              <tr>
                {bulk && (
                  <th class="pick">
                    <input
                      type="checkbox"
                      aria-label="Select all on this page"
                      checked={chosen.length === rows.length}
                      onChange={e => setPicked(new Set(e.target.checked ? rows.map(idOf) : []))}
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
                  open={query.open === String(idOf(row))}
                  left={list.left?.has(idOf(row))}
                  pickable={Boolean(bulk)}
                  picked={picked.has(idOf(row))}
                  pick={pick}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {list.rows !== undefined && (
        <>
          <Foot key="foot" list={list} page={page} size={size} number={rows.length} />
          {foot}
        </>
      )}
    </>
  );
}

const classOf = (column, first) =>
  [
    column.num && "num",
    !first && (column.keep ? "keep" : "opt"),
    column.cap && "cap",
    column.wide && "barcell",
    first && "first",
  ]
    .filter(Boolean)
    .join(" ") || null;

function Head({ column, first, sort, rows }) {
  if (!column.sort)
    return (
      <th scope="col" class={classOf(column, first)}>
        {column.head?.(rows) ?? column.label}
      </th>
    );
  const now = sort === column.sort ? "ascending" : sort === "-" + column.sort ? "descending" : null;
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

function Row({ row, rows, columns, id, href, label, sub, open, left, pickable, picked, pick }) {
  return (
    <tr data-row={id} aria-selected={open ? "true" : undefined} class={left ? "left" : undefined}>
      {pickable && (
        <td class="pick">
          <input
            type="checkbox"
            aria-label={`Select ${label}`}
            checked={picked}
            onChange={e => pick(id, e.target.checked)}
          />
        </td>
      )}
      {columns.map((c, i) => (
        <Cell
          key={c.id}
          column={c}
          row={row}
          rows={rows}
          first={i === 0}
          text={c.text?.(row)}
          href={i === 0 ? href : null}
          sub={i === 0 ? sub : null}
        />
      ))}
    </tr>
  );
}

// A cell that changes while it is shown is tinted for a second.
function Cell({ column, row, rows, first, text, href, sub }) {
  const ref = useRef(null);
  const before = useRef(text);
  useEffect(() => {
    if (before.current === text) return undefined;
    before.current = text;
    const cell = ref.current;
    cell.classList.add("changed");
    const timer = setTimeout(() => cell.classList.remove("changed"), 1000);
    return () => clearTimeout(timer);
  }, [text]);
  const content = column.cell ? column.cell(row, rows) : text;
  if (!href)
    return (
      <td
        ref={ref}
        class={classOf(column, first)}
        data-tip={column.cap && text?.length > CAP_LETTERS ? text : undefined}
      >
        {content}
        {sub && <span class="sub">{sub}</span>}
      </td>
    );
  return (
    <td ref={ref} class="first">
      <a class="w plain" href={href}>
        {content}
        {sub && <span class="sub">{sub}</span>}
      </a>
    </td>
  );
}

function Foot({ list, page, size, number }) {
  const first = (page - 1) * size + 1;
  const gone = list.left?.size ?? 0;
  const news = [list.news ? plural(list.news, "new row") : "", gone ? `${gone} gone or moved` : ""]
    .filter(Boolean)
    .join(", ");
  const last = list.total !== undefined && first + size > list.total;
  return (
    <div class="table-foot">
      <span>{number > gone ? `${count(first)}–${count(first + number - gone - 1)} of ${count(list.total)}` : ""}</span>
      <span class="news" role="status">
        {news && (
          <>
            {news} ·{" "}
            <button type="button" class="link" onClick={list.show}>
              Show
            </button>
          </>
        )}
      </span>
      <span class="grow" />
      {list.error && number > 0 && (
        <span class="st bad" data-tip={list.error.message}>
          <Icon name="x" />
          Not refreshed
        </span>
      )}
      <label class="rows">
        Rows{" "}
        <select value={size} onChange={e => setQuery({ rows: e.target.value, page: null })}>
          {SIZES.map(s => (
            <option key={s} value={s}>
              {s}
            </option>
          ))}
        </select>
      </label>
      <Button
        small
        why={page === 1 ? "This is the first page." : ""}
        onClick={() => setQuery({ page: page > 2 ? page - 1 : null })}
      >
        Back
      </Button>
      <Button small why={last ? "This is the last page." : ""} onClick={() => setQuery({ page: page + 1 })}>
        Next
      </Button>
    </div>
  );
}

// j, k, x and the page's own row keys act on the row that has the focus, else on the open one, else on the first.
function useWalk({ body, rows, idOf, pick, rowKeys }) {
  const state = useRef({});
  state.current = { rows, pick, rowKeys };
  useEffect(() => {
    const at = () => {
      const id = document.activeElement?.closest?.("[data-row]")?.dataset.row ?? route.peek().query.open;
      return state.current.rows.findIndex(r => String(idOf(r)) === id);
    };
    const walk = step => () => {
      const { rows: list } = state.current;
      const next = list[Math.max(0, Math.min(list.length - 1, at() + step))];
      if (!next || !body.current) return;
      if (route.peek().query.open) setQuery({ open: idOf(next) });
      const row = [...body.current.children].find(tr => tr.dataset.row === String(idOf(next)));
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
              run: () => state.current.rows[at()] && state.current.pick(state.current.rows[at()]),
            },
          }
        : {}),
      ...Object.fromEntries(own),
    });
  }, []);
}

// The href that opens a row's pane, keeping filters and page.
export const openHref = id => hrefWith({ open: id, tab: null });
