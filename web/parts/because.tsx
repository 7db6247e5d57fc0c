// One sentence that says what is the case, and under it one that says why; and when something is expected.
import type { ComponentChildren } from "preact";
import { now, second } from "../clock";
import { forecast, iso } from "../format";
import { Icon, type IconName } from "../icons";
import { closed } from "../pictures/what_if";
import type { Forecast } from "../types";
import { WORDS } from "../words";
import { Button } from "./button";

interface BecauseProps {
  icon: IconName;
  tone?: string;
  one: ComponentChildren;
  two?: ComponentChildren;
  children?: ComponentChildren;
}

export function Because({ icon, tone = "", one, two, children }: BecauseProps) {
  return (
    <div class={`because ${tone}`}>
      <Icon name={icon} tone={tone || "warn"} />
      <p class="one">{one}</p>
      {two && <p class="two">{two}</p>}
      {children}
    </div>
  );
}

/** In place of a verdict that the scheduler did not give: why, and once more. What stands beside it holds without. */
export function NotAsked({ why, again }: { why: string; again: (() => void) | null }) {
  return (
    <Because icon="info" tone="off" one={WORDS.notAsked(why)}>
      {again && (
        <p class="two">
          <Button small icon="refresh" onClick={again}>
            Try again
          </Button>
        </p>
      )}
    </Because>
  );
}

const WHEN: Record<string, string> = { now: "Starts now", never: "Cannot start as asked", unknown: "No time is known" };

// When it is expected, what that depends on, and what could undo it.
export function Expected({ forecast: f }: { forecast: NonNullable<Forecast> }) {
  const ticking = f.kind === "decided" && f.at ? second.value : 0;
  const when = WHEN[f.kind] ?? (f.at ? `Expected ${forecast(f, ticking || now())}` : "Decided");
  return (
    <div class="when">
      <Icon name="clock" />
      <p>
        <b class="strong" data-tip={iso(f.at)}>
          {when}
        </b>
        {f.sentence?.startsWith(when) ? closed(f.sentence.slice(when.length)) : `. ${closed(f.sentence)}`}
      </p>
    </div>
  );
}
