// Line charts of metrics: step lines, no points, no animation, names at the right end instead of a legend, gaps stay gaps.
// A crosshair is shared by all charts of a group. Beside each picture stands its table.
import { signal } from "@preact/signals";
import { useMemo, useState } from "preact/hooks";
import { useWidth } from "../data.js";
import { clock, csvCell, day, iso, memory } from "../format.js";
import { html } from "../html.js";
import { endNames, frame, paths, valueAt } from "../pictures/line_chart.js";
import { Button } from "./button.js";
import { saveText } from "./table_tools.js";

const crosses = new Map(); // group -> the pointed time that its charts share

// An answer of a metrics operation -> series: [{name, tone, points: [[ms, number or null]]}]. `names` maps type (and the
// labels' values) to {name, tone, fill, dash}.
export function seriesOf(measurements, names) {
  return measurements.map((m, i) => {
    const label = Object.values(m.labels ?? {}).join(" ");
    const style = names[m.type] ?? {};
    return { name: label && measurements.length > 1 ? `${style.name ?? m.type} ${label}` : style.name ?? m.type, tone: style.tone ?? TONES[i % TONES.length], fill: style.fill, dash: style.dash,
      points: m.values.map(v => [Date.parse(v.timestamp), Number.isFinite(Number(v.value)) && v.value !== "" ? Number(v.value) : null]) };
  });
}
const TONES = ["ink", "accent", "info", "warn", "bad", "ok", "ink-3", "p5"];

// series: [{name, tone (a token), fill, dash, points}]; format(value) -> text; least: what the axis shows at least; group: charts that share a crosshair.
export function LineChart({ title, series, format = String, height = 180, note, bare, ...rest }) {
  const [table, setTable] = useState(false);
  const last = series.map(s => `${s.name} ${format(valueAt(s.points, null))}`).join(", ");
  return html`<figure class="chart"><figcaption class="bar"><h3 class=${bare ? "sr" : null}>${title}</h3>${note && html`<span class="muted small">${note}</span>`}<span class="grow"></span>
      <${Button} small kind="quiet" icon="save" label=${`${title} as CSV`} onClick=${() => saveText(`${title}.csv`, "text/csv", csv(series))} />
      <${Button} small kind="quiet" aria-pressed=${String(table)} onClick=${() => setTable(!table)}>${table ? "Chart" : "Table"}<//></figcaption>
    ${table ? html`<${Numbers} title=${title} series=${series} format=${format} />` : html`<${Lines} ...${{ series, format, height, ...rest }} label=${`${title}. Now: ${last}.`} />`}</figure>`;
}

const NAMES = 96; // px for the names in charts that stand below one another

function Lines({ series, format, height, label, group, max, least, from, to }) {
  const [ref, width] = useWidth();
  const own = useMemo(() => crosses.get(group) ?? signal(null), [group]);
  if (group) crosses.set(group, own);
  const f = useMemo(() => width > 0 && frame({ series, width, height, format, max, least, from, to, binary: format === memory, names: group && NAMES }), [series, width, height, max, least, from, to]);
  const drawn = useMemo(() => f && series.map(s => paths(s.points, f)), [f]);
  const point = event => {
    const x = event.clientX - ref.current.getBoundingClientRect().left;
    own.value = f && x >= f.left && x <= f.right ? f.from + (x - f.left) / (f.right - f.left) * (f.to - f.from) : null;
  };
  const leave = () => {
    own.value = null;
  };
  return html`<div class=${"chart-box h-" + height} ref=${ref}><svg width="100%" height=${height} role="img" aria-label=${label} onPointerMove=${point} onPointerLeave=${leave}>${f && html`
    ${f.values.map(v => html`<path key=${v.at} class=${"gridline" + (v.at ? "" : " zero")} d=${`M${f.left} ${Math.round(f.y(v.at)) + 0.5}H${f.right}`} /><text x=${f.left - 7} y=${f.y(v.at) + 4} text-anchor="end">${v.text}</text>`)}
    ${f.times.map(t => html`<text key=${t.at} x=${f.x(t.at)} y=${height - 4} text-anchor="middle">${t.text}</text>`)}
    ${series.map((s, i) => html`<g key=${s.name} class=${"tone-" + s.tone}>${s.fill && html`<path class="under" d=${drawn[i].area} />`}<path class=${s.dash ? "step dash" : "step"} stroke-dasharray=${s.dash?.join(" ")} d=${drawn[i].line} /></g>`)}
    <${Cross} ...${{ f, series, format, own }} />`}</svg></div>`;
}

// The pointed time, and what each line stands for, then or now.
function Cross({ f, series, format, own }) {
  const at = own.value === null || own.value < f.from || own.value > f.to ? null : own.value;
  const x = at === null ? 0 : f.x(at), early = x - f.left < 100;
  return html`${at !== null && html`<path class="cross-line" d=${`M${x} ${f.top}V${f.bottom}`} /><text class="seg-t b halo" x=${x + (early ? 5 : -5)} y=${f.top + 4} text-anchor=${early ? "start" : "end"}>${day(at)} ${clock(at, true)}</text>`}
    ${endNames(series, f, format, at).map(n => html`<text key=${n.tone + n.y} class=${"end-name tone-" + n.tone} x=${f.right + 8} y=${n.y + 4}>${n.text}</text>`)}`;
}

function timesOf(series) {
  return [...new Set(series.flatMap(s => s.points.map(p => p[0])))].sort((a, b) => a - b);
}

function csv(series) {
  const maps = series.map(s => new Map(s.points));
  const rows = timesOf(series).map(t => [iso(t), ...maps.map(m => m.get(t) ?? "")]);
  return [["time", ...series.map(s => s.name)], ...rows].map(cells => cells.map(csvCell).join(",")).join("\r\n") + "\r\n";
}

function Numbers({ title, series, format }) {
  const maps = series.map(s => new Map(s.points));
  return html`<div class="scroll chart-table" tabindex="0" role="region" aria-label=${`${title}, numbers`}><table class="share"><thead><tr><th scope="col">Time</th>${series.map(s => html`<th scope="col" class="num" key=${s.name}>${s.name}</th>`)}</tr></thead>
    <tbody>${timesOf(series).reverse().map(t => html`<tr key=${t}><td><time>${day(t)} ${clock(t)}</time></td>${maps.map((m, i) => html`<td class="num" key=${i}>${format(m.get(t) ?? null)}</td>`)}</tr>`)}</tbody></table></div>`;
}
