// The GPUs of a node and its pods: who holds them, and what is measured of them.
import { useMemo } from "preact/hooks";
import { get } from "../api";
import { second } from "../clock";
import { type Data, useData } from "../data";
import { NONE, cpu, duration, gpus, iso, memory, percent, since } from "../format";
import { ClusterMap } from "../parts/cluster_map";
import { type ShareColumn, ShareTable } from "../parts/share_table";
import { Empty, Loaded } from "../parts/states";
import { ProjectName, State, Status, Swatch } from "../parts/status";
import { groupsIn, poolsOf, rowOf } from "../pictures/cluster_map";
import type { Node, NodeReadings } from "../types";
import { PHASES } from "../words";

const KINDS = ["node", "pod", "workload", "nodepool"];
const STATES: Partial<Record<string, string>> = { releasing: "giving back", down: "not ready" };
const POD_STATES = { ...PHASES, Succeeded: PHASES.Completed, ContainerCreating: PHASES.Creating };
const MIB = 2 ** 20;

type Reading = NonNullable<NodeReadings["readings"]>[number];
type Device = NonNullable<NodeReadings["devices"]>[number];

const Unmeasured = () => <span data-tip="Nothing measures it.">{NONE}</span>;

export function Devices({ node }: { node: Node }) {
  const pools = useMemo(() => poolsOf([node]), [node]);
  const found = useData(
    `node-devices/${node.name}`,
    abort =>
      get("/api/v1/devices", { filterBy: [`name==${node.name}`] }, { signal: abort }).then(
        a => a.nodes?.[0] ?? ({} as NodeReadings),
      ),
    KINDS,
  );
  const row = rowOf(node);
  if (!row.cells.length) return <Empty>This node has no GPUs; it runs work that asks for none.</Empty>;
  return (
    <>
      <section>
        {pools.length > 0 && (
          <ClusterMap pools={pools} view="project" lifted={null} groups={groupsIn(pools, "project")} />
        )}
      </section>
      {(found.data || found.error) && <DeviceTable found={found} of={node} />}
      <Foreign readings={found.data?.readings ?? []} />
    </>
  );
}

/** A device with what is measured of it. each: the MiB of one. */
interface Measured {
  device: Device;
  reading?: Reading;
  each?: number;
}
const shareOf = ({ device }: Measured) => device.workloads.reduce((sum, w) => sum + w.share, 0);
const hasTemperature = ({ reading }: Measured) => typeof reading?.temperatureCelsius === "number";

// "49.1 of 80 GiB".
function ofMemory(used: number, total?: number) {
  const [amount, unit] = memory(used * MIB).split(" "),
    whole = total ? memory(total * MIB) : "";
  if (!whole) return `${amount} ${unit}`;
  return whole.endsWith(` ${unit}`) ? `${amount} of ${whole}` : `${amount} ${unit} of ${whole}`;
}

const COLUMNS: ShareColumn<Measured>[] = [
  { head: "GPU", cell: ({ device }) => device.index },
  { head: "Held by", cell: ({ device }) => <Holders of={device} /> },
  {
    head: "Used",
    num: true,
    cell: ({ device, reading }) => {
      const used = reading?.utilization ?? device.utilization;
      return used === null || used === undefined ? <Unmeasured /> : percent(used);
    },
  },
  {
    head: "Memory used",
    num: true,
    cell: ({ reading, each }) =>
      typeof reading?.memoryUsedMib === "number" ? (
        ofMemory(reading.memoryUsedMib, reading.memoryMib ?? each)
      ) : (
        <Unmeasured />
      ),
  },
  {
    head: "State",
    cell: ({ device: d, reading }) => (
      <span class={d.state === "down" ? "bad" : undefined}>
        {reading?.healthy === false && reading.reason ? reading.reason : (STATES[d.state] ?? d.state)}
      </span>
    ),
    has: ({ device: d, reading }) => !["free", "allocated"].includes(d.state) || reading?.healthy === false,
  },
  {
    head: "Idle for",
    num: true,
    cell: ({ device: d }) =>
      d.idleSince ? <span data-tip={iso(d.idleSince)}>{duration(since(d.idleSince, second.value))}</span> : NONE,
    has: ({ device }) => Boolean(device.idleSince),
  },
  {
    head: "Temperature",
    num: true,
    cell: of => (hasTemperature(of) ? `${of.reading!.temperatureCelsius} °C` : <Unmeasured />),
    has: hasTemperature,
  },
  {
    head: "Allocated",
    num: true,
    cell: of => (
      <>
        {shareOf(of) ? gpus(shareOf(of)) : NONE}
        {shareOf(of) && of.each ? <span class="muted"> · {memory(shareOf(of) * of.each * MIB)}</span> : ""}
      </>
    ),
  },
];

function DeviceTable({ found, of }: { found: Data<NodeReadings>; of: Node }) {
  const devices = found.data?.devices ?? of.prorata?.devices ?? [];
  const rows = devices.map((device, i) => ({
    device,
    reading: found.data?.readings?.[i],
    each: of.prorata?.gpuMemoryMib,
  }));
  return (
    <ShareTable label="Devices" class="devices" columns={COLUMNS} rows={rows} keyOf={({ device }) => device.index} />
  );
}

function Holders({ of: { workloads } }: { of: Device }) {
  if (!workloads.length) return <>{NONE}</>;
  return (
    <>
      {workloads.map((w, i) =>
        w.id ? (
          <a key={w.id} class="plain p" href={`/workloads?open=${w.id}`} data-tip={`${w.projectName ?? ""}/${w.name}`}>
            <Swatch project={w.projectId} />
            <span class="cut">
              {w.projectName}/{w.name}
            </span>
          </a>
        ) : (
          <span key={i}>{w.name}</span>
        ),
      )}
    </>
  );
}

// What the node's driver tells of processes that no pod started; they keep their GPU from being given out.
function Foreign({ readings }: { readings: Reading[] }) {
  const found = readings.flatMap((r, index) => (r.processes ?? []).filter(p => p.foreign).map(p => ({ ...p, index })));
  if (!found.length) return null;
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
          {found.map(p => (
            <tr key={`${p.index}-${p.pid}`}>
              <td>{p.index}</td>
              <td>{p.user}</td>
              <td class="mono">{p.command}</td>
              <td class="num">{p.pid}</td>
              <td class="num">{memory((p.memoryMib ?? 0) * MIB)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** What runs on a node; full: with CPU, memory and image, for where there is room. */
export function Pods({ node, full }: { node: Node; full?: boolean }) {
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
  const heads = ["Pod", "Status", "Project", "GPUs", ...(full ? ["CPU cores", "CPU memory", "Image"] : [])];
  return (
    <Loaded of={pods} what="Pods">
      {list =>
        list.length ? (
          <table class="share">
            <thead>
              <tr>
                {heads.map((head, i) => (
                  <th key={head} scope="col" class={i > 2 && i < 6 ? "num" : undefined}>
                    {head}
                  </th>
                ))}
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
                  <td>
                    <Status phase={p.k8sPhase} states={POD_STATES} message={p.message} />
                  </td>
                  <td>{p.projectName ? <ProjectName id={p.projectId ?? ""} name={p.projectName} /> : NONE}</td>
                  <td class="num">{gpus(p.allocatedResources?.gpu ?? 0)}</td>
                  {full && (
                    <>
                      <td class="num">{cpu(p.allocatedResources?.cpu)}</td>
                      <td class="num">{memory(p.allocatedResources?.cpuMemory)}</td>
                      <td>{p.containers?.[0]?.image ?? NONE}</td>
                    </>
                  )}
                </tr>
              ))}
            </tbody>
          </table>
        ) : (
          <Empty>Nothing runs here that you may read.</Empty>
        )
      }
    </Loaded>
  );
}

/** The nodes of a pool. */
export function NodesOf({ pool }: { pool: string }) {
  const found = useData(
    `nodes-of/${pool}`,
    abort =>
      get("/api/v1/nodes", { filterBy: [`nodePool==${pool}`], limit: 100 }, { signal: abort }).then(a => a.nodes),
    KINDS,
  );
  return (
    <Loaded of={found} what="Nodes">
      {nodes => (
        <>
          <table class="share">
            <thead>
              <tr>
                {["Node", "Status", "GPU type", "GPUs allocated", "Wholly free"].map((head, i) => (
                  <th key={head} scope="col" class={i > 2 ? "num" : undefined}>
                    {head}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {nodes.map(n => (
                <tr key={n.name}>
                  <td>
                    <a class="plain" href={`/nodes?open=${encodeURIComponent(n.name)}`}>
                      {n.name}
                    </a>
                  </td>
                  <td>
                    <State phase={n.status === "Ready" ? "Ready" : "NotReady"} />
                  </td>
                  <td>{n.gpuInfo?.gpuType ?? NONE}</td>
                  <td class="num">
                    {gpus(rowOf(n).held)} / {n.gpuInfo?.gpuCount ?? 0}
                  </td>
                  <td class="num">{rowOf(n).free}</td>
                </tr>
              ))}
            </tbody>
          </table>
          <p class="small">
            <a href={`/nodes?f=${encodeURIComponent(`nodePool==${pool}`)}`}>All in the table</a>
          </p>
        </>
      )}
    </Loaded>
  );
}
