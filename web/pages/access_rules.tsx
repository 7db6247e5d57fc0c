// Who has which role, and where?
import { del, get } from "../api";
import { now } from "../clock";
import { useData } from "../data";
import { plural, time } from "../format";
import { Icon } from "../icons";
import { Button } from "../parts/button";
import { confirm } from "../parts/dialog";
import { Page, Primary } from "../parts/page";
import { Facts, Pane, Split, closePane } from "../parts/pane";
import { Fault, Loading } from "../parts/states";
import { State } from "../parts/status";
import { type Column, Table, openHref, renewTables } from "../parts/table";
import { toast, toastError } from "../parts/toast";
import { When, whenColumn } from "../parts/when";
import { hrefWith, route, setQuery } from "../router";
import { may, missing } from "../session";
import type { AccessRule } from "../types";
import { WORDS } from "../words";
import { NewRule } from "./new_rule";
import { dropRule } from "./rules_of";
import { scopeWords } from "../parts/place_words";
import { type Names, SUBJECTS, useNames } from "./subjects";

const PATH = "/api/v1/authorization/access-rules",
  KINDS = ["access"];
const kindOf = (r: AccessRule) => SUBJECTS[r.subjectType];
const values = (words: Record<string, string>) => Object.entries(words).map(([value, label]) => ({ value, label }));

const subjectOf = (nameOf: Names): Column<AccessRule> => ({
  id: "subject",
  label: "Subject",
  sort: "subjectId",
  filter: { field: "subjectId" },
  text: nameOf,
  cell: r => (
    <>
      <Icon name={kindOf(r).icon} />
      <span>{nameOf(r)}</span>
    </>
  ),
});

const OTHERS: Column<AccessRule>[] = [
  {
    id: "type",
    label: "Type",
    sort: "subjectType",
    low: true,
    text: r => kindOf(r).word,
    filter: {
      field: "subjectType",
      values: values({ user: "User", "service-account": "Service account", group: "Group" }),
    },
  },
  { id: "role", label: "Role", sort: "roleName", cap: true, filter: { field: "roleName" }, text: r => r.roleName },
  {
    id: "scope",
    label: "Scope",
    sort: "scopeName",
    cap: true,
    filter: { field: "scopeName" },
    text: scopeWords,
  },
  {
    id: "scope-type",
    label: "Kind of scope",
    sort: "scopeType",
    hidden: true,
    text: r => r.scopeType,
    filter: {
      field: "scopeType",
      values: values({ tenant: "Everywhere", cluster: "Cluster", department: "Department", project: "Project" }),
    },
  },
  {
    id: "status",
    label: "Status",
    keep: true,
    sort: "phase",
    text: r => r.status?.phase ?? "Unknown",
    cell: r => <State phase={r.status?.phase ?? "Unknown"} message={r.status?.message} />,
  },
  {
    id: "ends",
    label: "Ends",
    num: true,
    low: true,
    text: r => (r.expiresAt ? time(r.expiresAt, now()) : "never"),
    csv: r => r.expiresAt ?? "",
  },
  {
    id: "by",
    label: "Authorized by",
    sort: "createdBy",
    cap: true,
    low: true,
    filter: { field: "createdBy" },
    text: r => r.createdBy,
  },
  whenColumn("created", "Created", r => r.createdAt, {
    low: true,
    sort: "createdAt",
    filter: { field: "createdAt", type: "date" },
  }),
];

/** Access rules: made, looked at and deleted; none is ever changed. */
export default function AccessRules() {
  const { open: id, new: making, f = "" } = route.value.query,
    [, type, name] = /scopeType==(\w+),scopeName==([^,]+)/.exec(f) ?? [];
  const nameOf = useNames();
  const action = (
    <Primary
      href={hrefWith({ new: "1" })}
      icon="plus"
      label="New access rule"
      why={missing("create", "access_rules")}
    />
  );
  return (
    <Page title="Access rules" action={action}>
      <Split label="Access rules" pane={id && <Details key={id} id={id} nameOf={nameOf} />}>
        <Table<AccessRule>
          name="access-rules"
          caption="Access rules"
          source={{ path: PATH, key: "accessRules", countPath: `${PATH}/count` }}
          kinds={KINDS}
          columns={[subjectOf(nameOf), ...OTHERS]}
          sort="-createdAt"
          hrefOf={r => openHref(String(r.id))}
          labelOf={r => `${nameOf(r)}, ${r.roleName}`}
          searchLabel="Subject, role, scope"
          sub={r => `${r.roleName} · ${scopeWords(r)}`}
          bulk={may("delete", "access_rules") ? (rows, clear) => <Bulk rows={rows} clear={clear} /> : undefined}
          empty="No access rules yet. Without one nobody may do anything."
        />
      </Split>
      {making && (
        <NewRule
          scope={type && scopeWords({ scopeType: type, scopeName: name } as AccessRule)}
          onClose={() => setQuery({ new: null })}
        />
      )}
    </Page>
  );
}

function Bulk({ rows, clear }: { rows: AccessRule[]; clear: () => void }) {
  const drop = async () => {
    const subjects = new Set(rows.map(r => r.subjectId)).size;
    const body = `${plural(subjects, "subject")} can do less at once. What runs goes on.`;
    if (!(await confirm({ title: `Delete ${plural(rows.length, "access rule")}?`, verb: "Delete", body }))) return;
    let done = 0;
    try {
      for (const rule of rows) {
        await del(`${PATH}/${rule.id}` as `${typeof PATH}/${string}`);
        done += 1;
      }
    } catch (error) {
      toastError(error);
    }
    if (done) toast(`Deleted ${plural(done, "access rule")}.`);
    clear();
    renewTables();
  };
  return (
    <Button small icon="trash" writes onClick={drop}>
      Delete
    </Button>
  );
}

function Details({ id, nameOf }: { id: string; nameOf: Names }) {
  const found = useData(
    `access-rule/${id}`,
    abort => get(`${PATH}/${id}` as `${typeof PATH}/${string}`, {}, { signal: abort }),
    KINDS,
  );
  const r = found.data as AccessRule | null;
  if (!r)
    return (
      <Pane id={id} title="Access rule">
        {found.error ? <Fault error={found.error} retry={found.reload} what="The access rule" /> : <Loading rows={6} />}
      </Pane>
    );
  const drop = async () => {
    if (await dropRule(r, nameOf(r))) closePane();
  };
  const why = may("delete", "access_rules") ? "" : WORDS.noRight("delete access_rules");
  return (
    <Pane
      id={id}
      title={nameOf(r)}
      status={<State phase={r.status?.phase ?? "Unknown"} pill />}
      line={`${kindOf(r).word}: ${r.roleName}, ${scopeWords(r)}.`}
      actions={
        <Button small icon="trash" writes why={why} onClick={drop}>
          Delete
        </Button>
      }
    >
      <Facts
        rows={[
          ["Subject", r.subjectId],
          ["Role", <a href={`/access/roles?open=${r.roleId}`}>{r.roleName}</a>],
          ["Scope", scopeWords(r)],
          ["Ends", r.expiresAt ? <When at={r.expiresAt} /> : "never"],
          ["Authorized by", r.createdBy],
          ["Created", <When at={r.createdAt} />],
          ["Id", <span class="mono">{r.id}</span>],
        ]}
      />
    </Pane>
  );
}
