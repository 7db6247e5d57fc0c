// Find anything: pages, projects, workloads and nodes by name, and actions. The server searches; first 8 of each kind.
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { get } from "../api";
import { Icon } from "../icons";
import { allPages } from "../nav";
import { go } from "../router";
import { may } from "../session";
import { TYPES } from "../words";
import { Dialog } from "./dialog";
import { Swatch } from "./status";

const open = signal(false);
export const openFind = () => {
  open.value = true;
};

export function Find() {
  return open.value && <Search />;
}

const KINDS = [
  ["training", "Training"],
  ["distributed", "Distributed"],
  ["workspace", "Workspace"],
];

// What needs no server: pages and actions whose label holds every word.
function local(words) {
  const fits = label => words.every(w => label.toLowerCase().includes(w));
  const pages = allPages().map(p => ({ group: "Pages", label: p.label, href: p.href, icon: p.icon }));
  const actions = may("create", "workloads")
    ? KINDS.map(([kind, type]) => ({
        group: "Actions",
        label: `New ${kind}`,
        href: `/workloads/new/${kind}`,
        icon: type,
      }))
    : [];
  if (may("create", "project"))
    actions.push({ group: "Actions", label: "New project", href: "/projects/new", icon: "plus" });
  return [...pages, ...actions].filter(x => fits(x.label));
}

async function remote(text, abort) {
  const ask = (path, key, make) =>
    get(path, { search: text, limit: 8 }, { signal: abort }).then(
      a => (a?.[key] ?? []).map(make),
      () => [],
    );
  const lists = await Promise.all([
    may("read", "workloads")
      ? ask("/api/v1/workloads", "workloads", w => ({
          group: "Workloads",
          label: w.name,
          note: `${w.projectName} · ${w.phase}`,
          href: `/workloads?open=${w.id}`,
          icon: TYPES[w.type] ?? "list",
        }))
      : [],
    may("read", "project")
      ? ask("/api/v1/org-unit/projects", "projects", p => ({
          group: "Projects",
          label: p.name,
          note: p.parent?.name ?? "",
          href: `/projects?open=${p.id}`,
          swatch: p.id,
        }))
      : [],
    may("read", "nodes")
      ? ask("/api/v1/nodes", "nodes", n => ({
          group: "Nodes",
          label: n.name,
          note: n.nodePool,
          href: `/nodes?open=${n.name}`,
          icon: "node",
        }))
      : [],
  ]);
  // "new training in speech": a project named in the words makes an action of its own
  const made = /^new\s+(training|workspace|distributed)\s+(?:in\s+)?(\S+)/i.exec(text);
  const projects = made
    ? await get("/api/v1/org-unit/projects", { search: made[2], limit: 3 }, { signal: abort }).then(
        a => a?.projects ?? [],
        () => [],
      )
    : [];
  const actions = projects.map(p => ({
    group: "Actions",
    label: `New ${made[1].toLowerCase()} in ${p.name}`,
    href: `/workloads/new/${made[1].toLowerCase()}?project=${p.id}`,
    icon: "plus",
  }));
  return [...actions, ...lists.flat()];
}

function Search() {
  const [text, setText] = useState("");
  const [found, setFound] = useState([]);
  const [at, setAt] = useState(0);
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const close = () => {
    open.value = false;
  };
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
  const results = [...local(words), ...found];
  const current = Math.min(at, results.length - 1);
  const key = event => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
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
          onInput={e => (setText(e.target.value), setAt(0))}
          onKeyDown={key}
        />
      </div>
      <ul id="found" class="found" role="listbox" aria-label="Found">
        {results.map((r, i) => (
          <li
            key={r.href + r.label}
            id={`found-${i}`}
            role="option"
            aria-selected={String(i === current)}
            onMouseMove={() => setAt(i)}
            onClick={() => (close(), go(r.href))}
          >
            {r.swatch ? <Swatch project={r.swatch} /> : <Icon name={r.icon} />}
            <span>{r.label}</span>
            <span class="muted small">{r.note ?? ""}</span>
            <span class="muted small kind">{r.group}</span>
          </li>
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
