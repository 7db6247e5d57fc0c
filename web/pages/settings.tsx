// What holds for everybody: the channels that people are told by, the organisation's switches, sessions.
import { useState } from "preact/hooks";
import { get, remove, write } from "../api";
import { useData } from "../data";
import { Icon } from "../icons";
import { Button } from "../parts/button";
import { confirm } from "../parts/dialog";
import { CheckField, NumberField, Problem, TextField, useForm } from "../parts/form";
import { Page } from "../parts/page";
import { Empty, Loaded } from "../parts/states";
import { toast, toastError } from "../parts/toast";
import { CHANNEL_KINDS } from "../pictures/channels";
import type { Typed } from "../pictures/quota_form";
import { may } from "../session";
import { WORDS } from "../words";
import { ChannelDialog } from "./channel_form";

const CHANNELS = "/api/v1/notification-channels";
const lacks = (action: "create" | "update" | "delete", resource = "settings") =>
  may(action, resource) ? "" : WORDS.noRight(`${action} ${resource}`);

/** Settings of the whole tenant. */
export default function Settings() {
  return (
    <Page title="Settings" action={null}>
      <div class="account-page">
        <Channels />
        <Switches />
        {may("read", "security-settings") && <Security />}
      </div>
    </Page>
  );
}

/** A channel as the list has it. */
export interface Channel {
  name: string;
  type: string;
  enabled?: boolean;
}

function Channels() {
  const found = useData("channels", abort => get(CHANNELS, {}, { signal: abort }), ["notification-channel"]);
  const [open, setOpen] = useState<{ type: string; name?: string } | null>(null);
  const close = (changed: boolean) => {
    setOpen(null);
    if (changed) found.reload();
  };
  const missing = CHANNEL_KINDS.filter(k => k.id === "webhook" || !found.data?.some(c => c.type === k.id));
  return (
    <section class="sheet" aria-labelledby="h-channels">
      <header>
        <h2 id="h-channels">Notification channels</h2>
        <p>People choose theirs in Account.</p>
        <span class="grow" />
        <div class="bar">
          {missing.map(k => (
            <Button key={k.id} small icon="plus" writes why={lacks("create")} onClick={() => setOpen({ type: k.id })}>
              {k.label}
            </Button>
          ))}
        </div>
      </header>
      <div class="body">
        <Loaded of={found} what="The channels">
          {list =>
            list.length ? (
              <ul class="rules">
                {list.map(c => (
                  <ChannelLine key={c.name} channel={c} edit={() => setOpen(c)} changed={found.reload} />
                ))}
              </ul>
            ) : (
              <Empty>No channel is set up, so nobody is told of anything.</Empty>
            )
          }
        </Loaded>
      </div>
      {open && <ChannelDialog {...open} close={close} />}
    </section>
  );
}

interface LineProps {
  channel: Channel;
  edit: () => void;
  changed: () => void;
}

function ChannelLine({ channel: c, edit, changed }: LineProps) {
  const drop = async () => {
    const body = "What waits to be sent by it goes with it. People's choices stay.";
    if (!(await confirm({ title: `Delete the channel ${c.name}?`, verb: "Delete channel", body }))) return;
    await remove(`${CHANNELS}/${c.name}`).then(() => toast(`Deleted ${c.name}.`), toastError);
    changed();
  };
  const label = CHANNEL_KINDS.find(k => k.id === c.type)?.label ?? c.type;
  return (
    <li>
      <Icon name={c.enabled === false ? "stop" : "check"} tone={c.enabled === false ? "off" : "ok"} />
      <span>
        <b class="strong">{c.type === "webhook" ? c.name : label}</b>{" "}
        <span class="soft">
          {[c.type === "webhook" && label, c.enabled === false && "off"].filter(Boolean).join(", ")}
        </span>
      </span>
      <span class="bar tight">
        <Button small icon="edit" why={lacks("update")} onClick={edit}>
          Edit
        </Button>
        <Button
          small
          kind="quiet"
          icon="trash"
          writes
          label={`Delete ${c.name}`}
          why={lacks("delete")}
          onClick={drop}
        />
      </span>
    </li>
  );
}

function Switches() {
  const found = useData("tenant-settings", abort => get("/v1/k8s/setting", {}, { signal: abort }));
  const set = (key: string, label: string) => async (value: boolean) => {
    await write("PUT", "/v1/k8s/setting", { key, value }).then(
      () => toast(`${label}: ${value ? "on" : "off"}.`),
      toastError,
    );
    found.reload();
  };
  return (
    <section class="sheet" aria-labelledby="h-switches">
      <header>
        <h2 id="h-switches">Organisation</h2>
        <p>A switch acts at once.</p>
      </header>
      <div class="body">
        <Loaded of={found} what="The settings" rows={5} height={44}>
          {list => (
            <div class="fields switches">
              {list.map(s => (
                <CheckField
                  key={s.key}
                  path={s.key ?? ""}
                  label={s.label ?? s.key ?? ""}
                  hint={s.description}
                  value={s.value === "true"}
                  lock={lacks("update") || undefined}
                  onValue={set(s.key ?? "", s.label ?? "")}
                />
              ))}
            </div>
          )}
        </Loaded>
      </div>
    </section>
  );
}

function Security() {
  const found = useData("security-settings", abort => get("/api/v1/security/settings", {}, { signal: abort }));
  return (
    <section class="sheet" aria-labelledby="h-security">
      <header>
        <h2 id="h-security">Sessions</h2>
      </header>
      <Loaded of={found} what="The settings" rows={2} height={44}>
        {s => <Sessions idle={s.browserSessionTimeout?.idleTimeout ?? ""} uri={s.logoutRedirectUri?.uri ?? ""} />}
      </Loaded>
    </section>
  );
}

const SECURITY = "/api/v1/security/settings";

function Sessions({ idle, uri }: { idle: Typed; uri: string }) {
  const send = async (v: { idleTimeout: Typed; uri: string }) => {
    await write("PUT", `${SECURITY}/browserSessionTimeout`, { idleTimeout: Number(v.idleTimeout) });
    await write("PUT", `${SECURITY}/logoutRedirectUri`, { uri: v.uri });
    toast("Saved. It holds for sessions that begin now.");
  };
  const form = useForm({
    initial: { idleTimeout: idle, uri },
    check: v => ({ idleTimeout: Number(v.idleTimeout) >= 1 ? "" : "At least 1 minute." }),
    send,
  });
  return (
    <form onSubmit={form.submit} ref={form.form} novalidate>
      <div class="fields padded">
        <NumberField label="Sign out after minutes idle" size="half" min={1} {...form.field("idleTimeout")} />
        <TextField
          label="After signing out go to"
          size="half"
          mono
          {...form.field("uri")}
          placeholder="https://lab.example"
          hint="Empty: the sign-in page"
        />
      </div>
      <Problem error={form.problem} />
      <div class="submit-bar">
        <span class="grow" />
        <Button kind="primary" type="submit" writes busy={form.busy} why={lacks("update", "security-settings")}>
          Save
        </Button>
      </div>
    </form>
  );
}
