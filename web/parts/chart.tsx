// The picture of a line chart, by Chart.js: step lines without points or animation, names at the right end instead of a legend, a
// crosshair and a zoom that the charts of a group share. Drag or + and - zoom, the arrows point, a double click or Escape resets.
import { type Signal, signal } from "@preact/signals";
import {
  Chart,
  type ChartConfiguration,
  LineController,
  LineElement,
  LinearScale,
  PointElement,
  type Tick,
} from "chart.js";
import type { RefObject, TargetedPointerEvent } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useWidth } from "../data";
import { clock, day, memory } from "../format";
import {
  type Format,
  type Range,
  type Series,
  type ValueScale,
  corners,
  endNames,
  linesOf,
  named,
  span,
  timeTicks,
  valueAt,
  valueAxis,
  zoomed,
} from "../pictures/line_chart";
import { theme } from "../prefs";
import { ofKey } from "../keys";
import { Button } from "./button";

Chart.register(LineController, LineElement, PointElement, LinearScale);

const NAMES = 96; // px for the names in charts that stand below one another
type CanvasPointer = TargetedPointerEvent<HTMLCanvasElement>;

interface Shared {
  at: Signal<number | null>;
  range: Signal<Range | null>;
  drag: Signal<Range | null>;
  users: number;
}
const groups = new Map<string, Shared>();

// What the charts of a group share: the pointed time, the chosen range, what is being dragged.
function useShared(group?: string) {
  const mine = useRef<Shared | null>(null);
  mine.current ??= (group && groups.get(group)) || {
    at: signal<number | null>(null),
    range: signal<Range | null>(null),
    drag: signal<Range | null>(null),
    users: 0,
  };
  if (group) groups.set(group, mine.current);
  useEffect(() => {
    const shared = mine.current!;
    shared.users += 1;
    return () => {
      shared.users -= 1;
      if (!shared.users && group) groups.delete(group);
    };
  }, [group]);
  return mine.current;
}

const token = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

// What is drawn: the lines, the time that they are drawn in, what is pointed at and dragged.
interface State {
  lines: Series[];
  format: Format;
  group?: string;
  view: Range;
  at: number | null;
  drag: Range | null;
  axis: ReturnType<typeof valueAxis>;
  theme: string | undefined;
}
interface PictureProps extends Omit<ValueScale, "binary"> {
  title: string;
  series: Series[];
  height: number;
  label: string;
  group?: string;
  from?: number;
  to?: number;
}

// Draws on the canvas: all of it when the lines, the size or the theme change, else the top layer alone.
function useChart(series: Series[], state: State, width: number, height: number) {
  const canvas = useRef<HTMLCanvasElement>(null),
    chart = useRef<Chart<"line"> | null>(null),
    latest = useRef(state);
  latest.current = state;
  const { view } = state;
  useEffect(() => {
    const drawn = new Chart(canvas.current!, skeleton(latest));
    chart.current = drawn;
    return () => drawn.destroy();
  }, []);
  useEffect(() => {
    const c = chart.current;
    if (!width || !c) return;
    if (c.width !== width || c.height !== height) c.resize(width, height);
    furnish(c, state, width);
    c.update("none");
  }, [series, width, height, view[0], view[1], state.theme]);
  useEffect(() => {
    if (width) chart.current?.draw();
  }, [state.at, state.drag]);
  return { canvas, chart };
}

// Pointing and dragging on the canvas.
function pointing({ at, range, drag }: Shared, chart: RefObject<Chart<"line"> | null>, view: Range, whole: Range) {
  const placeOf = (event: CanvasPointer) => {
    const { left, right } = chart.current!.chartArea,
      x = event.clientX - event.currentTarget.getBoundingClientRect().left;
    const time = view[0] + ((Math.min(right, Math.max(left, x)) - left) / (right - left)) * (view[1] - view[0]);
    return { time, inside: x >= left && x <= right };
  };
  const move = (event: CanvasPointer) => {
    const { time, inside } = placeOf(event);
    at.value = drag.value || inside ? time : null;
    if (drag.value) drag.value = [drag.value[0], time];
  };
  const press = (event: CanvasPointer) => {
    if (event.button !== 0) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    const { time } = placeOf(event);
    drag.value = [time, time];
  };
  const release = () => {
    const [a, b] = [...(drag.value ?? [0, 0])].sort((x, y) => x - y);
    drag.value = null;
    if (b - a > (view[1] - view[0]) / 50) range.value = zoomed([a, b], whole, (a + b) / 2, 1) ?? range.value;
  };
  const cancel = () => {
    drag.value = null;
    at.value = null;
  };
  const reset = () => {
    range.value = null;
  };
  return { move, press, release, cancel, reset };
}

// The same by keys.
function keyed(event: KeyboardEvent, { at, range }: Shared, view: Range, whole: Range, away: () => void) {
  const middle = at.value ?? view[1],
    step = (view[1] - view[0]) / 24;
  const act = ofKey<(() => void) | null>(event, {
    ArrowLeft: () => (at.value = Math.max(view[0], middle - step)),
    ArrowRight: () => (at.value = Math.min(view[1], middle + step)),
    "+": () => (range.value = zoomed(view, whole, middle, 0.5) ?? range.value),
    "-": () => (range.value = zoomed(view, whole, middle, 2)),
    Escape: range.value || at.value !== null ? away : null,
  });
  if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  act();
}

const valuesAt = (lines: Series[], at: number, format: Format) =>
  `${day(at)} ${clock(at, true)}: ${named(lines, at)
    .map(s => `${s.name} ${format(valueAt(s.points, at))}`)
    .join(", ")}`;

export default function LinePicture(props: PictureProps) {
  const { title, series, format, height, label, group, max, least, from, to } = props;
  const [box, width] = useWidth();
  const shared = useShared(group);
  const { at, range, drag } = shared;
  const whole = span(series, from, to),
    view = range.value ?? whole;
  const lines = linesOf(series);
  const axis = valueAxis(lines, { format, max, least, binary: format === memory });
  const state = { lines, format, group, view, at: at.value, drag: drag.value, axis, theme: theme.value };
  const { canvas, chart } = useChart(series, state, width, height);
  const { move, press, release, cancel, reset } = pointing(shared, chart, view, whole);
  const away = () => (cancel(), reset());
  return (
    <div
      class={"chart-box h-" + height}
      ref={box}
      tabindex={0}
      role="group"
      aria-label={`${title}: arrows point, plus and minus zoom, Escape resets`}
      onKeyDown={event => keyed(event, shared, view, whole, away)}
      onBlur={cancel}
    >
      <canvas
        ref={canvas}
        role="img"
        aria-label={label}
        onPointerMove={move}
        onPointerDown={press}
        onPointerUp={release}
        onPointerCancel={cancel}
        onPointerLeave={() => !drag.value && cancel()}
        onDblClick={reset}
      />
      <span class="sr" aria-live="polite">
        {state.at === null ? "" : valuesAt(lines, state.at, format)}
      </span>
      {range.value && (
        <Button small class="chart-reset" label="Reset the zoom" onClick={reset}>
          Reset
        </Button>
      )}
    </div>
  );
}

// What never changes; the marks are drawn from the latest state.
function skeleton(latest: { current: State }): ChartConfiguration<"line"> {
  return {
    type: "line",
    data: { datasets: [] },
    options: {
      responsive: false,
      maintainAspectRatio: false,
      animation: false,
      events: [],
      parsing: false,
      normalized: true,
      elements: {
        point: { radius: 0, hitRadius: 0 },
        line: { stepped: "before", borderJoinStyle: "miter", borderCapStyle: "butt" },
      },
      layout: { autoPadding: false },
    },
    plugins: [
      { id: "marks", beforeDatasetsDraw: c => under(c, latest.current), afterDraw: c => above(c, latest.current) },
    ],
  };
}

function datasetOf(s: Series, view: Range) {
  const data = corners(s.points, view);
  return {
    data,
    pointRadius: data.length === 1 ? 3 : 0, // one sample makes no line
    pointBackgroundColor: token(s.tone),
    clip: 4,
    borderColor: token(s.tone),
    borderWidth: s.quiet ? 1 : s.dash ? 1.25 : 1.75,
    borderDash: s.dash ?? [],
    spanGaps: false,
  };
}

// Lines, axes and colours.
function furnish(c: Chart<"line">, { lines, view, axis, group, format }: State, width: number) {
  const ink3 = token("ink-3"),
    line = token("line"),
    strong = token("line-strong"),
    font = { family: token("font"), size: 11 };
  const longest = Math.max(
    4,
    ...named(lines, null).map(s => s.name.length + format(valueAt(s.points, null) ?? 0).length + 1),
  );
  const right = group ? NAMES : Math.min(130, longest * 6.6 + 10);
  const left = group ? 52 : Math.ceil(Math.max(...axis.ticks.map(t => t.label.length)) * 6.3) + 8;
  const number = Math.max(2, Math.floor((width - left - right) / 80));
  c.data.datasets = lines.map(s => datasetOf(s, view));
  c.options.layout!.padding = { top: 8, right, bottom: 0, left: 0 };
  c.options.scales = {
    x: {
      type: "linear",
      min: view[0],
      max: view[1],
      grid: { display: false, tickLength: 0 },
      border: { display: false },
      afterBuildTicks: a => (a.ticks = timeTicks(view[0], view[1], number)),
      ticks: {
        color: ink3,
        font,
        maxRotation: 0,
        autoSkip: false,
        includeBounds: false,
        padding: 5,
        callback: (_: unknown, i: number, ticks: Tick[]) => ticks[i].label as string,
      },
      afterFit: a => (a.height = 20),
    },
    y: {
      type: "linear",
      min: 0,
      max: axis.top,
      border: { display: false },
      grid: { color: ({ tick }) => (tick.value ? line : strong), drawTicks: false },
      afterBuildTicks: a => (a.ticks = axis.ticks.map(t => ({ ...t }))),
      ticks: {
        color: ink3,
        font,
        padding: 7,
        autoSkip: false,
        callback: (_: unknown, i: number, ticks: Tick[]) => ticks[i].label as string,
      },
      afterFit: a => (a.width = left),
    },
  };
}

// The tint below a filled line.
function under(c: Chart, { lines }: State) {
  const {
    ctx,
    chartArea: { bottom },
  } = c;
  lines.forEach((s, i) => {
    if (!s.fill) return;
    const points = c.getDatasetMeta(i).data as PointElement[];
    ctx.save();
    ctx.beginPath();
    points.forEach((p, n) => {
      const before = points[n - 1],
        next = points[n + 1];
      if (p.skip) return;
      if (!before || before.skip) ctx.moveTo(p.x, bottom);
      else ctx.lineTo(p.x, before.y);
      ctx.lineTo(p.x, p.y);
      if (!next || next.skip) ctx.lineTo(p.x, bottom);
    });
    ctx.fillStyle = token(s.tone);
    ctx.globalAlpha = 0.1;
    ctx.fill();
    ctx.restore();
  });
}

// What is being dragged, the pointed time, and what each line stands for, then or now.
function above(c: Chart, state: State) {
  const {
    ctx,
    chartArea: { left, right, top, bottom },
    scales: { x, y },
  } = c;
  if (!x) return; // before the first lines
  const font = (weight = 400) => `${weight} 11px ${token("font")}`;
  ctx.save();
  if (state.drag) {
    ctx.globalAlpha = 0.16;
    ctx.fillStyle = token("accent");
    const [a, b] = state.drag.map(t => x.getPixelForValue(t));
    ctx.fillRect(Math.min(a, b), top, Math.abs(b - a), bottom - top);
    ctx.globalAlpha = 1;
  }
  const at = state.at !== null && state.at >= state.view[0] && state.at <= state.view[1] ? state.at : null;
  if (at !== null) {
    const px = Math.round(x.getPixelForValue(at)) + 0.5,
      early = px - left < 100;
    ctx.strokeStyle = token("ink-3");
    ctx.beginPath();
    ctx.moveTo(px, top);
    ctx.lineTo(px, bottom);
    ctx.stroke();
    ctx.font = font(600);
    ctx.textAlign = early ? "start" : "end";
    ctx.lineWidth = 3;
    ctx.strokeStyle = token("surface");
    ctx.fillStyle = token("ink");
    for (const draw of ["strokeText", "fillText"] as const)
      ctx[draw](`${day(at)} ${clock(at, true)}`, px + (early ? 5 : -5), top + 8);
  }
  ctx.font = font(600);
  ctx.textAlign = "start";
  ctx.textBaseline = "middle";
  for (const n of endNames(state.lines, { y: v => y.getPixelForValue(v), top, bottom }, state.format, at)) {
    ctx.fillStyle = token(n.tone);
    ctx.fillText(n.text, right + 8, n.y);
  }
  ctx.restore();
}
