// Chart.js, set up once: only what line charts need. Colours are read from the tokens at each draw.
import { Chart, Filler, LineController, LineElement, LinearScale, PointElement } from "chart.js";
import { clock, day } from "../format.js";

const groups = new Map(); // name -> charts that share a crosshair

// The value that holds at a time: lines are steps, gaps stay gaps. Without a time, the last known one.
function valueAt(points, time) {
  if (time === null || time === undefined) return points.findLast(p => p.y !== null)?.y ?? null;
  return points.findLast(p => p.x <= time)?.y ?? null;
}

// Names of the lines at their right end, with the value now or at the crosshair, moved apart where they would overlap.
const directLabels = {
  id: "directLabels",
  afterDatasetsDraw(chart) {
    const pen = chart.ctx, { right, top, bottom } = chart.chartArea;
    pen.save();
    pen.font = `600 11px ${font()}`;
    pen.textBaseline = "middle";
    const names = chart.data.datasets.map((d, i) => {
      const last = valueAt(d.data, null), value = valueAt(d.data, chart.crossAt);
      return chart.isDatasetVisible(i) && last !== null ? { text: d.label, value: d.format(value), y: chart.scales.y.getPixelForValue(last), tone: d.borderColor } : null;
    }).filter(Boolean).sort((a, b) => a.y - b.y);
    for (const n of names) n.y = Math.max(top + 6, n.y);
    for (let i = 1; i < names.length; i++) names[i].y = Math.max(names[i].y, names[i - 1].y + 14);
    const over = names.length ? names.at(-1).y - (bottom - 4) : 0;
    for (let i = names.length - 1, limit = bottom - 4; over > 0 && i >= 0; i--, limit -= 14) names[i].y = Math.min(names[i].y, limit);
    for (const n of names) {
      pen.fillStyle = n.tone;
      pen.fillText(`${n.value} ${n.text}`, right + 8, n.y);
    }
    pen.restore();
  },
};

// A vertical line at the pointed time, in all charts of the group.
const crosshair = {
  id: "crosshair",
  afterEvent(chart, { event }) {
    const inside = event.type !== "mouseout" && event.x >= chart.chartArea.left && event.x <= chart.chartArea.right;
    const at = inside ? chart.scales.x.getValueForPixel(event.x) : null;
    for (const other of groups.get(chart.group) ?? [chart]) {
      if (other.crossAt === at) continue;
      other.crossAt = at;
      other.draw();
    }
  },
  afterDraw(chart) {
    if (chart.crossAt === null || chart.crossAt === undefined) return;
    const x = chart.scales.x.getPixelForValue(chart.crossAt), { left, right, top, bottom } = chart.chartArea;
    if (x < left || x > right) return;
    const pen = chart.ctx;
    pen.save();
    pen.strokeStyle = token("ink-3");
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(x, top);
    pen.lineTo(x, bottom);
    pen.stroke();
    pen.font = `600 11px ${font()}`;
    pen.fillStyle = token("ink");
    pen.textAlign = x - left < 60 ? "left" : "right";
    pen.fillText(`${day(chart.crossAt)} ${clock(chart.crossAt, true)}`, x + (x - left < 60 ? 5 : -5), top + 4);
    pen.restore();
  },
};

Chart.register(LineController, LineElement, PointElement, LinearScale, Filler, directLabels, crosshair);

const token = name => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const font = () => "Inter Variable, system-ui, sans-serif";

function soften(colour, alpha) {
  return /^#[0-9a-f]{6}$/i.test(colour) ? colour + Math.round(alpha * 255).toString(16).padStart(2, "0") : colour;
}

function datasets({ series, format }) {
  return series.map(s => {
    const colour = token(s.tone);
    return { label: s.name, format, data: s.points.map(([x, y]) => ({ x, y })), borderColor: colour, backgroundColor: soften(colour, s.fill ?? 0), fill: s.fill ? "origin" : false, borderWidth: s.dash ? 1.25 : 1.75, borderDash: s.dash ?? [], stepped: "after", pointRadius: 0, pointHitRadius: 8, spanGaps: false };
  });
}

const DAY = 86400000;
function ticks(from, to, count) {
  const steps = [60000, 300000, 600000, 1800000, 3600000, 7200000, 14400000, 21600000, 43200000, DAY, 2 * DAY, 7 * DAY];
  const step = steps.find(s => (to - from) / s <= count) ?? 30 * DAY;
  const offset = new Date(from).getTimezoneOffset() * 60000;
  const list = [];
  for (let t = Math.ceil((from - offset) / step) * step + offset; t <= to; t += step) list.push({ value: t });
  return { list, step };
}

// Where the picture begins: at the asked time, or, where most of that is before anything was measured, at the first sample.
function begin(from, first, to) {
  return Number.isFinite(first) && first > (from + to) / 2 ? Math.min(first, to - 120000) : from;
}

function options(o) {
  const text = { color: token("ink-3"), font: { family: font(), size: 11 } };
  const times = o.series.flatMap(s => s.points.map(p => p[0]));
  const to = o.to ?? Math.max(...times);
  const from = begin(o.from ?? Math.min(...times), Math.min(...o.series.flatMap(s => s.points.filter(p => p[1] !== null).map(p => p[0]))), to);
  const longest = Math.max(4, ...o.series.map(s => s.name.length + o.format(s.points.findLast(p => p[1] !== null)?.[1] ?? 0).length + 1));
  return {
    animation: false, responsive: true, maintainAspectRatio: false, parsing: false, normalized: true,
    layout: { padding: { right: o.group ? 96 : Math.min(130, longest * 6.6 + 10), top: 6 } },
    events: ["mousemove", "mouseout", "touchstart", "touchmove"],
    hover: { mode: null },
    scales: {
      x: { type: "linear", min: from, max: to, grid: { display: false }, border: { color: token("line-strong") },
        afterBuildTicks: axis => {
          const { list, step } = ticks(from, to, Math.max(2, Math.floor(axis.width / 80)));
          axis.ticks = list;
          axis.stepMs = step;
        },
        ticks: { ...text, autoSkip: false, maxRotation: 0, callback(value) {
          return this.stepMs >= DAY ? day(value) : clock(value);
        } } },
      y: { type: "linear", min: 0, max: o.max, suggestedMax: o.least ?? 1, grid: { color: token("line") }, border: { display: false }, ticks: { ...text, maxTicksLimit: 6, callback: (value, i, all) => i > 0 && o.format(all[i - 1].value) === o.format(value) ? "" : o.format(value) } },
    },
  };
}

export function draw(canvas, o) {
  const chart = new Chart(canvas, { type: "line", data: { datasets: datasets(o) }, options: options(o) });
  chart.group = o.group;
  if (o.group) groups.set(o.group, (groups.get(o.group) ?? new Set()).add(chart));
  return {
    update(next) {
      chart.data.datasets = datasets(next);
      chart.options = options(next);
      chart.update("none");
    },
    destroy() {
      groups.get(o.group)?.delete(chart);
      chart.destroy();
    },
  };
}
