// What a container printed: pod, container, current or previous; follow (stops when scrolled up); search with count; times;
// wrap; download. Lines are drawn in a window of the visible ones, as text only.
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { clock, count, plural } from "../format";
import { plain, shown, stretches } from "../pictures/ansi";
import { Button } from "./button";
import type { Pod } from "../types";
import { KEEP, type Log, readLog, splitTime } from "./log_lines";
import { Empty, Fault } from "./states";
import { saveText } from "./table_tools";

const LINE = 18,
  AROUND = 20;

type Row = [time: string, text: string];
interface LogProps {
  workloadId: string;
  /** Of the workload, for the file's name. */
  name: string;
  pods: Pick<Pod, "name" | "containers">[];
  ended: boolean;
}

const EMPTY: Log = { lines: [], first: 1, ended: false, error: null };

interface SlimProps {
  label: string;
  value: string;
  set: (value: string) => void;
  options: { value: string; label: string }[];
}

// A choice where there is one.
function Slim({ label, value, set, options }: SlimProps) {
  if (options.length < 2) return null;
  return (
    <select class="in slim" aria-label={label} value={value} onChange={e => set(e.currentTarget.value)}>
      {options.map(o => (
        <option key={o.value} value={o.value}>
          {o.label}
        </option>
      ))}
    </select>
  );
}

// Which container's log is read, current or previous, and what was read of it.
function useLog({ workloadId, pods, ended }: LogProps) {
  const [chosen, setChosen] = useState(""); // "": the newest, and what takes its place
  const newest = pods[0]?.name ?? "",
    pod = chosen || newest;
  const setPod = (name: string) => setChosen(name === newest ? "" : name);
  const containers = pods.find(p => p.name === pod)?.containers ?? [];
  const [container, setContainer] = useState("");
  const [previous, setPrevious] = useState(false);
  const [again, setAgain] = useState(0);
  const [log, setLog] = useState(EMPTY);
  useEffect(() => {
    setLog(EMPTY);
    const follow = !ended && !previous;
    const wanted = follow ? chosen || undefined : pod;
    return readLog({ workloadId, pod: wanted, container, previous: previous || undefined, follow, tail: KEEP }, setLog);
  }, [workloadId, chosen, container, previous, again]);
  // What is followed ends by itself, and keeps what was read.
  useEffect(() => {
    if (!ended && log.ended && !previous) setAgain(again + 1);
  }, [ended]);
  const rows = useMemo(() => log.lines.map(splitTime), [log.lines]);
  const retry = () => setAgain(again + 1);
  return { pod, setPod, containers, container, setContainer, previous, setPrevious, log, rows, retry };
}

// The lines that hold a text, and one of them.
function useHits(rows: Row[]) {
  const [text, setText] = useState("");
  const [hit, setHit] = useState(0);
  const wanted = text.toLowerCase();
  const hits = useMemo(
    () => (wanted ? rows.flatMap(([, line], i) => (plain(line).toLowerCase().includes(wanted) ? [i] : [])) : []),
    [rows, wanted],
  );
  const seek = (step: number) => {
    if (hits.length) setHit((hit + step + hits.length) % hits.length);
  };
  const search = (value: string) => {
    setText(value);
    setHit(0);
  };
  return { text, wanted, hits, hit, seek, search };
}

function Seek({ text, hits, hit, seek, search }: ReturnType<typeof useHits>) {
  const why = hits.length ? "" : text ? "Nothing matches the search." : "Type something to search for.";
  const key = (event: KeyboardEvent) => {
    if (event.key === "Enter") seek(event.shiftKey ? -1 : 1);
  };
  return (
    <div class="bar" role="search">
      <label class="find">
        <input
          type="search"
          aria-label="Search in the log"
          placeholder="Search"
          value={text}
          onInput={e => search(e.currentTarget.value)}
          onKeyDown={key}
        />
      </label>
      <span class="small muted seek" role="status">
        {!text ? "" : hits.length ? `${count(Math.min(hit + 1, hits.length))} of ${count(hits.length)}` : "none"}
      </span>
      <Button small kind="quiet" icon="up" label="Match before" why={why} onClick={() => seek(-1)} />
      <Button small kind="quiet" icon="down" label="Next match" why={why} onClick={() => seek(1)} />
    </div>
  );
}

const asOptions = (list: { name: string }[]) => list.map(o => ({ value: o.name, label: o.name }));
const RUNS = [
  { value: "current", label: "Current" },
  { value: "previous", label: "Previous" },
];

/** The log of a workload's containers. */
export function LogView(props: LogProps) {
  const { name, pods } = props;
  const { pod, setPod, containers, container, setContainer, previous, setPrevious, log, rows, retry } = useLog(props);
  const [times, setTimes] = useState(false);
  const [wrap, setWrap] = useState(false);
  const found = useHits(rows);
  const save = () =>
    saveText(
      `${name}_${pod}_${container || containers[0]?.name || "main"}_${new Date().toISOString().replaceAll(":", "-")}.log`,
      "text/plain",
      rows.map(([time, line]) => `${time} ${plain(line)}\n`).join(""),
    );
  return (
    <div class="log-view">
      <div class="bar">
        <Slim label="Pod" value={pod} set={setPod} options={asOptions(pods)} />
        <Slim label="Container" value={container} set={setContainer} options={asOptions(containers)} />
        <Slim
          label="Instance"
          value={previous ? "previous" : "current"}
          set={v => setPrevious(v === "previous")}
          options={RUNS}
        />
        <span class="grow" />
        <Button small kind="quiet" aria-pressed={times} onClick={() => setTimes(!times)}>
          Times
        </Button>
        <Button small kind="quiet" aria-pressed={wrap} onClick={() => setWrap(!wrap)}>
          Wrap
        </Button>
        <Button small kind="quiet" icon="save" label="Download the log" onClick={save} />
      </div>
      <Seek {...found} />
      {log.error ? (
        <Fault error={log.error} what="The log" retry={retry} />
      ) : !rows.length && log.ended ? (
        <Empty>{pods.length ? "Nothing was printed." : "No pod has started yet, so nothing was printed."}</Empty>
      ) : (
        <Lines
          rows={rows}
          first={log.first}
          times={times}
          wrap={wrap}
          wanted={found.wanted}
          at={found.hits[found.hit]}
          name={name}
          following={!log.ended}
        />
      )}
    </div>
  );
}

interface LinesProps {
  rows: Row[];
  first: number;
  times: boolean;
  wrap: boolean;
  wanted: string;
  /** The line that was found. */
  at?: number;
  name: string;
  following: boolean;
}

function Lines({ rows, first, times, wrap, wanted, at, name, following }: LinesProps) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 400 });
  const [stuck, setStuck] = useState(true); // at the end
  const seen = useRef(0);
  const total = first + rows.length;
  if (stuck) seen.current = total;
  useEffect(() => {
    if (stuck) box.current!.scrollTop = box.current!.scrollHeight;
  }, [rows, wrap, stuck]);
  useEffect(() => {
    if (at !== undefined) box.current!.scrollTop = Math.max(0, at * LINE - 100);
  }, [at, wanted]);
  const scroll = () => {
    const { scrollTop, clientHeight, scrollHeight } = box.current!;
    setView({ top: scrollTop, height: clientHeight });
    setStuck(scrollHeight - scrollTop - clientHeight < LINE);
  };
  const from = wrap ? 0 : Math.max(0, Math.floor(view.top / LINE) - AROUND);
  const to = wrap ? rows.length : Math.min(rows.length, Math.ceil((view.top + view.height) / LINE) + AROUND);
  const news = total - seen.current;
  return (
    <div class="log-box">
      <div
        class={"log" + (wrap ? " wrap" : "")}
        role="log"
        aria-live="off"
        aria-label={`Log of ${name}`}
        tabindex={0}
        ref={box}
        onScroll={scroll}
      >
        <svg class="log-space" width="1" height={from * LINE} aria-hidden="true" />
        {rows.slice(from, to).map(([time, line], i) => (
          <div key={first + from + i} class={"line" + (from + i === at ? " at" : "")}>
            {times && <time>{time ? clock(time, true) : ""}</time>}
            {stretches(line).map((s, n) => (
              <span key={n} class={[s.tone, s.bold && "strong"].filter(Boolean).join(" ") || undefined}>
                {mark(shown(s.text), wanted)}
              </span>
            ))}
          </div>
        ))}
        <svg class="log-space" width="1" height={(rows.length - to) * LINE} aria-hidden="true" />
      </div>
      {!stuck && (
        <button type="button" class="btn sm jump" onClick={() => setStuck(true)}>
          {following ? "Follow again" : "Jump to newest"}
          {news > 0 ? ` · ${plural(news, "new line")}` : ""}
        </button>
      )}
      <p class="small muted">
        {count(rows.length)} lines{first > 1 ? `, older than ${KEEP} dropped here` : ""} ·{" "}
        {!following ? "ended" : stuck ? "following" : "not following while scrolled up"}
      </p>
    </div>
  );
}

// The searched text, marked wherever it occurs.
function mark(text: string, wanted: string): ComponentChildren {
  if (!wanted) return text;
  const out: ComponentChildren[] = [];
  const low = text.toLowerCase();
  let from = 0;
  for (let i = low.indexOf(wanted); i >= 0; i = low.indexOf(wanted, from)) {
    out.push(text.slice(from, i), <mark>{text.slice(i, i + wanted.length)}</mark>);
    from = i + wanted.length;
  }
  out.push(text.slice(from));
  return out;
}
