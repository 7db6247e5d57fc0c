// Signing in at the organisation's identity provider: a link that leaves for it, where one is set up.
import { useEffect, useState } from "preact/hooks";
import { get } from "../api";
import { Icon } from "../icons";
import { WORDS } from "../words";

// Why the provider sent nobody: what the server says in the address, in words.
const PROBLEMS: Record<string, string> = {
  expired: WORDS.issuerExpired,
  refused: WORDS.issuerRefused,
  taken: WORDS.issuerTaken,
  unavailable: WORDS.issuerUnavailable,
};

const came = PROBLEMS[new URLSearchParams(location.search).get("signIn") ?? ""]; // the page may change its address

function leave() {
  const here = new URL(location.href);
  here.searchParams.delete("signIn");
  return `/api/v1/authentication/openid/sign-in?returnTo=${encodeURIComponent(here.pathname + here.search)}`;
}

export function IssuerLink() {
  const [name, setName] = useState("");
  useEffect(() => {
    get("/api/v1/authentication/openid", {}, { quiet401: true })
      .then(answer => setName(answer?.name ?? ""))
      .catch(() => {}); // the password form stands all the same
  }, []);
  if (!name && !came) return null;
  return (
    <div class="sign sign-other">
      {name && (
        <a class="btn" href={leave()}>
          Sign in with {name}
        </a>
      )}
      {came && (
        <p class="hint bad" role="alert">
          <Icon name="x" />
          {came}
        </p>
      )}
    </div>
  );
}
