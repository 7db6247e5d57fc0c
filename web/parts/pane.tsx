// Details beside a table: status, name, one line, actions, tabs. The table stays usable; Esc closes and the focus goes
// back to the row. On a phone the pane is a page of its own with Back.
import type { ComponentChildren, TargetedKeyboardEvent, TargetedPointerEvent } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { keys, ofKey } from "../keys";
import { keep, pref } from "../prefs";
import { route, setQuery } from "../router";
import { Button } from "./button";

// A sheet and, when there is one, a pane beside it.
export function Split({
  label,
  pane,
  children,
}: {
  label: string;
  pane?: ComponentChildren;
  children: ComponentChildren;
}) {
  const width = widthOf();
  return (
    <div class={"split-page" + (pane ? " has-pane" : "")} ref={el => el?.style.setProperty("--pane", `${width}px`)}>
      <section class="sheet table-sheet" aria-label={label}>
        {children}
      </section>
      {pane}
    </div>
  );
}

const WIDTH = "pane",
  LEAST = 380,
  STEP = 24;
const most = () => Math.max(LEAST, innerWidth - 640);
const widthOf = () => Math.min(pref(WIDTH, 452).value, most());
const widen = (width: number) => keep(WIDTH, Math.round(Math.max(LEAST, Math.min(most(), width))));

// Between the table and the pane: dragged, or moved by arrow keys.
function Grip() {
  const drag = (event: TargetedPointerEvent<HTMLElement>) => {
    if (event.currentTarget.hasPointerCapture(event.pointerId))
      widen(event.currentTarget.parentElement!.getBoundingClientRect().right - event.clientX);
  };
  const key = (event: TargetedKeyboardEvent<HTMLElement>) => {
    const step = ofKey(event, { ArrowLeft: STEP, ArrowRight: -STEP });
    if (step) widen(widthOf() + step);
  };
  return (
    <div
      class="grip"
      role="separator"
      tabindex={0}
      aria-orientation="vertical"
      aria-label="Width of the details"
      aria-valuenow={widthOf()}
      aria-valuemin={LEAST}
      aria-valuemax={most()}
      onPointerDown={e => e.currentTarget.setPointerCapture(e.pointerId)}
      onPointerMove={drag}
      onKeyDown={key}
    />
  );
}

export function closePane() {
  const id = route.peek().query.open;
  setQuery({ open: null, tab: null });
  requestAnimationFrame(() => document.querySelector<HTMLElement>(`[data-row="${CSS.escape(id ?? "")}"] a`)?.focus());
}

/** A tab of a pane; which one is open lives in ?tab=. */
export interface Tab {
  id: string;
  label: string;
  view: () => ComponentChildren;
}
interface PaneProps {
  id: string;
  title: ComponentChildren;
  status?: ComponentChildren;
  line?: ComponentChildren;
  actions?: ComponentChildren;
  tabs?: Tab[];
  /** The tab to open with. */
  first?: string;
  children?: ComponentChildren;
}

export function Pane({ id, title, status, line, actions, tabs = [], first, children }: PaneProps) {
  const at = tabs.find(t => t.id === route.value.query.tab) ?? tabs.find(t => t.id === first) ?? tabs[0];
  const ref = useRef<HTMLElement>(null);
  useLayoutEffect(() => keys({ Escape: { say: "Close the details", run: closePane } }), []);
  useEffect(() => {
    if (innerWidth <= 1240) ref.current?.querySelector("h2")?.focus({ preventScroll: innerWidth > 720 });
    ref.current?.scrollTo(0, 0);
  }, [id]);
  return (
    <aside class="sheet pane" id="details" aria-labelledby="pane-title" ref={ref}>
      <Grip />
      <header>
        <div class="title">
          <Button small kind="quiet" icon="left" label="Back" class="pane-back" onClick={closePane} />
          {status}
          <h2 id="pane-title" tabindex={-1}>
            {title}
          </h2>
          <Button small kind="quiet" icon="close" label="Close details" class="pane-close" onClick={closePane} />
        </div>
        {line && <p class="soft">{line}</p>}
        {actions && <div class="acts">{actions}</div>}
        {tabs.length > 0 && <Tabs tabs={tabs} at={at} />}
      </header>
      <div
        class="body"
        key={at ? "tab" : line || status || actions ? "rest" : "waits"}
        {...(at ? { role: "tabpanel", id: "pane-panel", "aria-labelledby": `tab-${at.id}`, tabindex: 0 } : {})}
      >
        {at ? at.view() : children}
      </div>
    </aside>
  );
}

function Tabs({ tabs, at }: { tabs: Tab[]; at: Tab }) {
  const key = (event: TargetedKeyboardEvent<HTMLElement>) => {
    const step = ofKey(event, { ArrowRight: 1, ArrowLeft: -1 });
    if (!step) return;
    event.preventDefault();
    const next = tabs[(tabs.indexOf(at) + step + tabs.length) % tabs.length];
    setQuery({ tab: next.id });
    document.getElementById(`tab-${next.id}`)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label="Details" onKeyDown={key}>
      {tabs.map(t => (
        <button
          key={t.id}
          type="button"
          role="tab"
          id={`tab-${t.id}`}
          aria-selected={t === at}
          aria-controls={t === at ? "pane-panel" : undefined}
          tabindex={t === at ? 0 : -1}
          onClick={() => setQuery({ tab: t.id })}
        >
          {t.label}
        </button>
      ))}
    </div>
  );
}

/** [name, value], or nothing where a row is left out. */
export type Fact = [name: ComponentChildren, value: ComponentChildren] | null | false | undefined | "" | 0;

/** A definition list. */
export function Facts({ rows }: { rows: Fact[] }) {
  return (
    <dl class="facts">
      {rows
        .filter(row => !!row)
        .map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </>
        ))}
    </dl>
  );
}
