// What happened: time, icon, one sentence a fact; newest first, with a line at midnight and where long nothing happened. A fact
// of several steps shows them on a click.
import { useRef, useState } from "preact/hooks";
import { minute, now } from "../clock";
import { clock, count, day, iso, plural } from "../format";
import { Icon } from "../icons";
import { type Fact, breakBefore, piecesOf } from "../pictures/happenings";
import { OBJECT_ICONS, REASONS } from "../words";
import { atRest } from "./table_rows";

const HOUR_MS = 3600000;
const keyOf = (fact: Fact) => fact.steps[0].id ?? fact.steps[0].createdAt;
const timeOf = (fact: Fact) => fact.steps[fact.steps.length - 1].createdAt;

/** named: each fact says whose it is. */
export function EventList({ facts, named = false }: { facts: Fact[]; named?: boolean }) {
  const [open, setOpen] = useState<string[]>([]);
  const at = minute.value || now();
  let before: string | undefined;
  // Rows are known by their places: what comes new changes their words and moves none of them.
  return (
    <ol class="ev">
      {facts.flatMap((fact, place) => {
        const time = timeOf(fact),
          rest = breakBefore(before, time, at, day),
          key = keyOf(fact),
          isOpen = open.includes(key);
        before = time;
        const { reason = "", type, involvedObject: object } = fact.tells;
        const other = OBJECT_ICONS[object?.kind ?? ""] ?? "info";
        const [icon, tone] = REASONS[reason] ?? [other, type === "Warning" ? "warn" : "off"];
        return [
          rest && (
            <li class="day" key={`rest${place}`}>
              {rest}
            </li>
          ),
          <li key={place}>
            <Time of={time} at={at} />
            <Icon name={icon} tone={tone} />
            <div>
              {piecesOf(fact, at, named).map((piece, i) =>
                typeof piece === "string" ? (
                  piece
                ) : (
                  <a key={i} class={i ? "" : "plain strong"} href={piece.href}>
                    {piece.text}
                  </a>
                ),
              )}{" "}
              {fact.steps.length > 1 && (
                <button
                  type="button"
                  class="link muted nowrap"
                  aria-expanded={isOpen}
                  onClick={() => setOpen(isOpen ? open.filter(k => k !== key) : [...open, key])}
                >
                  {plural(fact.steps.length, "step")}
                </button>
              )}
              {isOpen && (
                <ol class="steps">
                  {fact.steps.map(e => (
                    <li key={e.id}>
                      <Time of={e.createdAt} at={at} /> {e.message || e.reason}
                    </li>
                  ))}
                </ol>
              )}
            </div>
          </li>,
        ];
      })}
    </ol>
  );
}

const Time = ({ of: time, at }: { of: string; at: number }) => (
  <time datetime={time} data-tip={iso(time)}>
    {clock(time, at - Date.parse(time) < HOUR_MS)}
  </time>
);

/**
 * Facts that keep their places while somebody reads: they change in place, and new ones wait for a click, or until nothing was
 * touched for half a minute. page: another one shows all at once.
 */
export function useHeld(facts: Fact[], page: string) {
  const held = useRef({ page, facts });
  const [, draw] = useState(0);
  const known = new Set(held.current.facts.map(keyOf));
  const news = facts.filter(f => !known.has(keyOf(f))).length;
  const isRenewed = minute.value >= 0 && news > 0 && atRest(); // looked at each minute
  if (held.current.page !== page || !known.size || isRenewed) held.current = { page, facts };
  const fresh = new Map(facts.map(f => [keyOf(f), f]));
  return {
    shown: held.current.facts.map(f => fresh.get(keyOf(f)) ?? f),
    news: held.current.facts === facts ? 0 : news,
    show: () => {
      held.current = { page, facts };
      draw(n => n + 1);
    },
  };
}

/** How many are new, as in the foot of a table. */
export function News({ of: { news, show } }: { of: ReturnType<typeof useHeld> }) {
  return (
    <span class="news small" role="status">
      {news > 0 && (
        <>
          {count(news)} new ·{" "}
          <button type="button" class="link" onClick={show}>
            Show
          </button>
        </>
      )}
    </span>
  );
}
