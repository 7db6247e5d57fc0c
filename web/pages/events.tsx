// What happened, from the newest back: of all that one may read, by kind, project, node, words and time.
import { useRef } from "preact/hooks";
import { allRows, get } from "../api";
import { now } from "../clock";
import { inScope, useData } from "../data";
import { clock, csvCell, day } from "../format";
import { Button } from "../parts/button";
import { EventList, News, useHeld } from "../parts/event_list";
import { Page } from "../parts/page";
import { Choice } from "../parts/quota_picture";
import { Empty, Loaded } from "../parts/states";
import { MOST_ROWS, SearchBox, saveText } from "../parts/table_tools";
import { toastError } from "../parts/toast";
import { type Fact, type Happening, pageOf } from "../pictures/happenings";
import { type Changes, route, setQuery } from "../router";
import { may, scope } from "../session";
import type { Query } from "../types";

const SIZE = 200, // rows of the server a page
  BESIDE = 100; // and of its neighbours, so that a start is not parted
const KINDS = {
  "": "All kinds",
  starts: "Starts",
  evictions: "Evictions",
  failures: "Failures",
  people: "What people asked",
  nodes: "Nodes",
  organisation: "Organisation",
};
const SPANS = { "": "Any time", 1: "Last hour", 24: "Last 24 hours", 168: "Last 7 days", between: "From … to …" };
const TYPES = { "": "Normal and warnings", Warning: "Warnings" };
const choices = (words: Record<string, string>) => Object.entries(words).map(([value, label]) => ({ value, label }));
const ask = (changes: Changes) => setQuery({ ...changes, page: null });
const utc = (local?: string) => (local ? new Date(local).toISOString() : undefined);

// What the query string asks for, as the server is asked; a page further back ends where the first one did when it was left.
function question(): Query<"/api/v1/events"> {
  const { kind, project, node, type, q, span, from, to } = route.peek().query;
  return {
    ...(project ? { projectId: project } : inScope(scope.peek())),
    kind,
    node,
    type,
    search: q,
    start: span === "between" ? utc(from) : span && new Date(now() - Number(span) * 3600000).toISOString(),
    end: span === "between" ? utc(to) : undefined,
  };
}
const placeOf = (page?: string) => {
  const [skip, until] = page?.split("@") ?? [];
  return { skip: Number(skip) || 0, until };
};

interface Answer {
  key: string;
  facts: Fact[];
  isMore: boolean;
  at?: string; // of the newest event, where pages further back begin to count
}
const NOTHING: Fact[] = [];

function useFacts(key: string) {
  const { skip, until } = placeOf(route.value.query.page),
    lead = Math.min(skip, BESIDE);
  return useData<Answer>(
    key,
    async signal => {
      const asked = question();
      const { events = [] } = await get(
        "/api/v1/events",
        { ...asked, end: until ?? asked.end, offset: skip - lead, limit: lead + SIZE + BESIDE },
        { signal },
      );
      return {
        key,
        facts: pageOf(events, lead, SIZE, BESIDE),
        isMore: events.length > lead + SIZE,
        at: until ?? events[0]?.createdAt,
      };
    },
    until ? [] : ["event"],
  );
}

export default function Events() {
  const { query } = route.value,
    key = JSON.stringify([query, scope.value]);
  const answer = useFacts(key),
    last = useRef<Answer | null>(null);
  last.current = answer.data ?? last.current; // stands until the next page is there
  const held = useHeld(last.current?.facts ?? NOTHING, last.current?.key ?? "");
  const isAsked = Object.keys(query).some(name => name !== "page");
  return (
    <Page title="Events" scoped>
      <section class="sheet" aria-labelledby="h-events">
        <h2 id="h-events" class="sr">
          What happened
        </h2>
        <Filters />
        <Loaded of={answer.error ? answer : { ...answer, loading: !last.current }} what="Events" rows={24} height={29}>
          {() => (
            <>
              {held.shown.length ? (
                <EventList facts={held.shown} named />
              ) : (
                <Empty>{isAsked ? "Nothing like that has happened." : "Nothing has happened yet."}</Empty>
              )}
              <Pages answer={last.current} held={held} />
            </>
          )}
        </Loaded>
      </section>
    </Page>
  );
}

function Filters() {
  const { kind = "", project = "", node = "", type = "", q = "", span = "", from, to } = route.value.query;
  const projects = useData(may("read", "project") ? "projects of events" : null, signal =>
    get("/api/v1/org-unit/projects", { limit: 500, sortBy: "name" }, { signal }).then(a => a.projects),
  );
  const names = (projects.data ?? []).map(p => ({ value: p.id, label: p.name }));
  const time = (label: string, value: string | undefined, set: (v: string) => void) => (
    <input
      class="in"
      type="datetime-local"
      aria-label={label}
      value={value}
      onChange={e => set(e.currentTarget.value)}
    />
  );
  return (
    <div class="bar tools" role="search" aria-label="Filter the events">
      <SearchBox value={q} label="Name, reason, message" />
      <Choice label="Kind" options={choices(KINDS)} value={kind} onChange={v => ask({ kind: v })} />
      <Choice label="Type" options={choices(TYPES)} value={type} onChange={v => ask({ type: v })} />
      <Choice
        label="Project"
        options={[{ value: "", label: "All projects" }, ...names]}
        value={project}
        onChange={v => ask({ project: v })}
      />
      <input
        class="in"
        aria-label="Node"
        placeholder="Node"
        value={node}
        onChange={e => ask({ node: e.currentTarget.value.trim() })}
      />
      <Choice
        label="Time"
        options={choices(SPANS)}
        value={span}
        onChange={v => ask({ span: v, from: null, to: null })}
      />
      {span === "between" && [time("From", from, v => ask({ from: v })), time("To", to, v => ask({ to: v }))]}
      <span class="grow" />
      <Button small kind="quiet" icon="save" label="Download as CSV" onClick={download} />
    </div>
  );
}

function Pages({ answer, held }: { answer: Answer | null; held: ReturnType<typeof useHeld> }) {
  const { skip } = placeOf(route.value.query.page);
  const go = async (to: number) => {
    await setQuery({ page: to > 0 ? `${to}@${answer?.at}` : null }, { push: true });
    scrollTo(0, 0);
  };
  const said = (f?: Fact) => f && `${day(f.tells.createdAt)} ${clock(f.tells.createdAt, true)}`;
  return (
    <div class="table-foot">
      <span>
        {held.shown.length > 0 && `${said(held.shown[0])} back to ${said(held.shown[held.shown.length - 1])}`}
      </span>
      <News of={held} />
      <span class="grow" />
      <Button small why={skip ? "" : "These are the newest."} onClick={() => go(skip - SIZE)}>
        Newer
      </Button>
      <Button small why={answer?.isMore ? "" : "These are the oldest."} onClick={() => go(skip + SIZE)}>
        Older
      </Button>
    </div>
  );
}

const COLUMNS: [string, (e: Happening) => string | null | undefined][] = [
  ["Time", e => e.createdAt],
  ["Type", e => e.type],
  ["Reason", e => e.reason],
  ["Project", e => e.projectName],
  ["Workload", e => e.workloadName],
  ["Object", e => e.involvedObject?.name],
  ["Node", e => e.nodeName],
  ["Message", e => e.message],
];

// Every event of the present filter, one a line, unfolded.
async function download() {
  try {
    const rows = await allRows<Happening>("/api/v1/events", "events", question(), MOST_ROWS);
    const lines = [COLUMNS.map(([name]) => name), ...rows.map(e => COLUMNS.map(([, of]) => csvCell(of(e))))];
    saveText("events.csv", "text/csv", lines.map(cells => cells.join(",") + "\r\n").join(""));
  } catch (error) {
    toastError(error);
  }
}
