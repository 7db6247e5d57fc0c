// The form that changes the password: the current one, unless signing in has just said it, and the new one twice.
import { useEffect, useState } from "preact/hooks";
import { changePassword, knownPassword, session } from "../session";
import { Button } from "./button";
import { Problem, TextField, useForm } from "./form";
import { toast } from "./toast";

export const LEAST = 8,
  MOST = 255; // as the server's rule, which counts bytes

interface PasswordProps {
  first?: boolean;
  /** It stands on a page among others: the focus stays where it is. */
  calm?: boolean;
  done?: () => void;
  cancel?: () => void;
}

// first: the current password is a temporary one. done() after the change; cancel() where one may leave it.
export default function PasswordForm({ first, calm, done, cancel }: PasswordProps) {
  const [known] = useState(knownPassword);
  const f = useForm({
    initial: { currentPassword: known, newPassword: "", again: "" },
    check,
    send: async values => {
      await changePassword(values.currentPassword, values.newPassword);
      toast("Your password is changed. Other sessions of yours have ended.");
      done?.();
    },
  });
  useEffect(() => void (calm || f.form.current?.querySelector<HTMLElement>(".in")?.focus()), []); // a dialog that opens later looks at autofocus
  const secret = { type: "password", spellcheck: false } as const;
  return (
    <form class="sign" ref={f.form} onSubmit={f.submit} novalidate>
      <p class="soft">
        {first
          ? "Yours is a temporary one. Choose one that only you know; then the page opens."
          : "Your other sessions end with the change."}
      </p>
      <input
        class="sr"
        type="text"
        autocomplete="username"
        value={session.value.who?.name}
        readonly
        tabindex={-1}
        aria-hidden="true"
      />
      {(!known || f.field("currentPassword").error) && (
        <TextField
          label={first ? "Temporary password" : "Current password"}
          {...f.field("currentPassword")}
          {...secret}
          autocomplete="current-password"
          autofocus={!calm}
        />
      )}
      <TextField
        label="New password"
        hint={`At least ${LEAST} characters; several words are good.`}
        {...f.field("newPassword")}
        {...secret}
        autocomplete="new-password"
        autofocus={Boolean(known)}
      />
      <TextField label="New password, once more" {...f.field("again")} {...secret} autocomplete="new-password" />
      <Problem error={f.problem} />
      <div class="acts">
        {cancel && <Button onClick={cancel}>Cancel</Button>}
        <Button kind="primary" type="submit" writes busy={f.busy}>
          {first ? "Choose it and go on" : "Change password"}
        </Button>
      </div>
    </form>
  );
}

export function check({
  currentPassword,
  newPassword,
  again,
}: Record<"currentPassword" | "newPassword" | "again", string>) {
  const size = new TextEncoder().encode(newPassword).length;
  return {
    currentPassword: currentPassword ? "" : "Missing.",
    newPassword:
      size < LEAST
        ? `At least ${LEAST} characters.`
        : size > MOST
          ? `At most ${MOST} characters.`
          : newPassword === currentPassword
            ? "The same as the current one."
            : "",
    again: again === newPassword ? "" : "Not the same as above.",
  };
}
