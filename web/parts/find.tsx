// Find anything: pages, projects, workloads and nodes by name, and actions. The server searches; first 8 of each kind.
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { type Options, get } from "../api";
import { Icon } from "../icons";
import { type NavPage, allPages } from "../nav";
import { go } from "../router";
import { kindsToMake, may } from "../session";
import { TYPES } from "../words";
import { Dialog } from "./dialog";
import { Swatch } from "./status";
import { ofKey } from "../keys";

const open = signal(false);
export const openFind = () => {
  open.value = true;
};

export function Find() {
  return open.value && <Search />;
}

interface Result {
  group: string;
  label: string;
  href: string;
  note?: string;
  icon?: string;
  swatch?: string;
  also?: string;
}

const OTHER_PAGES: NavPage[] = [
  { label: "Deleted workloads", href: "/workloads/deleted", icon: "trash" },
  { label: "Account", href: "/account", icon: "person" },
  { label: "About", href: "/about", icon: "info" },
];

// The architecture of a training is Standard or Distributed in Run:ai's form.
const ALSO: Partial<Record<string, string>> = { training: "standard architecture" };

// What needs no server: pages and actions whose label, or what documents call them besides, holds every word.
function local(words: string[]): Result[] {
  const fits = (text: string) => words.every(w => text.toLowerCase().includes(w));
  const pages = [...allPages(), ...OTHER_PAGES].map(p => ({
    group: "Pages",
    label: p.label,
    href: p.href,
    icon: p.icon,
    also: p.also,
  }));
  const actions: Result[] = kindsToMake().map(kind => ({
    group: "Actions",
    label: `New ${kind}`,
    href: `/workloads/new/${kind}`,
    icon: kind[0].toUpperCase() + kind.slice(1),
    also: ALSO[kind],
  }));
  if (may("create", "project"))
    actions.push({ group: "Actions", label: "New project", href: "/projects/new", icon: "plus" });
  return [...pages, ...actions].filter(x => fits(`${x.label} ${x.also ?? ""}`));
}

// "new training in speech": a project named in the words makes an action of its own.
async function madeIn(text: string, options: Options): Promise<Result[]> {
  const made = /^new\s+(training|workspace|distributed|inference)\s+(?:in\s+)?(\S+)/i.exec(text);
  if (!made) return [];
  const projects = await get("/api/v1/org-unit/projects", { search: made[2], limit: 3 }, options).then(
    a => a?.projects ?? [],
    () => [],
  );
  return projects.map(p => ({
    group: "Actions",
    label: `New ${made[1].toLowerCase()} in ${p.name}`,
    href: `/workloads/new/${made[1].toLowerCase()}?project=${p.id}`,
    icon: "plus",
  }));
}

async function remote(text: string, abort: AbortSignal): Promise<Result[]> {
  const query = { search: text, limit: 8 },
    options = { signal: abort };
  const nothing = () => [];
  const lists: (Result[] | Promise<Result[]>)[] = [
    may("read", "workloads")
      ? get("/api/v1/workloads", query, options).then(
          a =>
            a.workloads.map(w => ({
              group: "Workloads",
              label: w.name,
              note: `${w.projectName} · ${w.phase}`,
              href: `/workloads?open=${w.id}`,
              icon: TYPES[w.type] ?? "list",
            })),
          nothing,
        )
      : [],
    may("read", "project")
      ? get("/api/v1/org-unit/projects", query, options).then(
          a =>
            a.projects.map(p => ({
              group: "Projects",
              label: p.name,
              note: p.parent?.name ?? "",
              href: `/projects?open=${p.id}`,
              swatch: p.id,
            })),
          nothing,
        )
      : [],
    may("read", "nodes")
      ? get("/api/v1/nodes", query, options).then(
          a =>
            a.nodes.map(n => ({
              group: "Nodes",
              label: n.name,
              note: n.nodePool,
              href: `/nodes?open=${n.name}`,
              icon: "node",
            })),
          nothing,
        )
      : [],
  ];
  const [actions, ...found] = await Promise.all([madeIn(text, options), ...lists]);
  return [...actions, ...found.flat()];
}

// What the server finds for a text, asked 120 ms after the last letter.
function useFound(text: string) {
  const [found, setFound] = useState<Result[]>([]);
  useEffect(() => {
    if (!text.trim()) {
      setFound([]);
      return undefined;
    }
    const abort = new AbortController();
    const timer = setTimeout(
      () => remote(text.trim(), abort.signal).then(list => !abort.signal.aborted && setFound(list)),
      120,
    );
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [text]);
  return found;
}

function Search() {
  const [text, setText] = useState("");
  const found = useFound(text);
  const [at, setAt] = useState(0);
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const close = () => {
    open.value = false;
  };
  const results = [...local(words), ...found];
  const current = Math.min(at, results.length - 1);
  const key = (event: KeyboardEvent) => {
    const step = ofKey(event, { ArrowDown: 1, ArrowUp: -1 });
    if (step && results.length) {
      event.preventDefault();
      setAt((current + step + results.length) % results.length);
    }
    if (event.key === "Enter" && results[current]) {
      event.preventDefault();
      close();
      go(results[current].href);
    }
  };
  return (
    <Dialog class="find-box" label="Find anything" onClose={close}>
      <div class="find-in">
        <Icon name="find" />
        <input
          aria-label="Find pages, projects, workloads, nodes"
          role="combobox"
          aria-expanded="true"
          aria-controls="found"
          aria-activedescendant={results.length ? `found-${current}` : undefined}
          placeholder="A page, project, workload, node, or “new training in …”"
          autocomplete="off"
          spellcheck={false}
          value={text}
          onInput={e => (setText(e.currentTarget.value), setAt(0))}
          onKeyDown={key}
        />
      </div>
      <ul id="found" class="found" role="listbox" aria-label="Found">
        {results.map((r, i) => (
          <Found key={r.href + r.label} result={r} at={i} current={i === current} point={setAt} close={close} />
        ))}
        {!results.length && (
          <li class="muted none" role="option" aria-selected="false">
            Nothing is called “{text}”.
          </li>
        )}
      </ul>
    </Dialog>
  );
}

interface FoundProps {
  result: Result;
  at: number;
  current: boolean;
  point: (at: number) => void;
  close: () => void;
}

function Found({ result: r, at, current, point, close }: FoundProps) {
  return (
    <li
      id={`found-${at}`}
      role="option"
      aria-selected={current}
      onMouseMove={() => point(at)}
      onClick={() => (close(), go(r.href))}
    >
      {r.swatch ? <Swatch project={r.swatch} /> : <Icon name={r.icon ?? ""} />}
      <span>{r.label}</span>
      <span class="muted small">{r.note ?? ""}</span>
      <span class="muted small kind">{r.group}</span>
    </li>
  );
}
