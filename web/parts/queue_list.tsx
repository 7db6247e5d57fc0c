// Who is next in a node pool, and by which rule.
import { useState } from "preact/hooks";
import { get } from "../api";
import { minute, now } from "../clock";
import { useData } from "../data";
import { NONE, count, duration, gpus, iso, since } from "../format";
import { closed } from "../pictures/what_if";
import type { QueueOrder } from "../types";
import { Button } from "./button";
import { Empty, Loaded } from "./states";

const PAGE = 25;

type Waiter = QueueOrder["workloads"][number];

export function QueueList({ pool }: { pool: string }) {
  const [offset, setOffset] = useState(0);
  const queue = useData(
    `queue/${pool}/${offset}`,
    abort => get("/api/v1/scheduler/queue", { nodePool: pool, offset, limit: PAGE }, { signal: abort }),
    ["workload", "queue"],
  );
  return (
    <Loaded of={queue} what="The queue" rows={4} height={40}>
      {({ workloads = [], total = workloads.length }) =>
        workloads.length ? (
          <>
            <p class="soft">
              The order in which the scheduler looks at what waits; who doesn't fit lets the next one try.
            </p>
            <ol class="queue" start={workloads[0].position}>
              {workloads.map(w => (
                <li key={w.workloadId ?? w.position}>
                  <span class="n">{w.position}</span>
                  <Waits waiter={w} />
                </li>
              ))}
            </ol>
            {total > PAGE && <Pages offset={offset} number={workloads.length} total={total} go={setOffset} />}
          </>
        ) : (
          <Empty>Nothing waits in {pool}.</Empty>
        )
      }
    </Loaded>
  );
}

function Waits({ waiter: w }: { waiter: Waiter }) {
  return (
    <div>
      <span class="who">
        {w.workloadId ? (
          <a class="plain strong" href={`/workloads?open=${w.workloadId}&tab=why`}>
            {w.project}/{w.workload}
          </a>
        ) : (
          <b class="strong">{w.workload}</b>
        )}{" "}
        <span class="muted nowrap">
          {gpus(w.gpus)} {w.gpus === 1 ? "GPU" : "GPUs"}
          {w.pods > 1 ? ` in ${w.pods} pods` : ""}
        </span>
        <span class="grow" />
        <time class="muted nowrap" datetime={w.waitingSince ?? undefined} data-tip={iso(w.waitingSince)}>
          {w.waitingSince ? duration(since(w.waitingSince, minute.value || now())) : NONE}
        </time>
      </span>
      {(w.sentence ?? w.rule) && <p>{closed(w.sentence ?? w.rule)}</p>}
    </div>
  );
}

interface PagesProps {
  offset: number;
  number: number;
  total: number;
  go: (offset: number) => void;
}

function Pages({ offset, number, total, go }: PagesProps) {
  return (
    <div class="bar">
      <span class="muted small">
        {count(offset + 1)}–{count(offset + number)} of {count(total)}
      </span>
      <span class="grow" />
      <Button small why={offset > 0 ? "" : "This is the first page."} onClick={() => go(Math.max(0, offset - PAGE))}>
        Back
      </Button>
      <Button small why={offset + number < total ? "" : "This is the last page."} onClick={() => go(offset + PAGE)}>
        Next
      </Button>
    </div>
  );
}
