// Who held which device when, who gave way to whom, and what was decided at a moment.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { get } from "../api";
import { now } from "../clock";
import { useData } from "../data";
import { clock, day, localTimes, plural, time } from "../format";
import { Because } from "../parts/because";
import { Button, Seg } from "../parts/button";
import { SelectField } from "../parts/form";
import { Page } from "../parts/page";
import { Choice } from "../parts/quota_picture";
import { Fault, Loading } from "../parts/states";
import { TimelinePicture } from "../parts/timeline_picture";
import { counted, moved, nameOf, namesOf, ordered, wordsOfEviction } from "../pictures/timeline";
import { closed } from "../pictures/what_if";
import { go, route, setQuery } from "../router";
import { may } from "../session";
import type { Answer, Timeline } from "../types";

type Cycle = Answer<"/api/v1/scheduler/decisions">["cycles"][number];
type Listed = NonNullable<Answer<"/api/v1/workloads">["workloads"]>[number];

const HOUR = 3600000,
  LEAST = 5000;
const SPANS = [
  { value: 1, label: "1 h" },
  { value: 6, label: "6 h" },
  { value: 24, label: "24 h" },
  { value: 168, label: "7 d" },
  { value: 720, label: "30 d" },
];
const LANES = [
  { value: "pools", label: "Pools" },
  { value: "nodes", label: "Nodes" },
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

/** What was decided, or came of it; href: the workload, or those of its name. */
interface Fact {
  text: string;
  href?: string | null;
}
const hrefOf = (id?: string | null) => id && `/workloads?open=${id}`;

// What the last cycle until a moment decided; where it decided nothing, what came of others within 5 s.
function factsOf(cycle: Cycle | undefined, planned: number, timeline: Timeline, list: Listed[]): Fact[] {
  const named = (name = "") => {
    const all = list.filter(w => w.name === name);
    return all.length === 1 ? hrefOf(all[0].id) : `/workloads?q=${encodeURIComponent(name)}`;
  };
  if (cycle?.decided?.length)
    return cycle.decided.map(d => ({
      text: `${d.workload} ${VERBS[d.verb ?? ""]} ${d.node ?? "a node"}: ${d.why}.`,
      href: named(d.workload),
    }));
  const isNear = (seconds: number) => Math.abs(Date.parse(timeline.start) + seconds * 1000 - planned) < 5000;
  const { evictions, blocks, workloads } = timeline;
  return [
    ...evictions.filter(e => isNear(e.at)).map(e => ({ text: wordsOfEviction(e), href: hrefOf(e.victim?.id) })),
    ...blocks
      .filter(b => isNear(b.from))
      .map(b => ({
        text: `${nameOf(timeline, b)}, ${namesOf(timeline, b.lane)[0]}`,
        href: b.workload === undefined ? null : hrefOf(workloads[b.workload].id),
      })),
  ];
}

function Moment({ at, timeline }: { at: number; timeline: Timeline }) {
  const { data, error } = useData(`cycle/${at}`, signal =>
    get("/api/v1/scheduler/decisions", { at: iso(at), limit: 100 }, { signal }),
  );
  const { data: then } = useData(`then/${at}`, signal =>
    get("/api/v1/workloads", { filterBy: [`createdAt<=${iso(at)}`], sortBy: "name", limit: 500 }, { signal }),
  );
  const ref = useRef<HTMLElement>(null);
  useEffect(() => ref.current?.scrollIntoView({ block: "nearest" }), [at, Boolean(data)]);
  const list = then?.workloads ?? [],
    cycle = data?.cycles[0],
    planned = cycle ? Date.parse(cycle.time) : at;
  return (
    <section class="sheet moment" ref={ref}>
      <header>
        <h2>{said(at)}</h2>
        <span class="grow" />
        <Button small kind="quiet" icon="close" label="Close" onClick={() => setQuery({ at: null, why: null })} />
      </header>
      <div class="body">
        <p class="soft">
          {cycle
            ? `Cycle ${cycle.cycle}, ${said(planned)}: ${plural(cycle.decisions, "decision")}`
            : error
              ? localTimes(error.message, now())
              : "\u00a0"}
        </p>
        <ul tabindex={0} aria-label="What happened then">
          {counted(factsOf(cycle, planned, timeline, list))
            .slice(0, 100)
            .map(({ text, times, href }) => (
              <li key={text}>
                {text}
                {times > 1 && ` (${times} times)`} {href && <a href={href}>Open</a>}
              </li>
            ))}
        </ul>
        {(data || error) && <Then at={at} list={list} />}
      </div>
    </section>
  );
}

// Why any workload was where it was: the cycle of then is planned again for it.
function Then({ at, list }: { at: number; list: Listed[] }) {
  const { why } = route.value.query;
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
          ...list.map(w => ({ value: w.id, label: `${w.projectName}/${w.name}` })),
        ]}
      />
      {why && error && <p class="soft">{localTimes(error.message, now())}</p>}
      {why && data && <Because icon="info" tone="info" one={closed(data.sentence)} two={closed(data.why)} />}
    </>
  );
}

// When a picture should begin that shows little of what was asked for, as of a server that has just begun: shortly before its
// first block; 0: it is well as it is.
function cropOf({ start, end, blocks }: Timeline, since: number) {
  const from = Date.parse(start),
    width = Date.parse(end) - from,
    first = Math.min(width, ...blocks.map(b => b.from * 1000));
  const begin = Math.round(from + first - Math.max(LEAST, (width - first) / 20));
  return first < width && first > width * 0.5 && begin > since + LEAST ? begin : 0;
}

// What is shown: of which pool, by what, and of which time.
function Head({ by, span }: { by?: string; span: number }) {
  const { node, pool } = route.value.query;
  const { data } = useData(may("read", "nodepools") ? "pools/names" : null, signal =>
    get("/api/v1/node-pools", { sortBy: "name", limit: 500 }, { signal }),
  );
  const names = data?.nodepools?.map(p => p.name) ?? [];
  const pools = pool && !names.includes(pool) ? [...names, pool] : names;
  return (
    <header>
      <h2>Who held what{node && ` of ${node}`}</h2>
      <span class="grow" />
      {may("read", "nodepools") && (
        <Choice
          label="Node pool"
          options={[{ value: "", label: "All pools" }, ...pools.map(name => ({ value: name, label: name }))]}
          value={pool ?? ""}
          onChange={value => setQuery({ pool: value || null, node: null })}
        />
      )}
      <Seg label="Lanes" options={LANES} value={by ?? ""} onChange={value => setQuery({ by: value, node: null })} />
      <Seg
        label="Period"
        options={SPANS}
        value={span}
        onChange={value => setQuery({ span: value, from: null, to: null, node: null })}
      />
    </header>
  );
}

export default function TimelinePage() {
  const { from, to, at, pool: nodePool, node, by } = route.value.query;
  const span = Number(route.value.query.span) || 24;
  const [crop, setCrop] = useState({ span, since: 0 });
  const since = crop.span === span ? crop.since : 0;
  const answer = useData<Timeline>(
    `timeline/${from}/${to}/${span}/${since}/${nodePool}/${node}/${by}`,
    signal => {
      const [start, end] = from ? [Number(from), Number(to)] : [Math.max(since, now() - span * HOUR), now()];
      const lanes = node ? "nodes" : (by ?? "auto");
      return get(
        "/api/v1/scheduler/timeline",
        { start: iso(start), end: iso(end), width: 1200, nodePool, node, by: lanes },
        { signal },
      );
    },
    from ? [] : ["pod"],
  );
  const { error, reload } = answer;
  const data = useMemo(() => answer.data && ordered(answer.data), [answer.data]);
  const begin = data && !from ? cropOf(data, since) : 0;
  useEffect(() => {
    if (begin) setCrop({ span, since: begin });
  }, [begin]);
  const show = (first: number, last: number) => setQuery({ from: Math.round(first), to: Math.round(last) });
  const open = ({ node: name, nodePool: pool, project }: Timeline["lanes"][number]) => {
    if (name) setQuery({ node: name === node ? null : name });
    else if (project !== undefined) go(`/projects?open=${data!.projects[project].id}`);
    else if (pool) setQuery({ pool, by: "nodes" });
  };
  return (
    <Page title="Timeline">
      <section class="sheet">
        <Head by={node ? "nodes" : (data?.by ?? by)} span={from ? 0 : span} />
        <div class="body">
          {data && !data.blocks.length && <p class="soft">Nobody held a GPU in this time.</p>}
          {data?.heldSince && <p class="soft">What ended before {said(Date.parse(data.heldSince))} is not kept.</p>}
          {data && !begin && since > 0 && !from && <p class="soft">Nobody held a GPU before {time(since, now())}.</p>}
          {data && !begin ? (
            <TimelinePicture
              timeline={data}
              at={Number(at)}
              onMoment={moment => setQuery({ at: moment })}
              onZoom={show}
              onMove={(step, zoom) => show(...moved([Date.parse(data.start), Date.parse(data.end)], step, zoom, now()))}
              onLane={open}
            />
          ) : error ? (
            <Fault error={error} what="The timeline" retry={reload} />
          ) : (
            <Loading rows={8} height={40} />
          )}
        </div>
      </section>
      {data && !begin && at && <Moment at={Number(at)} timeline={data} />}
    </Page>
  );
}
