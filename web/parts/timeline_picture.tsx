// The timeline on one canvas: figures above, lanes below, on the same axis. A drag or + and - zoom, arrows move, a click or
// Enter chooses a moment, a click on a node's name that node.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { useWidth } from "../data";
import { gpus } from "../format";
import { ofKey } from "../keys";
import { timeTicks } from "../pictures/line_chart";
import { slotOf } from "../pictures/slots";
import { HEAD, type Layout, blockAt, boxes, layout, nameOf, timeAt, wordsOf, xOf } from "../pictures/timeline";
import { theme } from "../prefs";
import type { Timeline } from "../types";

interface Props {
  timeline: Timeline;
  /** The chosen moment; 0: none. */
  at: number;
  onMoment: (at: number) => void;
  onZoom: (from: number, to: number) => void;
  onMove: (by: number, zoom: number) => void;
  onNode: (node: string) => void;
}
interface Brush {
  pen: CanvasRenderingContext2D;
  tone: (name: string) => string;
  timeline: Timeline;
  map: Layout;
}

const FIGURES = [
  ["allocated", "ink", [], "GPUs held"],
  ["ready", "ink-3", [1, 3], "GPUs ready"],
  ["waiting", "warn", [4, 3], "waiting"],
] as const;
const FLOOR = HEAD - 26; // of the figures

// Steps above the lanes, each named at its right end.
function paintFigures({ pen, tone, timeline: { figures }, map }: Brush) {
  const most = Math.max(1, ...FIGURES.flatMap(([key]) => (figures[key] ?? []) as number[]));
  const labels: [value: number, name: string, say: string][] = [];
  for (const [key, name, dash, say] of FIGURES) {
    const values = figures[key] ?? [],
      step = (map.right - map.left) / values.length;
    pen.strokeStyle = pen.fillStyle = tone(name);
    pen.setLineDash([...dash]);
    pen.beginPath();
    values.forEach((value, i) => {
      if (value === null) return;
      const y = FLOOR - (value / most) * 46;
      pen.lineTo(map.left + i * step, y);
      pen.lineTo(map.left + (i + 1) * step, y);
    });
    pen.stroke();
    const last = values.at(-1) ?? null;
    if (last !== null) labels.push([last, name, `${gpus(last)} ${say}`]);
  }
  let under = 0;
  for (const [last, name, said] of labels.sort(([a], [b]) => b - a)) {
    under = Math.max(under + 12, FLOOR - 3 - (last / most) * 46, map.left < 100 ? 24 : 0); // below what went to whom
    // beside the lines where there is room, else on them
    const x = map.left < 100 ? map.right - pen.measureText(said).width : map.right + 4;
    pen.fillStyle = tone("surface");
    pen.fillRect(x - 2, under - 10, map.right - x + 4, 13);
    pen.fillStyle = tone(name);
    pen.fillText(said, x, under);
  }
}

function paintLanes({ pen, tone, timeline, map }: Brush) {
  const { lanes, blocks, projects } = timeline;
  for (const { value, label } of timeTicks(map.from, map.to, (map.right - map.left) / 90)) {
    const x = xOf(map, value);
    pen.fillStyle = tone("line");
    pen.fillRect(x, 18, 1, map.height);
    pen.fillStyle = tone("ink-3");
    if (x < map.right - 40) pen.fillText(label, x + 3, HEAD - 8);
  }
  const every = Math.ceil(14 / map.row);
  pen.fillStyle = tone("ink-2");
  lanes.forEach((l, i) => i % every || pen.fillText(l.node, 0, HEAD + i * map.row + 11, map.left - 6));
  for (const block of blocks) {
    const { project, end } = block,
      colour = project === undefined ? 0 : slotOf(projects[project].id).colour,
      name = nameOf(timeline, block);
    for (const [x, y, w, h] of boxes(timeline, map, block)) {
      pen.fillStyle = tone(colour ? `p${colour}` : "control");
      pen.fillRect(x, y, w > 3 ? w - 1 : w, h);
      pen.fillStyle = tone(colour ? `on${colour}` : "surface");
      if (h > 10 && w > name.length * 6 + 12) pen.fillText(name, x + 4, y + h / 2 + 4);
      const sign = end === "failed" ? "◆" : end === "preempted" ? "◁" : "";
      if (sign && w > 8) pen.fillText(sign, x + w - 12, y + h / 2 + 4);
    }
  }
}

// A dotted line from a place that was given up to the head, and whom it went to; where no room is for words, a tick.
function paintEvictions({ pen, tone, timeline, map }: Brush) {
  let free = 0;
  pen.setLineDash([2, 3]);
  pen.strokeStyle = pen.fillStyle = tone("accent");
  for (const { at, node, gpus: given, beneficiary } of [...timeline.evictions].reverse()) {
    const x = xOf(map, map.from + at * 1000),
      say = `↩ ${gpus(given)} to ${beneficiary?.project ?? "other"}`;
    pen.beginPath();
    pen.moveTo(x, x < free ? 20 : HEAD + (timeline.lanes.findIndex(l => l.node === node) + 0.5) * map.row);
    pen.lineTo(x, 12);
    pen.stroke();
    if (x < free) continue;
    const room = pen.measureText(say).width + 8;
    const left = Math.min(x + 2, map.right + 8 - room); // one at the end begins further to the left
    if (left < free) continue;
    pen.fillText(say, left, 10);
    free = left + room;
  }
  pen.setLineDash([]);
}

function paint(canvas: HTMLCanvasElement, width: number, timeline: Timeline, map: Layout, marks: number[]) {
  const pen = canvas.getContext("2d")!,
    style = getComputedStyle(document.documentElement),
    known = new Map<string, string>(),
    tone = (name: string) => known.get(name) ?? known.set(name, style.getPropertyValue(`--${name}`)).get(name)!;
  canvas.width = width * devicePixelRatio;
  canvas.height = map.height * devicePixelRatio;
  pen.scale(devicePixelRatio, devicePixelRatio);
  pen.font = `11px ${tone("font")}`;
  const brush = { pen, tone, timeline, map };
  paintLanes(brush);
  paintEvictions(brush);
  paintFigures(brush);
  pen.fillStyle = tone("focus");
  for (const at of marks) if (at) pen.fillRect(xOf(map, at), 0, 2, map.height);
}

export function TimelinePicture({ timeline, at, onMoment, onZoom, onMove, onNode }: Props) {
  const [ref, width] = useWidth();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [said, say] = useState("");
  const [[from, to], drag] = useState([0, 0]); // from 0: nothing is dragged
  const map = layout(timeline, width);
  useLayoutEffect(() => {
    if (width) paint(canvas.current!, width, timeline, map, [at, from, to]);
  }, [timeline, width, at, from, to, theme.value]);
  const moment = (event: PointerEvent) => timeAt(map, event.offsetX);
  const release = (event: PointerEvent) => {
    const lane = timeline.lanes[Math.floor((event.offsetY - HEAD) / map.row)];
    const [begin, end] = [from, moment(event)].sort();
    drag([0, 0]);
    if (event.offsetX < map.left && lane) onNode(lane.node);
    else if (from && xOf(map, end) - xOf(map, begin) > 6) onZoom(begin, end);
    else onMoment(end);
  };
  const key = (event: KeyboardEvent) => {
    const act = ofKey(event, {
      ArrowLeft: () => onMove(-0.25, 1),
      ArrowRight: () => onMove(0.25, 1),
      "+": () => onMove(0, 0.5),
      "-": () => onMove(0, 2),
      Enter: () => onMoment(timeAt(map, (map.left + map.right) / 2)),
    });
    if (act) event.preventDefault();
    act?.();
  };
  const { lanes, blocks, evictions } = timeline;
  return (
    <div
      ref={ref}
      class={width ? "timeline" : "timeline unmeasured"}
      tabindex={0}
      role="group"
      aria-label="Arrows move, plus and minus zoom, Enter chooses the moment in the middle"
      onKeyDown={key}
    >
      <canvas
        ref={canvas}
        role="img"
        aria-label={`${lanes.length} nodes, ${blocks.length} blocks, ${evictions.length} evictions`}
        onPointerDown={e => drag([moment(e), 0])}
        onPointerMove={e => {
          const block = blockAt(timeline, map, e.offsetX, e.offsetY);
          say(block ? wordsOf(timeline, block) : "");
          if (from) drag([from, moment(e)]);
        }}
        onPointerUp={release}
      />
      {width > 0 && <p class="soft sum">{said || "\u00a0"}</p>}
    </div>
  );
}
