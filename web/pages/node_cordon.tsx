// A node is closed for what is new, or emptied, by whoever may change nodes.
import { useState } from "preact/hooks";
import { post } from "../api";
import { now } from "../clock";
import { time } from "../format";
import { refreshAll } from "../live";
import { Button } from "../parts/button";
import { confirm } from "../parts/dialog";
import { TextField } from "../parts/form";
import { renewTables } from "../parts/table";
import { toastError } from "../parts/toast";
import { may } from "../session";
import type { Node } from "../types";

const VERBS = ["Cordon", "Drain"] as const;
type Verb = (typeof VERBS)[number];

/** In the head of a node's details. Who closes it gives a reason first. */
export function NodeCordon({ node }: { node: Node }) {
  const [asking, ask] = useState<Verb | null>(null);
  const [busy, setBusy] = useState(false);
  const at = node.prorata?.cordon;
  const path = `/api/v1/nodes/${node.id ?? ""}` as const;
  const send = async (call: () => Promise<unknown>) => {
    setBusy(true);
    try {
      await call();
      ask(null);
    } catch (error) {
      toastError(error);
    }
    setBusy(false);
    refreshAll();
    renewTables();
  };
  const drain = async (reason: string, force: boolean) => {
    const body = force ? "All pods leave, also those that nobody may preempt." : "What may be preempted leaves.";
    if (await confirm({ title: `Drain ${node.name}?`, body, verb: "Drain" }))
      await send(() => post(`${path}/drain`, { reason, force }));
  };
  const act = (reason: string) =>
    asking === "Drain" ? drain(reason, false) : send(() => post(`${path}/cordon`, { reason }));
  const all = { small: true, writes: true, busy };
  if (!may("update", "nodes")) return null;
  if (asking && !at) return <Reason verb={asking} busy={busy} onDone={act} onCancel={() => ask(null)} />;
  return (
    <>
      {at ? (
        <Button {...all} onClick={() => send(() => post(`${path}/uncordon`))}>
          Uncordon
        </Button>
      ) : (
        VERBS.map(verb => (
          <Button key={verb} {...all} onClick={() => ask(verb)}>
            {verb}
          </Button>
        ))
      )}
      {at && !at.force && (
        <Button {...all} onClick={() => drain(at.reason, at.draining)}>
          {at.draining ? "Drain the rest" : "Drain"}
        </Button>
      )}
    </>
  );
}

interface ReasonProps {
  verb: Verb;
  busy: boolean;
  onDone: (reason: string) => Promise<void>;
  onCancel: () => void;
}

function Reason({ verb, busy, onDone, onCancel }: ReasonProps) {
  const [typed, setTyped] = useState("");
  const why = typed.trim() ? "" : "Give a reason first.";
  return (
    <form
      class="f rule"
      onSubmit={e => {
        e.preventDefault();
        if (!why && !busy) void onDone(typed);
      }}
    >
      <TextField
        path="reason"
        label="Reason"
        value={typed}
        onValue={setTyped}
        onBlur={() => {}}
        maxlength={200}
        autofocus
      />
      <Button type="submit" kind="primary" writes busy={busy} why={why}>
        {verb}
      </Button>
      <Button kind="quiet" onClick={onCancel}>
        Cancel
      </Button>
    </form>
  );
}

/** Who closed it, when and why; and what leaves it. */
export function Cordoned({ node }: { node: Node }) {
  const at = node.prorata?.cordon;
  if (!at) return null;
  return (
    <p class="small">
      {`Cordoned by ${at.by}, ${time(at.at, now())}: ${at.reason}. `}
      {at.force ? "Everything leaves it." : at.draining && "What may be preempted leaves it."}
    </p>
  );
}
