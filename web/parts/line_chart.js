// Line charts of metrics: step lines, no points, no animation, names at the right end instead of a legend, gaps stay gaps.
// Chart.js is a chunk of its own, loaded with the first chart. Beside each picture stands its table.
import { useEffect, useRef, useState } from "preact/hooks";
import { clock, csvCell, day, iso } from "../format.js";
import { html } from "../html.js";
import { theme } from "../prefs.js";
import { Button } from "./button.js";
import { saveText } from "./table_tools.js";
import { Fault, Loading } from "./states.js";

let library = null;
const load = () => library ??= import("./chart.js");

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
export function LineChart({ title, series, format = String, height = 180, max, least, from, to, group, note, bare }) {
  const canvas = useRef(null);
  const chart = useRef(null);
  const [failed, setFailed] = useState(null);
  const [ready, setReady] = useState(false);
  const [table, setTable] = useState(false);
  const mode = theme.value;
  useEffect(() => {
    if (table) return undefined;
    let gone = false;
    load().then(({ draw }) => {
      if (gone || !canvas.current) return;
      setReady(true);
      const options = { series, format, max, least, from, to, group };
      if (chart.current) chart.current.update(options);
      else chart.current = draw(canvas.current, options);
    }, error => setFailed(error));
    return () => {
      gone = true;
    };
  }, [series, max, from, to, mode, table]);
  useEffect(() => () => chart.current?.destroy(), []);
  useEffect(() => {
    if (table) {
      chart.current?.destroy();
      chart.current = null;
    }
  }, [table]);
  const last = series.map(s => `${s.name} ${format(s.points.findLast(p => p[1] !== null)?.[1] ?? null)}`).join(", ");
  return html`<figure class="chart"><figcaption class="bar"><h3 class=${bare ? "sr" : null}>${title}</h3>${note && html`<span class="muted small">${note}</span>`}<span class="grow"></span>
      <${Button} small kind="quiet" icon="save" label=${`${title} as CSV`} onClick=${() => saveText(`${title}.csv`, "text/csv", csv(series))} />
      <${Button} small kind="quiet" aria-pressed=${String(table)} onClick=${() => setTable(!table)}>${table ? "Chart" : "Table"}<//></figcaption>
    ${failed ? html`<${Fault} error=${failed} what="The chart" />` : table ? html`<${Numbers} title=${title} series=${series} format=${format} />`
      : html`<div class=${"chart-box h-" + height}>${!ready && html`<${Loading} rows=${3} />`}<canvas ref=${canvas} role="img" aria-label=${`${title}. Now: ${last}.`}></canvas></div>`}</figure>`;
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
