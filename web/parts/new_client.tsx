// What signs in with a client id and a secret: an access key, a service account. The dialog that makes one, and its secret.
import { Button } from "./button";
import { Dialog } from "./dialog";
import { Problem, TextField, useForm } from "./form";
import type { Shown } from "./secret";

const NAME_FORM = /^[a-z][-_a-z0-9]*[a-z0-9]$/;

/** What is shown once of it. */
export const secretOf = (name: string, clientId: string, secret: string): Shown => ({
  title: `Secret of ${name}`,
  note: "It is shown this once. A program signs in with both.",
  facts: [
    ["Client id", clientId],
    ["Client secret", secret],
  ],
});

interface NewClientProps {
  /** "access key": it stands in the title and on the button. */
  what: string;
  note: string;
  placeholder: string;
  send: (name: string) => Promise<unknown>;
  /** The right that is missing. */
  why?: string;
  close: () => void;
}

/** Asks for a name, and sends it. */
export function NewClient({ what, note, placeholder, send, close, why }: NewClientProps) {
  const form = useForm({
    initial: { name: "" },
    check: v => ({
      name: NAME_FORM.test(v.name) ? "" : "Small letters, digits, - and _; a letter first, no - or _ last.",
    }),
    send: async v => void (await send(v.name)),
  });
  return (
    <Dialog labelledby="client-title" onClose={close}>
      <form onSubmit={form.submit} ref={form.form} novalidate>
        <h2 id="client-title">New {what}</h2>
        <p class="soft">{note}</p>
        <div class="fields">
          <TextField label="Name" {...form.field("name")} maxlength={63} placeholder={placeholder} autofocus />
        </div>
        <Problem error={form.problem} why={why} />
        <div class="acts">
          <Button onClick={close}>Cancel</Button>
          <Button kind="primary" type="submit" writes busy={form.busy} why={why}>
            Create {what}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
