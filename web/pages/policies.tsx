// What may be asked for, and where? Policies by scope and kind of workload.
import { remove } from "../api";
import { Icon } from "../icons";
import { Button, LinkButton } from "../parts/button";
import { Code, curl } from "../parts/code";
import { confirm } from "../parts/dialog";
import { Page, Primary } from "../parts/page";
import { Facts, Pane, Split, closePane } from "../parts/pane";
import { Loaded } from "../parts/states";
import { type Column, Table, openHref, renewTables } from "../parts/table";
import { toast, toastError } from "../parts/toast";
import { When, whenColumn } from "../parts/when";
import { writeYaml } from "../pictures/yaml";
import { queryString } from "../api";
import { hrefWith, route } from "../router";
import { may, missing } from "../session";
import { WORDS } from "../words";
import { EditPolicy } from "./edit_policy";
import { type Placed, scopeIdOf, scopeOf, usePlaceWords } from "../parts/place_words";
import { whereColumn } from "./places_of";
import { EffectivePolicy, KINDS, pathOf, placeQuery, usePolicy } from "./policy_of";

interface Meta extends Placed {
  id: string;
  name: string;
  createdBy: string;
  createdAt: string;
  updatedBy: string;
  updatedAt: string;
}
interface Row extends Meta {
  kind: string;
  kindLabel: string;
}
interface Entry {
  type: string;
  meta: Meta;
}

// A row's address: kind, scope and the scope's id.
const rowsOf = (answer: unknown): Row[] =>
  ((answer as { policies?: Entry[] } | null)?.policies ?? []).flatMap(({ type, meta }) => {
    const kind = KINDS.find(k => k.type === type);
    return kind
      ? [{ ...meta, id: `${kind.value}/${scopeOf(meta)}/${scopeIdOf(meta)}`, kind: kind.value, kindLabel: kind.label }]
      : [];
  });

/** "trainings/project/4" -> what it names. */
export function addressed(id: string): { kind: string; place: Placed } {
  const [kind, scope, scopeId] = id.split("/");
  return { kind, place: { scope, ...(scopeId ? { [`${scope}Id`]: scopeId } : {}) } };
}

const columnsOf = (where: (p: Placed) => string): Column<Row>[] => [
  {
    id: "name",
    label: "Policy",
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
    label: "Holds for",
    sort: "kindLabel",
    text: r => r.kindLabel,
    filter: { field: "kindLabel", ops: ["=="], values: KINDS.map(k => ({ value: k.label })) },
  },
  whereColumn(where),
  { id: "by", label: "Last changed by", sort: "updatedBy", cap: true, low: true, text: r => r.updatedBy },
  whenColumn("updated", "Last changed", r => r.updatedAt, { low: true, sort: "updatedAt" }),
  { id: "created", label: "Created by", sort: "createdBy", cap: true, hidden: true, text: r => r.createdBy },
];

/** The table; ?new= and ?edit= are the editor. */
export default function Policies() {
  const { query } = route.value;
  return query.new || query.edit ? <EditPolicy key={query.new ?? query.edit} /> : <List />;
}

function List() {
  const where = usePlaceWords();
  const id = route.value.query.open;
  const action = (
    <Primary
      href={hrefWith({ new: "1", open: null })}
      icon="plus"
      label="New policy"
      why={missing("update", "policies")}
    />
  );
  return (
    <Page title="Policies" action={action}>
      <Split label="Policies" pane={id && <Details key={id} id={id} where={where} />}>
        <Table<Row>
          name="policies"
          caption="Policies"
          source={{ path: "/api/v2/policy", key: null, local: true, rows: rowsOf }}
          kinds={["policy"]}
          columns={columnsOf(where)}
          sort="name"
          hrefOf={r => openHref(r.id)}
          labelOf={r => `${r.name}, ${r.kindLabel}`}
          sub={r => r.kindLabel}
          empty="No policies yet: defaults that fill a submission, and rules that it must hold to."
        />
      </Split>
    </Page>
  );
}

function Details({ id, where }: { id: string; where: (p: Placed) => string }) {
  const { kind, place } = addressed(id);
  const found = usePolicy(kind, place);
  const meta = found.data?.meta as Meta | undefined;
  const address = pathOf(kind) + queryString(placeQuery(place));
  const text = (
    <Loaded of={found} what="The policy" rows={6}>
      {({ policy }) => (
        <Code
          title="As it is set"
          forms={{ cli: writeYaml(policy ?? {}), json: JSON.stringify(policy, null, 2), curl: curl("GET", address) }}
          names={{ cli: "YAML" }}
        />
      )}
    </Loaded>
  );
  return (
    <Pane
      id={id}
      title={meta?.name ?? "Policy"}
      line={`For ${kind}: ${where(place).toLowerCase()} and what is below.`}
      actions={meta && <Actions id={id} name={meta.name} />}
      tabs={[
        { id: "text", label: "Policy", view: () => text },
        { id: "effective", label: "What holds there", view: () => <EffectivePolicy kind={kind} place={place} /> },
        { id: "facts", label: "Facts", view: () => meta && <About meta={meta} where={where} /> },
      ]}
    />
  );
}

const About = ({ meta: m, where }: { meta: Meta; where: (p: Placed) => string }) => (
  <Facts
    rows={[
      ["Where", where(m)],
      ["Created by", m.createdBy],
      ["Created", <When at={m.createdAt} />],
      ["Last changed by", m.updatedBy],
      ["Last changed", <When at={m.updatedAt} />],
      ["Id", <span class="mono">{m.id}</span>],
    ]}
  />
);

function Actions({ id, name }: { id: string; name: string }) {
  const { kind, place } = addressed(id);
  const lacks = (action: "create" | "update" | "delete") =>
    may(action, "policies") ? "" : WORDS.noRight(`${action} policies`);
  const drop = async () => {
    const body = "What is submitted from now on does without it. What runs stays as it is.";
    if (!(await confirm({ title: `Delete ${name}?`, verb: "Delete policy", body }))) return;
    try {
      await remove(pathOf(kind), placeQuery(place));
      closePane();
      toast(`Deleted ${name}.`);
    } catch (error) {
      toastError(error);
    }
    renewTables();
  };
  return (
    <>
      {lacks("update") ? (
        <Button small icon="edit" why={lacks("update")}>
          Edit
        </Button>
      ) : (
        <LinkButton small icon="edit" href={hrefWith({ edit: id, open: null, tab: null })}>
          Edit
        </LinkButton>
      )}
      <Button small icon="trash" writes why={lacks("delete")} onClick={drop}>
        Delete
      </Button>
    </>
  );
}
