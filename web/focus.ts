// Keeps the focus of who uses the keys when what has it goes: a deleted row, a removed entry, a dialog whose opener went
// with what it deleted, the page that waits for a chunk. The focus goes on beside it, not at the top of the document.
const STOPS = "a[href], button, input, select, textarea, summary, [tabindex='0']";

/** Where the focus is: the element, and its branch's position below each ancestor. */
interface Place {
  element: HTMLElement;
  branch: [parent: Element, index: number][];
  /** Where it was before the dialog that it is in now. */
  before: Place | null;
}

let place: Place | null = null;

function placeOf(element: HTMLElement): Place {
  const branch: Place["branch"] = [];
  for (let child: Element = element; child.parentElement; child = child.parentElement)
    branch.push([child.parentElement, [...child.parentElement.children].indexOf(child)]);
  const isSame = place?.element.closest("dialog") === element.closest("dialog");
  return { element, branch, before: isSame ? place!.before : place };
}

// The first thing in a branch that takes the focus; of a whole page its main part.
const firstIn = (branch: Element | undefined) =>
  branch &&
  (branch.querySelector("main") ??
    [branch, ...branch.querySelectorAll(STOPS)].find(e => e.matches(STOPS) && e.checkVisibility()));

function beside({ element, branch }: Place) {
  if (element.isConnected) return element;
  for (const [{ isConnected, children }, index] of branch) {
    const next = isConnected && (firstIn(children[index]) ?? firstIn(children[index - 1]));
    if (next) return next as HTMLElement;
  }
  return null;
}

function keep() {
  if (!place || place.element.isConnected || document.activeElement !== document.body) return;
  const dialog = place.element.closest("dialog");
  const from = dialog && !dialog.isConnected ? place.before : place;
  place = null;
  const next = from && beside(from);
  next?.focus({ preventScroll: next.localName === "main" });
}

document.addEventListener("focusin", ({ target }) => {
  place = (target as Element).matches(":focus-visible") ? placeOf(target as HTMLElement) : null;
});
document.addEventListener("focusout", () =>
  setTimeout(() => {
    if (place?.element.isConnected && document.activeElement === document.body) place = null; // given up, not gone
  }),
);
new MutationObserver(keep).observe(document.body, { childList: true, subtree: true });
