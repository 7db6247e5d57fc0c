// How full is each pool, and by which rules does it place work?
import { useMemo } from "preact/hooks";
import { del, get, getAll } from "../api";
import { useData, useNodesInBrief } from "../data";
import { NONE, duration, goSeconds, gpus, plural, ratio } from "../format";
import { Icon } from "../icons";
import { refreshAll } from "../live";
import { Button, LinkButton } from "../parts/button";
import { ClusterMap } from "../parts/cluster_map";
import { Counted } from "../parts/counted";
import { confirm } from "../parts/dialog";
import { Page, Primary } from "../parts/page";
import { Facts, Pane, Split, type Tab, closePane } from "../parts/pane";
import { QueueList } from "../parts/queue_list";
import { ShareTree } from "../parts/share_tree";
import { Empty, Fault, Loading } from "../parts/states";
import { State } from "../parts/status";
import { type Column, Table, openHref, renewTables } from "../parts/table";
import { toast, toastError } from "../parts/toast";
import { When, whenColumn } from "../parts/when";
import { type MapNode, type MapPool, groupsIn, nodesInBrief, poolsOf } from "../pictures/cluster_map";
import { STRATEGIES, rulesInWords } from "../pictures/pool_rules";
import { closed } from "../pictures/what_if";
import { route } from "../router";
import { may, missing } from "../session";
import type { Nodepool } from "../types";
import { WORDS } from "../words";
import { NodesOf } from "./node_devices";
import { LabelNode } from "./node_labels";
import { WorkloadsOf } from "./unit_lists";

const KINDS = ["nodepool", "node", "pod", "workload"];
const strategy = (p: Nodepool, kind: "gpu" | "cpu") =>
  STRATEGIES[p.schedulingConfiguration?.placementStrategy?.[kind] ?? p.placementStrategy?.[kind] ?? ""] ?? NONE;
const guaranteed = (p: Nodepool) => duration(goSeconds(p.schedulingConfiguration?.minGuaranteedRuntime ?? "0"));

// full: what the nodes of each pool hold; null where nodes may not be read.
function columnsOf(full: Map<string, MapPool> | null): Column<Nodepool>[] {
  const held = (p: Nodepool) => full?.get(p.name)?.held,
    total = (p: Nodepool) => full?.get(p.name)?.total;
  const allocated = (p: Nodepool) => (full?.has(p.name) ? `${gpus(held(p))} / ${gpus(total(p))}` : "0 / 0");
  const ofNodes: Column<Nodepool>[] = [
    {
      id: "allocated",
      label: "GPUs allocated",
      num: true,
      text: allocated,
      cell: p => <span key={full?.size}>{allocated(p)}</span>,
    },
    {
      id: "ratio",
      label: "Ratio",
      num: true,
      text: p => ratio(held(p), total(p)),
      cell: p => (
        <span key={full?.size} class="lasting">
          {ratio(held(p), total(p))}
        </span>
      ),
    },
  ];
  return [NAME, PHASE, ...(full ? ofNodes : []), ...OTHERS];
}

const NAME: Column<Nodepool> = {
  id: "name",
  label: "Node pool",
  sort: "name",
  filter: { field: "name" },
  text: p => p.name,
  cell: p => (
    <>
      <Icon name="pool" />
      <span>{p.name}</span>
    </>
  ),
};
const PHASE: Column<Nodepool> = {
  id: "phase",
  label: "Status",
  keep: true,
  sort: "phase",
  text: p => p.phase ?? NONE,
  cell: p => <State phase={p.phase ?? "Unknown"} message={p.phaseMessage} />,
};
const OTHERS: Column<Nodepool>[] = [
  {
    id: "nodes",
    label: "Nodes",
    num: true,
    text: p => String(p.status?.nodes?.length ?? 0),
    cell: p => (
      <Counted
        text={String(p.status?.nodes?.length ?? 0)}
        count={may("read", "nodes") ? (p.status?.nodes?.length ?? 0) : 0}
        title={`Nodes of ${p.name}`}
      >
        {() => <NodesOf pool={p.name} />}
      </Counted>
    ),
  },
  { id: "gpu", label: "Placement", text: p => strategy(p, "gpu") },
  { id: "guaranteed", label: "Minimum run time", num: true, text: guaranteed, low: true },
  {
    id: "label",
    label: "Label",
    text: p => (p.isDefault || !p.labelKey ? "all other nodes" : `${p.labelKey}=${p.labelValue}`),
    low: true,
  },
  { id: "cpu", label: "CPU placement", text: p => strategy(p, "cpu"), hidden: true },
  {
    id: "topology",
    label: "Topology",
    sort: "networkTopologyName",
    text: p => p.networkTopologyName ?? NONE,
    hidden: true,
  },
  whenColumn("updated", "Last updated", p => p.updatedAt, { hidden: true, sort: "updatedAt" }),
  whenColumn("created", "Created", p => p.createdAt, { hidden: true, sort: "createdAt" }),
];

export default function NodePools() {
  const id = route.value.query.open;
  const seesNodes = may("read", "nodes");
  const brief = useNodesInBrief(seesNodes).data;
  const nodes = useMemo(() => (brief ? nodesInBrief(brief) : []), [brief]);
  const full = new Map(poolsOf(nodes).map(p => [p.name, p]));
  const sub = (p: Nodepool) => {
    const pool = full.get(p.name);
    return !seesNodes ? "" : pool ? `${gpus(pool.held)} of ${gpus(pool.total)} GPUs` : "no GPUs";
  };
  const action = (
    <Primary href="/nodepools/new" icon="plus" label="New node pool" why={missing("create", "nodepools")} />
  );
  return (
    <Page title="Node pools" action={action}>
      <Split label="Node pools" pane={id && <Details key={id} id={id} nodes={nodes} />}>
        <Table
          name="nodepools"
          caption="Node pools"
          source={{ path: "/api/v1/node-pools", key: "nodepools", countPath: "/api/v1/node-pools/count" }}
          kinds={KINDS}
          columns={columnsOf(seesNodes ? full : null)}
          sort="name"
          searchBy="name"
          hrefOf={p => openHref(p.id)}
          sub={sub}
          empty={"No node pools yet."}
        />
      </Split>
    </Page>
  );
}

function Details({ id, nodes }: { id: string; nodes: MapNode[] }) {
  const found = useData(
    `pool/${id}`,
    async abort => {
      const { nodepools } = await get("/api/v1/node-pools", { limit: 500 }, { signal: abort });
      const pool = nodepools?.find(p => p.id === id || p.name === id);
      if (!pool) throw Object.assign(new Error("It was deleted, or you may not read it."), { status: 404 });
      return pool;
    },
    KINDS,
  );
  const p = found.data;
  if (!p)
    return (
      <Pane id={id} title="Node pool">
        {found.error ? <Fault error={found.error} retry={found.reload} what="The node pool" /> : <Loading rows={6} />}
      </Pane>
    );
  const mine = nodes.filter(n => n.nodePool === p.name);
  const ofNodes: Tab[] = [
    {
      id: "nodes",
      label: "Nodes",
      view: () => (
        <>
          <PoolMap pool={p} nodes={mine} />
          {!p.isDefault && <ForLabel pool={p} />}
        </>
      ),
    },
  ];
  const tabs = [
    ...(may("read", "nodes") ? ofNodes : []),
    {
      id: "workloads",
      label: "Workloads",
      view: () => <WorkloadsOf filter={`nodepool==${p.name}`} list={`nodepool==${p.name}`} />,
    },
    { id: "queue", label: "Queue", view: () => <QueueList pool={p.name} /> },
    { id: "share", label: "Shares", view: () => <ShareTree pool={p.name} kind="pool" name={p.name} /> },
    { id: "rules", label: "Rules", view: () => <Rules pool={p} /> },
  ];
  return (
    <Pane
      id={id}
      title={p.name}
      status={<State phase={p.phase ?? "Unknown"} pill />}
      line={`${plural(p.status?.nodes?.length ?? mine.length, "node")}, ${p.isDefault || !p.labelKey ? "all that belong to no other pool" : `those with ${p.labelKey}=${p.labelValue}`}`}
      tabs={tabs}
      actions={<Actions pool={p} />}
    />
  );
}

function Actions({ pool: p }: { pool: Nodepool }) {
  const drop = async () => {
    if (
      !(await confirm({
        title: `Delete ${p.name}?`,
        verb: "Delete node pool",
        body: "Its nodes go back to the default pool; quotas in it are dropped. Workloads that ask for it alone wait.",
      }))
    )
      return;
    try {
      await del(`/api/v1/node-pools/${p.id}`);
      closePane();
      toast(`Deleted ${p.name}.`);
    } catch (error) {
      toastError(error);
    }
    refreshAll();
    renewTables();
  };
  return (
    <>
      {may("update", "nodepools") ? (
        <LinkButton small icon="edit" href={`/nodepools/${p.id}/edit`}>
          Edit
        </LinkButton>
      ) : (
        <Button small icon="edit" why={WORDS.noRight("update nodepools")}>
          Edit
        </Button>
      )}
      <Button
        small
        icon="trash"
        writes
        why={
          !may("delete", "nodepools")
            ? WORDS.noRight("delete nodepools")
            : p.isDefault
              ? "The default pool stays: it holds all nodes that belong to no other."
              : ""
        }
        onClick={drop}
      >
        Delete
      </Button>
    </>
  );
}

// Every node with its labels, which the map does without.
function ForLabel({ pool }: { pool: Nodepool }) {
  const nodes = useData(
    "nodes-to-label",
    abort => getAll("/api/v1/nodes", "nodes", {}, { signal: abort, most: 4000 }),
    ["node", "nodepool"],
  );
  return <LabelNode pool={pool} nodes={nodes.data ?? []} />;
}

function PoolMap({ pool: p, nodes }: { pool: Nodepool; nodes: MapNode[] }) {
  const pools = poolsOf(nodes);
  return pools.length ? (
    <ClusterMap pools={pools} view="project" lifted={null} groups={groupsIn(pools, "project")} />
  ) : (
    <Empty>{p.phase === "Empty" && p.phaseMessage ? closed(p.phaseMessage) : "No node is in this pool."}</Empty>
  );
}

function Rules({ pool: p }: { pool: Nodepool }) {
  return (
    <Facts
      rows={[
        ...rulesInWords(p),
        ["Topology", p.networkTopologyName ?? "none"],
        p.phaseMessage && ["Status", closed(p.phaseMessage)],
        ["Created", <When at={p.createdAt} />],
        ["Last updated", <When at={p.updatedAt} />],
        ["Id", <span class="mono">{p.id}</span>],
      ]}
    />
  );
}
