// Access keys: programs of one's own sign in with them and may do what one may do oneself.
import { useState } from "preact/hooks";
import { del, get, post } from "../api";
import { useData } from "../data";
import { Icon } from "../icons";
import { Button } from "../parts/button";
import { confirm } from "../parts/dialog";
import { NewClient, secretOf } from "../parts/new_client";
import { Secret, type Shown } from "../parts/secret";
import { Empty, Loaded } from "../parts/states";
import { toast, toastError } from "../parts/toast";
import { When } from "../parts/when";
import type { Answer } from "../types";

const PATH = "/api/v1/access-keys";
type Key = Answer<typeof PATH>["accessKeys"][number];

/** The section of one's account. */
export function AccessKeys() {
  const [making, setMaking] = useState(false);
  const [shown, setShown] = useState<Shown | null>(null);
  const keys = useData("access-keys", async abort => (await get(PATH, {}, { signal: abort })).accessKeys, ["access"]);
  const done = (secret?: Shown) => {
    setMaking(false);
    if (secret) setShown(secret);
    keys.reload();
  };
  return (
    <section class="sheet" aria-labelledby="h-keys">
      <header>
        <h2 id="h-keys">Access keys</h2>
        <span class="grow" />
        <Button small icon="plus" writes onClick={() => setMaking(true)}>
          New access key
        </Button>
      </header>
      <div class="body">
        <Loaded of={keys} what="Your access keys">
          {list =>
            list.length ? (
              <ul class="rules">
                {list.map(k => (
                  <Row key={k.id} item={k} done={done} />
                ))}
              </ul>
            ) : (
              <Empty>No access keys yet. A program signs in with one and may do what you may do.</Empty>
            )
          }
        </Loaded>
      </div>
      {making && <NewKey done={done} close={() => setMaking(false)} />}
      {shown && <Secret {...shown} onClose={() => setShown(null)} />}
    </section>
  );
}

type Done = (secret?: Shown) => void;

function Row({ item: k, done }: { item: Key; done: Done }) {
  const renew = async () => {
    const body = "The old secret stops working at once. The new one is shown once.";
    if (!(await confirm({ title: `New secret for ${k.name}?`, verb: "Make a new secret", body }))) return;
    try {
      const made = await post(`${PATH}/${k.id}/secret`);
      done(secretOf(k.name, k.clientId, made.clientSecret ?? ""));
    } catch (error) {
      toastError(error);
    }
  };
  const drop = async () => {
    const body = "Programs that use it are signed out at once. What they submitted stays.";
    if (!(await confirm({ title: `Delete ${k.name}?`, verb: "Delete access key", body }))) return;
    try {
      await del(`${PATH}/${k.id}`);
      toast(`Deleted ${k.name}.`);
    } catch (error) {
      toastError(error);
    }
    done();
  };
  const when = k.lastLogin ? (
    <>
      last used <When at={k.lastLogin} />
    </>
  ) : (
    "never used"
  );
  return (
    <li>
      <Icon name="key" />
      <span>
        <b class="strong">{k.name}</b> <span class="soft">{when}</span>
        <span class="mono small muted line">{k.clientId}</span>
      </span>
      <span class="bar tight">
        <Button small kind="quiet" icon="refresh" writes label={`New secret for ${k.name}`} onClick={renew} />
        <Button small kind="quiet" icon="trash" writes label={`Delete ${k.name}`} onClick={drop} />
      </span>
    </li>
  );
}

function NewKey({ done, close }: { done: Done; close: () => void }) {
  const send = async (name: string) => {
    const made = await post(PATH, { name });
    done(secretOf(made.name, made.clientId, made.clientSecret));
  };
  return (
    <NewClient what="access key" note="Its secret is shown next." placeholder="laptop" send={send} close={close} />
  );
}
