// Dialogs on <dialog>: modal, Escape closes, focus returns to where it was.
import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "./button";

// Opened while mounted. onClose is called on Escape and on a click beside it (unless it is firm).
export function Dialog({ label, labelledby, class: more = "", onClose, firm, children }) {
  const ref = useRef(null);
  useEffect(() => {
    const before = document.activeElement;
    ref.current.showModal();
    return () => before?.isConnected && before.focus?.({ preventScroll: true });
  }, []);
  const cancel = event => {
    event.preventDefault();
    if (!firm) onClose?.();
  };
  const beside = event => {
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

const asked = signal(null);

// Says what goes and what stays, with the verb on the button: resolves true or false. `body` is a text or a list of
// paragraphs; `type` is a name to type first.
export function confirm({ title, body, verb, tone = "bad", type }) {
  return new Promise(done => {
    asked.value = { title, body, verb, tone, type, done };
  });
}

export function Confirms() {
  const question = asked.value;
  return question && <Question key={question.title} {...question} />;
}

function Question({ title, body, verb, tone, type, done }) {
  const [typed, setTyped] = useState("");
  const close = answer => {
    asked.value = null;
    done(answer);
  };
  const submit = event => {
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
            <input id="ask-type" class="in" autocomplete="off" value={typed} onInput={e => setTyped(e.target.value)} />
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
        </div>
      </form>
    </Dialog>
  );
}
