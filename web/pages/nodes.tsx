// What is free in one piece, what is broken?
import { useMemo } from "preact/hooks";
import { get } from "../api";
import { now } from "../clock";
import { useData } from "../data";
import { NONE, cpu, gpus, iso, memory, percent, time } from "../format";
import { Icon } from "../icons";
import { ClusterMap } from "../parts/cluster_map";
import { type MetricChart, Metrics } from "../parts/metrics";
import { Page } from "../parts/page";
import { Facts, Pane, Split } from "../parts/pane";
import { Empty, Fault, Loaded, Loading } from "../parts/states";
import { State, Swatch } from "../parts/status";
import { type Column, Table, openHref } from "../parts/table";
import { poolsOf, rowOf } from "../pictures/cluster_map";
import { coloured } from "../pictures/slots";
import { route } from "../router";
import type { Node } from "../types";
import { NodeCordon } from "./node_cordon";
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
    text: n => n.status,
    cell: n => (
      <span class="s">
        <State phase={statusOf(n)} message={reasonOf(n)} />
        {statusOf(n) === "NotReady" && reasonOf(n) ? (
          <span class="muted small reason">{reasonOf(n)}</span>
        ) : (
          own(n, "cordoned") && (
            <span class="muted small">cordoned{own(n, "cordon") && `: ${own(n, "cordon")!.reason}`}</span>
          )
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
    low: true,
  },
  {
    id: "gpuMemory",
    label: "GPU memory",
    num: true,
    text: n => (own(n, "gpuMemoryMib") ? memory((own(n, "gpuMemoryMib") ?? 0) * 2 ** 20) : NONE),
    hidden: true,
  },
  { id: "created", label: "Joined", num: true, text: n => n.createdAt?.slice(0, 10) ?? NONE, hidden: true },
];

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
          sub={n => `${n.nodePool} · ${n.gpuInfo?.gpuCount ?? 0} × ${n.gpuInfo?.gpuType ?? "no GPU"}`}
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
      line={`${n.gpuInfo ? `${n.gpuInfo.gpuCount} × ${n.gpuInfo.gpuType}` : "No GPUs"} in ${n.nodePool}, ${row.state === "down" ? reasonOf(n) || "not ready" : `${row.free} wholly free`}`}
      tabs={tabs}
    />
  );
}

const DEVICE_STATES: Partial<Record<string, string>> = {
  free: "free",
  allocated: "allocated",
  releasing: "giving back",
  down: "not ready",
};

function Devices({ node }: { node: Node }) {
  const pools = useMemo(() => poolsOf([node]), [node]);
  const row = rowOf(node);
  const colours = coloured(row.runs.map(r => ({ id: r.projectId, name: r.project ?? "", size: r.size })));
  if (!row.cells.length) return <Empty>This node has no GPUs; it runs work that asks for none.</Empty>;
  return (
    <>
      <section>
        {pools.length > 0 && <ClusterMap pools={pools} view="project" lifted={null} colours={colours} />}
      </section>
      <section class="scroll" tabindex={0} aria-label="Devices">
        <table class="share devices">
          <thead>
            <tr>
              <th scope="col">GPU</th>
              <th scope="col">State</th>
              <th scope="col">Held by</th>
              <th scope="col" class="num">
                Share
              </th>
            </tr>
          </thead>
          <tbody>
            {row.cells.map(c => (
              <tr key={c.index}>
                <td>{c.index}</td>
                <td>{DEVICE_STATES[c.state] ?? c.state}</td>
                <td>
                  {c.workloads.length
                    ? c.workloads.map(w =>
                        w.id ? (
                          <a key={w.id} class="plain p" href={`/workloads?open=${w.id}`}>
                            <Swatch project={w.projectId} />
                            {w.projectName}/{w.name}
                          </a>
                        ) : (
                          w.name
                        ),
                      )
                    : NONE}
                </td>
                <td class="num">{c.workloads.length ? c.workloads.map(w => gpus(w.share ?? 1)).join(" + ") : NONE}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <Foreign node={node} />
    </>
  );
}

// What the node's driver tells of processes that no pod started; they keep their GPU from being given out.
function Foreign({ node }: { node: Node }) {
  const found = useData(
    `node-devices/${node.name}`,
    abort =>
      get("/api/v1/devices", { filterBy: [`name==${node.name}`] }, { signal: abort }).then(a =>
        (a.nodes?.[0]?.readings ?? []).flatMap((r, index) =>
          (r.processes ?? []).filter(p => p.foreign).map(p => ({ ...p, index })),
        ),
      ),
    KINDS,
  );
  if (!found.data?.length) return null;
  return (
    <section class="scroll" tabindex={0} aria-label="Processes that nobody submitted">
      <h3>Processes that nobody submitted</h3>
      <table class="share foreign">
        <thead>
          <tr>
            <th scope="col">GPU</th>
            <th scope="col">User</th>
            <th scope="col">Command</th>
            <th scope="col" class="num">
              Process
            </th>
            <th scope="col" class="num">
              Memory
            </th>
          </tr>
        </thead>
        <tbody>
          {found.data.map(p => (
            <tr key={`${p.index}-${p.pid}`}>
              <td>{p.index}</td>
              <td>{p.user}</td>
              <td class="mono">{p.command}</td>
              <td class="num">{p.pid}</td>
              <td class="num">{memory((p.memoryMib ?? 0) * 2 ** 20)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Pods({ node }: { node: Node }) {
  const pods = useData(
    `node-pods/${node.name}`,
    abort =>
      get(
        "/api/v1/workloads/pods",
        { filterBy: [`nodeName==${node.name}`], completed: "false", verbosity: "full", limit: 200 },
        { signal: abort },
      ).then(a => a.pods ?? []),
    ["pod"],
  );
  return (
    <Loaded of={pods} what="Pods">
      {list =>
        list.length ? (
          <table class="share">
            <thead>
              <tr>
                <th scope="col">Pod</th>
                <th scope="col">Status</th>
                <th scope="col">Project</th>
                <th scope="col" class="num">
                  GPUs
                </th>
              </tr>
            </thead>
            <tbody>
              {list.map(p => (
                <tr key={p.id}>
                  <td>
                    <a class="plain" href={`/workloads?open=${p.workloadId}&tab=pods`}>
                      {p.name}
                    </a>
                  </td>
                  <td>{p.k8sPhase}</td>
                  <td>{p.projectName ?? NONE}</td>
                  <td class="num">{gpus(p.allocatedResources?.gpu ?? 0)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        ) : (
          <Empty>Nothing runs here.</Empty>
        )
      }
    </Loaded>
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
            `${cpu(own(n, "allocatedCpuCores"))} of ${cpu(own(n, "cpuCores"))} allocated`,
          ],
          own(n, "cpuMemoryBytes") !== undefined && [
            "CPU memory",
            `${memory(own(n, "allocatedCpuMemoryBytes"))} of ${memory(own(n, "cpuMemoryBytes"))} allocated`,
          ],
          [
            "Taints",
            n.taints?.length
              ? n.taints.map(t => `${t.key}${t.value ? `=${t.value}` : ""}:${t.effect}`).join(", ")
              : "none",
          ],
          ["Joined", <time data-tip={iso(n.createdAt)}>{time(n.createdAt, now())}</time>],
          ["Id", <span class="mono">{n.id ?? NONE}</span>],
        ]}
      />
      <section class="labels" aria-label="Labels">
        <NodeLabels node={n} />
      </section>
      <NodeCordon node={n} />
    </>
  );
}
