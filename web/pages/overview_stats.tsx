// The strip of six figures at the head of Overview.
import { NONE, count, gpus, percent, plural, ratio } from "../format";
import { Meters, Stat, Stats } from "../parts/stats";
import type { Overview, OverviewPool } from "../types";

const STARTING = ["Creating", "Initializing", "Resuming"];
const ENDING = ["Stopping", "Terminating", "Deleting"];
const SHOWN = 4; // node pools with a meter

type Figure = { [K in keyof OverviewPool]: OverviewPool[K] extends number ? K : never }[keyof OverviewPool];
type Phases = NonNullable<Overview["phases"]>;

const UNMEASURED = "Nothing measured the GPUs that are held in the last 10 minutes.";
const sum = (list: OverviewPool[], key: Figure) => list.reduce((total, x) => total + x[key], 0);
const inPhases = (phases: Phases, names: string[]) => names.reduce((total, name) => total + (phases[name] ?? 0), 0);
/** A figure of thousands of GPUs needs no hundredths. */
export const figure = (value: number) => gpus(value >= 1000 ? Math.round(value) : value);

// all: of GET /overview; used: percent of all GPUs; null: not measured lately, undefined: not known yet.
export function OverviewStats({
  all: { nodePools, phases, waiting, notReady = [], clusters },
  used,
}: {
  all: Overview;
  used?: number | null;
}) {
  return (
    <Stats label="The cluster now">
      {nodePools && <Allocated pools={nodePools.filter(p => p.gpus + p.gpusDown > 0)} />}
      {waiting && (
        <Stat
          label="Waiting"
          value={figure(waiting.gpus)}
          unit={waiting.gpus === 1 ? "GPU" : "GPUs"}
          line={waitingLine(waiting)}
          href="/workloads?f=phase==Pending"
        />
      )}
      {phases && <Running phases={phases} />}
      {clusters && (
        <Used
          used={nodePools && sum(nodePools, "gpusAllocated") === 0 ? null : used}
          held={!nodePools || sum(nodePools, "gpusAllocated") > 0}
          href={nodePools ? "/nodes" : undefined}
        />
      )}
      {nodePools && (
        <>
          <Idle pools={nodePools} />
          <Ready pools={nodePools} notReady={notReady} />
        </>
      )}
    </Stats>
  );
}

const waitingLine = ({ count: number, gpusOwed }: NonNullable<Overview["waiting"]>) =>
  gpusOwed > 0
    ? `${figure(gpusOwed)} owed by quota`
    : number
      ? `${plural(number, "workload")}, none owed`
      : "nothing waits";

function Allocated({ pools }: { pools: OverviewPool[] }) {
  const held = sum(pools, "gpusAllocated"),
    total = sum(pools, "gpus"),
    down = sum(pools, "gpusDown");
  return (
    <Stat
      label="GPUs allocated"
      value={figure(held)}
      unit={`of ${gpus(total)}`}
      line={ratio(held, total) + (down ? `, ${gpus(down)} more not ready` : "")}
      href="/nodes"
    >
      <Meters
        rows={pools
          .slice(0, SHOWN)
          .map(p => ({ name: p.name, part: p.gpusAllocated, whole: p.gpus, text: ratio(p.gpusAllocated, p.gpus) }))}
      />
    </Stat>
  );
}

function Running({ phases }: { phases: Phases }) {
  const both: [number, string][] = [
    [inPhases(phases, STARTING), "starting"],
    [inPhases(phases, ENDING), "stopping"],
  ];
  const turning = both
    .filter(([n]) => n > 0)
    .map(([n, word]) => `${count(n)} ${word}`)
    .join(", ");
  return (
    <Stat
      label="Running"
      value={count(phases.Running ?? 0)}
      unit={phases.Running === 1 ? "workload" : "workloads"}
      line={turning || "none starting"}
      href="/workloads?f=phase==Running"
    />
  );
}

function Used({ used, held, href }: { used?: number | null; held: boolean; href?: string }) {
  const known = Number.isFinite(used);
  return (
    <Stat
      label="GPU utilization"
      value={known ? percent(used).slice(0, -2) : NONE}
      unit={known ? "%" : ""}
      line="of all GPUs"
      tip={used === null ? (held ? UNMEASURED : "Nothing is allocated.") : undefined}
      href={href}
    />
  );
}

function Idle({ pools }: { pools: OverviewPool[] }) {
  const measured = pools.flatMap(p => p.gpusIdle ?? []);
  const idle = measured.reduce((total, n) => total + n, 0),
    silent = pools.filter(p => p.gpusIdle === null).map(p => p.name);
  const known = !silent.length || measured.length > 0;
  return (
    <Stat
      label="Allocated, idle"
      value={known ? gpus(idle) : NONE}
      unit={!known ? "" : idle === 1 ? "GPU" : "GPUs"}
      line={silent.length ? "of GPUs that are measured" : "held, but 0 % used now"}
      tip={silent.length ? `Nothing measures the GPUs that are held in ${silent.join(", ")}.` : undefined}
      href={"/workloads?f=idleAllocatedGpus>=1&sort=-idleAllocatedGpus"}
    />
  );
}

function Ready({ pools, notReady }: { pools: OverviewPool[]; notReady: { name: string }[] }) {
  const nodes = sum(pools, "gpuNodes"),
    ready = sum(pools, "gpuNodesReady"),
    broken = nodes - ready;
  return (
    <Stat
      label="GPU nodes ready"
      value={count(ready)}
      unit={`of ${count(nodes)}`}
      tone={broken ? "bad" : ""}
      line={
        broken
          ? notReady
              .slice(0, 2)
              .map(n => n.name)
              .join(", ") + (broken > 2 ? ` and ${broken - 2} more` : "")
          : nodes
            ? "all of them"
            : "none has joined"
      }
      href={broken ? "/nodes?f=status==NotReady" : "/nodes"}
    />
  );
}
