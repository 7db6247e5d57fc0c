// Where do people of the organisation sign in, and what do their groups allow?
import { useState } from "preact/hooks";
import { del, get, getAll, put } from "../api";
import { useData } from "../data";
import { Button } from "../parts/button";
import { confirm } from "../parts/dialog";
import { Problem, Section, TextField, useForm } from "../parts/form";
import { Page } from "../parts/page";
import { Empty, Loaded } from "../parts/states";
import { toast, toastError } from "../parts/toast";
import { When } from "../parts/when";
import { may } from "../session";
import type { Answer } from "../types";
import { WORDS } from "../words";
import { NewRule } from "./new_rule";
import { GiveRole, RuleList, dropRule } from "./rules_of";

const PATH = "/api/v1/authentication/openid/provider";
type Provider = Answer<typeof PATH>;

// Who has none is not asked for it, for a 404 is no error here.
async function provider(abort: AbortSignal): Promise<{ p: Provider | null }> {
  const { enabled } = await get("/api/v1/authentication/openid", {}, { signal: abort });
  return { p: enabled ? await get(PATH, {}, { signal: abort }) : null };
}

/** The identity provider's settings, and the access rules of its groups. */
export default function Identity() {
  const found = useData("openid-provider", provider);
  return (
    <Page title="Identity" action={null}>
      <div class="account-page">
        <section class="sheet" aria-label="Identity provider">
          <Loaded of={found} what="The identity provider" rows={6} height={44}>
            {({ p }) => <Form key={p?.updatedAt ?? "new"} provider={p} changed={found.reload} />}
          </Loaded>
        </section>
        {may("read", "access_rules") && <Groups />}
      </div>
    </Page>
  );
}

const REQUIRED = ["name", "issuer", "clientId", "redirectUrl"] as const;
type Values = Record<(typeof REQUIRED)[number] | "clientSecret" | "groupsClaim" | "usernameClaim", string>;

const startValues = (p: Provider | null): Values => ({
  name: p?.name ?? "",
  issuer: p?.issuer ?? "",
  clientId: p?.clientId ?? "",
  clientSecret: "",
  redirectUrl: p?.redirectUrl ?? `${location.origin}/api/v1/authentication/openid/callback`,
  groupsClaim: p?.groupsClaim ?? "groups",
  usernameClaim: p?.usernameClaim ?? "email",
});

const check = (v: Values) => Object.fromEntries(REQUIRED.map(k => [k, v[k].trim() ? "" : "Missing."]));

interface FormProps {
  provider: Provider | null;
  changed: () => void;
}

function useProviderForm({ provider: p, changed }: FormProps) {
  const send = async ({ clientSecret, ...v }: Values) => {
    const kept = p ? { scopes: p.scopes, refreshSeconds: p.refreshSeconds } : {};
    await put(PATH, { ...v, ...kept, ...(clientSecret ? { clientSecret } : {}) });
    toast(`${v.name} answered, and people can sign in with it.`);
    changed();
  };
  return useForm({ initial: startValues(p), check, send });
}

type ProviderForm = ReturnType<typeof useProviderForm>;

function Form(props: FormProps) {
  const form = useProviderForm(props);
  return (
    <form onSubmit={form.submit} ref={form.form} novalidate>
      <Settings form={form} provider={props.provider} />
      <Section title="People" help="What the provider says of a person.">
        <TextField label="Claim with the groups" size="half" {...form.field("groupsClaim")} mono maxlength={255} />
        <TextField
          label="Claim with the name"
          size="half"
          {...form.field("usernameClaim")}
          mono
          maxlength={255}
          hint="One that people can't change themselves"
        />
      </Section>
      <Problem error={form.problem} />
      <Buttons {...props} busy={form.busy} />
    </form>
  );
}

function Settings({ form: { field }, provider: p }: { form: ProviderForm; provider: Provider | null }) {
  return (
    <Section title="Provider" help="OpenID Connect. Local users go on beside it.">
      <TextField label="Name" {...field("name")} maxlength={60} hint="As the button says it: Sign in with …" />
      <TextField
        label="Issuer"
        {...field("issuer")}
        mono
        maxlength={1024}
        placeholder="https://id.example.org/realms/lab"
      />
      <TextField label="Client id" size="half" {...field("clientId")} mono maxlength={255} />
      <TextField
        label="Client secret"
        size="half"
        {...field("clientSecret")}
        type="password"
        autocomplete="new-password"
        maxlength={1024}
        hint={p?.hasClientSecret ? "One is set. Empty: it stays." : "Empty: a public client"}
      />
      <TextField
        label="Redirect URL"
        {...field("redirectUrl")}
        mono
        maxlength={1024}
        hint="The provider has to know it."
      />
    </Section>
  );
}

function Buttons({ provider: p, changed, busy }: FormProps & { busy: boolean }) {
  const why = may("update", "security-settings") ? "" : WORDS.noRight("update security-settings");
  const drop = async () => {
    const body = "The sessions that came from it end. Its accounts stay and can't sign in.";
    if (!(await confirm({ title: `Take ${p?.name} away?`, verb: "Take it away", body }))) return;
    try {
      await del(PATH);
      toast("Nobody signs in at an identity provider now.");
    } catch (error) {
      toastError(error);
    }
    changed();
  };
  return (
    <div class="submit-bar">
      <span class="muted small hide-s">
        {p && (
          <>
            Changed by {p.updatedBy}, <When at={p.updatedAt} />
          </>
        )}
      </span>
      <span class="grow" />
      {p && (
        <Button icon="trash" writes why={why} onClick={drop}>
          Take it away
        </Button>
      )}
      <Button
        kind="primary"
        type="submit"
        writes
        busy={busy}
        why={why}
        data-tip="The provider is asked first. Where it does not answer nothing changes."
      >
        Test and save
      </Button>
    </div>
  );
}

function Groups() {
  const [giving, setGiving] = useState(false);
  const rules = useData(
    "rules-of-groups",
    abort =>
      getAll(
        "/api/v1/authorization/access-rules",
        "accessRules",
        { filterBy: ["subjectType==group"], sortBy: "subjectId" },
        { signal: abort, most: 1000 },
      ),
    ["access"],
  );
  return (
    <section class="sheet" aria-labelledby="h-groups">
      <header>
        <h2 id="h-groups">Groups</h2>
        <p>What members may do; read again while they are signed in.</p>
        <span class="grow" />
        <GiveRole onClick={() => setGiving(true)} />
      </header>
      <div class="body">
        <Loaded of={rules} what="The rules of groups">
          {list =>
            list.length ? (
              <RuleList rules={list} named drop={async r => void ((await dropRule(r)) && rules.reload())} />
            ) : (
              <Empty>No group has a role. Its members sign in and may do nothing.</Empty>
            )
          }
        </Loaded>
      </div>
      {giving && <NewRule onClose={() => setGiving(false)} onDone={rules.reload} />}
    </section>
  );
}
