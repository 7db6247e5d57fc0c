// Which programs sign in by themselves, and what may each of them do?
import { useState } from "preact/hooks";
import { del, get, patch, post } from "../api";
import { now } from "../clock";
import { useData } from "../data";
import { NONE, time } from "../format";
import { Icon } from "../icons";
import { Button } from "../parts/button";
import { confirm } from "../parts/dialog";
import { NewClient, secretOf } from "../parts/new_client";
import { Page, Primary } from "../parts/page";
import { Facts, Pane, Split, closePane } from "../parts/pane";
import { Secret, type Shown } from "../parts/secret";
import { Fault, Loading } from "../parts/states";
import { State } from "../parts/status";
import { type Column, Table, openHref, renewTables } from "../parts/table";
import { toast, toastError } from "../parts/toast";
import { When, whenColumn } from "../parts/when";
import { hrefWith, route, setQuery } from "../router";
import { may, missing } from "../session";
import type { AccessRule, ServiceAccount } from "../types";
import { WORDS } from "../words";
import { RulesOf, rulesInBrief, useRulesOfRows } from "./rules_of";

const PATH = "/api/v1/service-accounts",
  KINDS = ["access"];
const phaseOf = (a: ServiceAccount) => (a.enabled ? "Enabled" : "Disabled");
const FIRST: Column<ServiceAccount>[] = [
  {
    id: "name",
    label: "Service account",
    sort: "name",
    filter: { field: "name" },
    text: a => a.name,
    cell: a => (
      <>
        <Icon name="bot" />
        <span>{a.name}</span>
      </>
    ),
  },
  {
    id: "status",
    label: "Status",
    keep: true,
    sort: "enabled",
    text: phaseOf,
    cell: a => <State phase={phaseOf(a)} />,
    filter: {
      field: "enabled",
      ops: ["=="],
      values: [
        { value: "true", label: "Enabled" },
        { value: "false", label: "Disabled" },
      ],
    },
  },
];
const LAST: Column<ServiceAccount>[] = [
  {
    id: "login",
    label: "Last sign-in",
    num: true,
    sort: "lastLogin",
    text: a => (a.lastLogin ? time(a.lastLogin, now()) : "never"),
    csv: a => a.lastLogin ?? "",
  },
  {
    id: "client",
    label: "Client id",
    low: true,
    text: a => a.clientId,
    cell: a => <span class="mono small">{a.clientId}</span>,
  },
  { id: "by", label: "Created by", sort: "createdBy", cap: true, low: true, text: a => a.createdBy },
  whenColumn("created", "Created", a => a.createdAt, { low: true, sort: "createdAt" }),
  whenColumn("updated", "Last updated", a => a.updatedAt, { hidden: true, sort: "updatedAt" }),
];

function columnsOf(rules: (account: ServiceAccount) => AccessRule[] | null): Column<ServiceAccount>[] {
  const text = (a: ServiceAccount) => {
    const list = rules(a);
    return list ? rulesInBrief(list) : NONE;
  };
  const ofRules: Column<ServiceAccount> = {
    id: "rules",
    label: "Access rules",
    cap: true,
    text,
    cell: a => <span class="brief">{text(a)}</span>,
  };
  return [...FIRST, ...(may("read", "access_rules") ? [ofRules] : []), ...LAST];
}

/** Service accounts, with the rules of those in view. */
export default function ServiceAccounts() {
  const { open: id, new: making } = route.value.query;
  const [shown, setShown] = useState<Shown | null>(null);
  const rules = useRulesOfRows<ServiceAccount>(a => a.clientId);
  const action = (
    <Primary
      href={hrefWith({ new: "1" })}
      icon="plus"
      label="New service account"
      why={missing("create", "service-account")}
    />
  );
  return (
    <Page title="Service accounts" action={action}>
      <Split label="Service accounts" pane={id && <Details key={id} id={id} show={setShown} />}>
        <Table
          name="service-accounts"
          caption="Service accounts"
          source={{ path: PATH, key: null, local: true }}
          kinds={KINDS}
          columns={columnsOf(rules.of)}
          sort="name"
          hrefOf={a => openHref(a.id)}
          onRows={rules.onRows}
          sub={a => <span class="cut">{rules.of(a) ? rulesInBrief(rules.of(a)!) : a.clientId}</span>}
          empty="No service accounts yet. A program, as a pipeline, signs in with one."
        />
      </Split>
      {making && <NewAccount show={setShown} close={() => setQuery({ new: null })} />}
      {shown && <Secret {...shown} onClose={() => setShown(null)} />}
    </Page>
  );
}

interface Show {
  show: (shown: Shown) => void;
}

function NewAccount({ show, close }: Show & { close: () => void }) {
  const send = async (name: string) => {
    const made = await post(PATH, { name });
    renewTables();
    await setQuery({ new: null, open: made.id });
    show(secretOf(made.name, made.clientId ?? "", made.clientSecret));
  };
  const note = "Its secret is shown next. Roles are given after that.";
  const why = missing("create", "service-account");
  return <NewClient what="service account" note={note} placeholder="ci-pipeline" send={send} close={close} why={why} />;
}

function Details({ id, show }: Show & { id: string }) {
  const found = useData(`service-account/${id}`, abort => get(`${PATH}/${id}`, {}, { signal: abort }), KINDS);
  const a = found.data;
  if (!a)
    return (
      <Pane id={id} title="Service account">
        {found.error ? (
          <Fault error={found.error} retry={found.reload} what="The service account" />
        ) : (
          <Loading rows={6} />
        )}
      </Pane>
    );
  return (
    <Pane
      id={id}
      title={a.name}
      status={<State phase={phaseOf(a)} pill />}
      actions={<Actions account={a} show={show} changed={found.reload} />}
    >
      {may("read", "access_rules") && <RulesOf id={a.clientId} name={a.name} />}
      <section>
        <h3>Facts</h3>
        <Facts
          rows={[
            ["Client id", <span class="mono">{a.clientId}</span>],
            ["Last sign-in", a.lastLogin ? <When at={a.lastLogin} /> : "never"],
            ["Created by", a.createdBy],
            ["Created", <When at={a.createdAt} />],
            ["Last updated", <When at={a.updatedAt} />],
            ["Id", <span class="mono">{a.id}</span>],
          ]}
        />
      </section>
    </Pane>
  );
}

interface ActionsProps extends Show {
  account: ServiceAccount;
  changed: () => void;
}

function Actions({ account: a, show, changed }: ActionsProps) {
  const lacks = (action: "update" | "delete") =>
    may(action, "service-account") ? "" : WORDS.noRight(`${action} service-account`);
  const attempt = async (work: () => Promise<unknown>) => {
    try {
      await work();
      changed();
    } catch (error) {
      toastError(error);
    }
    renewTables();
  };
  const renew = async () => {
    const body =
      "The old secret stops working at once, and programs that use it are signed out. The new one is shown once.";
    if (!(await confirm({ title: `New secret for ${a.name}?`, verb: "Make a new secret", body }))) return;
    await attempt(async () => {
      const { clientSecret } = await post(`${PATH}/${a.id}/secret`);
      show(secretOf(a.name, a.clientId, clientSecret ?? ""));
    });
  };
  const toggle = () =>
    attempt(async () => {
      await patch(`${PATH}/${a.id}`, { enabled: !a.enabled });
      toast(a.enabled ? `${a.name} is disabled; it is signed out.` : `${a.name} is enabled.`);
    });
  const drop = async () => {
    const body = "Its access rules and sessions go with it. Workloads that it submitted stay.";
    if (!(await confirm({ title: `Delete ${a.name}?`, verb: "Delete service account", body }))) return;
    await attempt(async () => {
      await del(`${PATH}/${a.id}`);
      closePane();
      toast(`Deleted ${a.name}.`);
    });
  };
  return (
    <>
      <Button small icon="key" writes why={lacks("update")} onClick={renew}>
        New secret
      </Button>
      <Button small icon={a.enabled ? "stop" : "check"} writes why={lacks("update")} onClick={toggle}>
        {a.enabled ? "Disable" : "Enable"}
      </Button>
      <Button small icon="trash" writes why={lacks("delete")} onClick={drop}>
        Delete
      </Button>
    </>
  );
}
