// Which clusters are there, does each answer, and what is its UUID?
import { get, put } from "../api";
import { useData } from "../data";
import { NONE } from "../format";
import { Icon } from "../icons";
import { refreshAll } from "../live";
import { Button } from "../parts/button";
import { Problem, TextField, useForm } from "../parts/form";
import { Page } from "../parts/page";
import { Facts, Pane, Split } from "../parts/pane";
import { copy } from "../parts/secret";
import { Fault, Loading } from "../parts/states";
import { Status } from "../parts/status";
import { type Column, Table, openHref, renewTables } from "../parts/table";
import { toast } from "../parts/toast";
import { When, whenColumn } from "../parts/when";
import { route } from "../router";
import { may } from "../session";
import type { Answer } from "../types";
import type { Look } from "../words";

const PATH = "/api/v1/clusters",
  KINDS = ["cluster"];
type Cluster = Answer<typeof PATH>[number];

const LOOKS: Record<string, Look> = {
  Connected: { icon: "check", tone: "ok" },
  WaitingToConnect: { icon: "wait", tone: "warn", word: "Waiting to connect" },
  Disconnected: { icon: "x", tone: "bad" },
};
const stateOf = (c: Cluster) => c.status?.state ?? "Unknown";
const State = ({ of, pill }: { of: Cluster; pill?: boolean }) => (
  <Status phase={stateOf(of)} states={LOOKS} pill={pill} />
);
const Uuid = ({ of: { name, uuid } }: { of: Cluster }) => (
  <span class="uuid">
    <span class="mono">{uuid}</span>
    <Button small kind="quiet" icon="copy" label={`Copy the UUID of ${name}`} onClick={() => copy("UUID", uuid)} />
  </span>
);

// backend: of the server, which runs the connected cluster.
const columnsOf = (backend: string): Column<Cluster>[] => [
  {
    id: "name",
    label: "Cluster",
    sort: "name",
    text: c => c.name,
    cell: c => (
      <>
        <Icon name="node" />
        <span>{c.name}</span>
      </>
    ),
  },
  { id: "state", label: "Status", keep: true, text: stateOf, cell: c => <State of={c} /> },
  { id: "uuid", label: "Cluster UUID", text: c => c.uuid, cell: c => <Uuid of={c} /> },
  { id: "version", label: "Version", sort: "version", text: c => c.version ?? NONE },
  {
    id: "backend",
    label: "Backend",
    text: c => backendOf(c, backend),
    cell: c => <span class="lasting">{backendOf(c, backend)}</span>,
  },
  whenColumn("created", "Created", c => c.createdAt, { low: true, sort: "createdAt" }),
];
const backendOf = (c: Cluster, backend: string) => (stateOf(c) === "Connected" ? backend : NONE);

/** Clusters, each with its state and its UUID. */
export default function Clusters() {
  const id = route.value.query.open;
  const about = useData("about", abort => get("/api/v1/about", {}, { signal: abort }));
  const backend = about.data?.backend ?? NONE;
  return (
    <Page title="Clusters" action={null}>
      <Split label="Clusters" pane={id && <Details key={id} id={id} backend={backend} />}>
        <Table<Cluster>
          name="clusters"
          caption="Clusters"
          source={{ path: PATH, key: null, local: true }}
          kinds={KINDS}
          columns={columnsOf(backend)}
          sort="name"
          idOf={c => c.uuid}
          hrefOf={c => openHref(c.uuid)}
          sub={c => `${backendOf(c, backend)} · ${c.version ?? NONE}`}
          empty="No cluster that you may read."
        />
      </Split>
    </Page>
  );
}

function Details({ id, backend }: { id: string; backend: string }) {
  const found = useData(`cluster/${id}`, abort => get(`${PATH}/${id}` as const, {}, { signal: abort }), KINDS);
  const c = found.data;
  if (!c)
    return (
      <Pane id={id} title="Cluster">
        {found.error ? <Fault error={found.error} retry={found.reload} what="The cluster" /> : <Loading rows={5} />}
      </Pane>
    );
  return (
    <Pane
      id={id}
      title={c.name}
      status={<State of={c} pill />}
      line={stateOf(c) === "Connected" ? "This server runs it, so it can't be removed." : ""}
    >
      {may("update", "cluster") && <Rename key={c.name} of={c} />}
      <Facts
        rows={[
          ["Cluster UUID", <Uuid of={c} />],
          ["Version", c.version ?? NONE],
          ["Backend", backendOf(c, backend)],
          ["Last sign of life", <When at={c.lastLiveness} />],
          ["Created", <When at={c.createdAt} />],
          ["Last updated", <When at={c.updatedAt} />],
        ]}
      />
    </Pane>
  );
}

function Rename({ of: { name, uuid } }: { of: Cluster }) {
  const form = useForm({
    initial: { name },
    check: v => ({ name: v.name.trim() ? "" : "Give it a name." }),
    send: async v => {
      await put(`${PATH}/${uuid}` as const, { name: v.name.trim() });
      toast(`Renamed ${name} to ${v.name.trim()}.`);
      refreshAll();
      renewTables();
    },
  });
  const why = form.values.name.trim() === name ? "Type another name first." : "";
  return (
    <form class="label-node" aria-label="Another name" ref={form.form} onSubmit={form.submit} noValidate>
      <TextField label="Name" maxlength={255} {...form.field("name")} />
      <Button type="submit" writes busy={form.busy} why={why}>
        Rename
      </Button>
      <Problem error={form.problem} />
    </form>
  );
}
