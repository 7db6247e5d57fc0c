// The cluster map: pools side by side, a node a row, a GPU a cell. SVG up to 64 nodes, one canvas from 65 on; on a phone
// then what is free in one piece.
import type { ComponentChildren, TargetedKeyboardEvent, VNode } from "preact";
import { useRef } from "preact/hooks";
import { useWidth } from "../data";
import { gpus, plural, ratio } from "../format";
import {
  type MapCell,
  type MapPool,
  type MapRow,
  type MapRun,
  heat,
  piecesOf,
  rowNote,
  runBox,
  runLabel,
  sentenceOf,
  stretches,
} from "../pictures/cluster_map";
import { slotOf } from "../pictures/slots";
import { ClusterCanvas } from "./cluster_canvas";
import { Swatch } from "./status";
import { ofKey } from "../keys";

const SVG_NODES = 64,
  PHONE = 720;
const LEFT = 66,
  RIGHT = 46,
  ROW = 24,
  CELL = 20;
export const VIEWS = [
  { value: "project", label: "By project" },
  { value: "utilization", label: "By utilization" },
  { value: "health", label: "By health" },
];

/** What the map shows: by project, utilization or health; whose runs stand out; who has a colour of its own. */
export interface Look {
  view: string;
  lifted: string | null;
  colours: Set<string | null | undefined>;
}
interface MapProps extends Look {
  pools: MapPool[];
  children?: ComponentChildren;
}

// pools: of pictures/cluster_map.js; lifted: the project whose runs stand out; onLift(projectId or null).
export function ClusterMap({ pools, view, lifted, colours, children }: MapProps) {
  const nodes = pools.reduce((sum, p) => sum + p.rows.length, 0);
  if (nodes > SVG_NODES && innerWidth <= PHONE)
    return (
      <ul class="pieces">
        {pools.map(pool => (
          <li key={pool.name}>
            <PoolHead pool={pool} />
            <p class="soft">
              <a class="plain" href={`/nodes?f=nodePool==${pool.name}`}>
                {plural(pool.rows.length, "node")}: {piecesOf(pool)}
              </a>
            </p>
          </li>
        ))}
      </ul>
    );
  if (nodes > SVG_NODES)
    return (
      <>
        <ClusterCanvas pools={pools} view={view} lifted={lifted} colours={colours} />
        {children}
      </>
    );
  return (
    <div class={`map map-${Math.min(3, pools.length + (children ? 1 : 0))}` + (lifted ? " dim" : "")}>
      {pools.map((pool, i) => (
        <section class="pool" key={pool.name}>
          <PoolHead pool={pool} />
          <PoolSvg pool={pool} view={view} lifted={lifted} colours={colours} />
          {i === pools.length - 1 && pools.length > 2 ? children : null}
        </section>
      ))}
      {pools.length <= 2 && children && <section class="pool">{children}</section>}
    </div>
  );
}

export function PoolHead({ pool }: { pool: MapPool }) {
  return (
    <header>
      <h3 class="pool-name">{pool.name}</h3>
      <span class="muted small cut">{pool.gpu}</span>
      <span class="grow" />
      <span class="small nowrap">
        <span class="strong">{gpus(pool.held)}</span> of {gpus(pool.total)} · {ratio(pool.held, pool.total)}
      </span>
    </header>
  );
}

// Arrow keys walk through the runs of a pool; only one of them is in the tab order.
function walk(event: TargetedKeyboardEvent<HTMLElement>) {
  const step = ofKey(event, { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 });
  if (!step) return;
  event.preventDefault();
  const all = [...event.currentTarget.querySelectorAll("a")];
  const next = all[(all.indexOf(document.activeElement as HTMLAnchorElement) + step + all.length) % all.length];
  for (const a of all) a.setAttribute("tabindex", a === next ? "0" : "-1");
  next?.focus();
}

function PoolSvg({ pool, view, lifted, colours }: Look & { pool: MapPool }) {
  const [ref, width] = useWidth();
  const first = useRef(true);
  first.current = true;
  const most = Math.max(...pool.rows.map(r => r.cells.length));
  const cell = Math.max(4, (width - LEFT - RIGHT) / most);
  const height = pool.rows.length * ROW;
  return (
    <div ref={ref} class="pool-map" role="group" aria-label={sentenceOf(pool)} onKeyDown={walk}>
      <svg width="100%" height={height}>
        {width > 0 &&
          pool.rows.map((row, n) => (
            <NodeRow
              key={row.name}
              row={row}
              y={n * ROW + 2}
              cell={cell}
              width={width}
              view={view}
              lifted={lifted}
              colours={colours}
              first={first}
            />
          ))}
      </svg>
    </div>
  );
}

interface RowProps extends Look {
  row: MapRow;
  y: number;
  cell: number;
  width: number;
  first: { current: boolean };
}

function NodeRow({ row, y, cell, width, view, lifted, colours, first }: RowProps) {
  const note = rowNote(row);
  const name = row.name.length > 9 ? row.name.slice(0, 8) + "…" : row.name;
  return (
    <g>
      <a
        href={`/nodes?open=${encodeURIComponent(row.name)}`}
        tabindex={-1}
        aria-label={`${row.name}, ${note || "full"}`}
        data-tip={`${row.name} · ${row.gpu} · ${note || "full"}`}
      >
        <text aria-hidden="true" x="0" y={y + 14} class="node">
          {name}
        </text>
      </a>
      <text x={width} y={y + 14} text-anchor="end" class={row.state === "ready" ? "free" : "down"}>
        {note}
      </text>
      {row.cells.map(c => (
        <Cell key={c.index} cell={c} x={LEFT + c.index * cell} y={y} w={cell} row={row} view={view} />
      ))}
      {view !== "health" &&
        row.runs.map(run => (
          <Run
            key={`${run.id}-${run.from}-${run.offset}`}
            run={run}
            y={y}
            cell={cell}
            row={row}
            view={view}
            lifted={lifted}
            colours={colours}
            first={first}
          />
        ))}
      {view !== "health" && (
        <g aria-hidden="true">
          {row.runs.map(run => (
            <RunName
              key={`${run.id}-${run.from}-${run.offset}`}
              run={run}
              y={y}
              cell={cell}
              row={row}
              view={view}
              lifted={lifted}
              colours={colours}
            />
          ))}
        </g>
      )}
    </g>
  );
}

interface CellProps {
  cell: MapCell;
  x: number;
  y: number;
  w: number;
  row: MapRow;
  view: string;
}

function Cell({ cell, x, y, w, row, view }: CellProps) {
  const box = { x: x + 1.5, y: y + 0.5, width: Math.max(1, w - 3), height: CELL - 1, rx: 3 };
  if (cell.state === "down")
    return (
      <g>
        <rect {...box} class="cell-down" />
        <path d={`M${x + w / 2 - 3} ${y + 7}l6 6m0-6l-6 6`} class="cross" />
      </g>
    );
  if (view === "health") return <rect {...box} class={cell.state === "free" ? "cell-ok" : "cell-ok used"} />;
  if (cell.workloads.length) return null;
  return (
    <g>
      <rect {...box} class="cell-free" />
      {row.state === "cordoned" && <path d={`M${x + w / 2 - 4} ${y + 10}h8`} class="bar-mark" />}
    </g>
  );
}

interface RunProps extends Look {
  run: MapRun;
  row: MapRow;
  y: number;
  cell: number;
}

// Who it is, how much it holds, and what is special about it.
function wordsOf(run: MapRun, row: MapRow, view: string) {
  const used = row.cells[run.from]?.utilization;
  const amount = `${gpus(run.size)} ${run.size === 1 ? "GPU" : run.size < 1 ? "of a GPU" : "GPUs"} on ${row.name}`;
  return [
    run.project ? `${run.project}/${run.name}` : run.name,
    amount,
    run.firm && "non-preemptible",
    run.ending.length && "giving back",
    view === "utilization" && heat(used) !== null && `${Math.round(used!)} % used`,
  ]
    .filter(Boolean)
    .join(" · ");
}

function Run({ run, y, cell, row, view, lifted, colours, first }: RunProps & { first: { current: boolean } }) {
  const { x, width } = runBox(run, LEFT, cell);
  const grey = !colours.has(run.projectId);
  const slot = slotOf(run.projectId),
    colour = grey ? "n" : slot.colour;
  const step = heat(row.cells[run.from]?.utilization);
  const fill =
    view === "utilization" ? (step === null ? "heat-none" : `heat-${step}`) : `f${colour}` + (grey ? " grey" : "");
  const say = wordsOf(run, row, view);
  const tab = first.current ? 0 : -1;
  first.current = false;
  const box = { x, y, width, height: CELL, rx: 3 };
  return (
    <a
      class="run-link"
      href={run.id ? `/workloads?open=${run.id}` : `/nodes?open=${encodeURIComponent(row.name)}`}
      aria-label={say}
      data-tip={say}
      tabindex={tab}
    >
      <rect {...box} class={`run ${fill}` + (lifted === run.projectId ? " hot" : "")} />
      {view === "project" && !grey && slot.texture && (
        <rect {...box} fill={`url(#${slot.texture}-${colour})`} class="run-texture" />
      )}
      <RunMarks run={run} x={x} y={y} width={width} cell={cell} />
    </a>
  );
}

interface MarksProps {
  run: MapRun;
  x: number;
  y: number;
  width: number;
  cell: number;
}

// Between its devices, under what is non-preemptible, and over what it gives back.
function RunMarks({ run, x, y, width, cell }: MarksProps) {
  return (
    <>
      {run.whole &&
        Array.from({ length: run.size - 1 }, (_, i) => (
          <path key={i} d={`M${x - 1 + (i + 1) * cell} ${y + 1}v${CELL - 2}`} class="run-gap" />
        ))}
      {run.firm && (
        <>
          <rect x={x} y={y + CELL - 4} width={width} height="1" class="firm-gap" />
          <rect x={x} y={y + CELL - 3} width={width} height="3" class="firm" />
        </>
      )}
      {stretches(run.ending).map(([from, size]) => (
        <rect
          key={"e" + from}
          x={x + from * cell + 1.5}
          y={y + 1.5}
          width={Math.max(2, size * cell - 5)}
          height={CELL - 3}
          rx="2"
          class="run-end"
        />
      ))}
    </>
  );
}

// The names lie over the links rather than in them: a cut name is no part of a link's own.
function RunName({ run, y, cell, row, view, lifted, colours }: RunProps) {
  const { x, width } = runBox(run, LEFT, cell);
  const label = runLabel(run.name, width);
  const step = heat(row.cells[run.from]?.utilization);
  const on =
    view === "utilization"
      ? (step ?? 0) > 2
        ? "heat-on"
        : "heat-off"
      : colours.has(run.projectId)
        ? `o${slotOf(run.projectId).colour}`
        : "grey-on";
  return label ? (
    <text x={x + 6} y={y + (run.firm ? 12.5 : 14)} class={`in ${on}` + (lifted === run.projectId ? " hot" : "")}>
      {label}
    </text>
  ) : null;
}

interface KeyProps {
  projects: { id: string; name: string; size: number }[];
  colours: Look["colours"];
  lift: (project: string | null) => void;
}

// Who is in the picture, with what each holds; pointing at or focusing a name lifts it.
export function MapKey({ projects, colours, lift }: KeyProps) {
  return (
    <>
      <ul class="keys" aria-label="Projects">
        {projects.map(p => (
          <li key={p.id} onMouseEnter={() => lift(p.id)} onMouseLeave={() => lift(null)}>
            <a class="plain" href={`/projects?open=${p.id}`} onFocus={() => lift(p.id)} onBlur={() => lift(null)}>
              <Swatch project={p.id} plain={!colours.has(p.id)} />
              <span class="cut">{p.name}</span>
            </a>
            <span class="n">{gpus(p.size)}</span>
          </li>
        ))}
      </ul>
      <ul class="keys" aria-label="Legend">
        {MARKS.map(([label, mark]) => (
          <li key={label}>
            <svg viewBox="0 0 22 14" aria-hidden="true">
              {mark}
            </svg>
            {label}
          </li>
        ))}
      </ul>
    </>
  );
}
const MARKS: [string, VNode][] = [
  ["free", <rect x=".5" y=".5" width="21" height="13" rx="3" class="cell-free" />],
  [
    "non-preemptible",
    <g>
      <rect width="22" height="14" rx="3" class="fn over" />
      <rect y="10" width="22" height="4" class="firm" />
    </g>,
  ],
  [
    "not ready",
    <g>
      <rect x=".5" y=".5" width="21" height="13" rx="3" class="cell-down" />
      <path d="M8 4l6 6m0-6l-6 6" class="cross" />
    </g>,
  ],
  [
    "giving back",
    <g>
      <rect width="22" height="14" rx="3" class="fn over" />
      <rect x="2" y="2" width="18" height="10" rx="2" class="run-end" />
    </g>,
  ],
];
