// One tooltip for the page: any element with data-tip shows it on hover and on focus; Escape hides it. What a tip says is
// always also in the element's own text, name or table: nothing is only on hover.
import { useEffect, useRef } from "preact/hooks";

export function Tip() {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const box = ref.current!;
    let shown: HTMLElement | null = null;
    const place = (x: number, y: number) => {
      const size = box.getBoundingClientRect();
      box.style.left = Math.max(8, Math.min(x, innerWidth - size.width - 8)) + "px";
      box.style.top = (y + size.height + 8 > innerHeight ? Math.max(8, y - size.height - 26) : y) + "px";
    };
    const show = (element: HTMLElement | null, x: number, y: number) => {
      shown = element;
      box.hidden = !element;
      if (!element) return;
      if (box.textContent !== element.dataset.tip) box.textContent = element.dataset.tip ?? "";
      place(x, y);
    };
    const move = (event: MouseEvent) =>
      show((event.target as Element).closest?.<HTMLElement>("[data-tip]"), event.clientX + 14, event.clientY + 16);
    const below = (element: HTMLElement | null | undefined) => {
      const at = element?.getBoundingClientRect();
      show(element ?? null, at?.left ?? 0, (at?.bottom ?? 0) + 6);
    };
    const focus = (event: FocusEvent) => {
      const target = event.target as Element;
      below(target.matches?.(":focus-visible") ? target.closest<HTMLElement>("[data-tip]") : null);
    };
    const hide = (event: Event) => {
      if (shown && (event.type !== "keydown" || (event as KeyboardEvent).key === "Escape")) show(null, 0, 0);
    };
    document.addEventListener("mousemove", move, { passive: true });
    document.addEventListener("focusin", focus);
    document.addEventListener("focusout", hide);
    document.addEventListener("keydown", hide);
    // What takes the focus is scrolled into sight: its tip goes along. What scrolls elsewhere does not move it.
    const scroll = ({ target }: Event) =>
      shown &&
      (target as Node).contains(shown) &&
      below(shown.contains(document.querySelector(":focus-visible")) ? shown : null);
    document.addEventListener("scroll", scroll, { passive: true, capture: true });
    return () => {
      document.removeEventListener("mousemove", move);
      document.removeEventListener("focusin", focus);
      document.removeEventListener("focusout", hide);
      document.removeEventListener("keydown", hide);
      document.removeEventListener("scroll", scroll, { capture: true });
    };
  }, []);
  return <div class="tip" aria-hidden="true" hidden ref={ref} />;
}
