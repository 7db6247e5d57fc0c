// The bar above a table: search, filter chips, filter, columns, CSV and the call behind the table.
import { useEffect, useRef, useState } from "preact/hooks";
import { getAll } from "../api";
import { csvCell } from "../format";
import { Icon } from "../icons";
import { setQuery } from "../router";
import { Button } from "./button";
import { Menu, Popover } from "./menu";
import { Columns } from "./table_columns";
import { toast, toastError } from "./toast";

const CSV_ROWS = 20000;
const OPERATORS = { "==": "is", "!=": "is not", "=@": "contains", ">=": "at least", "<=": "at most" };
const FORM = /^(\w+)(==|!=|=@|>=|<=|!@|=\^|=\$)(.+)$/;

// "phase==Pending,name=@x" -> [{text, column, op, value}]; what names no filterable column is left out.
export function readFilters(text, columns) {
  const filters = [];
  for (const part of (text ?? "").split(/,(?=\w+(?:[=!<>]=|=@|!@|=\^|=\$))/)) {
    const [, field, op, value] = FORM.exec(part) ?? [];
    const column = field && columns.find(c => c.filter?.field === field);
    if (column) filters.push({ text: part, column, op, value });
  }
  return filters;
}
const write = filters => setQuery({ f: filters.map(f => f.text).join(","), page: null });

export function Tools({
  name,
  columns,
  shown,
  filters,
  asked,
  search,
  searchLabel,
  source,
  sort,
  url,
  extra,
  children,
}) {
  return (
    <div class="bar tools" role="search" aria-label="Filter the table">
      <SearchBox value={search} label={searchLabel} />
      {filters.map(f => (
        <Chip key={f.text} filter={f} drop={() => write(filters.filter(o => o !== f))} />
      ))}
      {columns.some(c => c.filter) && <AddFilter columns={columns} filters={filters} />}
      {children}
      <span class="grow" />
      {extra}
      <Columns name={name} columns={columns} />
      <Menu
        small
        kind="quiet"
        icon="more"
        align="right"
        label="More for this table"
        items={[
          { label: "Download as CSV", icon: "save", onClick: () => download(name, shown, source, sort, asked) },
          { label: "Copy the call as curl", icon: "copy", onClick: () => copyCall(url) },
        ]}
      />
    </div>
  );
}

function SearchBox({ value, label }) {
  const timer = useRef(0);
  const box = useRef(null);
  useEffect(() => {
    if (document.activeElement !== box.current) box.current.value = value;
  }, [value]);
  const input = event => {
    clearTimeout(timer.current);
    timer.current = setTimeout(q => setQuery({ q, page: null }), 250, event.target.value.trim());
  };
  return (
    <label class="find">
      <Icon name="find" />
      <input ref={box} type="search" aria-label={`Search: ${label}`} placeholder={label} onInput={input} />
    </label>
  );
}

function Chip({ filter: { column, op, value }, drop }) {
  const word = column.filter.values?.find(v => v.value === value)?.label ?? value;
  return (
    <span class="chip">
      {column.label}
      {op === "==" ? ":" : ` ${OPERATORS[op] ?? op}`} {word}
      <button type="button" aria-label={`Remove filter ${column.label}`} onClick={drop}>
        <Icon name="close" />
      </button>
    </span>
  );
}

function operators(filter) {
  if (filter.values) return ["==", "!="];
  if (filter.type === "number" || filter.type === "date") return [">=", "<="];
  return ["=@", "==", "!="];
}

function AddFilter({ columns, filters }) {
  const open = columns.filter(c => c.filter && !filters.some(f => f.column.id === c.id));
  if (!open.length) return null;
  return (
    <Popover small kind="quiet" icon="filter" text={<span class="hide-s">Filter</span>} label="Add a filter">
      {close => <FilterForm columns={open} add={f => (close(), write([...filters, f]))} />}
    </Popover>
  );
}

function FilterForm({ columns, add }) {
  const [id, setId] = useState(columns[0].id);
  const column = columns.find(c => c.id === id) ?? columns[0];
  const { filter } = column;
  const submit = event => {
    event.preventDefault();
    const fields = new FormData(event.target);
    const raw = fields.get("value").trim();
    const value = filter.type === "date" ? new Date(raw).toISOString() : raw;
    if (raw) add({ text: filter.field + fields.get("op") + value });
  };
  return (
    <form class="filter-form" onSubmit={submit}>
      <div class="f">
        <label for="filter-col">Column</label>
        <select class="in" id="filter-col" value={id} onChange={e => setId(e.target.value)}>
          {columns.map(c => (
            <option key={c.id} value={c.id}>
              {c.label}
            </option>
          ))}
        </select>
      </div>
      <div class="f">
        <label for="filter-op">Condition</label>
        <select class="in" id="filter-op" name="op" key={id}>
          {operators(filter).map(o => (
            <option key={o} value={o}>
              {OPERATORS[o]}
            </option>
          ))}
        </select>
      </div>
      <div class="f">
        <label for="filter-value">Value</label>
        {filter.values ? (
          <select class="in" id="filter-value" name="value" key={id}>
            {filter.values.map(v => (
              <option key={v.value} value={v.value}>
                {v.label ?? v.value}
              </option>
            ))}
          </select>
        ) : (
          <input
            class="in"
            id="filter-value"
            name="value"
            key={id}
            type={{ number: "number", date: "datetime-local" }[filter.type] ?? "text"}
            step="any"
            required
            autocomplete="off"
          />
        )}
      </div>
      <Button type="submit" kind="primary" small>
        Add filter
      </Button>
    </form>
  );
}

// All rows under the present filter, the shown columns, in the table's order.
async function download(name, columns, source, sort, { filters, search }) {
  try {
    const query = {
      ...source.query,
      sortBy: sort?.replace("-", ""),
      sortOrder: sort?.startsWith("-") ? "desc" : undefined,
      filterBy: [...filters, ...(source.query?.filterBy ?? [])],
      search,
    };
    const rows = await getAll(source.path, source.key, query, { most: CSV_ROWS });
    const lines = [
      columns.map(c => csvCell(c.label)),
      ...rows.map(r => columns.map(c => csvCell(c.csv ? c.csv(r) : c.text?.(r)))),
    ].map(cells => cells.join(","));
    saveText(`${name}.csv`, "text/csv", lines.join("\r\n") + "\r\n");
  } catch (error) {
    toastError(error);
  }
}

export function saveText(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = Object.assign(document.createElement("a"), { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

async function copyCall(url) {
  try {
    await navigator.clipboard.writeText(`curl -H "Authorization: Bearer $TOKEN" '${location.origin}${url}'`);
    toast("The call is copied.");
  } catch {
    toast("The browser doesn't allow copying here.", { tone: "bad" });
  }
}
