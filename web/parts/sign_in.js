// Signing in: as a page of its own, and as a dialog over the page when a session ends; the page below keeps its state.
import { useState } from "preact/hooks";
import { signedOut } from "../api.js";
import { html } from "../html.js";
import { Icon, Mark } from "../icons.js";
import { refreshAll } from "../live.js";
import { landing } from "../nav.js";
import { go, route } from "../router.js";
import { session, signIn } from "../session.js";
import { WORDS } from "../words.js";
import { Button } from "./button.js";
import { Dialog } from "./dialog.js";

function Form({ done }) {
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const submit = async event => {
    event.preventDefault();
    const fields = new FormData(event.target);
    setBusy(true);
    setProblem("");
    try {
      await signIn(fields.get("username").trim(), fields.get("password"));
      done?.();
    } catch (error) {
      setProblem([400, 401, 403].includes(error.status) ? WORDS.wrongSignIn : error.message);
      event.target.querySelector("#password").select();
    }
    setBusy(false);
  };
  return html`<form onSubmit=${submit} class="sign">
    <div class="f"><label for="username">E-mail</label><input class="in" id="username" name="username" autocomplete="username" required value=${session.value.who?.name ?? ""} autofocus /></div>
    <div class="f"><label for="password">Password</label><input class="in" id="password" name="password" type="password" autocomplete="current-password" required aria-describedby="problem" aria-invalid=${problem ? "true" : null} /></div>
    <p id="problem" class="hint bad" role="alert">${problem && html`<${Icon} name="x" />${problem}`}</p>
    <${Button} kind="primary" type="submit" busy=${busy}>Sign in<//></form>`;
}

export function SignInPage() {
  const wanted = route.value.query.from;
  const done = () => go(landing(wanted), { replace: true });
  return html`<main id="main" class="sign-page" tabindex="-1"><div class="sheet"><p class="brand"><${Mark} /><span>${WORDS.product}</span></p>
    <h1>Sign in</h1><${Form} done=${done} /></div></main>`;
}

export function SignedOut() {
  if (!signedOut.value || session.value.state !== "in") return null;
  const done = () => {
    signedOut.value = false;
    refreshAll();
  };
  return html`<${Dialog} labelledby="signed-out" firm><div role="alert" class="sign-again"><h2 id="signed-out">Sign in again</h2><p class="soft">${WORDS.signInAgain}</p></div><${Form} done=${done} /><//>`;
}
