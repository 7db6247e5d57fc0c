// What is shown once: a temporary password, a client secret. The dialog closes by its button alone, so that nothing is lost
// by a click beside it.
import { Button } from "./button";
import { Dialog } from "./dialog";
import { toast } from "./toast";

export interface Shown {
  title: string;
  /** What becomes of it. */
  note: string;
  /** [name, value]; each can be copied. */
  facts: [name: string, value: string][];
}

/** Copies a value and says so. */
export const copy = (name: string, value: string) =>
  navigator.clipboard?.writeText(value).then(
    () => toast(`Copied: ${name.toLowerCase()}.`),
    () => toast("The browser doesn't allow copying here.", { tone: "bad" }),
  );

/** Names and values, each with a button that copies it. */
export const SecretFacts = ({ facts }: Pick<Shown, "facts">) => (
  <dl class="secret">
    {facts.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>
          <code class="code">{value}</code>
          <Button kind="quiet" icon="copy" label={`Copy the ${name.toLowerCase()}`} onClick={() => copy(name, value)} />
        </dd>
      </div>
    ))}
  </dl>
);

/** A secret in a dialog, with a button that copies it. */
export function Secret({ title, note, facts, onClose }: Shown & { onClose: () => void }) {
  return (
    <Dialog labelledby="secret-title" firm>
      <h2 id="secret-title">{title}</h2>
      <p class="soft">{note}</p>
      <SecretFacts facts={facts} />
      <div class="acts">
        <Button kind="primary" onClick={onClose} autofocus>
          Done
        </Button>
      </div>
    </Dialog>
  );
}
