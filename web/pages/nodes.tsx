// What is free in one piece, what is broken?
import { get } from "../api";
import { useData } from "../data";
import { type Amount, NONE, cpu, gpus, memory, percent } from "../format";
import { Icon } from "../icons";
import { Counted } from "../parts/counted";
import { type MetricChart, Metrics } from "../parts/metrics";
import { Page } from "../parts/page";
import { Facts, Pane, Split } from "../parts/pane";
import { Fault, Loading } from "../parts/states";
import { State } from "../parts/status";
import { type Column, Table, openHref } from "../parts/table";
import { When, whenColumn } from "../parts/when";
import { rowOf } from "../pictures/cluster_map";
import { route } from "../router";
import type { Node } from "../types";
import { Cordoned, NodeCordon } from "./node_cordon";
import { Devices, Pods } from "./node_devices";
import { NodeLabels } from "./node_labels";

const KINDS = ["node", "pod", "workload", "nodepool"];
type Own = NonNullable<Node["prorata"]>;

const idOf = (n: Node) => n.name;
const own = <K extends keyof Own>(n: Node, key: K): Own[K] | undefined => n.prorata?.[key];
const whole = (n: Node) => rowOf(n);
const statusOf = (n: Node) => (n.status === "Ready" ? "Ready" : "NotReady");
const reasonOf = (n: Node) =>
  (n.conditions ?? [])
    .filter(c => c.reason && c.reason !== "Ready")
    .map(c => c.message || c.reason)
    .join(", ");
// Why nothing new is placed there, in a few words; empty where it is.
const noteOf = (n: Node) => {
  const cordon = own(n, "cordon");
  if (statusOf(n) === "NotReady") return reasonOf(n);
  if (!own(n, "cordoned")) return "";
  return (cordon?.draining ? "draining" : "cordoned") + (cordon ? `: ${cordon.reason}` : "");
};

const used = (
  id: string,
  label: string,
  key: "usedCpuCores" | "usedCpuMemoryBytes",
  words: (n: Amount) => string,
): Column<Node> => ({
  id,
  label,
  num: true,
  hidden: true,
  text: n => words(own(n, key)),
  cell: n => (Number.isFinite(own(n, key)) ? words(own(n, key)) : <span data-tip="Nothing measures it.">{NONE}</span>),
});

const COLUMNS: Column<Node>[] = [
  {
    id: "name",
    label: "Node",
    sort: "name",
    filter: { field: "name" },
    text: n => n.name,
    cell: n => (
      <>
        <Icon name="node" />
        <span>{n.name}</span>
      </>
    ),
  },
  {
    id: "status",
    label: "Status",
    keep: true,
    sort: "status",
    filter: { field: "status", values: [{ value: "Ready" }, { value: "NotReady", label: "Not ready" }] },
    text: n => (n.status === "Ready" ? "Ready" : "Not ready") + (noteOf(n) && ` (${noteOf(n)})`),
    cell: n => (
      <span class="s">
        <State phase={statusOf(n)} message={reasonOf(n)} />
        {noteOf(n) && (
          <span class="muted small reason" data-tip={noteOf(n)}>
            ({noteOf(n)})
          </span>
        )}
      </span>
    ),
  },
  { id: "pool", label: "Pool", sort: "nodePool", filter: { field: "nodePool" }, text: n => n.nodePool },
  {
    id: "type",
    label: "GPU type",
    sort: "gpuType",
    filter: { field: "gpuType" },
    text: n => n.gpuInfo?.gpuType ?? NONE,
    low: true,
  },
  { id: "gpus", label: "GPUs", num: true, text: n => String(n.gpuInfo?.gpuCount ?? 0) },
  { id: "allocated", label: "Allocated", num: true, text: n => gpus(whole(n).held) },
  { id: "free", label: "Wholly free", num: true, text: n => String(whole(n).free) },
  {
    id: "cpu",
    label: "CPU cores",
    num: true,
    text: n =>
      own(n, "cpuCores") === undefined ? NONE : `${cpu(own(n, "allocatedCpuCores"))} / ${cpu(own(n, "cpuCores"))}`,
    low: true,
  },
  used("usedCpu", "CPU used", "usedCpuCores", cpu),
  used("usedMemory", "CPU memory used", "usedCpuMemoryBytes", memory),
  {
    id: "memory",
    label: "CPU memory",
    num: true,
    text: n =>
      own(n, "cpuMemoryBytes") === undefined
        ? NONE
        : `${memory(own(n, "allocatedCpuMemoryBytes"))} / ${memory(own(n, "cpuMemoryBytes"))}`,
    low: true,
  },
  {
    id: "pods",
    label: "Pods",
    num: true,
    text: n => (own(n, "podCount") === undefined ? NONE : String(own(n, "podCount"))),
    cell: n => (
      <Counted
        text={own(n, "podCount") === undefined ? NONE : String(own(n, "podCount"))}
        count={own(n, "podCount") ?? 0}
        title={`Pods of ${n.name}`}
      >
        {() => <Pods node={n} full />}
      </Counted>
    ),
    low: true,
  },
  {
    id: "gpuMemory",
    label: "GPU memory",
    num: true,
    text: n => (own(n, "gpuMemoryMib") ? memory((own(n, "gpuMemoryMib") ?? 0) * 2 ** 20) : NONE),
    hidden: true,
  },
  whenColumn("created", "Joined", n => n.createdAt, { hidden: true }),
];

const heldOf = (n: Node) => (n.gpuInfo ? `${gpus(whole(n).held)} of ${n.gpuInfo.gpuCount} held` : "no GPUs");
const gpusOf = (n: Node) => (n.gpuInfo ? `${n.gpuInfo.gpuCount} × ${n.gpuInfo.gpuType}` : "no GPUs");

export default function Nodes() {
  const id = route.value.query.open;
  return (
    <Page title="Nodes">
      <Split label="Nodes" pane={id && <Details key={id} id={id} />}>
        <Table
          name="nodes"
          caption="Nodes"
          source={{ path: "/api/v1/nodes", key: "nodes", countPath: "/api/v1/nodes/count" }}
          kinds={KINDS}
          columns={COLUMNS}
          sort="name"
          searchLabel="Name"
          idOf={idOf}
          hrefOf={n => openHref(idOf(n))}
          sub={n => `${n.nodePool} · ${heldOf(n)}`}
          empty={"No node has joined yet."}
        />
      </Split>
    </Page>
  );
}

function Details({ id }: { id: string }) {
  const found = useData(
    `node/${id}`,
    abort =>
      get("/api/v1/nodes", { filterBy: [`name==${id}`] }, { signal: abort }).then(({ nodes: [node] }) => {
        if (!node) throw Object.assign(new Error("It left the cluster, or you may not read it."), { status: 404 });
        return node;
      }),
    KINDS,
  );
  const n = found.data;
  if (!n)
    return (
      <Pane id={id} title="Node">
        {found.error ? <Fault error={found.error} retry={found.reload} what="The node" /> : <Loading rows={6} />}
      </Pane>
    );
  const tabs = [
    { id: "gpus", label: "GPUs", view: () => <Devices node={n} /> },
    { id: "pods", label: "Pods", view: () => <Pods node={n} /> },
    {
      id: "metrics",
      label: "Metrics",
      view: () => <Metrics path={`/api/v1/nodes/${n.id ?? ""}/metrics`} charts={CHARTS} group={n.name} />,
    },
    { id: "facts", label: "Facts", view: () => <About node={n} /> },
  ];
  const row = rowOf(n);
  return (
    <Pane
      id={id}
      title={n.name}
      status={<State phase={statusOf(n)} pill />}
      line={[
        `In ${n.nodePool}: ${gpusOf(n)}`,
        statusOf(n) === "NotReady" ? noteOf(n) || "not ready" : n.gpuInfo && `${row.free} wholly free`,
      ]
        .filter(Boolean)
        .join(", ")}
      actions={
        <>
          <NodeCordon key={id} node={n} />
          <Cordoned node={n} />
        </>
      }
      tabs={tabs}
    />
  );
}

const CHARTS: MetricChart[] = [
  {
    title: "GPU utilization",
    types: ["GPU_UTILIZATION_PER_GPU"],
    names: { GPU_UTILIZATION_PER_GPU: { name: "GPU" } },
    format: percent,
    max: 100,
  },
  {
    title: "GPU memory",
    types: ["GPU_MEMORY_USAGE_BYTES_PER_GPU"],
    names: { GPU_MEMORY_USAGE_BYTES_PER_GPU: { name: "GPU" } },
    format: memory,
    least: 1024 ** 3,
  },
  {
    title: "CPU cores",
    types: ["CPU_USAGE_CORES"],
    names: { CPU_USAGE_CORES: { name: "used", tone: "accent", fill: 0.1 } },
    format: cpu,
  },
  {
    title: "CPU memory",
    types: ["CPU_MEMORY_USAGE_BYTES"],
    names: { CPU_MEMORY_USAGE_BYTES: { name: "used", tone: "accent", fill: 0.1 } },
    format: memory,
  },
];
const usedWords = (value: Amount, words: (n: Amount) => string) =>
  Number.isFinite(value) ? `${words(value)} used` : "use not measured";

function About({ node: n }: { node: Node }) {
  return (
    <>
      <Facts
        rows={[
          ["Pool", <a href={`/nodepools?open=${encodeURIComponent(n.nodePool)}`}>{n.nodePool}</a>],
          ["GPUs", n.gpuInfo ? `${n.gpuInfo.gpuCount} × ${n.gpuInfo.gpuType}` : "none"],
          own(n, "gpuMemoryMib") && ["Memory of a GPU", memory((own(n, "gpuMemoryMib") ?? 0) * 2 ** 20)],
          own(n, "cpuCores") !== undefined && [
            "CPU cores",
            `${cpu(own(n, "allocatedCpuCores"))} of ${cpu(own(n, "cpuCores"))} allocated, ${usedWords(own(n, "usedCpuCores"), cpu)}`,
          ],
          own(n, "cpuMemoryBytes") !== undefined && [
            "CPU memory",
            `${memory(own(n, "allocatedCpuMemoryBytes"))} of ${memory(own(n, "cpuMemoryBytes"))} allocated, ${usedWords(own(n, "usedCpuMemoryBytes"), memory)}`,
          ],
          [
            "Taints",
            n.taints?.length
              ? n.taints.map(t => `${t.key}${t.value ? `=${t.value}` : ""}:${t.effect}`).join(", ")
              : "none",
          ],
          ["Joined", <When at={n.createdAt} />],
          ["Id", <span class="mono">{n.id ?? NONE}</span>],
        ]}
      />
      <section class="labels" aria-label="Labels">
        <NodeLabels node={n} />
      </section>
    </>
  );
}
