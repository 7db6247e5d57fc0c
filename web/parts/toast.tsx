// Toasts: only for the result of one's own action. Six seconds, longer while hovered or focused; errors stay.
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Icon } from "../icons";
import { Button } from "./button";

interface ToastFacts {
  id: number;
  text: string;
  tone: string;
  undo?: () => void;
  undoLabel: string;
}

const toasts = signal<ToastFacts[]>([]);
let last = 0;

// toast("Stopped a1.", {undo: () => …}); toast(error.message, {tone: "bad"})
export function toast(
  text: string,
  { tone = "ok", undo, undoLabel = "Undo" }: Partial<Omit<ToastFacts, "id" | "text">> = {},
) {
  const id = ++last;
  toasts.value = [...toasts.value.slice(-3), { id, text, tone, undo, undoLabel }];
  return id;
}
export const toastError = (error: unknown) => toast((error as Error).message, { tone: "bad" });
const drop = (id: number) => {
  toasts.value = toasts.value.filter(t => t.id !== id);
};

function Toast({ id, text, tone, undo, undoLabel }: ToastFacts) {
  const held = useRef(false);
  useEffect(() => {
    if (tone === "bad") return undefined;
    let left = 6000;
    const timer = setInterval(() => {
      if (held.current) return;
      left -= 500;
      if (left <= 0) drop(id);
    }, 500);
    return () => clearInterval(timer);
  }, []);
  const hold = (value: boolean) => () => {
    held.current = value;
  };
  const back = () => {
    drop(id);
    undo?.();
  };
  return (
    <div
      class="toast"
      onMouseEnter={hold(true)}
      onMouseLeave={hold(false)}
      onFocusIn={hold(true)}
      onFocusOut={hold(false)}
    >
      <Icon name={tone === "bad" ? "x" : "check"} tone={tone} />
      <p>{text}</p>
      {undo && (
        <Button small onClick={back}>
          {undoLabel}
        </Button>
      )}
      <Button small kind="quiet" icon="close" label="Dismiss" onClick={() => drop(id)} />
    </div>
  );
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(t => (
        <Toast key={t.id} {...t} />
      ))}
    </div>
  );
}

// For readers alone: what a picture or a list would say ("3 new workloads").
const spoken = signal("");
export function announce(text: string) {
  spoken.value = text;
}
export function Announcer() {
  return (
    <div class="sr" role="status" aria-live="polite">
      {spoken.value}
    </div>
  );
}
