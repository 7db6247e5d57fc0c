// Buttons and button-like links. A button that can't be used stays focusable (aria-disabled) and says why in a tip.
import { connection } from "../api.js";
import { html } from "../html.js";
import { Icon } from "../icons.js";
import { WORDS } from "../words.js";

// kind: "", "primary", "quiet"; small; icon; why: the reason it can't be used; writes: off while the connection is lost.
export function Button({ kind = "", small, icon, label, why, writes, busy, children, onClick, type = "button", class: more = "", ...rest }) {
  const reason = why || (writes && connection.value.lost ? WORDS.writingOff : "");
  const off = Boolean(reason) || busy;
  const click = event => {
    if (off) event.preventDefault();
    else onClick?.(event);
  };
  const classes = ["btn", kind, small && "sm", !children && icon && "icon", more].filter(Boolean).join(" ");
  return html`<button type=${type} class=${classes} aria-label=${label} aria-disabled=${off ? "true" : null} aria-busy=${busy ? "true" : null}
    data-tip=${reason || rest["data-tip"] || (children ? null : label)} onClick=${click} ...${rest}>${icon && html`<${Icon} name=${icon} />`}${children}</button>`;
}

export function LinkButton({ kind = "", small, icon, label, href, children, class: more = "", ...rest }) {
  const classes = ["btn", kind, small && "sm", !children && icon && "icon", more].filter(Boolean).join(" ");
  return html`<a class=${classes} href=${href} aria-label=${label} ...${rest}>${icon && html`<${Icon} name=${icon} />`}${children}</a>`;
}

// One of a few: [{value, label}]; a group of pressed buttons.
export function Seg({ label, options, value, onChange }) {
  return html`<div class="seg" role="group" aria-label=${label}>${options.map(o => html`<button type="button" key=${o.value} aria-pressed=${String(o.value === value)}
    onClick=${() => onChange(o.value)}>${o.label}</button>`)}</div>`;
}
