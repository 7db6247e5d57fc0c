// The quota bar as a component, and the bar alone with its parts named underneath.
import type { VNode } from "preact";
import { useWidth } from "../data";
import { gpus } from "../format";
import { axis, labels } from "../pictures/axis";
import { type BarShape, type Mark, besideMark, named, quotaMarks, reach, wantedReach } from "../pictures/quota_bar";
import type { Parts } from "../pictures/shares";
import { slotOf } from "../pictures/slots";
import { shareLine } from "../words";

const draw = (marks: Mark[]) =>
  marks.map(([tag, { key, text, ...attrs }]) =>
    tag === "text" ? (
      <text key={key} {...attrs}>
        {text}
      </text>
    ) : tag === "path" ? (
      <path key={key} {...attrs} />
    ) : (
      <rect key={key} {...attrs} />
    ),
  );

interface QuotaBarProps extends Partial<Omit<BarShape, "slot">> {
  parts: Parts;
  width: number;
  scale: number;
  /** Whose colour; none is ink. */
  project?: string | null;
  ticks?: number[];
  name?: string;
  say?: string;
  class?: string;
}

// One bar on a shared axis. width and scale come from who draws the axis; project gives the colour, null is ink.
export function QuotaBar({
  parts,
  width,
  scale,
  height = 38,
  bar = 16,
  project,
  ticks = [],
  name,
  say,
  limit = true,
  ending = 0,
  unit = "",
  ...rest
}: QuotaBarProps) {
  const slot = project === null || project === undefined ? null : slotOf(project);
  return (
    <svg
      class="q"
      height={height}
      width="100%"
      {...(name ? { role: "img", "aria-label": say ?? shareLine(name, parts) } : { "aria-hidden": "true" })}
      {...rest}
    >
      {width > 0 && (
        <g transform="translate(4 0)">
          {ticks.map(v => (
            <path
              key={"t" + v}
              d={`M${Math.round(v * scale) + 0.5} 0V${height}`}
              class={"gridline" + (v ? "" : " zero")}
            />
          ))}
          {draw(quotaMarks(parts, { width: width - 8, height, bar, scale, slot, limit, ending, unit }))}
        </g>
      )}
    </svg>
  );
}

// The numbers above a column of bars.
export function QuotaAxis({ top, width, unit = "GPUs" }: { top: number; width: number; unit?: string }) {
  const a = axis(top);
  return (
    <svg class="q-axis" height="22" width="100%" aria-hidden="true">
      {width > 0 && (
        <g transform="translate(4 0)">
          {labels(a, width - 8, unit).map(l => (
            <text key={l.at} x={(l.at / a.top) * (width - 8)} y="15" text-anchor={l.anchor}>
              {l.text}
            </text>
          ))}
        </g>
      )}
    </svg>
  );
}

interface SoloProps {
  parts: Parts;
  project: string | null;
  name: string;
  names?: { from: number; to: number; text: string }[];
}

// A bar of its own: names [{from, to, text}] stand below; "quota 24" above the mark.
export function SoloBar({ parts, project, name, names = [] }: SoloProps) {
  const [ref, width] = useWidth();
  const top = Math.max(wantedReach(parts), reach(parts), 1) * 1.02;
  const scale = Math.max(0, width - 8) / top;
  return (
    <div class="minibar solo" ref={ref}>
      <svg class="q" height="52" width="100%" role="img" aria-label={shareLine(name, parts)}>
        {width > 0 && (
          <g transform="translate(4 0)">
            {draw(quotaMarks(parts, { width: width - 8, height: 38, scale, slot: slotOf(project) }))}
            {named(names, scale, width - 8).map(n => (
              <text key={n.text} x={n.x} y="47" text-anchor={n.anchor} class="seg-t">
                {n.text}
              </text>
            ))}
            {Number.isFinite(parts.quota) && (
              <text {...besideMark(parts.quota * scale, width - 8, gpus(parts.quota).length + 6)} y="7" class="seg-t b">
                quota {gpus(parts.quota)}
              </text>
            )}
          </g>
        )}
      </svg>
    </div>
  );
}

// Made each time again: an element that is kept keeps its picture, and every later one.
const marks = (): [string, VNode][] => [
  ["in quota", <rect y="1" width="22" height="12" rx="2" class="fn" />],
  ["borrowed (over quota)", <rect x="1" y="1.75" width="20" height="10.5" rx="2" class="over fn kn" />],
  ["waiting", <rect x="1" y="1.75" width="20" height="10.5" rx="2" class="ghost kn" fill="url(#hatch-n)" />],
  ["idle quota", <rect x=".5" y="1.5" width="21" height="11" rx="2" class="track" />],
  [
    "non-preemptible",
    <g>
      <rect y="1" width="22" height="12" rx="2" class="fn over" />
      <rect y="9" width="22" height="4" class="firm" />
    </g>,
  ],
  ["quota", <path d="M10 3h2v11h-2zM7 0h8l-4 5z" class="deserved" />],
  ["limit", <path d="M8 1h4v12h-4" class="limit" />],
];
export function QuotaLegend() {
  return (
    <ul class="legend" aria-label="Legend">
      {marks().map(([label, mark]) => (
        <li key={label}>
          <svg viewBox="0 0 22 14" aria-hidden="true">
            {mark}
          </svg>
          {label}
        </li>
      ))}
    </ul>
  );
}
