// Beside the quota form: who gains and who loses what if it were saved now, by the scheduler's own word.
import { post } from "../api";
import { plural } from "../format";
import { Icon, type IconName } from "../icons";
import { Because, NotAsked } from "../parts/because";
import { type Effect, hit, isLoss, sayEffect } from "../pictures/quota_effect";
import { closed } from "../pictures/what_if";
import type { WhatIfQuotaAnswer } from "../types";
import type { useAnswer } from "./what_if";

const SHOWN = 5; // who lose; of those who gain two less

// One question at a time: the server plans many cycles for each.
let busy: Promise<unknown> = Promise.resolve();
export async function askQuota(question: string, abort?: AbortSignal) {
  await busy;
  abort?.throwIfAborted();
  const answer = post("/api/v1/scheduler/what-if/quota", JSON.parse(question));
  busy = answer.catch(() => null);
  return answer;
}

const LOOKS: Record<WhatIfQuotaAnswer["verdict"], [tone: string, icon: IconName]> = {
  NoEffect: ["off", "check"],
  Gains: ["ok", "check"],
  Losses: ["warn", "back"],
};

export function QuotaVerdict({ answer, asking, why, again }: ReturnType<typeof useAnswer<WhatIfQuotaAnswer>>) {
  const isMissed = !answer && !asking;
  if (isMissed && !again) return null; // nothing is asked
  const [tone, icon]: [string, IconName] = answer ? LOOKS[answer.verdict] : ["off", "half"];
  const until = answer?.holdsUntil && `That holds until ${answer.holdsUntil}; then a protection or a delay ends`;
  return (
    <section class="verdict-box" aria-live="polite" aria-busy={asking}>
      {isMissed ? (
        <NotAsked why={why} again={again} />
      ) : (
        <Because
          icon={icon}
          tone={tone}
          one={answer ? closed(answer.sentence) : "Asking the scheduler…"}
          two={
            answer && !answer.atRest
              ? `The cluster is not at rest after ${answer.cycles} cycles: more may follow.`
              : closed(until)
          }
        />
      )}
    </section>
  );
}

export function Effects({ effects }: { effects: Effect[] }) {
  const lose = effects.filter(isLoss),
    gain = effects.filter(e => !isLoss(e)).reverse(); // who gains most first
  const shown = [...lose.slice(0, SHOWN), ...gain.slice(0, SHOWN - 2)];
  return (
    <ul class="effects small">
      {shown.map(e => (
        <li key={e.name} class={isLoss(e) ? "" : "soft"}>
          <Icon name={isLoss(e) ? "back" : "play"} tone={isLoss(e) ? "warn" : "ok"} />
          <span>
            {sayEffect(e)} <span class="muted">{hit(e) && `(${hit(e)})`}</span>
          </span>
        </li>
      ))}
      {effects.length > shown.length && (
        <li class="muted">
          <span>and {plural(effects.length - shown.length, "more project", "more projects")}</span>
        </li>
      )}
    </ul>
  );
}
