// One workload beside the table: what it is, what one can do, and tabs. Pending opens with why, Failed with the log, others
// with events.
import { get, getAll } from "../api";
import { now, second } from "../clock";
import { useData } from "../data";
import { NONE, cpu, gpuCount, gpus, iso, memory, percent, plural, time } from "../format";
import { Icon } from "../icons";
import { Button, LinkButton, Seg } from "../parts/button";
import { Code, curl } from "../parts/code";
import { EventList } from "../parts/event_list";
import { LineChart, seriesOf } from "../parts/line_chart";
import { LogView } from "../parts/log_view";
import { Menu } from "../parts/menu";
import { Facts, Pane, closePane } from "../parts/pane";
import { Receipts, useReceipts } from "../parts/receipts";
import { Empty, Loaded, Loading } from "../parts/states";
import { Status } from "../parts/status";
import { KINDS, commandOf, valuesOf } from "../pictures/submission";
import { may } from "../session";
import { PHASES, WORDS } from "../words";
import { canRun, formOf, pathOf, remove, run, stop, whyNot } from "../workload_actions";
import { WorkloadWhy } from "./workload_why";
import { useState } from "preact/hooks";

const WAITING = ["Pending", "Creating", "Resuming"];
const OVER = ["Completed", "Failed", "Stopped"];

export function WorkloadPane({ workload: w }) {
  const first = WAITING.includes(w.phase) ? "why" : w.phase === "Failed" ? "logs" : "events";
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
    { id: "why", label: WAITING.includes(w.phase) ? "Why pending" : "Why", view: () => <WorkloadWhy workload={w} /> },
    { id: "events", label: "Events", view: () => <Events workload={w} /> },
    { id: "pods", label: "Pods", view: () => <Pods workload={w} /> },
    { id: "metrics", label: "Metrics", view: () => <Metrics workload={w} /> },
    { id: "logs", label: "Logs", view: () => <Logs workload={w} /> },
    { id: "spec", label: "Spec", view: () => <Spec workload={w} /> },
  ];
  return (
    <Pane
      id={w.id}
      title={w.name}
      status={<Status phase={w.phase} pill />}
      line={line}
      tabs={tabs}
      first={first}
      actions={<Actions workload={w} />}
    />
  );
}

function Actions({ workload: w }) {
  const form = formOf(w);
  const copy = may("create", "workloads") ? `/workloads/new/${form}?copy=${w.id}` : null;
  const drop = async () => {
    if (await remove([w])) closePane();
  };
  return (
    <>
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

function Events({ workload: w }) {
  const events = useData(
    `events/${w.id}`,
    abort =>
      getAll(`/api/v1/workloads/${w.id}/history`, "records", {}, { signal: abort, most: 200 }).then(records =>
        records.map(asEvent),
      ),
    ["workload", "event", "pod"],
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
          {list => (list.length ? <EventList events={list} /> : <Empty>Nothing has happened yet.</Empty>)}
        </Loaded>
      </section>
    </>
  );
}

function asEvent({ meta, spec }) {
  if (spec.event) return spec.event;
  const { phase, phaseMessage } = spec.phaseUpdate ?? {};
  const { icon, tone, word = phase } = PHASES[phase] ?? {};
  return {
    createdAt: meta.creationTimestamp,
    type: "Normal",
    reason: phase,
    icon,
    tone,
    message: phaseMessage && phaseMessage !== phase ? `${word}. ${phaseMessage}` : word,
  };
}

function usePods(w) {
  return useData(
    `pods/${w.id}`,
    abort => getAll(`/api/v1/workloads/${w.id}/pods`, "pods", {}, { signal: abort, most: 500 }),
    ["pod", "workload"],
  );
}

function Pods({ workload: w }) {
  return (
    <Loaded of={usePods(w)} what="Pods">
      {pods =>
        pods.length ? (
          <div class="scroll" tabindex={0} role="region" aria-label="Pods, scrolls sideways">
            <table class="share">
              <thead>
                <tr>
                  <th scope="col">Pod</th>
                  <th scope="col">Status</th>
                  <th scope="col">Node</th>
                  <th scope="col" class="num">
                    GPUs
                  </th>
                </tr>
              </thead>
              <tbody>
                {pods.map(p => (
                  <tr key={p.id}>
                    <td data-tip={`${p.containers?.[0]?.image ?? ""} · created ${iso(p.createdAt)}`}>{p.name}</td>
                    <td>{p.k8sPhase}</td>
                    <td>
                      {p.nodeName ? (
                        <a class="plain" href={`/nodes?open=${encodeURIComponent(p.nodeName)}`}>
                          {p.nodeName}
                        </a>
                      ) : (
                        NONE
                      )}
                    </td>
                    <td class="num">{gpus(p.allocatedResources?.gpu ?? 0)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        ) : (
          <Empty>No pods yet: they are made when the workload gets its place.</Empty>
        )
      }
    </Loaded>
  );
}

const CHARTS = [
  {
    title: "GPU utilization",
    types: ["GPU_UTILIZATION"],
    names: { GPU_UTILIZATION: { name: "used", tone: "accent", fill: 0.1 } },
    format: percent,
    max: 100,
  },
  {
    title: "GPUs allocated",
    types: ["GPU_ALLOCATION"],
    names: { GPU_ALLOCATION: { name: "allocated", tone: "ink", fill: 0.09 } },
    format: gpus,
  },
  {
    title: "CPU cores",
    types: ["CPU_USAGE_CORES", "CPU_REQUEST_CORES"],
    names: {
      CPU_USAGE_CORES: { name: "used", tone: "accent", fill: 0.1 },
      CPU_REQUEST_CORES: { name: "asked", tone: "ink-3", dash: [1, 3] },
    },
    format: cpu,
  },
  {
    title: "CPU memory",
    types: ["CPU_MEMORY_USAGE_BYTES", "CPU_MEMORY_REQUEST_BYTES"],
    names: {
      CPU_MEMORY_USAGE_BYTES: { name: "used", tone: "accent", fill: 0.1 },
      CPU_MEMORY_REQUEST_BYTES: { name: "asked", tone: "ink-3", dash: [1, 3] },
    },
    format: memory,
    least: 1024 ** 3,
  },
];
const RANGES = [
  { value: "1", label: "1 h" },
  { value: "24", label: "1 d" },
  { value: "168", label: "1 w" },
];

function Metrics({ workload: w }) {
  const [hours, setHours] = useState("1");
  const metrics = useData(
    `metrics/${w.id}/${hours}`,
    async abort => {
      const end = OVER.includes(w.phase) && w.completedAt ? Date.parse(w.completedAt) : now(),
        start = end - Number(hours) * 3600000;
      const answer = await get(
        `/api/v1/workloads/${w.id}/metrics`,
        {
          start: new Date(start).toISOString(),
          end: new Date(end).toISOString(),
          numberOfSamples: 120,
          metricType: CHARTS.flatMap(c => c.types),
        },
        { signal: abort },
      );
      return {
        start,
        end,
        charts: CHARTS.map(c => ({
          ...c,
          series: seriesOf(
            (answer.measurements ?? []).filter(m => c.types.includes(m.type)),
            c.names,
          ),
        })),
      };
    },
    ["pod"],
  );
  return (
    <>
      <div class="bar chart-range">
        <span class="grow" />
        <Seg label="Time" options={RANGES} value={hours} onChange={setHours} />
      </div>
      <Loaded of={metrics} what="Metrics">
        {m => {
          const charts = m.charts.filter(c => c.series.some(s => s.points.some(p => p[1] !== null)));
          return charts.length ? (
            charts.map(c => (
              <LineChart
                key={c.title}
                title={c.title}
                series={c.series}
                format={c.format}
                max={c.max}
                least={c.least}
                from={m.start}
                to={m.end}
                height={140}
                group={w.id}
              />
            ))
          ) : (
            <Empty>Nothing was measured in this time.</Empty>
          );
        }}
      </Loaded>
    </>
  );
}

// The latest try first; of pods made together the first, which is a gang's master.
const inTries = pods =>
  pods
    .map((pod, i) => ({ pod, i, at: Math.floor(Date.parse(pod.createdAt) / 1000) }))
    .sort((a, b) => b.at - a.at || a.i - b.i)
    .map(p => p.pod);

function Logs({ workload: w }) {
  return (
    <Loaded of={usePods(w)} what="Pods">
      {pods =>
        pods.length ? (
          <LogView workloadId={w.id} name={w.name} pods={inTries(pods)} ended={OVER.includes(w.phase)} />
        ) : (
          <Empty>No pod has started yet, so nothing was printed.</Empty>
        )
      }
    </Loaded>
  );
}

// What would submit the same again.
function formsOf(w, { name, projectId, clusterId, spec, masterSpecSameAsWorker, masterSpec }) {
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
    cli: commandOf(valuesOf({ name, projectId, spec }, name), kind, w.projectName),
  };
}

function Spec({ workload: w }) {
  const spec = useData(`spec/${w.id}`, abort => get(pathOf(w), {}, { signal: abort }), ["workload"]);
  const at = value =>
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
        {s => <Code title="As submitted" forms={formsOf(w, s)} />}
      </Loaded>
    </>
  );
}
