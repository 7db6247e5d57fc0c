// Buttons and button-like links. A button that can't be used stays focusable (aria-disabled) and says why in a tip.
import { connection } from "../api";
import { Icon } from "../icons";
import { WORDS } from "../words";

// kind: "", "primary", "quiet"; small; icon; why: the reason it can't be used; writes: off while the connection is lost.
export function Button({
  kind = "",
  small,
  icon,
  label,
  why,
  writes,
  busy,
  children,
  onClick,
  type = "button",
  class: more = "",
  ...rest
}) {
  const reason = why || (writes && connection.value.lost ? WORDS.writingOff : "");
  const off = Boolean(reason) || busy;
  const click = event => {
    if (off) event.preventDefault();
    else onClick?.(event);
  };
  const classes = ["btn", kind, small && "sm", !children && icon && "icon", more].filter(Boolean).join(" ");
  return (
    <button
      type={type}
      class={classes}
      aria-label={label}
      aria-disabled={off ? "true" : undefined}
      aria-busy={busy ? "true" : undefined}
      data-tip={reason || rest["data-tip"] || (children ? undefined : label)}
      onClick={click}
      {...rest}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

export function LinkButton({ kind = "", small, icon, label, href, children, class: more = "", ...rest }) {
  const classes = ["btn", kind, small && "sm", !children && icon && "icon", more].filter(Boolean).join(" ");
  return (
    <a class={classes} href={href} aria-label={label} {...rest}>
      {icon && <Icon name={icon} />}
      {children}
    </a>
  );
}

// One of a few: [{value, label}]; a group of pressed buttons.
export function Seg({ label, options, value, onChange }) {
  return (
    <div class="seg" role="group" aria-label={label}>
      {options.map(o => (
        <button type="button" key={o.value} aria-pressed={String(o.value === value)} onClick={() => onChange(o.value)}>
          {o.label}
        </button>
      ))}
    </div>
  );
}
