// What one wants to hear of, and by which channel: a box for each.
import { useState } from "preact/hooks";
import { ApiError, get, remove, write } from "../api";
import { useData } from "../data";
import { Button } from "../parts/button";
import { SelectField } from "../parts/form";
import { Empty, Loaded } from "../parts/states";
import { toast, toastError } from "../parts/toast";
import { subscriptionWrites, ticksOf } from "../pictures/channels";
import type { Answer, Subscription } from "../types";

const MINE = "/api/v1/subscriptions";
type Types = Answer<"/api/v1/notification-types">;
interface Known {
  types: Types;
  channels: { name: string; type: string }[];
  mine: Subscription[];
}

/** In one's own account. */
export function Notifications() {
  const found = useData("my-notifications", async (abort): Promise<Known | null> => {
    const at = { signal: abort };
    try {
      const [types, channels, mine] = await Promise.all([
        get("/api/v1/notification-types", {}, at),
        get("/api/v1/notification-channels", {}, at),
        get(MINE, {}, at),
      ]);
      return { types, channels, mine };
    } catch (error) {
      if (error instanceof ApiError && error.status === 403) return { types: [], channels: [], mine: [] };
      throw error;
    }
  });
  return (
    <section class="sheet" aria-labelledby="h-notifications">
      <header>
        <h2 id="h-notifications">Notifications</h2>
      </header>
      <div class="body">
        <Loaded of={found} what="Your choices">
          {known =>
            known?.channels.length ? (
              <Choices key={JSON.stringify(known.mine)} {...known} changed={found.reload} />
            ) : (
              <Empty>No channel is set up. An administrator sets them up in Settings.</Empty>
            )
          }
        </Loaded>
      </div>
    </section>
  );
}

const CHANNEL_WORDS: Record<string, string> = { email: "E-mail", slack: "Slack" };

function Choices({ types, channels, mine, changed }: Known & { changed: () => void }) {
  const [ticks, setTicks] = useState(() => ticksOf(mine));
  const [scope, setScope] = useState<"own" | "all">(mine.some(s => s.scope === "all") ? "all" : "own");
  const [busy, setBusy] = useState(false);
  const writes = subscriptionWrites(mine, ticks, scope);
  const toggle = (tick: string) => {
    const next = new Set(ticks);
    if (!next.delete(tick)) next.add(tick);
    setTicks(next);
  };
  const save = async () => {
    setBusy(true);
    try {
      for (const w of writes)
        await (w.method === "DELETE"
          ? remove(`${MINE}/${w.id}`)
          : write(w.method, w.id ? `${MINE}/${w.id}` : MINE, w.body));
      toast(ticks.size ? "Saved." : "You are told of nothing now.");
    } catch (error) {
      toastError(error);
    }
    setBusy(false);
    changed();
  };
  return (
    <>
      <div class="fields">
        <SelectField
          label="Of which workloads"
          size="half"
          path="notify-scope"
          value={scope}
          onBlur={() => {}}
          onValue={v => setScope(v as "own" | "all")}
          options={[
            { value: "own", label: "My own" },
            { value: "all", label: "All that I may see" },
          ]}
        />
      </div>
      <Boxes types={types} channels={channels} ticks={ticks} toggle={toggle} />
      <div class="bar acts-of">
        <span class="grow" />
        <Button kind="primary" writes busy={busy} why={writes.length ? "" : "Nothing has changed."} onClick={save}>
          Save
        </Button>
      </div>
    </>
  );
}

type BoxesProps = Omit<LineProps, "t" | "isFirst"> & { types: Types };

function Boxes({ types, channels, ticks, toggle }: BoxesProps) {
  return (
    <div class="scroll" tabindex={0} role="region" aria-label="What you are told of">
      <table class="share matrix">
        <thead>
          <tr>
            <th scope="col">What</th>
            {channels.map(c => (
              <th scope="col" key={c.name}>
                {CHANNEL_WORDS[c.name] ?? c.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {types.map((t, i) => (
            <Line
              key={`${t.category}/${t.type}`}
              t={t}
              isFirst={types[i - 1]?.category !== t.category}
              channels={channels}
              ticks={ticks}
              toggle={toggle}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface LineProps {
  t: Types[number];
  isFirst: boolean;
  channels: Known["channels"];
  ticks: Set<string>;
  toggle: (tick: string) => void;
}

const Line = ({ t, isFirst, channels, ticks, toggle }: LineProps) => (
  <>
    {isFirst && (
      <tr class="group">
        <th scope="colgroup" colSpan={channels.length + 1}>
          {t.category}
        </th>
      </tr>
    )}
    <tr>
      <th scope="row" data-tip={t.description}>
        {t.type}
      </th>
      {channels.map(c => {
        const tick = `${t.category}/${t.type}/${c.name}`;
        return (
          <td key={c.name}>
            <label class="box">
              <input
                type="checkbox"
                aria-label={`${t.type} by ${CHANNEL_WORDS[c.name] ?? c.name}`}
                checked={ticks.has(tick)}
                onChange={() => toggle(tick)}
              />
            </label>
          </td>
        );
      })}
    </tr>
  </>
);
