// Charts of what was measured in the last hour, day or week, one below the other, with one crosshair.
import { useState } from "preact/hooks";
import { get } from "../api";
import { now } from "../clock";
import { useData } from "../data";
import type { Format } from "../pictures/line_chart";
import { Seg } from "./button";
import { LineChart, type Style, samplesOf, seriesOf } from "./line_chart";
import { Empty, Loaded } from "./states";

/** A chart: which metrics it shows, and how they are drawn. */
export interface MetricChart {
  title: string;
  types: string[];
  names: Record<string, Style>;
  format: Format;
  max?: number;
  least?: number;
}
interface MetricsProps {
  path: `/api/v1/${"nodes" | "workloads" | "clusters"}/${string}/metrics`;
  charts: MetricChart[];
  /** Whose they are: these charts share a crosshair. */
  group: string;
  /** When there was nothing more to measure; now where absent. */
  until?: () => number;
}

const RANGES = [
  { value: "1", label: "1 h" },
  { value: "24", label: "1 d" },
  { value: "168", label: "1 w" },
];

function useMeasured({ path, charts, until = now }: MetricsProps, hours: string) {
  const load = async (abort: AbortSignal) => {
    const end = until(),
      metricType = charts.flatMap(c => c.types);
    const { start, answer: measurements } = await samplesOf(
      [end - Number(hours) * 3600000, end],
      120,
      async query => (await get(path, { ...query, metricType }, { signal: abort })).measurements ?? [],
    );
    const drawn = charts.map(c => ({
      ...c,
      series: seriesOf(
        measurements.filter(m => c.types.includes(m.type)),
        c.names,
      ),
    }));
    return { start, end, charts: drawn.filter(c => c.series.some(s => s.points.some(p => p[1] !== null))) };
  };
  return useData(`${path}/${hours}`, load, ["pod"]);
}

export function Metrics(props: MetricsProps) {
  const [hours, setHours] = useState("1");
  const measured = useMeasured(props, hours);
  return (
    <>
      <div class="bar chart-range">
        <span class="grow" />
        <Seg label="Time" options={RANGES} value={hours} onChange={setHours} />
      </div>
      <Loaded of={measured} what="Metrics">
        {({ start, end, charts }) =>
          charts.length ? (
            charts.map(({ types: _types, names: _names, ...c }) => (
              <LineChart key={c.title} {...c} from={start} to={end} height={140} group={props.group} />
            ))
          ) : (
            <Empty>Nothing was measured in this time.</Empty>
          )
        }
      </Loaded>
    </>
  );
}
