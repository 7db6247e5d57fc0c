// The bar above a table: search, filter chips, filter, columns, CSV and the call behind the table.
import type { ComponentChildren, TargetedEvent, TargetedInputEvent } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { allRows, getList } from "../api";
import { useOverview } from "../data";
import { type Amount, csvCell } from "../format";
import { Icon } from "../icons";
import { setQuery } from "../router";
import { Button } from "./button";
import { Menu, Popover } from "./menu";
import type { Column, Filter, Source } from "./table";
import { Columns } from "./table_columns";
import { localRows } from "./local_rows";
import { filterBy } from "./table_rows";
import { toast, toastError } from "./toast";

export const MOST_ROWS = 20000;
const OPERATORS: Record<string, string> = {
  "==": "is",
  "!=": "is not",
  "=@": "contains",
  ">=": "at least",
  "<=": "at most",
};
const FORM = /^(\w+)(==|!=|=@|>=|<=|!@|=\^|=\$)(.+)$/;

/** A filter in use; several values of one field are one. */
export interface Chosen<R> {
  text: string;
  column: Column<R>;
  op: string;
  values: string[];
}

// "phase==Pending,name=@x" -> [{text, column, op, values}]; what names no filterable column is left out.
export function readFilters<R>(text: string | undefined, columns: Column<R>[]) {
  const filters: Chosen<R>[] = [];
  for (const part of (text ?? "").split(/,(?=\w+(?:[=!<>]=|=@|!@|=\^|=\$))/)) {
    const [, field, op, value] = FORM.exec(part) ?? [];
    const column = field && columns.find(c => c.filter?.field === field);
    const same = filters.find(o => o.column === column && o.op === op);
    if (same && /^[=!]=$/.test(op)) {
      same.text += "," + part;
      same.values.push(value);
    } else if (column) filters.push({ text: part, column, op, values: [value] });
  }
  return filters;
}
const write = (filters: { text: string }[]) => setQuery({ f: filters.map(f => f.text).join(","), page: null });

interface ToolsProps<R> {
  name: string;
  columns: Column<R>[];
  shown: Column<R>[];
  filters: Chosen<R>[];
  asked: Asked;
  search: string;
  searchLabel: string;
  source: Source;
  sort?: string;
  url?: string;
  extra?: ComponentChildren;
  csvHref?: string;
  children?: ComponentChildren;
}
type Asked = { filters: string[]; search: string };

export function Tools<R>(props: ToolsProps<R>) {
  const { name, columns, shown, filters, asked, search, searchLabel, source, sort, url, extra, csvHref, children } =
    props;
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
          csvHref
            ? { label: "Download as CSV", icon: "save", href: csvHref }
            : { label: "Download as CSV", icon: "save", onClick: () => download(name, shown, source, sort, asked) },
          { label: "Copy the call as curl", icon: "copy", onClick: () => copyCall(url) },
        ]}
      />
    </div>
  );
}

export function SearchBox({ value, label }: { value: string; label: string }) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (document.activeElement !== box.current) box.current!.value = value;
  }, [value]);
  const input = (event: TargetedInputEvent<HTMLInputElement>) => {
    clearTimeout(timer.current);
    timer.current = setTimeout((q: string) => setQuery({ q, page: null }), 250, event.currentTarget.value.trim());
  };
  return (
    <label class="find">
      <Icon name="find" />
      <input ref={box} type="search" aria-label={`Search: ${label}`} placeholder={label} onInput={input} />
    </label>
  );
}

function Chip<R>({ filter: { column, op, values }, drop }: { filter: Chosen<R>; drop: () => void }) {
  const words = values.map(value => column.filter?.values?.find(v => v.value === value)?.label ?? value);
  return (
    <span class="chip">
      {column.label}
      {op === "==" ? ":" : ` ${OPERATORS[op] ?? op}`} {words.join(", ")}
      <button type="button" aria-label={`Remove filter ${column.label}`} onClick={drop}>
        <Icon name="close" />
      </button>
    </span>
  );
}

function operators(filter: Filter) {
  if (filter.ops) return filter.ops;
  if (filter.values) return ["==", "!="];
  if (filter.type === "number" || filter.type === "date") return [">=", "<="];
  return ["=@", "==", "!="];
}

function AddFilter<R>({ columns, filters }: { columns: Column<R>[]; filters: Chosen<R>[] }) {
  const open = columns.filter(c => c.filter && !filters.some(f => f.column.id === c.id));
  if (!open.length) return null;
  return (
    <Popover small kind="quiet" icon="filter" text={<span class="hide-s">Filter</span>} label="Add a filter">
      {close => <FilterForm columns={open} add={f => (close(), write([...filters, f]))} />}
    </Popover>
  );
}

const INPUTS = { number: "number", date: "datetime-local" } as const;

// Fields of which every name is known: what is typed is offered from these.
type Named = "projects" | "departments" | "pools";
const NAMES: Record<string, Named> = {
  projectName: "projects",
  departmentName: "departments",
  parentName: "departments",
  department: "departments",
  nodepool: "pools",
  nodePool: "pools",
};

function Names({ of }: { of: Named }) {
  const { data } = useOverview();
  const projects = data?.projects ?? [];
  const names = {
    projects: projects.map(p => p.name),
    departments: [...new Set(projects.map(p => p.departmentName))],
    pools: (data?.nodePools ?? []).map(p => p.name),
  }[of];
  return (
    <datalist id="filter-names">
      {names.map(name => (
        <option key={name} value={name} />
      ))}
    </datalist>
  );
}

function Value({ filter }: { filter: Filter }) {
  const names = NAMES[filter.field];
  return filter.values && filter.many ? (
    <div class="checks" role="group" aria-label="Values">
      {filter.values.map(v => (
        <label key={v.value}>
          <input type="checkbox" name="value" value={v.value} /> {v.label ?? v.value}
        </label>
      ))}
    </div>
  ) : filter.values ? (
    <select class="in" id="filter-value" name="value">
      {filter.values.map(v => (
        <option key={v.value} value={v.value}>
          {v.label ?? v.value}
        </option>
      ))}
    </select>
  ) : (
    <>
      <input
        class="in"
        id="filter-value"
        name="value"
        placeholder={filter.many ? "One, or several with commas" : undefined}
        type={(filter.type ? INPUTS[filter.type] : "text") as "text"}
        step="any"
        required
        autocomplete="off"
        list={names && "filter-names"}
      />
      {names && <Names of={names} />}
    </>
  );
}

function FilterForm<R>({ columns, add }: { columns: Column<R>[]; add: (filter: { text: string }) => void }) {
  const [id, setId] = useState(columns[0].id);
  const column = columns.find(c => c.id === id) ?? columns[0];
  const filter = column.filter!;
  const submit = (event: TargetedEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const op = String(fields.get("op"));
    const raw = fields.getAll("value").map(String);
    const values = (filter.many && op !== "=@" ? raw.flatMap(v => v.split(",")) : raw)
      .map(v => v.trim())
      .filter(Boolean);
    const said = (value: string) =>
      filter.field + op + (filter.type === "date" ? new Date(value).toISOString() : value);
    if (values.length) add({ text: values.map(said).join(",") });
  };
  return (
    <form class="filter-form" onSubmit={submit}>
      <div class="f">
        <label for="filter-col">Column</label>
        <select class="in" id="filter-col" value={id} onChange={e => setId(e.currentTarget.value)}>
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
        <label for={filter.values && filter.many ? undefined : "filter-value"}>Value</label>
        <Value key={id} filter={filter} />
      </div>
      <Button type="submit" kind="primary" small>
        Add filter
      </Button>
    </form>
  );
}

const csvColumns = <R,>({ label, csv, text }: Column<R>): [string, (row: R) => Amount][] =>
  Array.isArray(csv) ? csv : [[label, csv ?? (row => text?.(row))]];

// All rows under the present filter, the shown columns, in the table's order.
async function download<R>(
  name: string,
  columns: Column<R>[],
  source: Source,
  sort: string | undefined,
  { filters, search }: Asked,
) {
  try {
    const query = {
      ...source.query,
      sortBy: sort?.replace("-", ""),
      sortOrder: sort?.startsWith("-") ? "desc" : undefined,
      filterBy: filterBy(source, filters),
      search,
    };
    const all = source.local && (await getList(source.path, source.query ?? {}));
    const rows = source.local
      ? localRows((source.rows?.(all) ?? all) as R[], { sort, filters, search })
      : await allRows<R>(source.path, source.key, query, MOST_ROWS);
    const named = new Map(columns.flatMap(csvColumns)); // a label stands once
    const lines = [[...named.keys()], ...rows.map(r => [...named.values()].map(of => of(r)))].map(cells =>
      cells.map(csvCell).join(","),
    );
    saveText(`${name}.csv`, "text/csv", lines.join("\r\n") + "\r\n");
  } catch (error) {
    toastError(error);
  }
}

export function saveText(name: string, type: string, text: string) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = Object.assign(document.createElement("a"), { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

async function copyCall(url?: string) {
  try {
    await navigator.clipboard.writeText(`curl -H "Authorization: Bearer $TOKEN" '${location.origin}${url}'`);
    toast("The call is copied.");
  } catch {
    toast("The browser doesn't allow copying here.", { tone: "bad" });
  }
}
