// Who did what, when, and what did it change?
import { useMemo, useState } from "preact/hooks";
import { queryString } from "../api";
import { now } from "../clock";
import { NONE, clock, day, iso, time } from "../format";
import { Icon } from "../icons";
import { Button, Seg } from "../parts/button";
import { Page } from "../parts/page";
import { Facts, Pane, Split } from "../parts/pane";
import { Empty, Loading } from "../parts/states";
import { Status } from "../parts/status";
import { type Column, Table, openHref, renewTables } from "../parts/table";
import { route, setQuery } from "../router";
import type { AuditLog } from "../types";
import type { Look } from "../words";

const PATH = "/api/v1/audit/log",
  DAY_MS = 86400000;
const DAYS = [
  { value: 1, label: "24 h" },
  { value: 7, label: "7 d" },
  { value: 30, label: "30 d" },
  { value: 90, label: "90 d" },
];
const ACTIONS: Record<string, string> = {
  create: "Create",
  update: "Update",
  delete: "Delete",
  read: "Read",
  "sign-in": "Sign in",
  "sign-out": "Sign out",
  "reset-password": "Reset password",
};
const RESULTS: Record<string, Look> = {
  Succeeded: { icon: "check", tone: "ok" },
  Failed: { icon: "x", tone: "bad" },
};
const options = (words: string[]) => words.map(value => ({ value, label: ACTIONS[value] ?? value }));
const action = (r: AuditLog) => ACTIONS[r.action] ?? r.action;
const entity = (r: AuditLog) => [r.entity_type, r.entity_name || r.entity_id].filter(Boolean).join(" ") || NONE;
const Result = ({ of }: { of: AuditLog }) => <Status phase={of.result} states={RESULTS} />;
const at = (r: AuditLog) => `${day(r.timestamp)} ${clock(r.timestamp, true)}`;

const COLUMNS: Column<AuditLog>[] = [
  {
    id: "time",
    label: "Time",
    sort: "timestamp",
    text: at,
    cell: r => (
      <>
        <Icon name="clock" />
        <time data-tip={iso(r.timestamp)}>{at(r)}</time>
      </>
    ),
  },
  {
    id: "subject",
    label: "Who",
    sort: "subject",
    cap: true,
    filter: { field: "subject" },
    text: r => r.subject || NONE,
  },
  {
    id: "action",
    label: "Event",
    sort: "action",
    filter: { field: "action", values: options(Object.keys(ACTIONS)) },
    text: action,
  },
  {
    id: "type",
    label: "Entity",
    sort: "entity_type",
    filter: { field: "entity_type" },
    text: r => r.entity_type || NONE,
  },
  {
    id: "name",
    label: "Name",
    sort: "entity_name",
    cap: true,
    filter: { field: "entity_name" },
    text: r => r.entity_name || r.entity_id || NONE,
  },
  {
    id: "result",
    label: "Result",
    keep: true,
    sort: "result",
    filter: { field: "result", values: options(["Succeeded", "Failed"]) },
    text: r => r.result,
    cell: r => <Result of={r} />,
  },
  {
    id: "address",
    label: "Address",
    low: true,
    sort: "source_ip",
    filter: { field: "source_ip" },
    text: r => r.source_ip || NONE,
  },
  {
    id: "url",
    label: "Path",
    low: true,
    cap: true,
    hidden: true,
    sort: "url",
    filter: { field: "url" },
    text: r => `${r.http_method ?? ""} ${r.url ?? ""}`.trim() || NONE,
  },
  { id: "kind", label: "Type of subject", hidden: true, sort: "subject_type", text: r => r.subject_type },
];

// The period ends tomorrow, so that it holds what comes while the page is open.
function usePeriod() {
  const chosen = Number(route.value.query.days);
  const days = DAYS.some(d => d.value === chosen) ? chosen : 7;
  const period = useMemo(() => {
    const today = Math.floor(now() / 60000) * 60000;
    return { start: new Date(today - days * DAY_MS).toISOString(), end: new Date(today + DAY_MS).toISOString() };
  }, [days]);
  return { days, period };
}

/** Records of what was done, newest first. */
export default function Audit() {
  const { open: id, f } = route.value.query;
  const { days, period } = usePeriod();
  const [rows, setRows] = useState<AuditLog[] | null>(null);
  const filters = f?.split(",") ?? [];
  return (
    <Page
      title="Audit"
      action={null}
      tools={
        <Seg
          label="How far back"
          options={DAYS}
          value={days}
          onChange={d => setQuery({ days: d, page: null, open: null })}
        />
      }
    >
      <Split
        label="Audit"
        pane={id && <Details key={id} id={id} record={rows && (rows.find(r => r.id === id) ?? "gone")} />}
      >
        <Table
          name="audit"
          caption="Audit records"
          source={{ path: PATH, key: "audit_logs", query: period, limitAs: "numberOfSamples" }}
          kinds={[]}
          columns={COLUMNS}
          sort="-timestamp"
          searchLabel="Who"
          searchBy="subject"
          hrefOf={r => openHref(r.id ?? "")}
          labelOf={r => `${r.subject}, ${action(r)}`}
          onRows={setRows}
          sub={r => `${r.subject}: ${action(r).toLowerCase()} ${entity(r)}`}
          extra={<Button small kind="quiet" icon="refresh" label="Look again" onClick={renewTables} />}
          csvHref={`${PATH}/file${queryString({ ...period, file_type: "CSV", filterBy: filters })}`}
          empty="Nothing was done in this time that you may see."
        />
      </Split>
    </Page>
  );
}

function Details({ id, record: r }: { id: string; record: AuditLog | "gone" | null }) {
  if (r === null || r === "gone")
    return (
      <Pane id={id} title="Audit record">
        {r ? <Empty>It is not among the rows that are shown.</Empty> : <Loading rows={6} />}
      </Pane>
    );
  const more = Object.entries(r.metadata ?? {});
  return (
    <Pane
      id={id}
      title={`${action(r)} ${r.entity_type ?? ""}`}
      status={<Status phase={r.result} states={RESULTS} pill />}
      line={`${r.subject || "Nobody known"}, ${at(r)}${(r.count ?? 1) > 1 ? `, ${r.count} times alike` : ""}`}
    >
      {!!r.changes?.length && <Changes changes={r.changes} />}
      <section>
        <h3>Facts</h3>
        <Facts
          rows={[
            ["Who", `${r.subject || NONE} (${r.subject_type === "App" ? "program" : "person"})`],
            ["Time", <time data-tip={iso(r.timestamp)}>{at(r)}</time>],
            r.last_timestamp && r.last_timestamp !== r.timestamp && ["Last alike", time(r.last_timestamp, now())],
            ["Address", r.source_ip || NONE],
            ["Entity", entity(r)],
            r.entity_id && ["Entity id", <span class="mono">{r.entity_id}</span>],
            ["Request", <span class="mono">{`${r.http_method ?? ""} ${r.url ?? ""}`}</span>],
            ["Status code", r.http_status_code ?? NONE],
            r.cluster_name && ["Cluster", r.cluster_name],
            ...more.map(([name, value]): [string, string] => [name.replaceAll("_", " "), value]),
            ["Id", <span class="mono">{r.id}</span>],
          ]}
        />
      </section>
    </Pane>
  );
}

const shown = (value: unknown) =>
  value === undefined || value === null ? NONE : typeof value === "string" ? value : JSON.stringify(value);

/** Field by field, what was and what is. */
function Changes({ changes }: { changes: NonNullable<AuditLog["changes"]> }) {
  return (
    <section>
      <h3>What changed</h3>
      <ul class="changes">
        {changes.map(c => (
          <li key={c.field}>
            <b class="mono">{c.field}</b>
            {c.before !== undefined && c.before !== null && (
              <del>
                <span class="sr">before: </span>
                {shown(c.before)}
              </del>
            )}
            <ins>
              <span class="sr">after: </span>
              {shown(c.after)}
            </ins>
          </li>
        ))}
      </ul>
    </section>
  );
}
