// A number in a table that opens the list behind it.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "./button";
import { Dialog } from "./dialog";

interface CountedProps {
  /** What stands in the cell. */
  text: string;
  /** How many; of none there is no list. */
  count: number;
  /** "Pods of gpu-a-1". */
  title: string;
  /** The list; it is asked for when it is opened. */
  children: () => ComponentChildren;
}

export function Counted({ text, count, title, children }: CountedProps) {
  const [open, setOpen] = useState(false);
  if (!count) return <>{text}</>;
  return (
    <>
      <button type="button" class="counted" aria-label={`${text}: ${title}`} onClick={() => setOpen(true)}>
        {text}
      </button>
      {open && (
        <Dialog class="wide listing" label={title} onClose={() => setOpen(false)}>
          <div class="bar">
            <h2>{title}</h2>
            <span class="grow" />
            <Button kind="quiet" icon="close" label="Close" onClick={() => setOpen(false)} autofocus />
          </div>
          <div class="scroll" tabindex={0} role="region" aria-label={`${title}, scrolls`}>
            {children()}
          </div>
        </Dialog>
      )}
    </>
  );
}
