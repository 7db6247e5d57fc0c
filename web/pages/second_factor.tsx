// The second factor of one's own account: set up with an app, confirmed by its first code, taken away.
import { useEffect, useState } from "preact/hooks";
import { get, post } from "../api";
import { useData } from "../data";
import { plural } from "../format";
import { Button } from "../parts/button";
import { Dialog } from "../parts/dialog";
import { Problem, TextField, useForm } from "../parts/form";
import { Qr } from "../parts/qr";
import { Secret, SecretFacts, type Shown } from "../parts/secret";
import { Loaded } from "../parts/states";
import { toast } from "../parts/toast";
import { When } from "../parts/when";
import type { Answer } from "../types";

const PATH = "/api/v1/me/second-factor";
type Made = Answer<typeof PATH, "post">;

const ONCE = "Each is good once, in place of a code. They are shown this once: keep them where the app is not.";
const codesOf = (codes: string[]): Shown => ({
  title: "Recovery codes",
  note: ONCE,
  facts: [["Recovery codes", codes.join("\n")]],
});

/** The section of one's account; changed() where sessions may have ended. */
export function SecondFactor({ changed }: { changed: () => void }) {
  const state = useData("me/second-factor", abort => get(PATH, {}, { signal: abort }), ["access"]);
  const [open, setOpen] = useState<"" | "on" | "off">("");
  const [shown, setShown] = useState<Shown | null>(null);
  const close = () => setOpen("");
  const done = (codes?: string[]) => {
    close();
    if (codes) setShown(codesOf(codes));
    else toast("The second factor is off. Your other sessions have ended.");
    state.reload();
    changed();
  };
  const enabled = state.data?.enabled;
  return (
    <section class="sheet" aria-labelledby="h-factor">
      <header>
        <h2 id="h-factor">Second factor</h2>
        <span class="grow" />
        {state.data && (
          <Button small icon="lock" writes onClick={() => setOpen(enabled ? "off" : "on")}>
            {enabled ? "Turn off" : "Set up"}
          </Button>
        )}
      </header>
      <div class="body">
        <Loaded of={state} what="Your second factor">
          {factor => <State {...factor} />}
        </Loaded>
      </div>
      {open === "on" && <SetUp done={done} close={close} />}
      {open === "off" && <TurnOff done={() => done()} close={close} />}
      {shown && <Secret {...shown} onClose={() => setShown(null)} />}
    </section>
  );
}

function State({ enabled, enabledAt, recoveryCodes }: Answer<typeof PATH>) {
  if (!enabled) return <p class="soft">Off. With one, your password needs a code of an app on your phone beside it.</p>;
  return (
    <p class="soft">
      On
      {enabledAt && (
        <>
          {" "}
          since <When at={enabledAt} />
        </>
      )}
      . {plural(recoveryCodes, "recovery code")} left.
    </p>
  );
}

type Step = { close: () => void };
const present = (text: string) => (text ? "" : "Missing.");

// The password first; then the secret, until a code of the app confirms it.
function SetUp({ done, close }: Step & { done: (codes: string[]) => void }) {
  const [made, setMade] = useState<Made | null>(null);
  return (
    <Dialog labelledby="factor-title" onClose={close} firm={Boolean(made)}>
      {made ? <Confirm made={made} done={done} close={close} /> : <Begin next={setMade} close={close} />}
    </Dialog>
  );
}

function Begin({ next, close }: Step & { next: (made: Made) => void }) {
  const form = useForm({
    initial: { currentPassword: "" },
    check: v => ({ currentPassword: present(v.currentPassword) }),
    send: async v => next(await post(PATH, v)),
  });
  return (
    <form onSubmit={form.submit} ref={form.form} novalidate>
      <h2 id="factor-title">Set up a second factor</h2>
      <p class="soft">You need an app that makes codes by time. Its secret is shown next.</p>
      <div class="fields">
        <CurrentPassword {...form.field("currentPassword")} />
      </div>
      <Problem error={form.problem} />
      <div class="acts">
        <Button onClick={close}>Cancel</Button>
        <Button kind="primary" type="submit" writes busy={form.busy}>
          Show the secret
        </Button>
      </div>
    </form>
  );
}

type FieldFacts = ReturnType<ReturnType<typeof useForm<{ currentPassword: string }>>["field"]>;
const CurrentPassword = (facts: FieldFacts) => (
  <TextField label="Current password" {...facts} type="password" autocomplete="current-password" autofocus />
);

const SIX = /^[0-9]{6}$/;
const bare = (code: string) => code.replace(/\s/g, "");

function Confirm({ made, done, close }: Step & { made: Made; done: (codes: string[]) => void }) {
  const form = useForm({
    initial: { code: "" },
    check: v => ({ code: SIX.test(bare(v.code)) ? "" : "Six digits, as the app shows them." }),
    send: async v => done((await post(`${PATH}/confirm`, { code: bare(v.code) })).recoveryCodes),
  });
  useEffect(() => form.form.current?.querySelector<HTMLElement>(".in")?.focus(), []); // the dialog is open already
  return (
    <form onSubmit={form.submit} ref={form.form} novalidate>
      <h2 id="factor-title">Add it to the app</h2>
      <p class="soft">Scan the picture, or type the secret. Both are shown this once.</p>
      <div class="factor">
        <Qr text={made.otpauthUri} label="The app's address as a QR code" />
        <SecretFacts
          facts={[
            ["Secret", made.secret],
            ["Address", made.otpauthUri],
          ]}
        />
      </div>
      <div class="fields">
        <TextField
          label="Code of the app"
          hint="With it the second factor is on, and your other sessions end."
          {...form.field("code")}
          mono
          inputmode="decimal"
          autocomplete="one-time-code"
          maxlength={10}
        />
      </div>
      <Problem error={form.problem} />
      <div class="acts">
        <Button onClick={close}>Cancel</Button>
        <Button kind="primary" type="submit" writes busy={form.busy}>
          Turn it on
        </Button>
      </div>
    </form>
  );
}

function TurnOff({ done, close }: Step & { done: () => void }) {
  const form = useForm({
    initial: { currentPassword: "", otp: "" },
    check: v => ({ currentPassword: present(v.currentPassword), otp: present(v.otp.trim()) }),
    send: async v => {
      await post(`${PATH}/disable`, { ...v, otp: v.otp.trim() });
      done();
    },
  });
  return (
    <Dialog labelledby="factor-title" onClose={close}>
      <form onSubmit={form.submit} ref={form.form} novalidate>
        <h2 id="factor-title">Turn off the second factor?</h2>
        <p class="soft">The password is enough again. The recovery codes and your other sessions end.</p>
        <div class="fields">
          <CurrentPassword {...form.field("currentPassword")} />
          <TextField
            label="Code"
            hint="Of the app, or a recovery code."
            {...form.field("otp")}
            mono
            autocomplete="one-time-code"
            maxlength={64}
          />
        </div>
        <Problem error={form.problem} />
        <div class="acts">
          <Button onClick={close}>Cancel</Button>
          <Button kind="primary" type="submit" writes busy={form.busy}>
            Turn it off
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
