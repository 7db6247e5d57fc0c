// Status as icon + word + colour, and projects as swatch + name. A colour never stands without its word.
import { Icon } from "../icons";
import { slotOf } from "../pictures/slots";
import { type Look, PHASES, STATES } from "../words";

const UNKNOWN: Look = { icon: "info", tone: "off" };

interface StatusProps {
  phase: string;
  states?: Record<string, Look>;
  pill?: boolean;
  message?: string | null;
}

export function Status({ phase, states = PHASES, pill, message }: StatusProps) {
  const { icon, tone, word } = states[phase] ?? UNKNOWN;
  return (
    <span class={`st ${tone}` + (pill ? " pill" : "")} data-tip={message || undefined}>
      <Icon name={icon} />
      {word ?? phase}
    </span>
  );
}
export const State = (props: StatusProps) => <Status states={STATES} {...props} />;

export function Swatch({ project, plain }: { project: string | null | undefined; plain?: boolean }) {
  const slot = slotOf(project);
  const colour = plain ? "n" : slot.colour;
  return (
    <svg class="sw" viewBox="0 0 10 10" aria-hidden="true">
      <rect width="10" height="10" rx="2" class={"f" + colour + (plain ? " grey" : "")} />
      {!plain && slot.texture && <rect width="10" height="10" rx="2" fill={`url(#${slot.texture}-${colour})`} />}
    </svg>
  );
}

export function ProjectName({ id, name }: { id: string; name: string }) {
  return (
    <span class="p">
      <Swatch project={id} />
      <span class="cut">{name}</span>
    </span>
  );
}

// Patterns that pictures refer to: hatches for what waits, dots and a grid for the second and third eight projects.
export function Patterns() {
  const colours = [1, 2, 3, 4, 5, 6, 7, 8, "n"];
  return (
    <svg class="sr" width="0" height="0" aria-hidden="true">
      <defs>
        <pattern id="idle" width="4" height="4" patternUnits="userSpaceOnUse">
          <circle cx="2" cy="2" r=".9" class="idle-dot" />
        </pattern>
        {colours.map(c => (
          <pattern key={"h" + c} id={"hatch-" + c} width="5" height="5" patternUnits="userSpaceOnUse">
            <path d="M-1 1 1-1M0 5 5 0M4 6 6 4" class={"hatch k" + c} />
          </pattern>
        ))}
        {colours.slice(0, 8).map(c => (
          <pattern key={"d" + c} id={"dots-" + c} width="4" height="4" patternUnits="userSpaceOnUse">
            <circle cx="2" cy="2" r=".9" class={"texture o" + c} />
          </pattern>
        ))}
        {colours.slice(0, 8).map(c => (
          <pattern key={"g" + c} id={"grid-" + c} width="4" height="4" patternUnits="userSpaceOnUse">
            <path d="M0 0H4M0 0V4" class={"texture-line t" + c} />
          </pattern>
        ))}
      </defs>
    </svg>
  );
}
