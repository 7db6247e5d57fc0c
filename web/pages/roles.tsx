// What does each role allow?
export { default as EditRole } from "./edit_role";
import { del, get } from "../api";
import { useData } from "../data";
import { plural } from "../format";
import { Icon, type IconName } from "../icons";
import { Button, LinkButton } from "../parts/button";
import { confirm } from "../parts/dialog";
import { Page, Primary } from "../parts/page";
import { Facts, Pane, Split, type Tab, closePane } from "../parts/pane";
import { RightsMatrix } from "../parts/rights_matrix";
import { Empty, Fault, Loaded, Loading } from "../parts/states";
import { type Column, Table, openHref, renewTables } from "../parts/table";
import { toast, toastError } from "../parts/toast";
import { When, whenColumn } from "../parts/when";
import { matrixOf } from "../pictures/roles";
import { route } from "../router";
import { may, missing } from "../session";
import type { Role } from "../types";
import { WORDS } from "../words";
import { scopeWords } from "../parts/place_words";
import { SUBJECTS, useNames } from "./subjects";

const PATH = "/api/v1/authorization/roles",
  KINDS = ["access"];
const FIXED = "A predefined role stays as it is. Copy it to change the copy.";
const GIVEN = 100; // rules shown in a role's pane

const COLUMNS: Column<Role>[] = [
  {
    id: "name",
    label: "Role",
    sort: "name",
    filter: { field: "name" },
    text: r => r.name,
    cell: r => (
      <>
        <Icon name="rule" />
        <span>{r.name}</span>
      </>
    ),
  },
  {
    id: "kind",
    label: "Type",
    sort: "custom",
    keep: true,
    text: r => (r.custom ? (r.effectiveEnabled ? "Custom" : "Custom, off") : "Predefined"),
    filter: {
      field: "custom",
      ops: ["=="],
      values: [
        { value: "false", label: "Predefined" },
        { value: "true", label: "Custom" },
      ],
    },
  },
  { id: "description", label: "What it is for", wide: true, text: r => r.description },
  { id: "by", label: "Created by", sort: "createdBy", cap: true, low: true, text: r => r.createdBy },
  whenColumn("created", "Created", r => r.createdAt, { low: true, sort: "createdAt" }),
];

/** Roles, each with its matrix. */
export default function Roles() {
  const id = route.value.query.open;
  const action = <Primary href="/access/roles/new" icon="plus" label="New role" why={missing("create", "roles")} />;
  return (
    <Page title="Roles" action={action}>
      <Split label="Roles" pane={id && <Details key={id} id={id} />}>
        <Table<Role>
          name="roles"
          caption="Roles"
          source={{ path: PATH, key: null, local: true }}
          kinds={KINDS}
          columns={COLUMNS}
          sort="name"
          hrefOf={r => openHref(String(r.id))}
          sub={r => r.description}
          empty="No roles."
        />
      </Split>
    </Page>
  );
}

function Details({ id }: { id: string }) {
  const found = useData("roles", abort => get(PATH, {}, { signal: abort }), KINDS);
  const role = found.data?.find(r => String(r.id) === id);
  if (!role || !found.data) {
    const gone = found.data && Object.assign(new Error("It was deleted, or you may not read it."), { status: 404 });
    const error = found.error ?? gone;
    return (
      <Pane id={id} title="Role">
        {error ? <Fault error={error} retry={found.reload} what="The role" /> : <Loading rows={6} />}
      </Pane>
    );
  }
  const matrix = matrixOf(role, found.data);
  const given: Tab = { id: "given", label: "Who has it", view: () => <Given role={role} /> };
  const tabs: Tab[] = [
    {
      id: "matrix",
      label: "What it allows",
      view: () => (
        <RightsMatrix
          caption={`What ${role.name} allows`}
          groups={matrix}
          dims
          cell={(l, action) => <Mark on={l.actions.includes(action)} />}
        />
      ),
    },
    ...(may("read", "access_rules") ? [given] : []),
    { id: "facts", label: "Facts", view: () => <About role={role} /> },
  ];
  return <Pane id={id} title={role.name} line={role.description} actions={<Actions role={role} />} tabs={tabs} />;
}

function Actions({ role: r }: { role: Role }) {
  const drop = async () => {
    const body = "Nothing else changes: a role that an access rule gives can't be deleted.";
    if (!(await confirm({ title: `Delete ${r.name}?`, verb: "Delete role", body }))) return;
    try {
      await del(`/api/v2/authorization/roles/${r.id}` as `/api/v2/authorization/roles/${string}`);
      closePane();
      toast(`Deleted ${r.name}.`);
    } catch (error) {
      toastError(error);
    }
    renewTables();
  };
  const lacks = (action: "create" | "update" | "delete") =>
    !may(action, "roles") ? WORDS.noRight(`${action} roles`) : action === "create" || r.custom ? "" : FIXED;
  const link = (action: "create" | "update", label: string, icon: IconName, href: string) =>
    lacks(action) ? (
      <Button small icon={icon} why={lacks(action)}>
        {label}
      </Button>
    ) : (
      <LinkButton small icon={icon} href={href}>
        {label}
      </LinkButton>
    );
  return (
    <>
      {link("update", "Edit", "edit", `/access/roles/${r.id}/edit`)}
      {link("create", "Copy", "copy", `/access/roles/new?from=${r.id}`)}
      <Button small icon="trash" writes why={lacks("delete")} onClick={drop}>
        Delete
      </Button>
    </>
  );
}

const About = ({ role: r }: { role: Role }) => (
  <Facts
    rows={[
      ["Type", r.custom ? "Custom" : "Predefined"],
      ["Created by", r.createdBy],
      ["Created", <When at={r.createdAt} />],
      ["Last updated", <When at={r.updatedAt} />],
      ["Id", <span class="mono">{r.id}</span>],
    ]}
  />
);

const Mark = ({ on }: { on: boolean }) =>
  on ? (
    <span class="yes">
      <Icon name="check" />
      <span class="sr">yes</span>
    </span>
  ) : (
    <span class="muted">
      <span aria-hidden="true">–</span>
      <span class="sr">no</span>
    </span>
  );

function Given({ role }: { role: Role }) {
  const nameOf = useNames();
  const rules = useData(
    `rules-of-role/${role.id}`,
    abort =>
      get(
        "/api/v1/authorization/access-rules",
        { filterBy: [`roleId==${role.id}`], sortBy: "subjectId", limit: GIVEN },
        { signal: abort },
      ),
    ["access"],
  );
  return (
    <Loaded of={rules} what="The access rules">
      {({ accessRules, totalRecords }) =>
        accessRules.length ? (
          <>
            <ul class="rules">
              {accessRules.map(r => (
                <li key={r.id}>
                  <Icon name={SUBJECTS[r.subjectType].icon} />
                  <span>
                    <b class="strong">{nameOf(r)}</b> <span class="soft">{scopeWords(r)}</span>
                  </span>
                </li>
              ))}
            </ul>
            {totalRecords > accessRules.length && (
              <p class="small muted">{plural(totalRecords - accessRules.length, "more rule")}: see Access rules.</p>
            )}
          </>
        ) : (
          <Empty>Nobody has this role.</Empty>
        )
      }
    </Loaded>
  );
}
