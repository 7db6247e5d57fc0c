// Dialogs on <dialog>: modal, Escape closes, focus returns to where it was.
import { signal } from "@preact/signals";
import type { ComponentChildren, TargetedEvent } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button } from "./button";

interface DialogProps {
  label?: string;
  labelledby?: string;
  class?: string;
  onClose?: () => void;
  firm?: boolean;
  children: ComponentChildren;
}

// Opened while mounted, before the next key can come: what is typed at once is typed into it. onClose is called on Escape and on a click beside it (unless it is firm).
export function Dialog({ label, labelledby, class: more = "", onClose, firm, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const before = document.activeElement as HTMLElement | null,
      dialog = ref.current;
    dialog?.showModal();
    return () => {
      dialog?.close(); // while it is open, nothing else takes the focus
      if (before?.isConnected) before.focus?.({ preventScroll: true });
    };
  }, []);
  const cancel = (event: Event) => {
    event.preventDefault();
    if (!firm) onClose?.();
  };
  const beside = (event: Event) => {
    if (event.target === ref.current && !firm) onClose?.();
  };
  return (
    <dialog
      ref={ref}
      class={"dialog " + more}
      aria-label={label}
      aria-labelledby={labelledby}
      onCancel={cancel}
      onMouseDown={beside}
    >
      <div class="dialog-in">{children}</div>
    </dialog>
  );
}

interface Question {
  title: string;
  body: string | string[];
  verb: string;
  tone?: string;
  /** A name to type first. */
  type?: string;
  /** A second way to go on. */
  other?: string;
}
interface Asked extends Question {
  done: (answer: boolean | "other") => void;
}

const asked = signal<Asked | null>(null);

// Says what goes and what stays, with the verb on the button: resolves true or false. `body` is a text or a list of
// paragraphs; `type` is a name to type first.
export const confirm = async (question: Question): Promise<boolean> => (await choose(question)) === true;

// The same with a second way to go on: "other".
export function choose({ tone = "bad", ...question }: Question): Promise<boolean | "other"> {
  return new Promise(done => {
    asked.value = { tone, ...question, done };
  });
}

export function Confirms() {
  const question = asked.value;
  return question && <Asking key={question.title} {...question} />;
}

function Asking({ title, body, verb, tone, type, other, done }: Asked) {
  const [typed, setTyped] = useState("");
  const close = (answer: boolean | "other") => {
    asked.value = null;
    done(answer);
  };
  const submit = (event: TargetedEvent) => {
    event.preventDefault();
    if (!type || typed === type) close(true);
  };
  return (
    <Dialog labelledby="ask-title" onClose={() => close(false)}>
      <form onSubmit={submit} class="ask">
        <h2 id="ask-title">{title}</h2>
        {[body].flat().map((text, i) => (
          <p key={i} class="soft">
            {text}
          </p>
        ))}
        {type && (
          <div class="f">
            <label for="ask-type">
              Type <b class="strong">{type}</b> to confirm
            </label>
            <input
              id="ask-type"
              class="in"
              autocomplete="off"
              value={typed}
              onInput={e => setTyped(e.currentTarget.value)}
            />
          </div>
        )}
        <div class="acts">
          <Button onClick={() => close(false)} autofocus>
            Cancel
          </Button>
          <Button
            type="submit"
            class={tone === "bad" ? "danger" : "primary"}
            why={type && typed !== type ? `Type ${type} first.` : ""}
          >
            {verb}
          </Button>
          {other && (
            <Button kind="primary" onClick={() => close("other")}>
              {other}
            </Button>
          )}
        </div>
      </form>
    </Dialog>
  );
}
