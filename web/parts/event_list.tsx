// What happened: time, icon, sentence that starts with who; newest first, a day line at midnight. Repeated events fold.
import type { ComponentChildren } from "preact";
import { minute, now } from "../clock";
import { clock, day, iso } from "../format";
import { Icon, type IconName } from "../icons";
import type { Event } from "../types";
import { REASONS } from "../words";

/** An event of the API, or what the page puts among them. */
export interface Happening {
  createdAt: string;
  id?: string;
  type?: string;
  reason?: string;
  message?: string;
  workloadId?: string | null;
  workloadName?: string | null;
  projectName?: string | null;
  icon?: IconName;
  tone?: string;
  involvedObject?: Event["involvedObject"];
}
type Who = (event: Happening) => ComponentChildren;
type Folded = Happening & { times: number; first: string };

// Neighbours that say the same fold into one with a number. events: {createdAt, type, reason, message, workloadId?, …}
export function fold(events: Happening[]) {
  const out: Folded[] = [];
  for (const e of events) {
    const last = out.at(-1);
    if (last && last.reason === e.reason && last.message === e.message && last.workloadId === e.workloadId) {
      last.times += 1;
      last.first = e.createdAt;
    } else {
      out.push({ ...e, times: 1, first: e.createdAt });
    }
  }
  return out;
}

export function EventList({ events, who }: { events: Happening[]; who?: Who }) {
  const folded = fold(events);
  const today = new Date(minute.value || now()).toDateString();
  let before = today;
  return (
    <ol class="ev">
      {folded.map(e => {
        const date = new Date(e.createdAt).toDateString();
        const line = date !== before && (
          <li class="day" key={"day" + date}>
            {day(e.createdAt)}
          </li>
        );
        before = date;
        const [icon, tone] = e.icon
          ? [e.icon, e.tone]
          : (REASONS[e.reason ?? ""] ?? ["info", e.type === "Warning" ? "warn" : "off"]);
        return (
          <>
            {line}
            <li key={e.id ?? e.createdAt + e.message}>
              <time datetime={e.createdAt} data-tip={iso(e.createdAt)}>
                {clock(e.createdAt)}
              </time>
              <Icon name={icon} tone={tone} />
              <span>
                {who ? who(e) : null}
                {sentence(e, who)}
                {e.times > 1 && (
                  <>
                    {" "}
                    <span class="muted">
                      ({e.times} times since {clock(e.first)})
                    </span>
                  </>
                )}
              </span>
            </li>
          </>
        );
      })}
    </ol>
  );
}

// With a name in front the sentence goes on in lower case where it starts with a plain word.
function sentence(e: Happening, who?: Who) {
  const text = e.message || e.reason || "";
  if (!who || !who(e)) return text;
  return ` ${/^[A-Z][a-z]/.test(text) ? text[0].toLowerCase() + text.slice(1) : text}`;
}
