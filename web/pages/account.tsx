// My account: who I am here, what I may do and where, my access keys, my sessions, my password and its
// second factor.
import { get } from "../api";
import { useState } from "preact/hooks";
import { useData } from "../data";
import { plural } from "../format";
import { Page } from "../parts/page";
import PasswordForm from "../parts/password";
import { Empty, Loaded } from "../parts/states";
import { session } from "../session";
import { AccessKeys } from "./access_keys";
import { Notifications } from "./notifications";
import { RuleList } from "./rules_of";
import { SecondFactor } from "./second_factor";
import { Sessions } from "./sessions";

/** The page of whoever is signed in. */
export default function Account() {
  const isPerson = session.value.who?.subjectType === "user",
    isLocal = isPerson && session.value.who?.isLocal !== false;
  const [changes, setChanges] = useState(0); // a change of the second factor ends sessions
  return (
    <Page title="Account" action={null}>
      <div class="account-page">
        <OwnRules />
        {isPerson && <AccessKeys />}
        {isPerson && <Notifications />}
        <Sessions key={changes} />
        {isLocal && <SecondFactor changed={() => setChanges(n => n + 1)} />}
        {isPerson && <Password isLocal={isLocal} />}
      </div>
    </Page>
  );
}

const ME = "/api/v1/authorization/me/access-rules";

function OwnRules() {
  const name = session.value.who?.name ?? "";
  const rules = useData(
    "me/access-rules",
    async abort => (await get(ME, { limit: 500 }, { signal: abort })).accessRules?.accessRules ?? [],
    ["access"],
  );
  return (
    <section class="sheet" aria-labelledby="h-rules">
      <header>
        <h2 id="h-rules">{name}</h2>
        {rules.data && <p>{plural(rules.data.length, "role")}</p>}
      </header>
      <div class="body">
        <Loaded of={rules} what="Your access rules">
          {list =>
            list.length ? <RuleList rules={list} /> : <Empty>You have no role yet. An administrator gives roles.</Empty>
          }
        </Loaded>
      </div>
    </section>
  );
}

function Password({ isLocal }: { isLocal: boolean }) {
  return (
    <section class="sheet" aria-labelledby="h-password">
      <header>
        <h2 id="h-password">Password</h2>
      </header>
      <div class="body">
        {isLocal ? (
          <PasswordForm calm />
        ) : (
          <p class="soft">
            You have none here: who signs you in keeps it, and a second factor is set up there. It is your identity
            provider or this machine.
          </p>
        )}
      </div>
    </section>
  );
}
