// The strip of figures: label, figure with its unit small, one line of meaning. Each is a link to the filtered page; only a
// real fault colours a figure.

import type { ComponentChildren } from "preact";

export function Stats({ label, children }: { label: string; children: ComponentChildren[] }) {
  return (
    <section class={`sheet stats n-${children.filter(Boolean).length}`} aria-label={label}>
      {children}
    </section>
  );
}

interface StatProps {
  label: string;
  value: ComponentChildren;
  unit?: ComponentChildren;
  line?: ComponentChildren;
  tone?: string;
  href?: string;
  tip?: string;
  children?: ComponentChildren;
}

export function Stat({ label, value, unit, line, tone = "", href, tip, children }: StatProps) {
  const figures = (
    <>
      <span class="k">{label}</span>
      <span key={unit ? "unit" : "bare"} class={`v ${tone}`}>
        {value} {unit && <small>{unit}</small>}
      </span>
      <span class="d">{line}</span>
    </>
  );
  const inside = children ? (
    <div class="split">
      <div>{figures}</div>
      {children}
    </div>
  ) : (
    figures
  );
  return href ? (
    <a class="stat" href={href} data-tip={tip}>
      {inside}
    </a>
  ) : (
    <div class="stat" data-tip={tip}>
      {inside}
    </div>
  );
}

/** A thin bar: how much of the whole. */
export const Meter = ({ part, whole }: { part: number; whole: number }) => (
  <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
    <rect width="100" height="6" class="meter-track" />
    <rect width={whole > 0 ? Math.min(100, (part / whole) * 100) : 0} height="6" class="meter-fill" />
  </svg>
);

// [{name, part, whole, text}] as thin bars.
export function Meters({ rows }: { rows: { name: string; part: number; whole: number; text: string }[] }) {
  return (
    <div class="meters" aria-hidden="true">
      {rows.map(r => (
        <div key={r.name}>
          <span class="name">{r.name}</span>
          <Meter part={r.part} whole={r.whole} />
          <span class="num">{r.text}</span>
        </div>
      ))}
    </div>
  );
}
