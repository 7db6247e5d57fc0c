// Who held which device when, who gave way to whom, and what was decided at a moment.
import { useEffect, useState } from "preact/hooks";
import { get } from "../api";
import { now } from "../clock";
import { useData } from "../data";
import { clock, day, plural } from "../format";
import { Seg } from "../parts/button";
import { Page } from "../parts/page";
import { Fault, Loading } from "../parts/states";
import { TimelinePicture } from "../parts/timeline_picture";
import { moved, nameOf, wordsOfEviction } from "../pictures/timeline";
import { route, setQuery } from "../router";
import type { Timeline } from "../types";

const MINUTE = 60000,
  HOUR = 60 * MINUTE;
const SPANS = [
  { value: 1, label: "1 h" },
  { value: 6, label: "6 h" },
  { value: 24, label: "24 h" },
  { value: 168, label: "7 d" },
  { value: 720, label: "30 d" },
];
const iso = (at: number) => new Date(at).toISOString();
const said = (at: number) => `${day(at)} ${clock(at, true)}`;

// The last cycle that decided something until a moment, and what came of it in 5 s.
function Moment({ at, timeline }: { at: number; timeline: Timeline }) {
  const { data, error } = useData(`cycle/${at}`, signal =>
    get("/api/v1/scheduler/decisions", { since: iso(at - 24 * HOUR), until: iso(at), limit: 500 }, { signal }),
  );
  const cycle = data?.cycles.find(c => c.decisions);
  const time = cycle ? Date.parse(cycle.time) : at;
  const isNear = (seconds: number) => Math.abs(Date.parse(timeline.start) + seconds * 1000 - time) < 5000;
  const { evictions, blocks, lanes } = timeline;
  const facts = [
    ...evictions.filter(e => isNear(e.at)).map(wordsOfEviction),
    ...blocks.filter(b => isNear(b.from)).map(b => `${nameOf(timeline, b)} on ${lanes[b.lane].node}`),
  ];
  return (
    <section class="sheet moment">
      <header>
        <h2>{said(at)}</h2>
      </header>
      <div class="body">
        <p class="soft">
          {cycle
            ? `Cycle ${cycle.cycle}, ${said(time)}: ${plural(cycle.decisions, "decision")}`
            : (error?.message ?? (data ? "No decision in the 24 hours before." : "\u00a0"))}
        </p>
        <ul>
          {facts.slice(0, 40).map(fact => (
            <li key={fact}>{fact}</li>
          ))}
        </ul>
      </div>
    </section>
  );
}

// A server that has just begun held nothing for most of a day: then its picture begins shortly before its first block.
function useCrop(span: number): [number, (timeline: Timeline) => void] {
  const [known, set] = useState({ span, since: 0 });
  const since = known.span === span ? known.since : 0;
  const crop = ({ start, end, blocks }: Timeline) => {
    const from = Date.parse(start),
      width = Date.parse(end) - from,
      first = Math.min(width, ...blocks.map(b => b.from * 1000));
    if (!since && first < width && first > width * 0.75)
      set({ span, since: from + first - Math.max(MINUTE, (width - first) / 20) });
  };
  return [since, crop];
}

export default function TimelinePage() {
  const { from, to, at, pool: nodePool, node } = route.value.query;
  const span = Number(route.value.query.span) || 24;
  const [since, crop] = useCrop(span);
  const { data, error, reload } = useData<Timeline>(
    `timeline/${from}/${to}/${span}/${since}/${nodePool}/${node}`,
    signal => {
      const [start, end] = from ? [Number(from), Number(to)] : [Math.max(since, now() - span * HOUR), now()];
      return get(
        "/api/v1/scheduler/timeline",
        { start: iso(start), end: iso(end), width: 1200, nodePool, node },
        { signal },
      );
    },
    from ? [] : ["pod"],
  );
  useEffect(() => {
    if (data && !from) crop(data);
  }, [data]);
  const show = (begin: number, end: number) => setQuery({ from: Math.round(begin), to: Math.round(end) });
  return (
    <Page title="Timeline">
      <section class="sheet">
        <header>
          <h2>Who held what{node && ` of ${node}`}</h2>
          <span class="grow" />
          <Seg
            label="Period"
            options={SPANS}
            value={from ? 0 : span}
            onChange={value => setQuery({ span: value, from: null, to: null, node: null })}
          />
        </header>
        <div class="body">
          {data && !data.blocks.length && <p class="soft">Nobody held a GPU in this time.</p>}
          {data?.heldSince && <p class="soft">What ended before {said(Date.parse(data.heldSince))} is not kept.</p>}
          {data ? (
            <TimelinePicture
              timeline={data}
              at={Number(at)}
              onMoment={moment => setQuery({ at: moment })}
              onZoom={show}
              onMove={(by, zoom) => show(...moved([Date.parse(data.start), Date.parse(data.end)], by, zoom, now()))}
              onNode={name => setQuery({ node: name === node ? null : name })}
            />
          ) : error ? (
            <Fault error={error} what="The timeline" retry={reload} />
          ) : (
            <Loading rows={8} height={40} />
          )}
        </div>
      </section>
      {data && at && <Moment at={Number(at)} timeline={data} />}
    </Page>
  );
}
