// Pods of a workload: where they are, how they ended, what they printed; what failed, and when it is tried again.
import { useEffect, useState } from "preact/hooks";
import { getAll } from "../api";
import { now, second } from "../clock";
import { useData } from "../data";
import { NONE, cpu, duration, gpus, iso, memory, percent, since } from "../format";
import { Because } from "../parts/because";
import { readLog, splitTime } from "../parts/log_lines";
import { LogView } from "../parts/log_view";
import { type ShareColumn, ShareTable } from "../parts/share_table";
import { Empty, Loaded } from "../parts/states";
import { Status } from "../parts/status";
import { plain, shown } from "../pictures/ansi";
import type { Pod, Workload } from "../types";
import { PHASES } from "../words";

const OVER = ["Completed", "Failed", "Stopped"];
const STATES = { ...PHASES, Succeeded: PHASES.Completed, ContainerCreating: PHASES.Creating };
const LAST_LINES = 5;

/** "2 / 4": running, of those that it asked for. */
export const podsOf = (w: Workload) => `${w.runningPods ?? 0} / ${w.requestedPods?.number ?? NONE}`;

function usePods(w: Workload) {
  return useData(
    `pods/${w.id}`,
    abort => getAll(`/api/v1/workloads/${w.id}/pods`, "pods", {}, { signal: abort, most: 500 }),
    ["pod", "workload"],
  );
}

// The latest try first; of pods made together the first, which is a gang's master.
const inTries = (pods: Pod[]) =>
  pods
    .map((pod, i) => ({ pod, i, at: Math.floor(Date.parse(pod.createdAt) / 1000) }))
    .sort((a, b) => b.at - a.at || a.i - b.i)
    .map(p => p.pod);

const COLUMNS: ShareColumn<Pod>[] = [
  {
    head: "Pod",
    cell: p => <span data-tip={`${p.containers?.[0]?.image ?? ""} · created ${iso(p.createdAt)}`}>{p.name}</span>,
  },
  { head: "Status", cell: p => <Status phase={p.k8sPhase} states={STATES} message={p.message} /> },
  { head: "Exit code", num: true, cell: p => p.exitCode ?? NONE, has: p => typeof p.exitCode === "number" },
  {
    head: "Node",
    cell: p =>
      p.nodeName ? (
        <a class="plain" href={`/nodes?open=${encodeURIComponent(p.nodeName)}`}>
          {p.nodeName}
        </a>
      ) : (
        NONE
      ),
  },
  {
    head: "GPUs",
    cell: p => (
      <>
        {gpus(p.allocatedResources?.gpu ?? 0)}
        {p.gpuIndices?.length ? <span class="muted"> · no. {p.gpuIndices.join(", ")}</span> : ""}
      </>
    ),
  },
  { head: "Restarts", num: true, cell: p => p.restarts ?? NONE, has: p => (p.restarts ?? 0) > 0 },
  { head: "GPU use", num: true, cell: p => percent(p.used?.gpuUtilization) },
  { head: "GPU memory", num: true, cell: p => memory(p.used?.gpuMemoryBytes) },
  { head: "CPU use", num: true, cell: p => cpu(p.used?.cpuCores) },
  { head: "Memory", num: true, cell: p => memory(p.used?.cpuMemoryBytes) },
];

/** The pods, each with its node, its end, its tries and its GPUs. */
export function Pods({ workload: w }: { workload: Workload }) {
  return (
    <Loaded of={usePods(w)} what="Pods">
      {pods =>
        pods.length ? (
          <ShareTable label="Pods" columns={COLUMNS} rows={pods} keyOf={p => p.id} />
        ) : (
          <Empty>No pods yet: they are made when the workload gets its place.</Empty>
        )
      }
    </Loaded>
  );
}

/** The logs; above those of a workload that failed stands what failed. */
export function Logs({ workload: w }: { workload: Workload }) {
  return (
    <Loaded of={usePods(w)} what="Pods">
      {pods =>
        pods.length ? (
          <>
            {w.phase === "Failed" && <Failed workload={w} pods={pods} />}
            <LogView workloadId={w.id} name={w.name} pods={inTries(pods)} ended={OVER.includes(w.phase)} />
          </>
        ) : (
          <Empty>No pod has started yet, so nothing was printed.</Empty>
        )
      }
    </Loaded>
  );
}

/** What failed last of a workload that is tried again. */
export function Failure({ workload: w }: { workload: Workload }) {
  const pods = inTries(usePods(w).data ?? []).filter(p => p.nextTryAt);
  return pods.length ? <Failed workload={w} pods={pods} /> : null;
}

// Where its log does not follow at once, its last lines do.
function Failed({ workload: w, pods }: { workload: Workload; pods: Pod[] }) {
  const tries = inTries(pods),
    pod = tries.find(p => p.exitCode);
  if (!pod) return null;
  const wait = pod.nextTryAt ? since(second.value || now(), Date.parse(pod.nextTryAt)) : null;
  const one = `${pod.name} failed with exit code ${pod.exitCode}.`;
  const said = wait === null ? "" : (pod.message ?? "").replace(/^./, c => c.toUpperCase()); // else it is in phaseMessage
  const next = wait === null ? w.phaseMessage : wait ? `It starts again in ${duration(wait)}` : "It starts again now";
  return (
    <section class="failed" aria-label="What failed">
      <Because icon="x" tone="bad" one={one} two={[said, next].filter(Boolean).join(". ") + "."} />
      {(pod.nextTryAt || pod !== tries[0]) && <LastLines key={pod.id} workloadId={w.id} pod={pod} />}
    </section>
  );
}

function LastLines({ workloadId, pod }: { workloadId: string; pod: Pod }) {
  const [lines, setLines] = useState<string[]>([]);
  useEffect(
    () =>
      readLog(
        { workloadId, pod: pod.name, container: pod.containers[0]?.name ?? "", follow: false, tail: LAST_LINES },
        log => setLines(log.lines),
      ),
    [],
  );
  return lines.length ? (
    <pre class="code" tabindex={0} aria-label="Its last lines">
      {lines.map(line => shown(plain(splitTime(line)[1]))).join("\n")}
    </pre>
  ) : null;
}
