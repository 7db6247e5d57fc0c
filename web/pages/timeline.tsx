// Who held which device when, who gave way to whom, and what was decided at a moment.
import { useEffect, useState } from "preact/hooks";
import { get } from "../api";
import { now } from "../clock";
import { useData } from "../data";
import { clock, day, plural } from "../format";
import { Seg } from "../parts/button";
import { Because } from "../parts/because";
import { SelectField } from "../parts/form";
import { Page } from "../parts/page";
import { Fault, Loading } from "../parts/states";
import { TimelinePicture } from "../parts/timeline_picture";
import { byProject, moved, nameOf, wordsOfEviction } from "../pictures/timeline";
import { closed } from "../pictures/what_if";
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
const LANES = [
  { value: "", label: "Nodes" },
  { value: "projects", label: "Projects" },
];
const iso = (at: number) => new Date(at).toISOString();
const said = (at: number) => `${day(at)} ${clock(at, true)}`;

const VERBS: Record<string, string> = {
  bind: "got a place on",
  pipeline: "was promised a place on",
  evict: "left",
  withdraw: "lost the promise of",
};

// What the last cycle until a moment decided; where it decided nothing, what came of others within 5 s.
function Moment({ at, timeline }: { at: number; timeline: Timeline }) {
  const { data, error } = useData(`cycle/${at}`, signal =>
    get("/api/v1/scheduler/decisions", { at: iso(at), limit: 100 }, { signal }),
  );
  const cycle = data?.cycles[0];
  const time = cycle ? Date.parse(cycle.time) : at;
  const isNear = (seconds: number) => Math.abs(Date.parse(timeline.start) + seconds * 1000 - time) < 5000;
  const { evictions, blocks, lanes } = timeline;
  const decided = cycle?.decided?.map(d => `${d.workload} ${VERBS[d.verb ?? ""]} ${d.node ?? "a node"}: ${d.why}.`);
  const facts = decided?.length
    ? decided
    : [
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
            : (error?.message ?? "\u00a0")}
        </p>
        <ul>
          {facts.slice(0, 100).map(fact => (
            <li key={fact}>{fact}</li>
          ))}
        </ul>
        {(data || error) && <Then at={at} />}
      </div>
    </section>
  );
}

// Why any workload was where it was: the cycle of then is planned again for it.
function Then({ at }: { at: number }) {
  const { why } = route.value.query;
  const { data: list } = useData(`then/${at}`, signal =>
    get("/api/v1/workloads", { filterBy: [`createdAt<=${iso(at)}`], sortBy: "name", limit: 500 }, { signal }),
  );
  const { data, error } = useData(why ? `then/${at}/${why}` : null, signal =>
    get(`/api/v1/workloads/${why!}/explanation`, { at: iso(at) }, { signal }),
  );
  return (
    <>
      <SelectField
        label="Why, at that moment"
        path="why"
        value={why ?? ""}
        onBlur={() => {}}
        onValue={id => setQuery({ why: id || null })}
        options={[
          { value: "", label: "Choose a workload" },
          ...(list?.workloads ?? []).map(w => ({ value: w.id, label: `${w.projectName}/${w.name}` })),
        ]}
      />
      {why && error && <p class="soft">{error.message}</p>}
      {why && data && <Because icon="info" tone="info" one={closed(data.sentence)} two={closed(data.why)} />}
    </>
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

// What is shown: by node or by project, and of which time.
function Head({ from, span }: { from: boolean; span: number }) {
  const { node, by = "" } = route.value.query;
  return (
    <header>
      <h2>Who held what{node && ` of ${node}`}</h2>
      <span class="grow" />
      <Seg label="Lanes" options={LANES} value={by} onChange={value => setQuery({ by: value || null, node: null })} />
      <Seg
        label="Period"
        options={SPANS}
        value={from ? 0 : span}
        onChange={value => setQuery({ span: value, from: null, to: null, node: null })}
      />
    </header>
  );
}

export default function TimelinePage() {
  const { from, to, at, pool: nodePool, node, by = "" } = route.value.query;
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
        <Head from={Boolean(from)} span={span} />
        <div class="body">
          {data && !data.blocks.length && <p class="soft">Nobody held a GPU in this time.</p>}
          {data?.heldSince && <p class="soft">What ended before {said(Date.parse(data.heldSince))} is not kept.</p>}
          {data ? (
            <TimelinePicture
              timeline={by ? byProject(data) : data}
              at={Number(at)}
              onMoment={moment => setQuery({ at: moment })}
              onZoom={show}
              onMove={(by, zoom) => show(...moved([Date.parse(data.start), Date.parse(data.end)], by, zoom, now()))}
              onNode={name => !by && setQuery({ node: name === node ? null : name })}
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
