// The cluster from 65 nodes on: one canvas, drawn whole, at most once per frame. Three zooms; arrow keys move a visible
// cursor whose text is in a live region; pointing shows the tip; Enter opens the node.
import type { RefObject, TargetedMouseEvent } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useWidth } from "../data";
import { theme } from "../prefs";
import { go } from "../router";
import { type Look, type MapPool, sentenceOf } from "../pictures/cluster_map";
import { type Hit, type Layout, hit, layout, within, wordsAt } from "../pictures/cluster_canvas";
import { type Scene, paintMap } from "../pictures/map_paint";
import { Seg } from "./button";
import { openCanvas } from "./canvas";
import { ofKey } from "../keys";

type Drawn = Omit<Scene, "tone" | "texture">;

function paint(canvas: HTMLCanvasElement, scene: Drawn, width: number, top: number, height: number) {
  const { pen, ...tools } = openCanvas(canvas, width, height);
  canvas.style.top = `${top}px`;
  pen.translate(0, -top);
  paintMap(pen, { ...scene, ...tools, map: within(scene.map, top, top + height) });
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

// How much fits: from how many nodes on a smaller size is the first.
const MANY = [400, 1000];

// The cursor where its node is now: rows and sizes change under it.
const kept = (map: Layout, at: Hit) => {
  const place = map.places.find(p => p.row.name === at.place.row.name);
  return place ? { ...at, place } : null;
};

// Keeps the cursor in sight, clear of the sticky header and of the tabs at the bottom.
function reveal(canvas: HTMLElement, y: number) {
  const at = canvas.getBoundingClientRect().top + y,
    beyond = Math.min(0, at - 80) || Math.max(0, at + 80 - innerHeight);
  if (beyond) scrollBy(0, beyond);
}

const WHOLE = 2400, // no higher is drawn whole; else what is in sight
  AROUND = 200; // and so much around it

// At most once a frame; again where the page is scrolled further than what is drawn.
function usePaint(canvas: RefObject<HTMLCanvasElement | null>, width: number, scene: Drawn | null) {
  const [top, setTop] = useState(0);
  const full = scene?.map.height ?? 200,
    whole = full <= WHOLE;
  useEffect(() => {
    const look = () => {
      const above = -(canvas.current?.parentElement?.getBoundingClientRect().top ?? 0);
      setTop(whole ? 0 : Math.max(0, Math.round(above / AROUND - 1) * AROUND));
    };
    look();
    addEventListener("scroll", look, { passive: true });
    return () => removeEventListener("scroll", look);
  }, [whole]);
  useEffect(() => {
    const height = whole ? full : Math.min(full - top, innerHeight + 3 * AROUND);
    const frame = requestAnimationFrame(
      () => canvas.current && scene && paint(canvas.current, scene, width, top, height),
    );
    return () => cancelAnimationFrame(frame);
  });
  return top;
}

export function ClusterCanvas({ pools, ...look }: Look & { pools: MapPool[] }) {
  const [ref, width] = useWidth();
  const canvas = useRef<HTMLCanvasElement>(null);
  const nodes = pools.reduce((sum, p) => sum + p.rows.length, 0);
  const [zoom, setZoom] = useState(MANY.filter(n => nodes > n).length);
  const [at, setAt] = useState<Hit | null>(null);
  const map = useMemo(() => (width > 0 ? layout(pools, { width, zoom }) : null), [pools, width, zoom]);
  const mode = theme.value;
  const top = usePaint(canvas, width, map && { ...look, map, zoom, at: at && kept(map, at) });
  const point = (event: TargetedMouseEvent<HTMLCanvasElement>) => {
    const element = event.currentTarget,
      box = element.getBoundingClientRect();
    const found = map && hit(map, event.clientX - box.left, event.clientY - box.top + top);
    if (found) element.dataset.tip = wordsAt(found);
    else delete element.dataset.tip;
    return found;
  };
  const key = (event: KeyboardEvent) => {
    const steps = ofKey(event, ARROWS);
    if (event.key === "Enter" && at) go(nodeHref(at));
    if (!steps || !map?.places.length) return;
    event.preventDefault();
    const next = stepped(map, at, steps);
    setAt(next);
    reveal(canvas.current!.parentElement!, next.place.y);
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
      <div ref={ref} class="cells-room">
        <svg width="1" height={map?.height ?? 200} />
        <canvas
          ref={canvas}
          class="cells"
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
