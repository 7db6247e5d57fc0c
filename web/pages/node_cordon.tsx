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

export function NodeCordon({ node }: { node: Node }) {
  const [typed, setTyped] = useState("");
  const [busy, setBusy] = useState(false);
  const at = node.prorata?.cordon;
  const path = `/api/v1/nodes/${node.id ?? ""}` as const;
  const send = async (call: () => Promise<unknown>) => {
    setBusy(true);
    try {
      await call();
      setTyped("");
    } catch (error) {
      toastError(error);
    }
    setBusy(false);
    refreshAll();
    renewTables();
  };
  const drain = async (force: boolean) => {
    const reason = typed || at?.reason || "";
    const body = force ? "All pods leave, also those that nobody may preempt." : "What may be preempted leaves.";
    if (await confirm({ title: `Drain ${node.name}?`, body, verb: "Drain" }))
      await send(() => post(`${path}/drain`, { reason, force }));
  };
  const why = at || typed.trim() ? "" : "Give a reason first.";
  const all = { writes: true, busy, why };
  const allowed = may("update", "nodes");
  return (
    <section aria-label="Maintenance">
      {at && (
        <p class="small">
          {`Cordoned by ${at.by}, ${time(at.at, now())}: ${at.reason}. `}
          {at.force ? "Everything leaves it." : at.draining && "What may be preempted leaves it."}
        </p>
      )}
      {allowed && !at && (
        <TextField path="reason" label="Reason" value={typed} onValue={setTyped} onBlur={() => {}} maxlength={200} />
      )}
      {allowed && (
        <p class="acts">
          {at ? (
            <Button {...all} onClick={() => send(() => post(`${path}/uncordon`))}>
              Uncordon
            </Button>
          ) : (
            <Button {...all} onClick={() => send(() => post(`${path}/cordon`, { reason: typed }))}>
              Cordon
            </Button>
          )}
          {!at?.force && (
            <Button {...all} onClick={() => drain(Boolean(at?.draining))}>
              {at?.draining ? "Drain the rest" : "Drain"}
            </Button>
          )}
        </p>
      )}
    </section>
  );
}
