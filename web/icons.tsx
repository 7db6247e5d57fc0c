// Own drawings on a 16 px grid with 1.5 px strokes. The only file that sets markup from text, all of it below.

const ICONS = {
  play: '<path class="solid" d="M4.5 3.2v9.6L13 8z"/>',
  wait: '<circle cx="8" cy="8" r="6"/><path d="M8 4.6V8l2.3 1.6"/>',
  check: '<path d="M3 8.6 6.4 12 13 4.6"/>',
  x: '<path d="M8 1.8 14.2 8 8 14.2 1.8 8z"/><path d="m6.2 6.2 3.6 3.6m0-3.6L6.2 9.8"/>',
  degraded: '<path d="M8 1.8 14.2 8 8 14.2 1.8 8z"/><path class="solid" d="M8 1.8V14.2L1.8 8z"/>',
  stop: '<rect x="3.5" y="3.5" width="9" height="9" rx="1"/>',
  half: '<circle cx="8" cy="8" r="6" stroke-dasharray="3 2.2"/><path d="M8 5v3.4"/>',
  back: '<path d="M6 3 2.8 6.2 6 9.4"/><path d="M3 6.2h6.2a3.6 3.6 0 0 1 0 7.2H6"/>',
  no: '<circle cx="8" cy="8" r="6"/><path d="m3.8 3.8 8.4 8.4"/>',
  info: '<circle cx="8" cy="8" r="6"/><path d="M8 7.4v3.4M8 5.2h.1"/>',
  node: '<rect x="2" y="3" width="12" height="4.4" rx="1"/><rect x="2" y="8.8" width="12" height="4.4" rx="1"/><path d="M4.5 5.2h.1M4.5 11h.1"/>',
  home: '<path d="M2 13V9m4 4V5m4 8V7m4 6V3"/>',
  chart: '<path d="M2 13.5h12M2.5 10 6 6l3 2.5L13.5 3"/>',
  quota: '<path d="M2 6h12v4H2zM9.5 3v10"/>',
  globe: '<circle cx="8" cy="8" r="6"/><path d="M2 8h12M8 2c4 4 4 8 0 12C4 10 4 6 8 2"/>',
  flag: '<path d="M4 14V2.5h8.5l-2.5 3 2.5 3H4"/>',
  folder: '<path d="M2 3.5h4.5L8 5.5h6V13H2z"/>',
  chip: '<path d="M4.5 4.5h7v7h-7zM6.5 2v2.5M9.5 2v2.5m-3 7V14m3-2.5V14M2 6.5h2.5M2 9.5h2.5m7-3H14m-2.5 3H14"/>',
  list: '<path d="M2.5 4h11M2.5 8h11M2.5 12h7"/>',
  project: '<path d="M2 5h12v8.5H2zM6 5V3h4v2M2 9h12"/>',
  dept: '<rect x="5.5" y="2" width="5" height="3.6" rx=".8"/><rect x="1.5" y="10.4" width="5" height="3.6" rx=".8"/><rect x="9.5" y="10.4" width="5" height="3.6" rx=".8"/><path d="M8 5.6V8M4 10.4V8h8v2.4"/>',
  pool: '<ellipse cx="8" cy="4.2" rx="5.5" ry="2.2"/><path d="M2.5 4.2v7.6c0 1.2 2.5 2.2 5.5 2.2s5.5-1 5.5-2.2V4.2M2.5 8c0 1.2 2.5 2.2 5.5 2.2s5.5-1 5.5-2.2"/>',
  clock: '<circle cx="8" cy="8" r="6"/><path d="M8 4.5V8H5"/>',
  asset: '<path d="M8 1.8 13.6 5v6L8 14.2 2.4 11V5z"/><path d="M2.6 5.1 8 8.2l5.4-3.1M8 8.2v5.8"/>',
  rule: '<path d="M3 2h10v12H3z"/><path d="M5.5 5.5h5M5.5 8h5M5.5 10.5h3"/>',
  people:
    '<circle cx="6" cy="5.4" r="2.6"/><path d="M1.5 13.4c.3-2.7 2.2-4.2 4.5-4.2s4.2 1.5 4.5 4.2M10.6 3.2a2.6 2.6 0 0 1 0 4.6M12 9.8c1.4.6 2.3 1.8 2.5 3.6"/>',
  person: '<circle cx="8" cy="5.4" r="2.8"/><path d="M2.8 13.8c.4-2.9 2.6-4.4 5.2-4.4s4.8 1.5 5.2 4.4"/>',
  key: '<circle cx="5" cy="11" r="2.8"/><path d="m7 9 6-6m-2.4 2.4 2 2"/>',
  bot: '<rect x="2.5" y="5.5" width="11" height="7.5" rx="1.5"/><path d="M8 5.5V2.8M5.8 9h.1M10.2 9h.1M6.5 11h3"/>',
  find: '<circle cx="7" cy="7" r="4.5"/><path d="m10.4 10.4 3.3 3.3"/>',
  sun: '<circle cx="8" cy="8" r="5.5"/><path class="solid" d="M8 2.5a5.5 5.5 0 0 1 0 11z"/>',
  plus: '<path d="M8 3v10M3 8h10"/>',
  minus: '<path d="M3 8h10"/>',
  close: '<path d="m4 4 8 8m0-8-8 8"/>',
  lock: '<rect x="3.5" y="7" width="9" height="6.5" rx="1"/><path d="M5.5 7V5a2.5 2.5 0 0 1 5 0v2"/>',
  down: '<path d="m4 6 4 4 4-4"/>',
  up: '<path d="m4 10 4-4 4 4"/>',
  left: '<path d="M10 4 6 8l4 4"/>',
  more: '<path d="M3.5 8h.1M8 8h.1M12.5 8h.1"/>',
  filter: '<path d="M2.5 4h11M4.5 8h7M6.5 12h3"/>',
  cols: '<rect x="2.5" y="3" width="11" height="10" rx="1"/><path d="M6.5 3v10M10 3v10"/>',
  copy: '<rect x="5.5" y="5.5" width="8" height="8" rx="1"/><path d="M10.5 5.5v-3h-8v8h3"/>',
  edit: '<path d="M2.5 13.5v-3L10.5 2.5l3 3-8 8z"/><path d="m8.8 4.2 3 3"/>',
  trash: '<path d="M3 4.5h10M6 4.5v-2h4v2M4.5 4.5l.6 9h5.8l.6-9"/>',
  grip: '<path d="M6 4h.1M10 4h.1M6 8h.1M10 8h.1M6 12h.1M10 12h.1"/>',
  save: '<path d="M8 2.5v7M5 6.8l3 3 3-3M3 13h10"/>',
  refresh: '<path d="M13 8a5 5 0 1 1-1.5-3.6M13 2.5v3h-3"/>',
  out: '<path d="M6.5 2.5h-4v11h4M10 5l3 3-3 3M13 8H6"/>',
  help: '<circle cx="8" cy="8" r="6"/><path d="M6.2 6.4a1.8 1.8 0 1 1 2.6 1.7c-.6.3-.8.6-.8 1.2M8 11.4h.1"/>',
  Training: '<path d="M2 12.5 6 8l2.6 2.4L14 4"/><path d="M10.5 4H14v3.5"/>',
  Distributed:
    '<circle cx="8" cy="3.6" r="1.9"/><circle cx="3.6" cy="12" r="1.9"/><circle cx="12.4" cy="12" r="1.9"/><path d="M7 5.3 4.5 10.3M9 5.3l2.5 5M5.5 12h5"/>',
  Workspace: '<path d="M5 5 2 8l3 3m6-6 3 3-3 3M9.3 3.5 6.7 12.5"/>',
  Inference: '<path d="M9 1.8 3.5 9H8l-1 5.2L12.5 7H8z"/>',
};

export type IconName = keyof typeof ICONS;

// Decoration beside a word; a button with nothing but an icon carries its own aria-label.
export function Icon({ name, tone = "" }: { name: string; tone?: string }) {
  const markup = { __html: (ICONS as Record<string, string>)[name] ?? ICONS.info };
  return <svg class={"i " + tone} viewBox="0 0 16 16" aria-hidden="true" dangerouslySetInnerHTML={markup} />;
}

export function Mark() {
  return (
    <svg viewBox="0 0 22 22" aria-hidden="true">
      <rect class="mark-bar" x="2" y="3" width="10" height="4" rx="1" />
      <rect class="mark-bar" x="2" y="9" width="18" height="4" rx="1" />
      <rect class="mark-bar" x="2" y="15" width="6" height="4" rx="1" />
      <rect class="mark-tick" x="13.4" y="1" width="2" height="20" rx="1" />
    </svg>
  );
}
