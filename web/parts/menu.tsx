// A button with a small panel below it: menus of actions, column choice, scope. Escape and a click elsewhere close it.
import type { ComponentChildren, TargetedKeyboardEvent } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Icon, type IconName } from "../icons";
import { Button } from "./button";
import { ofKey } from "../keys";

type Close = (refocus?: boolean) => void;
interface PopoverProps {
  icon?: IconName;
  text?: ComponentChildren;
  label?: string;
  kind?: "" | "primary" | "quiet";
  small?: boolean;
  align?: "left" | "right" | "up";
  class?: string;
  children: (close: Close) => ComponentChildren;
}

// children(close) -> what is in the panel.
export function Popover({
  icon,
  text,
  label,
  kind = "",
  small,
  align = "left",
  class: more = "",
  children,
}: PopoverProps) {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const close: Close = (refocus = true) => {
    setOpen(false);
    if (refocus) box.current?.querySelector("button")?.focus();
  };
  useEffect(() => {
    if (!open) return undefined;
    const outside = (event: Event) => {
      if (!box.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener("pointerdown", outside);
    box.current
      ?.querySelector<HTMLElement>(".pop input, .pop [role=menuitem], .pop button, .pop a, .pop select")
      ?.focus();
    return () => document.removeEventListener("pointerdown", outside);
  }, [open]);
  const key = (event: TargetedKeyboardEvent<HTMLElement>) => {
    if (event.key === "Escape" && open) {
      event.stopPropagation();
      close();
    }
  };
  return (
    <div class={"pop-box " + more} ref={box} onKeyDown={key}>
      <Button
        kind={kind}
        small={small}
        icon={icon}
        label={label}
        aria-expanded={open}
        aria-haspopup="true"
        onClick={() => setOpen(!open)}
      >
        {text}
      </Button>
      {open && (
        <div class={"pop " + align} data-hold>
          {children(close)}
        </div>
      )}
    </div>
  );
}

/** An entry of a menu: a link (to another host in a tab of its own), or something to do. */
export interface Entry {
  label: string;
  icon?: IconName;
  onClick?: () => void;
  href?: string;
  why?: string;
  tone?: string;
}

/** A menu of actions; null is a line between them. */
export function Menu({ items, ...rest }: { items: (Entry | null)[] } & Omit<PopoverProps, "children">) {
  const move = (event: TargetedKeyboardEvent<HTMLElement>) => {
    const step = ofKey(event, { ArrowDown: 1, ArrowUp: -1 });
    if (!step) return;
    event.preventDefault();
    const all = [...event.currentTarget.querySelectorAll<HTMLElement>("[role=menuitem]")];
    all[(all.indexOf(document.activeElement as HTMLElement) + step + all.length) % all.length]?.focus();
  };
  return (
    <Popover {...rest}>
      {close => (
        <div role="menu" class="menu" onKeyDown={move}>
          {items.map((item, i) => (item ? <Item key={item.label} {...item} close={close} /> : <hr key={i} />))}
        </div>
      )}
    </Popover>
  );
}

function Item({ label, icon, onClick, href, why, close, tone = "" }: Entry & { close: Close }) {
  if (href)
    return (
      <a
        role="menuitem"
        class="btn quiet"
        href={href}
        {...(!href.startsWith("/") && { target: "_blank", rel: "noopener noreferrer" })}
        onClick={() => close(false)}
      >
        {icon && <Icon name={icon} />}
        {label}
      </a>
    );
  const click = () => {
    close();
    onClick?.();
  };
  return (
    <Button role="menuitem" kind="quiet" class={tone} icon={icon} why={why} onClick={click}>
      {label}
    </Button>
  );
}
