// One sentence that says what is the case, and under it one that says why; and when something is expected.
import { now, second } from "../clock";
import { forecast, iso } from "../format";
import { Icon } from "../icons";
import { closed } from "../pictures/what_if";

export function Because({ icon, tone = "", one, two, children }) {
  return (
    <div class={`because ${tone}`}>
      <Icon name={icon} tone={tone || "warn"} />
      <p class="one">{one}</p>
      {two && <p class="two">{two}</p>}
      {children}
    </div>
  );
}

// When it is expected, on what that hangs, and what could undo it.
export function Expected({ forecast: f }) {
  const ticking = f.kind === "decided" && f.at ? second.value : 0;
  const when =
    { now: "Starts now", never: "Not as asked", unknown: "No time is known" }[f.kind] ??
    (f.at ? `Expected ${forecast(f, ticking || now())}` : "Decided");
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
