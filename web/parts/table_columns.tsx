// Which columns a table shows and in which order: kept per account, unless the address says it (?cols=phase,gpu), as that
// of a saved view does. The first column is the name and stays first.
import { useCallback, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Icon } from "../icons";
import { keep, pref } from "../prefs";
import { noteScroll, route, scrollOfEntry, setQuery } from "../router";
import { Button } from "./button";
import { Popover } from "./menu";
import type { Column } from "./table";

interface Choice {
  order: string[];
  shown: string[];
}

function choiceOf(name: string) {
  const shown = route.value.query.cols?.split(",");
  return shown ? { order: shown, shown } : pref<Choice | null>(`columns:${name}`, null).value;
}

// All columns in the chosen order, each with shown: true or false.
export function arranged<R>(name: string, columns: Column<R>[]) {
  const choice = choiceOf(name);
  const rank = new Map((choice?.order ?? []).map((id, i) => [id, i]));
  const [first, ...rest] = columns;
  const ordered = choice ? [...rest].sort((a, b) => (rank.get(a.id) ?? 999) - (rank.get(b.id) ?? 999)) : rest;
  return [
    { ...first, shown: true },
    ...ordered.map(c => ({ ...c, shown: choice ? choice.shown.includes(c.id) : !c.hidden })),
  ];
}

/** The shown columns but for the first, as the address has them. */
export const columnsInUse = <R,>(name: string, columns: Column<R>[]) =>
  arranged(name, columns)
    .slice(1)
    .filter(c => c.shown)
    .map(c => c.id)
    .join();

const PHONE = 720; // there only the columns that are kept are shown

// [ref of what scrolls, the shown columns that fit into it]: those of low priority go first, from the right, then others.
// Columns that the person chose all stay. What went comes back when there is more room, or another question is asked. As
// many go at once as are too wide, for each look at the widths costs a drawing of all rows.
export function useFit<R>(
  name: string,
  columns: Column<R>[],
  question?: string,
): [(element: HTMLDivElement | null) => void, Column<R>[]] {
  const box = useRef<HTMLDivElement>(null),
    watch = useRef<ResizeObserver>(null),
    width = useRef(0);
  const [last, setLast] = useState({ question, gone: 0 });
  const gone = last.question === question ? last.gone : 0;
  const shown = arranged(name, columns).filter(c => c.shown),
    chosen = choiceOf(name) !== null;
  const droppable = chosen ? [] : [...shown.filter(c => c.low), ...shown.slice(1).filter(c => !c.low && !c.keep)];
  const rank = (c: (typeof shown)[number]) => shown.indexOf(c) + (c.low ? shown.length : 0);
  droppable.sort((a, b) => rank(b) - rank(a));
  const without = new Set(droppable.slice(0, gone)),
    left = shown.filter(c => !without.has(c));
  const [, look] = useState(0);
  useLayoutEffect(() => {
    const { scrollWidth = 0, clientWidth = 0 } = box.current ?? {};
    if (clientWidth > width.current && gone > 0) setLast({ question, gone: 0 });
    else if (scrollWidth > clientWidth + 1 && gone < droppable.length && innerWidth > PHONE) {
      const heads = [...box.current!.querySelectorAll<HTMLElement>("thead th")].slice(-left.length);
      let next = gone;
      for (let over = scrollWidth - clientWidth; over > 1 && next < droppable.length; next++)
        over -= heads[left.indexOf(droppable[next])].offsetWidth;
      setLast({ question, gone: next });
    }
    width.current = clientWidth;
  });
  // What scrolls comes and goes with the rows: Back finds it where it was left.
  const hold = useCallback((element: HTMLDivElement | null) => {
    watch.current?.disconnect();
    box.current = element;
    if (!element) return;
    watch.current = new ResizeObserver(() => element.clientWidth !== width.current && look(n => n + 1));
    watch.current.observe(element);
    element.scrollTop = scrollOfEntry();
    element.onscroll = () => noteScroll(element.scrollTop);
  }, []);
  return [hold, left];
}

export function Columns<R>({ name, columns }: { name: string; columns: Column<R>[] }) {
  return (
    <Popover small icon="cols" align="right" text={<span class="hide-s">Columns</span>} label="Columns">
      {() => <Chooser name={name} columns={columns} />}
    </Popover>
  );
}

function Chooser<R>({ name, columns }: { name: string; columns: Column<R>[] }) {
  const list = arranged(name, columns).slice(1);
  const [dragged, setDragged] = useState<number | null>(null);
  const write = (next: typeof list) => {
    const shown = next.filter(c => c.shown).map(c => c.id);
    if (route.peek().query.cols) setQuery({ cols: shown.join() });
    else keep(`columns:${name}`, { order: next.map(c => c.id), shown });
  };
  const reset = () => {
    setQuery({ cols: null });
    keep(`columns:${name}`, null);
  };
  const move = (from: number, to: number) => {
    if (to < 0 || to >= list.length) return;
    const next = [...list];
    next.splice(to, 0, ...next.splice(from, 1));
    write(next);
  };
  const drop = (to: number) => (event: Event) => {
    event.preventDefault();
    if (dragged !== null) move(dragged, to);
    setDragged(null);
  };
  return (
    <div class="chooser">
      <ul aria-label="Columns, in order">
        {list.map((c, i) => (
          <li
            key={c.id}
            class={dragged === i ? "dragging" : undefined}
            draggable
            onDragStart={() => setDragged(i)}
            onDragOver={e => e.preventDefault()}
            onDrop={drop(i)}
            onDragEnd={() => setDragged(null)}
          >
            <span class="grip" aria-hidden="true">
              <Icon name="grip" />
            </span>
            <label>
              <input
                type="checkbox"
                checked={c.shown}
                onChange={e => write(list.map(o => (o.id === c.id ? { ...o, shown: e.currentTarget.checked } : o)))}
              />
              {c.label}
            </label>
            <Button small kind="quiet" icon="up" label={`${c.label} earlier`} onClick={() => move(i, i - 1)} />
            <Button small kind="quiet" icon="down" label={`${c.label} later`} onClick={() => move(i, i + 1)} />
          </li>
        ))}
      </ul>
      <Button small onClick={reset}>
        Reset
      </Button>
    </div>
  );
}
