// The button of projects and departments that shows what holds there; its dialog is a chunk of its own.
import { useState } from "preact/hooks";
import { Button } from "../parts/button";
import { Dialog } from "../parts/dialog";
import { Later } from "../parts/later";
import { Loading } from "../parts/states";
import { may } from "../session";
import type { Placed } from "../parts/place_words";

const load = () => import("./seldom").then(m => ({ default: m.PolicyOf }));

/** Absent for who may not read policies. */
export function PolicyButton({ name, place }: { name: string; place: Placed }) {
  const [open, setOpen] = useState(false);
  const onClose = () => setOpen(false);
  const wait = (
    <Dialog label="Policy" class="wide" onClose={onClose}>
      <Loading rows={6} height={32} />
    </Dialog>
  );
  if (!may("read", "policies")) return null;
  return (
    <>
      <Button small icon="rule" onClick={() => setOpen(true)}>
        View policy
      </Button>
      {open && <Later load={load} what="The policy" wait={wait} name={name} place={place} onClose={onClose} />}
    </>
  );
}
