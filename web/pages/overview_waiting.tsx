// Waiting, and why: who waits, in groups with one reason each, owed first.
import { useRef } from "preact/hooks";
import { get } from "../api";
import { now, second } from "../clock";
import { inScope, useData, useEachMinute } from "../data";
import { count, duration, forecast, iso, plural, since, time } from "../format";
import { Empty, Loaded } from "../parts/states";
import { Swatch } from "../parts/status";
import { hrefOf, inPlaces, keyOf, wordsOf } from "../pictures/waiting";
import { scope } from "../session";
import type { OverviewProject, SchedulerPace, WaitingGroup } from "../types";

const GROUPS = 8;
const LONG_MS = 3000; // a cycle that takes longer is worth a word

// Groups of those who wait, owed first; a group keeps its place while it waits.
export function useGroups(on: boolean) {
  const waiting = useData(
    on ? `waiting/${JSON.stringify(scope.value)}` : null,
    abort => get("/api/v1/scheduler/waiting", inScope(scope.peek()), { signal: abort }),
    ["workload", "queue"],
  );
  useEachMinute(waiting, on); // a cycle that takes long tells nobody so
  const kept = useRef<string[]>([]);
  const groups = inPlaces(kept.current, (waiting.data?.groups ?? []).slice(0, GROUPS));
  kept.current = groups.map(keyOf);
  return { waiting, groups };
}

export function Waiting({
  of: { waiting, groups },
  projects,
}: {
  of: ReturnType<typeof useGroups>;
  projects: OverviewProject[];
}) {
  const all = waiting.data;
  return (
    <section class="sheet tall" aria-labelledby="h-wait">
      <header>
        <h2 id="h-wait">Waiting, and why</h2>
        {all && all.groups.length > GROUPS && (
          <p class="num cut">
            {GROUPS} of {plural(all.groups.length, "reason")}, owed first
          </p>
        )}
        {all && <Pace of={all.scheduler} />}
        <span class="grow" />
        {all && all.count > 0 && (
          <a class="small num nowrap" href="/workloads?f=phase==Pending">
            All {count(all.count)}
          </a>
        )}
      </header>
      <div class="side-list">
        <div tabindex={0} role="group" aria-label="Waiting workloads">
          <Loaded of={waiting} what="Who waits" rows={6} height={60}>
            {() =>
              groups.length ? (
                <ul class="wait">
                  {groups.map((g, place) => (
                    <li key={place}>
                      <Group key={keyOf(g)} of={g} projects={projects} />
                    </li>
                  ))}
                </ul>
              ) : (
                <Empty>Nothing waits: whatever was asked for is running.</Empty>
              )
            }
          </Loaded>
        </div>
      </div>
    </section>
  );
}

// When the scheduler decided last; in its place for how long it has been planning, as soon as that is long.
function Pace({ of: { decidedAt, planningSince } }: { of: SchedulerPace }) {
  const at = second.value || now();
  if (planningSince && at - Date.parse(planningSince) > LONG_MS)
    return (
      <p class="num" title={decidedAt ? `It last decided at ${iso(decidedAt)}` : undefined}>
        The scheduler has been planning for {duration(since(planningSince, at))}
      </p>
    );
  return decidedAt ? (
    <p class="num" title={iso(decidedAt)}>
      Decided {time(decidedAt, at)}
    </p>
  ) : null;
}

// Several with the same reason, or one. Expected, where that is known; else how long the first has waited, in grey.
function Group({ of: g, projects }: { of: WaitingGroup; projects: OverviewProject[] }) {
  const at = second.value || now(),
    { who, wants, why, held, never } = wordsOf(g, at, projects);
  const seconds = (Date.parse(g.expectedAt ?? "") - at) / 1000;
  const when = never
    ? "not as asked"
    : seconds >= 0
      ? forecast({ kind: seconds < 120 ? "decided" : "rule", at: g.expectedAt }, at)
      : `for ${duration(since(g.waitingSince, at))}`;
  return (
    <a href={hrefOf(g)}>
      <span class="w">
        {g.projects.length === 1 && <Swatch project={g.projects[0].id} />}
        <span>{who}</span>
        <span class="muted nowrap">{wants}</span>
      </span>
      <span
        class={"eta " + (never ? "bad" : seconds >= 0 ? "ok" : g.countOwed ? "warn" : "")}
        data-tip={never || (seconds >= 0 ? "When the first is expected to start." : "How long the first has waited.")}
      >
        {when}
      </span>
      <span class={held ? "why two" : "why"}>{why}</span>
      {held && <span class="who muted">{held}</span>}
    </a>
  );
}
