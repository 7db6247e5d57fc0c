// What happened: the latest facts, and the way to all of them.
import { get } from "../api";
import { inScope, useData } from "../data";
import { EventList, News, useHeld } from "../parts/event_list";
import { Empty, Loaded } from "../parts/states";
import { type Fact, factsIn } from "../pictures/happenings";
import { scope } from "../session";

const FACTS = 20;

export function Happened() {
  const at = JSON.stringify(scope.value);
  const events = useData(
    `events/${at}`,
    abort =>
      get("/api/v1/events", { ...inScope(scope.peek()), limit: 100 }, { signal: abort }).then(a =>
        factsIn(a.events ?? []).slice(0, FACTS),
      ),
    ["event"],
  );
  const held = useHeld(events.data ?? NOTHING, at);
  return (
    <section class="sheet tall" aria-labelledby="h-ev">
      <header>
        <h2 id="h-ev">What happened</h2>
        <News of={held} />
        <span class="grow" />
        <a class="small nowrap" href="/events">
          All events
        </a>
      </header>
      <div class="side-list">
        <div tabindex={0} role="group" aria-label="Events">
          <Loaded of={events} what="Events" rows={7} height={34}>
            {list => (list.length ? <EventList facts={held.shown} named /> : <Empty>Nothing has happened yet.</Empty>)}
          </Loaded>
        </div>
      </div>
    </section>
  );
}
const NOTHING: Fact[] = [];
