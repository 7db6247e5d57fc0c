// Who is next in a node pool, and by which rule.
import { useState } from "preact/hooks";
import { get } from "../api";
import { minute, now } from "../clock";
import { useData } from "../data";
import { NONE, count, duration, gpus, iso, since } from "../format";
import { closed } from "../pictures/what_if";
import { Button } from "./button";
import { Empty, Loaded } from "./states";

const PAGE = 25;

export function QueueList({ pool }) {
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
                      <time class="muted nowrap" datetime={w.waitingSince} data-tip={iso(w.waitingSince)}>
                        {w.waitingSince ? duration(since(w.waitingSince, minute.value || now())) : NONE}
                      </time>
                    </span>
                    {(w.sentence ?? w.rule) && <p>{closed(w.sentence ?? w.rule)}</p>}
                  </div>
                </li>
              ))}
            </ol>
            {total > PAGE && (
              <div class="bar">
                <span class="muted small">
                  {count(offset + 1)}–{count(offset + workloads.length)} of {count(total)}
                </span>
                <span class="grow" />
                <Button
                  small
                  why={offset > 0 ? "" : "This is the first page."}
                  onClick={() => setOffset(Math.max(0, offset - PAGE))}
                >
                  Back
                </Button>
                <Button
                  small
                  why={offset + workloads.length < total ? "" : "This is the last page."}
                  onClick={() => setOffset(offset + PAGE)}
                >
                  Next
                </Button>
              </div>
            )}
          </>
        ) : (
          <Empty>Nothing waits in {pool}.</Empty>
        )
      }
    </Loaded>
  );
}
