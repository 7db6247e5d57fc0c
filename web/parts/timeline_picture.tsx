// The timeline: figures and the axis stay in sight, lanes below them scroll. A drag or + and - zoom, left and right move, a click
// or Enter chooses a moment, a click on a lane's name opens that.
import type { RefObject } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { useWidth } from "../data";
import { gpus } from "../format";
import { ofKey } from "../keys";
import {
  type Block,
  HEAD,
  type Holders,
  type Layout,
  blockAt,
  drawn,
  holders,
  layout,
  timeAt,
  wordsOf,
  xOf,
} from "../pictures/timeline";
import { paintHead, paintLanes } from "../pictures/timeline_paint";
import { theme } from "../prefs";
import type { Timeline } from "../types";
import { openCanvas } from "./canvas";
import { Swatch } from "./status";

interface Props {
  timeline: Timeline;
  /** The chosen moment; 0: none. */
  at: number;
  onMoment: (at: number) => void;
  onZoom: (from: number, to: number) => void;
  onMove: (by: number, zoom: number) => void;
  onLane: (lane: Timeline["lanes"][number]) => void;
}

const HOUR = 3600;

// Who is known by colour, with the GPU hours of this picture; and what marks mean where there are some. A share of a node
// that several projects hold is nobody's: then hours would be too few.
function Legend({ timeline, known: { shown, others } }: { timeline: Timeline; known: Holders }) {
  const ends = new Set(timeline.blocks.map(b => b.end)),
    isWhole = timeline.by !== "nodes" || timeline.detail === "devices";
  return (
    <ul class="keys" aria-label="Legend">
      {isWhole && <li class="muted">GPU hours</li>}
      {shown
        .filter(p => p.size > 0)
        .map(p => (
          <li key={p.id}>
            <Swatch project={p.id} />
            <span class="cut">{p.name}</span>
            {isWhole && <span class="n">{gpus(p.size / HOUR)}</span>}
          </li>
        ))}
      {others > 0 && (
        <li>
          <Swatch project={null} plain />
          others
          {isWhole && <span class="n">{gpus(others / HOUR)}</span>}
        </li>
      )}
      {ends.has("preempted") && <li>◁ gave way</li>}
      {ends.has("failed") && <li>◆ failed</li>}
    </ul>
  );
}

interface Scope extends Props {
  blocks: Block[];
  map: Layout;
  body: RefObject<HTMLCanvasElement | null>;
}

// What a pointer does: from 0, nothing is dragged; said, what it points at.
function useHands({ timeline, blocks, map, body, onMoment, onZoom, onLane }: Scope) {
  const [said, say] = useState("");
  const [[from, to], drag] = useState([0, 0]);
  const moment = (event: PointerEvent) => timeAt(map, event.offsetX);
  const onPointerUp = (event: PointerEvent) => {
    const lane = event.target === body.current ? timeline.lanes[Math.floor(event.offsetY / map.row)] : undefined;
    const [begin, end] = [from, moment(event)].sort();
    drag([0, 0]);
    if (event.offsetX < map.left && lane) onLane(lane);
    else if (from && xOf(map, end) - xOf(map, begin) > 6) onZoom(begin, end);
    else onMoment(end);
  };
  const onPointerMove = (event: PointerEvent) => {
    const block =
      event.target === body.current ? blockAt(timeline, blocks, map, event.offsetX, event.offsetY) : undefined;
    say(block ? wordsOf(timeline, block) : "");
    if (from) drag([from, moment(event)]);
  };
  const onPointerDown = (event: PointerEvent) => drag([moment(event), 0]);
  return { said, from, to, hands: { onPointerDown, onPointerMove, onPointerUp } };
}

export function TimelinePicture(props: Props) {
  const { timeline, at, onMoment, onMove } = props;
  const [ref, width] = useWidth();
  const head = useRef<HTMLCanvasElement>(null),
    body = useRef<HTMLCanvasElement>(null);
  const blocks = useMemo(() => drawn(timeline), [timeline]),
    known = useMemo(() => holders(timeline), [timeline]);
  const map = layout(timeline, width);
  const { said, from, to, hands } = useHands({ ...props, blocks, map, body });
  useLayoutEffect(() => {
    if (!width) return;
    const scene = { timeline, blocks, map, known, marks: [at, from, to] };
    paintHead({ ...scene, ...openCanvas(head.current!, width, HEAD) });
    paintLanes({ ...scene, ...openCanvas(body.current!, width, map.height) });
  }, [timeline, width, at, from, to, theme.value]);
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
  const { by, lanes, blocks: sent, evictions } = timeline;
  return (
    <>
      <div
        class={width ? "timeline" : "timeline unmeasured"}
        tabindex={0}
        role="group"
        aria-label="Left and right move, plus and minus zoom, Enter chooses the moment in the middle"
        onKeyDown={key}
      >
        <div ref={ref}>
          <canvas ref={head} class="axis" aria-hidden="true" {...hands} />
          <canvas
            ref={body}
            role="img"
            aria-label={`${lanes.length} ${by}, ${sent.length} blocks, ${evictions.length} evictions`}
            {...hands}
          />
        </div>
      </div>
      {width > 0 && <p class="soft sum">{said || "\u00a0"}</p>}
      {width > 0 && <Legend timeline={timeline} known={known} />}
    </>
  );
}
