// The dialog of a notification channel: set up, tried before it is saved, changed.
import { useState } from "preact/hooks";
import { ApiError, getList, write } from "../api";
import { now } from "../clock";
import { useData } from "../data";
import { time } from "../format";
import { Button } from "../parts/button";
import { Dialog } from "../parts/dialog";
import { type FieldFacts, Problem, TextField, useForm } from "../parts/form";
import { Entry } from "../parts/entry";
import { Loaded } from "../parts/states";
import { toast } from "../parts/toast";
import { type Spec, type Values, checkAsset, fieldsNow, specOf, valuesOf } from "../pictures/asset_form";
import { CHANNEL_KINDS } from "../pictures/channels";

interface Known {
  config?: Spec;
  hasSecrets?: boolean;
  lastError?: string;
  lastErrorAt?: string | null;
  pausedUntil?: string | null;
}
interface ChannelProps {
  type: string;
  /** Of one that is there. */
  name?: string;
  close: (changed: boolean) => void;
}

/** The form, once what is set is known. */
export function ChannelDialog(props: ChannelProps) {
  const { type, name, close } = props;
  const { label, path } = CHANNEL_KINDS.find(k => k.id === type)!;
  const old = useData(`channel/${name ?? ""}`, async abort =>
    name ? ((await getList(`${path}/${name}`, {}, { signal: abort })) as Known) : ({} as Known),
  );
  return (
    <Dialog labelledby="channel-title" class="roomy" onClose={() => close(false)}>
      <h2 id="channel-title">{name ? `${label}: ${name}` : label}</h2>
      <Loaded of={old} what="The channel" rows={5} height={44}>
        {known => <Form {...props} known={known} />}
      </Loaded>
    </Dialog>
  );
}

function useChannelForm({ type, name, close, known }: ChannelProps & { known: Known }) {
  const kind = CHANNEL_KINDS.find(k => k.id === type)!;
  const isNamed = type === "webhook" && !name;
  const before = known.config ?? {};
  const bodyOf = (v: Values) => ({
    type,
    ...(type === "webhook" ? { name: String(v.name) } : {}),
    config: specOf(kind, v, before),
  });
  const send = async (v: Values) => {
    await write(name ? "PUT" : "POST", name ? `${kind.path}/${name}` : kind.path, bodyOf(v));
    toast(`Saved ${kind.label}.`);
    close(true);
  };
  const form = useForm<Values>({
    initial: valuesOf(kind, before, { name: name ?? (isNamed ? "" : type), place: "" }),
    check: v => ({ ...checkAsset(kind, v, false), name: isNamed && !v.name ? "A name is needed." : "" }),
    send,
    paths: { name: "name", ...Object.fromEntries(kind.fields.map(f => [`config.${f.path}`, f.path])) },
  });
  return { form, kind, isNamed, bodyOf };
}

function Form(props: ChannelProps & { known: Known }) {
  const { known, close } = props;
  const { form, kind, isNamed, bodyOf } = useChannelForm(props);
  const [tried, setTried] = useState<{ ok: boolean; error: ApiError | null; busy: boolean } | null>(null);
  const test = async () => {
    setTried({ ok: false, error: null, busy: true });
    const error = await write("POST", "/api/v1/validate-notification-channel", bodyOf(form.values)).then(
      () => null,
      cause => cause as ApiError,
    );
    setTried({ ok: !error, error, busy: false });
  };
  return (
    <form onSubmit={form.submit} ref={form.form} novalidate>
      {known.lastError && (
        <p class="soft">
          {known.lastErrorAt && `${time(known.lastErrorAt, now())}: `}
          {known.lastError}
        </p>
      )}
      {known.hasSecrets && <p class="soft">What is secret is set. An empty field leaves it as it is.</p>}
      <div class="fields">
        {isNamed && (
          <TextField
            label="Name"
            {...(form.field("name") as FieldFacts<string>)}
            mono
            maxlength={63}
            hint="Small letters, digits, dashes"
          />
        )}
        {fieldsNow(kind, form.values).map(f => (
          <Entry key={f.path} field={f} facts={form.field(f.path) as never} />
        ))}
      </div>
      <Problem error={form.problem ?? tried?.error ?? null} />
      <div class="acts">
        <span class="muted small pairs" role="status">
          {tried?.ok && "It works."}
        </span>
        <Button onClick={() => close(false)}>Cancel</Button>
        <Button writes busy={tried?.busy} onClick={test}>
          Test
        </Button>
        <Button kind="primary" type="submit" writes busy={form.busy}>
          Save
        </Button>
      </div>
    </form>
  );
}
