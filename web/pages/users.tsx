// Who can sign in, and what may each of them do?
export { default as ServiceAccounts } from "./service_accounts";
import { useState } from "preact/hooks";
import { del, get, post } from "../api";
import { now } from "../clock";
import { useData } from "../data";
import { NONE, time } from "../format";
import { Icon } from "../icons";
import { Button } from "../parts/button";
import { confirm, Dialog } from "../parts/dialog";
import { Problem, TextField, useForm } from "../parts/form";
import { Page, Primary } from "../parts/page";
import { Facts, Pane, Split, closePane } from "../parts/pane";
import { Secret, type Shown } from "../parts/secret";
import { Fault, Loading } from "../parts/states";
import { type Column, Table, openHref, renewTables } from "../parts/table";
import { toast, toastError } from "../parts/toast";
import { When, whenColumn } from "../parts/when";
import { hrefWith, route, setQuery } from "../router";
import { may, missing, session } from "../session";
import type { AccessRule, User } from "../types";
import { WORDS } from "../words";
import { RulesOf, rulesInBrief, useRulesOfRows } from "./rules_of";

const KINDS = ["access"];
const ONCE = "It is shown this once. Whoever signs in with it chooses another first.";
const kindOf = (u: User) => (u.isLocal ? "Local" : "Single sign-on");
const factorOf = (u: User) => (!u.isLocal ? "elsewhere" : u.hasSecondFactor ? "On" : "Off");
const temporary = (name: string, password: string): Shown => ({
  title: `Temporary password of ${name}`,
  note: ONCE,
  facts: [["Temporary password", password]],
});

const NAME: Column<User> = {
  id: "name",
  label: "User",
  sort: "username",
  filter: { field: "username", ops: ["=@", "=="] },
  text: u => u.username,
  cell: u => (
    <>
      <Icon name="person" />
      <span>{u.username}</span>
    </>
  ),
};

const FACTOR: Column<User> = {
  id: "factor",
  label: "Second factor",
  low: true,
  text: factorOf,
  filter: {
    field: "hasSecondFactor",
    ops: ["=="],
    values: [
      { value: "true", label: "On" },
      { value: "false", label: "Off" },
    ],
  },
};

function columnsOf(rules: (user: User) => AccessRule[] | null): Column<User>[] {
  const brief = (u: User) => {
    const list = rules(u);
    return list ? rulesInBrief(list) : NONE;
  };
  const ofRules: Column<User> = {
    id: "rules",
    label: "Access rules",
    cap: true,
    text: brief,
    cell: u => <span class="brief">{brief(u)}</span>,
  };
  return [
    NAME,
    {
      id: "type",
      label: "Type",
      sort: "type",
      text: kindOf,
      filter: {
        field: "isLocal",
        ops: ["=="],
        values: [
          { value: "true", label: "Local" },
          { value: "false", label: "Single sign-on" },
        ],
      },
    },
    {
      id: "login",
      label: "Last sign-in",
      keep: true,
      num: true,
      sort: "lastLogin",
      text: u => (u.lastLogin ? time(u.lastLogin, now()) : "never"),
      csv: u => u.lastLogin ?? "",
    },
    FACTOR,
    ...(may("read", "access_rules") ? [ofRules] : []),
    { id: "by", label: "Created by", sort: "createdBy", cap: true, low: true, text: u => u.createdBy },
    whenColumn("created", "Created", u => u.createdAt, { low: true, sort: "creationTime" }),
    whenColumn("updated", "Last updated", u => u.updatedAt, { hidden: true, sort: "lastUpdated" }),
  ];
}

/** Users, with the rules of those in view. */
export default function Users() {
  const { open: id, new: making } = route.value.query;
  const [shown, setShown] = useState<Shown | null>(null);
  const rules = useRulesOfRows<User>(u => u.username);
  const action = (
    <Primary href={hrefWith({ new: "1" })} icon="plus" label="New local user" why={missing("create", "users")} />
  );
  return (
    <Page title="Users" action={action}>
      <Split label="Users" pane={id && <Details key={id} id={id} show={setShown} />}>
        <Table
          name="users"
          caption="Users"
          source={{ path: "/api/v1/users", key: null, countPath: "/api/v1/users/count" }}
          kinds={KINDS}
          columns={columnsOf(rules.of)}
          sort="username"
          hrefOf={u => openHref(u.id)}
          labelOf={u => u.username}
          onRows={rules.onRows}
          sub={u => <span class="cut">{rules.of(u) ? rulesInBrief(rules.of(u)!) : kindOf(u)}</span>}
          empty="No users yet."
        />
      </Split>
      {making && <NewUser show={setShown} close={() => setQuery({ new: null })} />}
      {shown && <Secret {...shown} onClose={() => setShown(null)} />}
    </Page>
  );
}

interface Show {
  show: (shown: Shown) => void;
}

function NewUser({ show, close }: Show & { close: () => void }) {
  const why = missing("create", "users");
  const form = useForm({
    initial: { email: "" },
    check: v => ({ email: /^\S+@\S+$/.test(v.email.trim()) ? "" : "An e-mail, e.g. ana@example.org." }),
    send: async v => {
      const made = await post("/api/v1/users", { email: v.email.trim(), resetPassword: true });
      renewTables();
      await setQuery({ new: null, open: made.id });
      show(temporary(made.username, made.tempPassword));
    },
  });
  return (
    <Dialog labelledby="user-title" onClose={close}>
      <form onSubmit={form.submit} ref={form.form} novalidate>
        <h2 id="user-title">New local user</h2>
        <p class="soft">A temporary password is shown next. Roles are given after that.</p>
        <div class="fields">
          <TextField label="E-mail" {...form.field("email")} maxlength={254} autofocus />
        </div>
        <Problem error={form.problem} why={why} />
        <div class="acts">
          <Button onClick={close}>Cancel</Button>
          <Button kind="primary" type="submit" writes busy={form.busy} why={why}>
            Create user
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function Details({ id, show }: Show & { id: string }) {
  const found = useData(`user/${id}`, abort => get(`/api/v1/users/${id}`, {}, { signal: abort }), KINDS);
  const u = found.data;
  if (!u)
    return (
      <Pane id={id} title="User">
        {found.error ? <Fault error={found.error} retry={found.reload} what="The user" /> : <Loading rows={6} />}
      </Pane>
    );
  return (
    <Pane id={id} title={u.username} line={lineOf(u)} actions={<Actions user={u} show={show} />}>
      {may("read", "access_rules") && <RulesOf id={u.username} name={u.username} />}
      <section>
        <h3>Facts</h3>
        <Facts
          rows={[
            ["Type", kindOf(u)],
            ["Last sign-in", u.lastLogin ? <When at={u.lastLogin} /> : "never"],
            ["Second factor", u.isLocal ? factorOf(u) : "where it signs in"],
            u.groups?.length && ["Groups", u.groups.join(", ")],
            ["Created by", u.createdBy],
            ["Created", <When at={u.createdAt} />],
            ["Last updated", <When at={u.updatedAt} />],
            ["Id", <span class="mono">{u.id}</span>],
          ]}
        />
      </section>
    </Pane>
  );
}

const isMe = (u: User) => u.username === session.value.who?.name;
const lineOf = (u: User) => (isMe(u) ? "This is you." : u.lastLogin ? "" : "Has not signed in yet.");

// Does it and says so; says why not.
async function attempt(work: () => Promise<unknown>, said: string) {
  try {
    await work();
    if (said) toast(said);
  } catch (error) {
    toastError(error);
  }
  renewTables();
}

function Actions({ user: u, show }: Show & { user: User }) {
  const lacks = (action: "update" | "delete") => (may(action, "users") ? "" : WORDS.noRight(`${action} users`));
  const mine = isMe(u) ? "Not your own: see Account." : "";
  const reset = async () => {
    const body = "The old one stops working and all sessions end. A temporary password is shown once.";
    if (!(await confirm({ title: `Reset the password of ${u.username}?`, verb: "Reset password", body }))) return;
    await attempt(async () => {
      const { tempPassword } = await post(`/api/v1/users/${u.id}/password`);
      show(temporary(u.username, tempPassword ?? ""));
    }, "");
  };
  const logOut = async () => {
    const body = "Browsers and programs have to sign in again. Workloads go on.";
    if (await confirm({ title: `Sign ${u.username} out everywhere?`, verb: "End all sessions", body }))
      await attempt(() => post(`/api/v1/users/${u.id}/logout`), `${u.username} is signed out everywhere.`);
  };
  const resetFactor = async () => {
    const body = "For who has lost the app and the recovery codes. The password is enough again, and all sessions end.";
    if (await confirm({ title: `Take the second factor of ${u.username} away?`, verb: "Reset second factor", body }))
      await attempt(() => del(`/api/v1/users/${u.id}/second-factor`), `${u.username} has no second factor now.`);
  };
  const drop = async () => {
    const body = "Its access rules and sessions go with it. Workloads and projects stay.";
    if (!(await confirm({ title: `Delete ${u.username}?`, verb: "Delete user", body }))) return;
    await attempt(async () => {
      await del(`/api/v1/users/${u.id}`);
      closePane();
    }, `Deleted ${u.username}.`);
  };
  const local = u.isLocal ? "" : "The identity provider keeps this password.",
    none = u.hasSecondFactor ? "" : "It has no second factor.";
  return (
    <>
      <Button small icon="lock" writes why={lacks("update") || mine || local} onClick={reset}>
        Reset password
      </Button>
      <Button small icon="key" writes why={lacks("update") || mine || local || none} onClick={resetFactor}>
        Reset second factor
      </Button>
      <Button small icon="out" writes why={lacks("update")} onClick={logOut}>
        Sign out
      </Button>
      <Button small icon="trash" writes why={lacks("delete") || mine} onClick={drop}>
        Delete
      </Button>
    </>
  );
}
