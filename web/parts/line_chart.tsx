// Line charts of metrics: the picture (Chart.js, a chunk that comes with the first chart), its table and its CSV.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { clock, day } from "../format";
import { type Format, type Range, type Series, csvOf, timesOf, valueAt } from "../pictures/line_chart";
import type { Measurement } from "../types";
import { Button } from "./button";
import { Later } from "./later";
import { saveText } from "./table_tools";

const loadChart = () => import("./chart");

/** How a metric is drawn. */
export type Style = Pick<Series, "name"> & Partial<Pick<Series, "tone" | "fill" | "dash">>;

// An answer of a metrics operation -> series: [{name, tone, points: [[ms, number or null]]}]. `names` maps type (and the
// labels' values) to {name, tone, fill, dash}.
export function seriesOf(measurements: Measurement[], names: Record<string, Style>) {
  return measurements.map((m, i): Series => {
    const label = Object.values(m.labels ?? {}).join(" ");
    const style: Partial<Style> = names[m.type] ?? {};
    return {
      name: label && measurements.length > 1 ? `${style.name ?? m.type} ${label}` : (style.name ?? m.type),
      tone: style.tone ?? TONES[i % TONES.length],
      fill: style.fill,
      dash: style.dash,
      points: (m.values ?? []).map(v => [
        Date.parse(v.timestamp ?? ""),
        Number.isFinite(Number(v.value)) && v.value !== "" ? Number(v.value) : null,
      ]),
    };
  });
}
/** What is asked of a metrics operation. */
export interface Asked {
  start: string;
  end: string;
  numberOfSamples: number;
}
// Samples from start to end. Of what has just begun one or none of them would be known: then its own time is asked for.
export async function samplesOf<T extends Measurement[] | Measurement[][]>(
  [start, end]: Range,
  count: number,
  ask: (query: Asked) => Promise<T>,
) {
  const iso = (at: number) => new Date(at).toISOString(),
    from = (at: number) => ask({ start: iso(at), end: iso(end), numberOfSamples: count });
  const answer = await from(start),
    known = (answer.flat() as Measurement[]).flatMap(m => (m.values ?? []).map(v => Date.parse(v.timestamp ?? "")));
  const since = Math.min(end, ...known) - (end - start) / count;
  return end - since < (end - start) / 10 ? { start: since, end, answer: await from(since) } : { start, end, answer };
}
const TONES = ["ink", "accent", "info", "warn", "bad", "ok", "ink-3", "p5"];

interface ChartProps {
  title: string;
  series: Series[];
  format?: Format;
  height?: number;
  note?: ComponentChildren;
  bare?: boolean;
  /** Charts of a group share a crosshair and a zoom. */
  group?: string;
  max?: number;
  least?: number;
  from?: number;
  to?: number;
}

// series: [{name, tone (a token), fill, dash, points}]; format(value) -> text; least: what the axis shows at least; group: charts that
// share a crosshair and a zoom.
export function LineChart({ title, series, format = String, height = 180, note, bare, ...rest }: ChartProps) {
  const [table, setTable] = useState(false);
  const last = series.map(s => `${s.name} ${format(valueAt(s.points, null))}`).join(", ");
  return (
    <figure class="chart">
      <figcaption class="bar">
        <h3 class={bare ? "sr" : undefined}>{title}</h3>
        {note && <span class="muted small">{note}</span>}
        <span class="grow" />
        <Button
          small
          kind="quiet"
          icon="save"
          label={`${title} as CSV`}
          onClick={() => saveText(`${title}.csv`, "text/csv", csvOf(series))}
        />
        <Button small kind="quiet" aria-pressed={table} onClick={() => setTable(!table)}>
          {table ? "Chart" : "Table"}
        </Button>
      </figcaption>
      {table ? (
        <Numbers title={title} series={series} format={format} />
      ) : (
        <Later
          load={loadChart}
          what="The chart"
          wait={<div class={"chart-box h-" + height} />}
          series={series}
          format={format}
          height={height}
          {...rest}
          title={title}
          label={`${title}. Now: ${last}.`}
        />
      )}
    </figure>
  );
}

function Numbers({ title, series, format }: { title: string; series: Series[]; format: Format }) {
  const maps = series.map(s => new Map(s.points));
  return (
    <div class="scroll chart-table" tabindex={0} role="region" aria-label={`${title}, numbers`}>
      <table class="share">
        <thead>
          <tr>
            <th scope="col">Time</th>
            {series.map(s => (
              <th scope="col" class="num" key={s.name}>
                {s.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {timesOf(series)
            .reverse()
            .map(t => (
              <tr key={t}>
                <td>
                  <time>
                    {day(t)} {clock(t)}
                  </time>
                </td>
                {maps.map((m, i) => (
                  <td class="num" key={i}>
                    {format(m.get(t) ?? null)}
                  </td>
                ))}
              </tr>
            ))}
        </tbody>
      </table>
    </div>
  );
}
