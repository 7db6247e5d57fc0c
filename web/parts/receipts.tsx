// Who gave way to whom: a sentence for each decision, and both sides' numbers on demand.
import { get } from "../api";
import { now } from "../clock";
import { useData } from "../data";
import { NONE, gpuCount, gpus, iso, plural, time } from "../format";
import { Icon } from "../icons";
import { type JoinedReceipt, closed, joinReceipts } from "../pictures/what_if";
import type { Query, Receipt } from "../types";
import { gaveWay } from "../words";
import { Empty, Loaded } from "./states";

const KINDS = ["workload", "event"];
const MOST = 100;

export function useReceipts(query: Query<"/api/v1/scheduler/receipts">) {
  return useData(
    `receipts/${JSON.stringify(query)}`,
    abort =>
      get("/api/v1/scheduler/receipts", { ...query, limit: MOST }, { signal: abort }).then(a =>
        joinReceipts(a.receipts ?? []),
      ),
    KINDS,
  );
}

// named: say whose workload it was, where the page is about many.
export function Receipts({ receipts, named }: { receipts: JoinedReceipt[]; named?: boolean }) {
  return (
    <ul class="receipts">
      {receipts.map(r => (
        <li key={r.id}>
          <details>
            <summary>
              <Icon name="back" tone="warn" />
              <span>
                <time datetime={r.time} data-tip={iso(r.time)}>
                  {time(r.time, now())}
                </time>{" "}
                {named && (
                  <>
                    <b class="strong">
                      {r.project}/{r.workload}
                    </b>{" "}
                  </>
                )}
                {lower(gaveWay(r), named)}
              </span>
            </summary>
            <Numbers receipt={r} />
          </details>
        </li>
      ))}
    </ul>
  );
}

const lower = (text: string, named?: boolean) => (named ? text[0].toLowerCase() + text.slice(1) : text);

function Numbers({ receipt: r }: { receipt: JoinedReceipt }) {
  const link = (name?: string | null, id?: string | null) =>
    id && name ? (
      <a class="plain" href={`/workloads?open=${id}`}>
        {name}
      </a>
    ) : (
      (name ?? NONE)
    );
  const all: [what: string, side: Queue | undefined, project?: string | null][] = [
    ["Gave", r.victim, r.project],
    ["Got", r.beneficiaryQueue, r.beneficiaryProject],
  ];
  const sides = all.flatMap(([what, side, project]) => (side ? [{ what, side, project }] : []));
  return (
    <div class="sums">
      <p>{closed(r.sentence)}</p>
      <p class="muted small">
        {gpuCount(r.gpus)} of {plural(r.pods, "pod")} of {link(r.workload, r.workloadId)} on {r.nodes.join(", ")}
        {r.beneficiary ? <>, for {link(r.beneficiary, r.beneficiaryId)}</> : ""}. Rule:{" "}
        {(r.rule ?? r.action).replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase()}.
      </p>
      {sides.length > 0 && (
        <div class="scroll" tabindex={0} role="region" aria-label="Both sides' numbers">
          <table class="share">
            <thead>
              <tr>
                <th scope="col">Side</th>
                <th scope="col" class="num">
                  Quota
                </th>
                <th scope="col" class="num">
                  Fair share
                </th>
                <th scope="col" class="num">
                  Held before
                </th>
                <th scope="col" class="num">
                  after
                </th>
              </tr>
            </thead>
            <tbody>
              {sides.flatMap(({ what, side, project }) => [
                <Side key={what} name={`${what}: ${side.project ?? project}`} side={side} />,
                side.department?.name && (
                  <Side
                    key={what + "d"}
                    name={`in ${String(side.department.name)}`}
                    side={side.department as SideFacts}
                  />
                ),
              ])}
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}

type Queue = Receipt["victim"];
type SideFacts = Pick<NonNullable<Queue>, "deserved" | "fairShare" | "allocatedBefore" | "allocatedAfter">;

function Side({ name, side: s }: { name: string; side: SideFacts }) {
  return (
    <tr>
      <td>{name}</td>
      <td class="num">{s.deserved === null ? "unlimited" : gpus(s.deserved)}</td>
      <td class="num">{gpus(s.fairShare)}</td>
      <td class="num">{gpus(s.allocatedBefore)}</td>
      <td class="num">{gpus(s.allocatedAfter)}</td>
    </tr>
  );
}

// A tab of its own: what was taken from the workloads of a project, department or pool.
export function ReceiptsOf({ query, none }: { query: Query<"/api/v1/scheduler/receipts">; none: string }) {
  const found = useReceipts(query);
  return (
    <Loaded of={found} what="The receipts">
      {list =>
        list.length ? (
          <>
            <Receipts receipts={list} named />
            {list.length >= MOST && <p class="small muted">The latest {MOST}.</p>}
          </>
        ) : (
          <Empty>{none}</Empty>
        )
      }
    </Loaded>
  );
}
