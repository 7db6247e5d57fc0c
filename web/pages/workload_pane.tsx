// One workload beside the table: what it is, what one can do, and tabs. Pending opens with why, Failed with the log, others
// with events.

import { get } from "../api";
import { now, second } from "../clock";
import { useData } from "../data";
import { NONE, cpu, gpuCount, gpus, iso, memory, percent, plural, time } from "../format";
import { Icon } from "../icons";
import { Button, LinkButton } from "../parts/button";
import { Code, curl } from "../parts/code";
import { EventList } from "../parts/event_list";
import { type MetricChart, Metrics } from "../parts/metrics";
import { Later } from "../parts/later";
import { Menu } from "../parts/menu";
import { Facts, Pane, closePane } from "../parts/pane";
import { Receipts, useReceipts } from "../parts/receipts";
import { Empty, Loaded, Loading } from "../parts/states";
import { Status } from "../parts/status";
import { factsIn } from "../pictures/happenings";
import { KINDS, type Submitted, copyOf } from "../pictures/submission";
import { commandOf } from "../pictures/submission_command";
import { may } from "../session";
import type { Workload } from "../types";
import { WORDS } from "../words";
import { canRun, formOf, pathOf, remove, run, stop, whyNot } from "../workload_actions";
import { Connect } from "./connections";
import { SubGroups } from "./sub_groups";
import { Failure, Logs, Pods } from "./workload_pods";
import { WorkloadWhy } from "./workload_why";

const OF_DELETED = ["events", "pods", "logs", "spec"];
const WAITING = ["Pending", "Creating", "Resuming"];
const OVER = ["Completed", "Failed", "Stopped"];

export function WorkloadPane({ workload: w }: { workload: Workload }) {
  const first = w.deletedAt ? "events" : WAITING.includes(w.phase) ? "why" : w.phase === "Failed" ? "logs" : "events";
  const pods = w.requestedPods?.number ?? 1;
  const asked = w.workloadRequestedResources?.gpu?.request ?? 0;
  const line = (
    <>
      {w.type === "Distributed" ? "Distributed training" : w.type} in <b class="strong">{w.projectName}</b>,{" "}
      {pods > 1 ? `${plural(pods, "pod")} × ${gpuCount(asked / pods)}` : gpuCount(asked)}
      {w.submittedBy ? `, by ${w.submittedBy}` : ""}
    </>
  );
  const tabs = [
    {
      id: "why",
      label: WAITING.includes(w.phase) ? "Why pending" : "Why",
      view: () => [w.phase === "Pending" && <Failure workload={w} />, <WorkloadWhy workload={w} />],
    },
    { id: "events", label: "Events", view: () => <Events workload={w} /> },
    { id: "pods", label: "Pods", view: () => <Pods workload={w} /> },
    { id: "metrics", label: "Metrics", view: () => <Measured workload={w} /> },
    { id: "logs", label: "Logs", view: () => <Logs workload={w} /> },
    ...(may("update", "workloads")
      ? [
          {
            id: "terminal",
            label: "Terminal",
            view: () => <Later key={w.id} load={TERMINAL} what="The terminal" workload={w} />,
          },
        ]
      : []),
    { id: "spec", label: "Spec", view: () => <Spec workload={w} /> },
  ];
  return (
    <Pane
      id={w.id}
      title={w.name}
      status={<Status phase={w.deletedAt ? "Deleted" : w.phase} pill />}
      line={line}
      tabs={w.deletedAt ? tabs.filter(t => OF_DELETED.includes(t.id)) : tabs}
      first={first}
      actions={!w.deletedAt && <Actions workload={w} />}
    />
  );
}

function Actions({ workload: w }: { workload: Workload }) {
  const form = formOf(w);
  const copy = may("create", "workloads") ? `/workloads/new/${form}?copy=${w.id}` : null;
  const drop = async () => {
    if (await remove([w])) closePane();
  };
  return (
    <>
      <Connect workload={w} />
      {canRun(w) ? (
        <Button small icon="play" why={whyNot("run", [w])} onClick={() => run([w])}>
          Run
        </Button>
      ) : (
        <Button small icon="stop" why={whyNot("stop", [w])} onClick={() => stop([w])}>
          Stop
        </Button>
      )}
      {form &&
        (copy ? (
          <LinkButton small icon="copy" href={copy}>
            Make a copy
          </LinkButton>
        ) : (
          <Button small icon="copy" why={WORDS.noRight("create workloads")}>
            Make a copy
          </Button>
        ))}
      <Button small icon="trash" why={whyNot("delete", [w])} onClick={drop}>
        Delete
      </Button>
      <Menu
        small
        kind="quiet"
        icon="more"
        align="right"
        label="More actions"
        items={[
          { label: "Copy the id", icon: "copy", onClick: () => navigator.clipboard?.writeText(w.id) },
          { label: `Project ${w.projectName}`, href: `/projects?open=${w.projectId}` },
        ]}
      />
    </>
  );
}

function Events({ workload: w }: { workload: Workload }) {
  const events = useData(
    `events/${w.id}`,
    abort =>
      get("/api/v1/events", { workloadId: w.id, limit: 500 }, { signal: abort }).then(a => factsIn(a.events ?? [])),
    ["event"],
  );
  const asked = useReceipts({ workloadId: w.id }),
    receipts = asked.data ?? [];
  if (asked.loading) return <Loading />; // so that nothing moves down
  return (
    <>
      {receipts.length > 0 && (
        <section>
          <h3>Gave way</h3>
          <Receipts receipts={receipts} />
        </section>
      )}
      <section>
        {receipts.length > 0 && <h3>All events</h3>}
        <Loaded of={events} what="Events">
          {facts => (facts.length ? <EventList facts={facts} /> : <Empty>Nothing has happened yet.</Empty>)}
        </Loaded>
      </section>
    </>
  );
}

const usedOf = (used: string, promised: string, word: string) => ({
  types: [used, promised],
  names: {
    [used]: { name: "used", tone: "accent", fill: 0.1 },
    [promised]: { name: word, tone: "ink-3", dash: [1, 3] },
  },
});
const CHARTS: MetricChart[] = [
  {
    title: "GPU utilization",
    types: ["GPU_UTILIZATION"],
    names: { GPU_UTILIZATION: { name: "used", tone: "accent", fill: 0.1 } },
    format: percent,
    max: 100,
  },
  {
    title: "GPU memory",
    ...usedOf("GPU_MEMORY_USAGE_BYTES", "GPU_MEMORY_REQUEST_BYTES", "held"),
    format: memory,
    least: 1024 ** 3,
  },
  {
    title: "GPUs allocated",
    types: ["GPU_ALLOCATION"],
    names: { GPU_ALLOCATION: { name: "allocated", tone: "ink", fill: 0.09 } },
    format: gpus,
  },
  { title: "CPU cores", ...usedOf("CPU_USAGE_CORES", "CPU_REQUEST_CORES", "asked"), format: cpu },
  {
    title: "CPU memory",
    ...usedOf("CPU_MEMORY_USAGE_BYTES", "CPU_MEMORY_REQUEST_BYTES", "asked"),
    format: memory,
    least: 1024 ** 3,
  },
];

function Measured({ workload: w }: { workload: Workload }) {
  const until = () => (OVER.includes(w.phase) && w.completedAt ? Date.parse(w.completedAt) : now());
  return <Metrics path={`/api/v1/workloads/${w.id}/metrics`} charts={CHARTS} group={w.id} until={until} />;
}

const TERMINAL = () => import("./terminal");

/** As it was submitted, of whichever kind. */
type SubmittedWorkload = Submitted & {
  name: string;
  clusterId: string;
  masterSpecSameAsWorker?: boolean | null;
  masterSpec?: object | null;
};

// What would submit the same again.
function formsOf(w: Workload, submitted: SubmittedWorkload) {
  const { name, projectId, clusterId, spec, masterSpecSameAsWorker, masterSpec } = submitted;
  const kind = formOf(w),
    json = JSON.stringify(spec, null, 2);
  if (!kind) return { json };
  const body = {
    name,
    projectId,
    clusterId,
    ...(kind === "distributed"
      ? masterSpec
        ? { masterSpec }
        : { masterSpecSameAsWorker: masterSpecSameAsWorker ?? true }
      : {}),
    spec,
  };
  return {
    json,
    curl: curl("POST", KINDS[kind].path, body),
    cli: commandOf(copyOf({ projectId, spec }, name, kind), kind, w.projectName),
  };
}

function Spec({ workload: w }: { workload: Workload }) {
  const spec = useData(`spec/${w.id}`, abort => get(pathOf(w), {}, { signal: abort }) as Promise<SubmittedWorkload>, [
    "workload",
  ]);
  const at = (value?: string | null) =>
    value ? (
      <time datetime={value} data-tip={iso(value)}>
        {time(value, second.value)}
      </time>
    ) : (
      NONE
    );
  return (
    <>
      <section>
        <h3>What it is</h3>
        <Facts
          rows={[
            ["Project", w.projectName],
            ["Department", w.departmentName],
            ["Priority", w.priorityClassName],
            [
              "Preemptible",
              w.preemptible ? (
                "Yes"
              ) : (
                <span class="st off">
                  <Icon name="lock" />
                  No
                </span>
              ),
            ],
            ["Node pools", w.requestedNodePools?.join(", ") || NONE],
            ["Created", at(w.createdAt)],
            ["Namespace", w.namespace],
            ["Id", <span class="mono">{w.id}</span>],
          ]}
        />
      </section>
      <Loaded of={spec} what="The specification">
        {s => (
          <>
            <SubGroups shape={s.spec ?? {}} />
            <Code title="As submitted" forms={formsOf(w, s)} />
          </>
        )}
      </Loaded>
    </>
  );
}
