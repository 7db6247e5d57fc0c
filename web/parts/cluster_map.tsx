// The cluster map: pools side by side, a node a row, a GPU a cell. SVG up to 64 nodes, one canvas from 65 on; on a phone
// then what is free in one piece.
import type { ComponentChildren, TargetedKeyboardEvent, VNode } from "preact";
import { useRef } from "preact/hooks";
import { useWidth } from "../data";
import { gpus, plural, ratio } from "../format";
import {
  type Group,
  type Look,
  type MapCell,
  type MapPool,
  type MapRow,
  type MapRun,
  heatOf,
  lookOf,
  piecesOf,
  rowNote,
  runBox,
  runLabel,
  sentenceOf,
  stretches,
} from "../pictures/cluster_map";
import { ClusterCanvas } from "./cluster_canvas";
import { Swatch } from "./status";
import { ofKey } from "../keys";

const SVG_NODES = 64,
  PHONE = 720;
const LEFT = 66,
  RIGHT = 58,
  ROW = 24,
  CELL = 20;
export const VIEWS = [
  { value: "project", label: "By project" },
  { value: "department", label: "By department" },
  { value: "utilization", label: "By utilization" },
  { value: "health", label: "By health" },
];

interface MapProps extends Look {
  pools: MapPool[];
  children?: ComponentChildren;
}

const nodesOf = (pools: MapPool[]) => pools.reduce((sum, p) => sum + p.rows.length, 0);

// Is there a summary in place of the picture?
export const isBrief = (pools: MapPool[]) => nodesOf(pools) > SVG_NODES && innerWidth <= PHONE;

export function ClusterMap({ pools, children, ...look }: MapProps) {
  const { lifted } = look;
  if (isBrief(pools))
    return (
      <ul class="pieces">
        {pools.map(pool => (
          <li key={pool.name}>
            <PoolHead pool={pool} />
            <p class="soft">
              <a href={`/nodes?f=nodePool==${pool.name}`}>
                {plural(pool.rows.length, "node")}: {piecesOf(pool)}
              </a>
            </p>
          </li>
        ))}
      </ul>
    );
  if (nodesOf(pools) > SVG_NODES)
    return (
      <>
        <ClusterCanvas pools={pools} {...look} />
        {children}
      </>
    );
  return (
    <div class={`map map-${Math.min(3, pools.length + (children ? 1 : 0))}` + (lifted ? " dim" : "")}>
      {pools.map((pool, i) => (
        <section class="pool" key={pool.name}>
          <PoolHead pool={pool} />
          <PoolSvg pool={pool} {...look} />
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

// Arrow keys walk through the runs of a pool, or the names of a legend; only one of them is in the tab order.
function walk(event: TargetedKeyboardEvent<HTMLElement>) {
  const step = ofKey(event, { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 });
  if (!step) return;
  event.preventDefault();
  const all = [...event.currentTarget.querySelectorAll("a")];
  const next = all[(all.indexOf(document.activeElement as HTMLAnchorElement) + step + all.length) % all.length];
  for (const a of all) a.setAttribute("tabindex", a === next ? "0" : "-1");
  next?.focus();
}

function PoolSvg({ pool, ...look }: Look & { pool: MapPool }) {
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
            <NodeRow key={row.name} row={row} y={n * ROW + 2} cell={cell} width={width} look={look} first={first} />
          ))}
      </svg>
    </div>
  );
}

interface RowProps {
  row: MapRow;
  y: number;
  cell: number;
  width: number;
  look: Look;
  first: { current: boolean };
}

function NodeRow({ row, y, cell, width, look, first }: RowProps) {
  const { view } = look,
    note = rowNote(row);
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
            look={look}
            first={first}
          />
        ))}
      {view !== "health" && (
        <g aria-hidden="true">
          {row.runs.map(run => (
            <RunName key={`${run.id}-${run.from}-${run.offset}`} run={run} y={y} cell={cell} row={row} look={look} />
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
  const shut = row.state === "cordoned",
    ok = view === "health" && (!shut || cell.workloads.length);
  if (view !== "health" && cell.workloads.length) return null;
  return (
    <g>
      <rect {...box} class={(ok ? "cell-ok" : "cell-free") + (cell.workloads.length ? " used" : shut ? " shut" : "")} />
      {shut && !cell.workloads.length && <path d={`M${x + w / 2 - 4} ${y + 10}h8`} class="bar-mark" />}
    </g>
  );
}

interface RunProps {
  run: MapRun;
  row: MapRow;
  y: number;
  cell: number;
  look: Look;
}

// Who it is, how much it holds, and what is special about it.
function wordsOf(run: MapRun, row: MapRow, view: string) {
  const cells = row.cells.slice(run.from, run.from + Math.ceil(run.size)),
    used = cells.reduce((sum, c) => sum + (c.utilization ?? NaN), 0) / cells.length;
  const amount = `${gpus(run.size)} ${run.size === 1 ? "GPU" : run.size < 1 ? "of a GPU" : "GPUs"} on ${row.name}`;
  return [
    run.project ? `${run.project}/${run.name}` : run.name,
    amount,
    run.firm && "non-preemptible",
    run.ending.length && "giving back",
    view === "utilization" && Number.isFinite(used) && `${Math.round(used)} % used`,
    view === "utilization" && cells.every(c => c.idle) && "idle",
  ]
    .filter(Boolean)
    .join(" · ");
}

function Run({ run, y, cell, row, look, first }: RunProps & { first: { current: boolean } }) {
  const { x, width } = runBox(run, LEFT, cell);
  const { slot, hot } = lookOf(run, look);
  const colour = slot ? slot.colour : "n";
  const say = wordsOf(run, row, look.view);
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
      {look.view === "utilization" ? (
        <>
          <rect {...box} class="run none" />
          {heats(run, row, x, y, width, cell)}
        </>
      ) : (
        <>
          <rect {...box} class={`run f${colour}` + (slot ? "" : " grey") + (hot ? " hot" : "")} />
          {slot?.texture && <rect {...box} fill={`url(#${slot.texture}-${colour})`} class="run-texture" />}
        </>
      )}
      <RunMarks run={run} x={x} y={y} width={width} cell={cell} plain={look.view === "utilization"} />
    </a>
  );
}

// Each device by its use, with the number where there is room.
function heats(run: MapRun, row: MapRow, x: number, y: number, width: number, cell: number) {
  return row.cells.slice(run.from, run.from + Math.ceil(run.size)).map((c, i) => {
    const step = heatOf(c),
      wide = run.whole ? cell - 2 : width,
      box = { x: x + i * cell, y, width: wide, height: CELL, rx: 3 };
    return (
      <g key={c.index}>
        <rect {...box} class={`heat heat-${step}`} />
        {step === "idle" && <rect {...box} fill="url(#idle)" />}
        {run.whole && wide >= 18 && typeof step === "number" && (
          <text
            x={box.x + wide / 2}
            y={y + 14}
            text-anchor="middle"
            aria-hidden="true"
            class={"in heat-" + (step > 2 ? "on" : "off")}
          >
            {Math.round(c.utilization!)}
          </text>
        )}
      </g>
    );
  });
}

interface MarksProps {
  run: MapRun;
  x: number;
  y: number;
  width: number;
  cell: number;
  plain: boolean;
}

// Between its devices, under what is non-preemptible, and over what it gives back.
function RunMarks({ run, x, y, width, cell, plain }: MarksProps) {
  return (
    <>
      {!plain &&
        run.whole &&
        Array.from({ length: run.size - 1 }, (_, i) => (
          <path key={i} d={`M${x - 1 + (i + 1) * cell} ${y + 1}v${CELL - 2}`} class="run-gap" />
        ))}
      {run.firm && !plain && (
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
function RunName({ run, y, cell, look }: RunProps) {
  const { x, width } = runBox(run, LEFT, cell);
  const { slot, name, hot } = lookOf(run, look);
  const label = look.view === "utilization" ? "" : runLabel(name, width);
  return label ? (
    <text
      x={x + 6}
      y={y + (run.firm ? 12.5 : 14)}
      class={"in " + (slot ? `o${slot.colour}` : "grey-on") + (hot ? " hot" : "")}
    >
      {label}
    </text>
  ) : null;
}

interface KeyProps extends Look {
  lift: (group: string | null) => void;
}

const NAMES = 64;

// Who is in the picture, with what each holds; pointing at or focusing a name lifts it. And what the marks mean.
export function MapKey({ view, lifted, groups, lift }: KeyProps) {
  const list = [...groups.values()].slice(0, NAMES),
    more = groups.size - list.length;
  const whose = view === "department" ? "departments" : "projects";
  const href = (g: Group) => `/${whose}?open=${g.id}`;
  return (
    <>
      {(view === "project" || view === "department") && (
        <ul class="keys" aria-label={view === "department" ? "Departments" : "Projects"} onKeyDown={walk}>
          {list.map((g, i) => (
            <li key={g.id} onMouseEnter={() => lift(g.id)} onMouseLeave={() => lift(null)}>
              <a
                class="plain"
                href={href(g)}
                tabindex={i ? -1 : 0}
                onFocus={() => lift(g.id)}
                onBlur={() => lift(null)}
              >
                <Swatch project={g.id} plain={!g.slot && lifted !== g.id} />
                <span class="cut">{g.name}</span>
              </a>
              <span class="n">{gpus(g.size)}</span>
            </li>
          ))}
          {more > 0 && <li class="muted">and {more} more</li>}
        </ul>
      )}
      <ul class="keys" aria-label="Legend">
        {marks()
          .filter(([, , views]) => !views || views.includes(view[0]))
          .map(([label, mark]) => (
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

const swatch = (kind: string) => <rect x=".5" y=".5" width="21" height="13" rx="3" class={kind} />;
// With the first letters of the views that show it; none: all do. Made each time again: an element that is kept keeps its
// picture, and every later one.
const marks = (): [label: string, mark: VNode, views?: string][] => [
  ["free", swatch("cell-free"), "pdu"],
  [
    "idle for 5 min",
    <g>
      {swatch("heat-idle")}
      <rect width="22" height="14" rx="3" fill="url(#idle)" />
    </g>,
    "u",
  ],
  ...["under 20 % used", "20 to 39 %", "40 to 59 %", "60 to 79 %", "80 % or more"].map(
    (label, i): [string, VNode, string] => [label, swatch(`heat heat-${i}`), "u"],
  ),
  ["not measured", swatch("heat-none"), "u"],
  ["held", swatch("cell-ok used"), "h"],
  ["free", swatch("cell-ok"), "h"],
  [
    "non-preemptible",
    <g>
      <rect width="22" height="14" rx="3" class="fn over" />
      <rect y="10" width="22" height="4" class="firm" />
    </g>,
    "pd",
  ],
  [
    "not ready",
    <g>
      {swatch("cell-down")}
      <path d="M8 4l6 6m0-6l-6 6" class="cross" />
    </g>,
  ],
  [
    "cordoned",
    <g>
      {swatch("cell-free shut")}
      <path d="M7 7h8" class="bar-mark" />
    </g>,
  ],
  [
    "giving back",
    <g>
      <rect width="22" height="14" rx="3" class="fn over" />
      <rect x="2" y="2" width="18" height="10" rx="2" class="run-end" />
    </g>,
    "pdu",
  ],
];
