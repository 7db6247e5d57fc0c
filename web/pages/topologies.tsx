// How near are nodes to each other? Network topologies: the levels of each, the node pools that use it, and why one is off.
import { del, get, post } from "../api";
import { useData } from "../data";
import { NONE } from "../format";
import { Icon } from "../icons";
import { refreshAll } from "../live";
import { Button } from "../parts/button";
import { ChipsField } from "../parts/chips_field";
import { Dialog, confirm } from "../parts/dialog";
import { Problem, TextField, useForm } from "../parts/form";
import { Page, Primary } from "../parts/page";
import { Facts, Pane, Split, closePane } from "../parts/pane";
import { Fault, Loading } from "../parts/states";
import { type Column, Table, openHref, renewTables } from "../parts/table";
import { toast, toastError } from "../parts/toast";
import { When, whenColumn } from "../parts/when";
import { NEW, checkTopology } from "../pictures/topology";
import { closed } from "../pictures/what_if";
import { hrefWith, route, setQuery } from "../router";
import { may, missing } from "../session";
import type { Topology } from "../types";
import { WORDS } from "../words";

const PATH = "/api/v1/network-topologies",
  KINDS = ["cluster", "nodepool", "node"];
const levelsOf = (t: Topology) => t.levels.join(" › ");
const poolsOf = (t: Topology) => t.nodePools?.join(", ") || "none";

const COLUMNS: Column<Topology>[] = [
  {
    id: "name",
    label: "Topology",
    sort: "name",
    filter: { field: "name" },
    text: t => t.name,
    cell: t => (
      <>
        <Icon name="pool" />
        <span>{t.name}</span>
      </>
    ),
  },
  { id: "phase", label: "Status", keep: true, sort: "phase", text: t => t.phase ?? NONE },
  { id: "levels", label: "Levels, the farthest first", wide: true, text: levelsOf },
  { id: "pools", label: "Node pools", cap: true, text: poolsOf },
  whenColumn("created", "Created", t => t.createdAt, { low: true, sort: "createdAt" }),
];

/** Topologies, each with what uses it. */
export default function Topologies() {
  const { open: id, new: making } = route.value.query;
  const action = (
    <Primary
      href={hrefWith({ new: "1" })}
      icon="plus"
      label="New topology"
      why={missing("create", "network-topologies")}
    />
  );
  return (
    <Page title="Topologies" action={action}>
      <Split label="Topologies" pane={id && <Details key={id} id={id} />}>
        <Table<Topology>
          name="topologies"
          caption="Topologies"
          source={{
            path: PATH,
            key: null,
            local: true,
            rows: answer => (answer as { networkTopologies?: Topology[] }).networkTopologies ?? [],
          }}
          kinds={KINDS}
          columns={COLUMNS}
          sort="name"
          hrefOf={t => openHref(t.id)}
          sub={levelsOf}
          empty="No topologies yet. One says by labels of nodes which of them are close together."
        />
      </Split>
      {making && <NewTopology close={() => setQuery({ new: null })} />}
    </Page>
  );
}

function NewTopology({ close }: { close: () => void }) {
  const why = missing("create", "network-topologies");
  const form = useForm({
    initial: { topology: NEW, topologyName: "", levels: [] as string[] },
    check: checkTopology,
    paths: { name: "topologyName" },
    send: async v => {
      const [cluster] = await get("/api/v1/clusters");
      const made = await post(PATH, { name: v.topologyName, clusterId: cluster?.uuid ?? "", levels: v.levels });
      renewTables();
      await setQuery({ new: null, open: made.id });
      toast(`Created ${made.name}.`);
    },
  });
  return (
    <Dialog labelledby="topology-title" onClose={close}>
      <form onSubmit={form.submit} ref={form.form} novalidate>
        <h2 id="topology-title">New topology</h2>
        <p class="soft">Its levels can't be changed later. A node pool uses it when its form names it.</p>
        <div class="fields">
          <TextField label="Name" {...form.field("topologyName")} maxlength={63} autofocus />
          <ChipsField
            label="Levels"
            path="levels"
            error={form.field("levels").error}
            value={form.values.levels}
            onValue={list => form.set("levels", list)}
            onBlur={() => {}}
            placeholder="topology.kubernetes.io/rack"
            hint="Keys of node labels, the farthest first; Enter adds one"
          />
        </div>
        <Problem error={form.problem} why={why} />
        <div class="acts">
          <Button onClick={close}>Cancel</Button>
          <Button kind="primary" type="submit" writes busy={form.busy} why={why}>
            Create topology
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function Details({ id }: { id: string }) {
  const found = useData(`topology/${id}`, abort => get(`${PATH}/${id}` as const, {}, { signal: abort }), KINDS);
  const t = found.data;
  if (!t)
    return (
      <Pane id={id} title="Topology">
        {found.error ? <Fault error={found.error} retry={found.reload} what="The topology" /> : <Loading rows={5} />}
      </Pane>
    );
  const { message, nodesWithoutLabels: without } = t.status;
  return (
    <Pane id={id} title={t.name} line={levelsOf(t)} actions={<Drop topology={t} />}>
      <Facts
        rows={[
          ["Status", message ? `${t.phase}: ${closed(message)}` : (t.phase ?? NONE)],
          !!without?.length && ["Nodes without its labels", without.join(", ")],
          ["Node pools", poolsOf(t)],
          ["Created", <When at={t.createdAt} />],
          ["Created by", t.createdBy ?? NONE],
          ["Id", <span class="mono">{t.id}</span>],
        ]}
      />
    </Pane>
  );
}

function Drop({ topology: t }: { topology: Topology }) {
  const drop = async () => {
    const body = "Nothing else changes: one that a node pool or an unfinished workload uses can't be deleted.";
    if (!(await confirm({ title: `Delete ${t.name}?`, verb: "Delete topology", body }))) return;
    try {
      await del(`${PATH}/${t.id}`);
      closePane();
      toast(`Deleted ${t.name}.`);
    } catch (error) {
      toastError(error);
    }
    refreshAll();
    renewTables();
  };
  return (
    <Button
      small
      icon="trash"
      writes
      why={may("delete", "network-topologies") ? "" : WORDS.noRight("delete network-topologies")}
      onClick={drop}
    >
      Delete
    </Button>
  );
}
