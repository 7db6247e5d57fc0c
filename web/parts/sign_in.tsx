// Signing in: as a page of its own, and as a dialog over the page when a session ends; the page below keeps its state.
// Who signed in with a temporary password chooses another before anything else.
import { useEffect, useRef, useState } from "preact/hooks";
import type { ComponentChildren, RefObject } from "preact";
import { ApiError, fieldErrors, signedOut } from "../api";
import { Icon, Mark } from "../icons";
import { refreshAll } from "../live";
import { session, signIn, signOut } from "../session";
import { WORDS } from "../words";
import { Button } from "./button";
import { Dialog } from "./dialog";
import { IssuerLink } from "./issuer";
import { Later } from "./later";

const loadPassword = async () => ({ default: (await import("../routes")).PasswordForm }); // comes with the pages

const isRefusal = (error: unknown) => error instanceof ApiError && [400, 401, 403].includes(error.status);

const ofTheCode = (typed?: string) => (typed ? WORDS.wrongCode : WORDS.needsCode);

// Sends name and password, and a code once the account has asked for one; says what was wrong, and takes another try.
function useSignIn(name: string, done?: () => void) {
  const [asks, setAsks] = useState(false); // the account needs a code
  const code = useRef<HTMLInputElement>(null);
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const password = useRef<HTMLInputElement>(null);
  useEffect(() => void (asks && code.current?.focus()), [asks]);
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setProblem("");
    try {
      await signIn(name.trim(), password.current!.value, code.current?.value.trim());
      done?.();
    } catch (error) {
      const ofCode = Boolean(fieldErrors(error).otp);
      if (ofCode) setAsks(true);
      setProblem(
        ofCode ? ofTheCode(code.current?.value) : isRefusal(error) ? WORDS.wrongSignIn : (error as Error).message,
      );
      (ofCode ? code : password).current?.select();
    }
    setBusy(false);
  };
  return { password, code, asks, forget: () => setAsks(false), problem, busy, submit };
}

function Form({ done }: { done?: () => void }) {
  const [name, setName] = useState(session.peek().who?.name ?? "");
  const { password, code, asks, forget, problem, busy, submit } = useSignIn(name, done);
  return (
    <form onSubmit={submit} class="sign">
      <div class="f">
        <label for="username">E-mail</label>
        <input
          class="in"
          id="username"
          name="username"
          autocomplete="username"
          spellcheck={false}
          autocapitalize="none"
          required
          value={name}
          onInput={e => {
            setName(e.currentTarget.value);
            forget();
          }}
          autofocus={!name}
        />
      </div>
      <div class="f">
        <label for="password">Password</label>
        <input
          class="in"
          id="password"
          name="password"
          type="password"
          autocomplete="current-password"
          required
          ref={password}
          aria-describedby="problem"
          aria-invalid={problem && !asks ? "true" : undefined}
          autofocus={Boolean(name)}
        />
      </div>
      {asks && <CodeField input={code} problem={problem} />}
      <Button kind="primary" type="submit" busy={busy}>
        Sign in
      </Button>
      <p id="problem" class="hint bad" role="alert">
        {problem && (
          <>
            <Icon name="x" />
            {problem}
          </>
        )}
      </p>
    </form>
  );
}

function CodeField({ input, problem }: { input: RefObject<HTMLInputElement | null>; problem: string }) {
  return (
    <div class="f">
      <label for="code">Code</label>
      <input
        class="in mono"
        id="code"
        name="code"
        autocomplete="one-time-code"
        spellcheck={false}
        autocapitalize="none"
        maxlength={64}
        required
        ref={input}
        aria-describedby="problem"
        aria-invalid={problem && problem !== WORDS.needsCode ? "true" : undefined}
      />
    </div>
  );
}

// The sheet in the middle of an empty page.
function Alone({ title, line, children }: { title: string; line?: string; children: ComponentChildren }) {
  return (
    <main id="main" class="sign-page" tabindex={-1}>
      <div class="sheet">
        <p class="brand">
          <Mark />
          <span>{WORDS.product}</span>
        </p>
        {line && <p class="soft purpose">{line}</p>}
        <h1>{title}</h1>
        {children}
      </div>
    </main>
  );
}

export function SignInPage() {
  return (
    <Alone title="Sign in" line={WORDS.purpose}>
      <Form />
      <IssuerLink />
    </Alone>
  );
}

export function ChoosePasswordPage() {
  return (
    <Alone title="Choose a password">
      <Later load={loadPassword} what="The form" first />
      <p class="small muted sign-other">
        Signed in as {session.value.who?.name}.{" "}
        <button type="button" class="link" onClick={signOut}>
          Sign out
        </button>
      </p>
    </Alone>
  );
}

// Over the page: the session has ended, or goes on with a temporary password.
export function SignedOut() {
  const { state, who } = session.value;
  if (state !== "in" || (!signedOut.value && !who?.mustChangePassword)) return null;
  if (!signedOut.value)
    return (
      <Dialog labelledby="signed-out" firm>
        <h2 id="signed-out">Choose a password</h2>
        <Later load={loadPassword} what="The form" first done={refreshAll} />
      </Dialog>
    );
  const done = () => {
    signedOut.value = false;
    refreshAll();
  };
  return (
    <Dialog labelledby="signed-out" firm>
      <div role="alert" class="sign-again">
        <h2 id="signed-out">Sign in again</h2>
        <p class="soft">{WORDS.signInAgain}</p>
      </div>
      <Form done={done} />
      <IssuerLink />
    </Dialog>
  );
}

export function ChangePassword({ onClose }: { onClose: () => void }) {
  return (
    <Dialog labelledby="password-title" onClose={onClose}>
      <h2 id="password-title">Change password</h2>
      <Later load={loadPassword} what="The form" done={onClose} cancel={onClose} />
    </Dialog>
  );
}
