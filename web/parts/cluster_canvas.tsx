// The cluster from 65 nodes on: one canvas, drawn whole, at most once per frame. Three zooms; arrow keys move a visible
// cursor whose text is in a live region; pointing shows the tip; Enter opens the node.
import type { TargetedMouseEvent } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useWidth } from "../data";
import { gpus, ratio } from "../format";
import { theme } from "../prefs";
import { go } from "../router";
import { type MapCell, type MapPool, heat, sentenceOf } from "../pictures/cluster_map";
import { type Hit, type Layout, ZOOMS, hit, layout, wordsAt } from "../pictures/cluster_canvas";
import { slotOf } from "../pictures/slots";
import { Seg } from "./button";
import type { Look } from "./cluster_map";
import { ofKey } from "../keys";

const TOKENS = [
  "surface",
  "sunken",
  "line-strong",
  "ink",
  "ink-2",
  "ink-3",
  "bad",
  "bad-soft",
  "ok",
  "accent",
  "p1",
  "p2",
  "p3",
  "p4",
  "p5",
  "p6",
  "p7",
  "p8",
];
function readTokens() {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(TOKENS.map(t => [t, style.getPropertyValue(`--${t}`).trim()]));
}

interface Box {
  x: number;
  y: number;
  w: number;
  h: number;
}
interface Options extends Look {
  tone: Record<string, string>;
  zoom: number;
  at: Hit | null;
  width: number;
}
interface Paints extends Options {
  colour: (id: string | null | undefined) => string;
}

function drawCell(pen: CanvasRenderingContext2D, device: MapCell, box: Box, paints: Paints) {
  const { colour, view, colours, lifted, tone } = paints;
  const { x, y, w, h } = box;
  if (device.state === "down") {
    pen.fillStyle = tone.bad;
    pen.fillRect(x, y, w, h);
    return;
  }
  if (!device.workloads.length || view === "health") {
    pen.fillStyle = view === "health" ? tone.ok : tone.sunken;
    pen.globalAlpha = view === "health" && !device.workloads.length ? 0.3 : 1;
    pen.fillRect(x, y, w, h);
    pen.globalAlpha = 1;
    return;
  }
  let left = 0;
  for (const part of device.workloads) {
    const share = Math.min(part.share ?? 1, 1 - left);
    const step = heat(device.utilization);
    pen.fillStyle =
      view === "utilization" ? tone.accent : colours.has(part.projectId) ? colour(part.projectId) : tone["ink-3"];
    pen.globalAlpha =
      view === "utilization"
        ? 0.15 + 0.2 * (step ?? 0)
        : lifted && lifted !== part.projectId
          ? 0.18
          : colours.has(part.projectId)
            ? 1
            : 0.45;
    pen.fillRect(x + left * w, y, w * share, h);
    if (part.preemptible === false && h >= 7) {
      pen.fillStyle = tone.ink;
      pen.fillRect(x + left * w, y + h - 2, w * share, 2);
    }
    left += share;
  }
  pen.globalAlpha = 1;
}

function paint(canvas: HTMLCanvasElement, map: Layout, options: Options) {
  const scale = devicePixelRatio || 1,
    { tone, zoom, at } = options;
  canvas.width = Math.round(options.width * scale);
  canvas.height = Math.round(map.height * scale);
  const pen = canvas.getContext("2d")!;
  pen.scale(scale, scale);
  pen.clearRect(0, 0, options.width, map.height);
  pen.textBaseline = "middle";
  const cache = new Map<string | null | undefined, string>();
  const colour: Paints["colour"] = id => cache.get(id) ?? cache.set(id, tone[`p${slotOf(id).colour}`]).get(id)!;
  for (const { pool, x, y } of map.heads) {
    pen.font = "600 13px Inter Variable, system-ui";
    pen.fillStyle = tone.ink;
    pen.fillText(pool.name, x, y + 10);
    pen.font = "12px Inter Variable, system-ui";
    pen.fillStyle = tone["ink-2"];
    pen.fillText(
      `${gpus(pool.held)} of ${gpus(pool.total)} · ${ratio(pool.held, pool.total)}`,
      x + 16 + pool.name.length * 9,
      y + 10,
    );
  }
  pen.font = "10px ui-monospace, monospace";
  const gap = map.rowHeight >= 8 ? 1 : 0.5;
  for (const place of map.places) {
    if (place.index % ZOOMS[zoom].name === 0 || place.first) {
      pen.fillStyle = place.row.state === "ready" ? tone["ink-2"] : tone.bad;
      pen.fillText(place.row.name.slice(0, map.rowHeight >= 16 ? 11 : 9), place.x, place.y + map.rowHeight / 2);
    }
    for (const [i, device] of place.row.cells.entries()) {
      drawCell(
        pen,
        device,
        { x: place.x + place.left + i * place.cell, y: place.y + gap / 2, w: place.cell - gap, h: map.rowHeight - gap },
        { ...options, colour },
      );
    }
  }
  if (at) {
    pen.strokeStyle = tone.ink;
    pen.lineWidth = 2;
    pen.strokeRect(
      at.place.x + at.place.left + (at.cell ?? 0) * at.place.cell - 1,
      at.place.y - 1,
      at.place.cell + 1,
      map.rowHeight + 1,
    );
  }
}

// The place after an arrow key; from nowhere the first.
function stepped(map: Layout, at: Hit | null, [rows, cells]: number[]): Hit {
  const index = at ? map.places.findIndex(p => p.row.name === at.place.row.name) : 0;
  const place = map.places[Math.max(0, Math.min(map.places.length - 1, index + (at ? rows : 0)))];
  const cell = (at?.cell ?? 0) + (at ? cells : 0);
  return { place, cell: Math.max(0, Math.min(place.row.cells.length - 1, cell)) };
}

const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
const SIZES = [
  { value: 0, label: "Large" },
  { value: 1, label: "Medium" },
  { value: 2, label: "Small" },
];

const nodeHref = ({ place }: Hit) => `/nodes?open=${encodeURIComponent(place.row.name)}`;

export function ClusterCanvas({ pools, view, lifted, colours }: Look & { pools: MapPool[] }) {
  const [ref, width] = useWidth();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [zoom, setZoom] = useState(0);
  const [at, setAt] = useState<Hit | null>(null);
  const map = width > 0 ? layout(pools, { width, zoom }) : null;
  const mode = theme.value;
  useEffect(() => {
    if (!map) return undefined;
    const options = { width, zoom, view, lifted, colours, at };
    const frame = requestAnimationFrame(
      () => canvas.current && paint(canvas.current, map, { ...options, tone: readTokens() }),
    );
    return () => cancelAnimationFrame(frame);
  });
  const point = (event: TargetedMouseEvent<HTMLCanvasElement>) => {
    const element = event.currentTarget,
      box = element.getBoundingClientRect();
    const found = map && hit(map, event.clientX - box.left, event.clientY - box.top);
    if (found) element.dataset.tip = wordsAt(found);
    else delete element.dataset.tip;
    return found;
  };
  const key = (event: KeyboardEvent) => {
    const steps = ofKey(event, ARROWS);
    if (event.key === "Enter" && at) go(nodeHref(at));
    if (!steps || !map?.places.length) return;
    event.preventDefault();
    setAt(stepped(map, at, steps));
  };
  const open = (event: TargetedMouseEvent<HTMLCanvasElement>) => {
    const found = point(event);
    const workload = found && found.cell !== null ? found.place.row.cells[found.cell]?.workloads[0] : null;
    if (workload?.id) go(`/workloads?open=${workload.id}`);
    else if (found) go(nodeHref(found));
  };
  return (
    <div class="map-canvas" data-theme-seen={mode}>
      <div class="bar">
        <Seg label="Zoom" options={SIZES} value={zoom} onChange={setZoom} />
      </div>
      <div ref={ref}>
        <canvas
          ref={canvas}
          class="cells"
          height={map?.height ?? 200}
          tabindex={0}
          role="application"
          aria-label={`${pools.map(sentenceOf).join(" ")} Arrow keys move through the GPUs.`}
          onMouseMove={point}
          onClick={open}
          onKeyDown={key}
        />
      </div>
      <div class="sr" aria-live="polite">
        {at ? wordsAt(at) : ""}
      </div>
    </div>
  );
}
