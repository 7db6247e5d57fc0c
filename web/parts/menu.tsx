// A button with a small panel below it: menus of actions, column choice, scope. Escape and a click elsewhere close it.
import { useEffect, useRef, useState } from "preact/hooks";
import { Icon } from "../icons";
import { Button } from "./button";

// children(close) -> what is in the panel.
export function Popover({ icon, text, label, kind = "", small, align = "left", class: more = "", children }) {
  const [open, setOpen] = useState(false);
  const box = useRef(null);
  const close = (refocus = true) => {
    setOpen(false);
    if (refocus) box.current?.querySelector("button")?.focus();
  };
  useEffect(() => {
    if (!open) return undefined;
    const outside = event => {
      if (!box.current?.contains(event.target)) setOpen(false);
    };
    document.addEventListener("pointerdown", outside);
    box.current.querySelector(".pop input, .pop [role=menuitem], .pop button, .pop a, .pop select")?.focus();
    return () => document.removeEventListener("pointerdown", outside);
  }, [open]);
  const key = event => {
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
        aria-expanded={String(open)}
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

// items: [{label, icon, onClick, href, why, tone}] or null for a line.
export function Menu({ items, ...rest }) {
  const move = event => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const all = [...event.currentTarget.querySelectorAll("[role=menuitem]")];
    all[(all.indexOf(document.activeElement) + step + all.length) % all.length]?.focus();
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

function Item({ label, icon, onClick, href, why, close, tone = "" }) {
  if (href)
    return (
      <a role="menuitem" class="btn quiet" href={href} onClick={() => close(false)}>
        {icon && <Icon name={icon} />}
        {label}
      </a>
    );
  const click = () => {
    close();
    onClick();
  };
  return (
    <Button role="menuitem" kind="quiet" class={tone} icon={icon} why={why} onClick={click}>
      {label}
    </Button>
  );
}
