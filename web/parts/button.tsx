// Buttons and button-like links. A button that can't be used stays focusable (aria-disabled) and says why in a tip.
import type { ComponentChildren, TargetedMouseEvent } from "preact";
import { connection } from "../api";
import { Icon, type IconName } from "../icons";
import { WORDS } from "../words";

interface ButtonProps {
  kind?: "" | "primary" | "quiet";
  small?: boolean;
  icon?: IconName;
  label?: string;
  /** The reason why it can't be used. */
  why?: string;
  /** It is off while the connection is lost. */
  writes?: boolean;
  busy?: boolean;
  children?: ComponentChildren;
  onClick?: (event: TargetedMouseEvent<HTMLButtonElement>) => void;
  type?: "button" | "submit";
  class?: string;
  "data-tip"?: string;
  "aria-expanded"?: boolean;
  "aria-pressed"?: boolean;
  "aria-haspopup"?: "true";
  autofocus?: boolean;
  role?: "menuitem";
}

/** A button; one with nothing but an icon says its label in a tip. */
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
}: ButtonProps) {
  const reason = why || (writes && connection.value.lost ? WORDS.writingOff : "");
  const off = Boolean(reason) || busy;
  const click = (event: TargetedMouseEvent<HTMLButtonElement>) => {
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

type LinkProps = Pick<ButtonProps, "kind" | "small" | "icon" | "label" | "children" | "class" | "data-tip"> & {
  href: string;
};

export function LinkButton({ kind = "", small, icon, label, href, children, class: more = "", ...rest }: LinkProps) {
  const classes = ["btn", kind, small && "sm", !children && icon && "icon", more].filter(Boolean).join(" ");
  return (
    <a class={classes} href={href} aria-label={label} {...rest}>
      {icon && <Icon name={icon} />}
      {children}
    </a>
  );
}

interface SegProps<V> {
  label: string;
  options: { value: V; label: string }[];
  value: V;
  onChange: (value: V) => void;
}

/** One of a few, as a group of pressed buttons. */
export function Seg<V extends string | number>({ label, options, value, onChange }: SegProps<V>) {
  return (
    <div class="seg" role="group" aria-label={label}>
      {options.map(o => (
        <button type="button" key={o.value} aria-pressed={o.value === value} onClick={() => onChange(o.value)}>
          {o.label}
        </button>
      ))}
    </div>
  );
}
