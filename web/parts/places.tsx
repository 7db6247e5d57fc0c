// The nodes that a request would get: a row of devices each, what it takes hatched.
import { get } from "../api";
import { useData, useWidth } from "../data";
import { gpuCount, plural } from "../format";
import { slotOf } from "../pictures/slots";
import { cellsOf } from "../pictures/what_if";
import type { NodeDevice, WhatIfAnswer, WhatIfDisplaced } from "../types";
import { may } from "../session";

const LEFT = 64,
  RIGHT = 58,
  ROW = 26,
  CELL = 20,
  SHOWN = 3;

type Place = WhatIfAnswer["nodes"][number];
interface PlacesProps {
  nodes: Place[];
  /** Who gives way. */
  displaced?: WhatIfDisplaced[];
  /** Whose colour. */
  project: string;
}

// nodes: [{name, gpus, pods}]; displaced: who gives way; project: whose colour.
export function Places({ nodes, displaced = [], project }: PlacesProps) {
  const shown = nodes.slice(0, SHOWN);
  const found = useData(
    shown.length && may("read", "nodes") ? `places/${shown.map(n => n.name)}` : null,
    abort =>
      Promise.all(
        shown.map(n =>
          get("/api/v1/nodes", { filterBy: [`name==${n.name}`], limit: 1 }, { signal: abort }).then(
            a => a.nodes?.[0],
            () => null,
          ),
        ),
      ),
    ["pod"],
  );
  const [ref, width] = useWidth();
  if (!shown.length || !shown.some(n => n.gpus > 0)) return null;
  const givesWay = new Set(displaced.map(d => d.workloadId));
  const say = nodes.map(n => `${n.name}, ${gpuCount(n.gpus)}`).join("; ");
  return (
    <section class="place" ref={ref}>
      <h3>
        Where
        {nodes.length > SHOWN && (
          <>
            {" "}
            <span class="muted">
              ({SHOWN} of {plural(nodes.length, "node")})
            </span>
          </>
        )}
      </h3>
      <svg width="100%" height={shown.length * ROW} role="img" aria-label={`It would get ${say}.`}>
        {width > 0 &&
          shown.map((n, i) => (
            <NodeCells
              key={n.name}
              node={n}
              devices={found.data?.[i]?.prorata?.devices}
              y={i * ROW + 2}
              width={width}
              givesWay={givesWay}
              project={project}
            />
          ))}
      </svg>
    </section>
  );
}

interface CellsProps {
  node: Place;
  devices?: NodeDevice[];
  y: number;
  width: number;
  givesWay: Set<string | null | undefined>;
  project: string;
}

function NodeCells({ node, devices, y, width, givesWay, project }: CellsProps) {
  const known = devices?.length ? devices : Array.from({ length: Math.ceil(node.gpus) }, () => ({ state: "free" }));
  const cells = cellsOf(known, node.gpus, givesWay);
  const step = Math.min(44, (width - LEFT - RIGHT) / cells.length);
  const { colour } = slotOf(project);
  const name = node.name.length > 9 ? node.name.slice(0, 8) + "…" : node.name;
  return (
    <g>
      <text x="0" y={y + 14} class="node">
        {name}
      </text>
      <text x={LEFT + cells.length * step + 8} y={y + 14} class="free">
        {gpuCount(node.gpus)}
      </text>
      {cells.map((c, i) => {
        const box = { x: LEFT + i * step + 1, y, width: Math.max(2, step - 2), height: CELL, rx: 3 };
        if (c.state === "held") return <rect key={i} {...box} class={`run over f${slotOf(c.projectId).colour}`} />;
        if (c.state === "down") return <rect key={i} {...box} class="cell-down" />;
        return (
          <>
            <rect key={i} {...box} class="cell-free" />
            {c.state === "new" && (
              <rect
                {...box}
                width={Math.max(2, box.width * c.share)}
                class={`ghost k${colour}`}
                fill={`url(#hatch-${colour})`}
              />
            )}
          </>
        );
      })}
    </g>
  );
}
