// Filters of every day above the table of workloads, each with the number of rows that it would show.
import { useRef } from "preact/hooks";
import { get } from "../api";
import { useData } from "../data";
import { count } from "../format";
import type { Column } from "../parts/table";
import { readFilters } from "../parts/table_tools";
import { hrefWith, route } from "../router";
import { scope, scopeFilter, session } from "../session";
import type { Workload } from "../types";

const LISTS = "/api/v1/workloads/";

/** A tab is a link that sets its filter, or takes it back; filters of other columns stay. */
export function QuickTabs({ columns }: { columns: Column<Workload>[] }) {
  const { f, q } = route.value.query,
    filters = readFilters(f, columns),
    at = scope.value;
  const others = (field: string) => filters.filter(o => o.column.filter?.field !== field).map(o => o.text);
  const tabs = [
    ["Mine", "submittedBy", session.value.who?.name ?? ""],
    ...["Running", "Pending", "Failed"].map(phase => [phase, "phase", phase]),
  ].map(([label, field, value]) => ({ label, text: `${field}==${value}`, rest: others(field) }));
  const place = at?.projectId ? { projectId: at.projectId } : at ? { departmentId: at.departmentId } : {};
  const numbers = useData(
    `quick/${JSON.stringify([tabs, q, at])}`,
    abort =>
      Promise.all([
        ...tabs.map(({ text, rest }) =>
          get(
            `${LISTS}count`,
            { filterBy: [text, ...rest, ...scopeFilter("workloads")], search: q },
            { signal: abort },
          ),
        ),
        get(`${LISTS}idle`, { ...place, limit: 1 }, { signal: abort }).then(({ total }) => total),
      ]),
    ["workload"],
  );
  const known = useRef(numbers.data); // other filters: the old numbers stay until theirs are there
  known.current = numbers.data ?? known.current;
  const number = (i: number) => <b>{count(known.current?.[i]?.count)}</b>;
  return (
    <nav class={"tabs quick" + (known.current || numbers.error ? "" : " waits")} aria-label="Quick filters">
      {tabs.map(({ label, text, rest }, i) => {
        const on = filters.some(o => o.text === text);
        return (
          <a
            key={label}
            href={hrefWith({ f: (on ? rest : [...rest, text]).join(","), page: null })}
            aria-current={on ? "true" : undefined}
          >
            {label} {number(i)}
          </a>
        );
      })}
      <a href="/idle">Idle {number(tabs.length)}</a>
      <a href="/workloads/deleted">Deleted</a>
    </nav>
  );
}
