// Where one is signed in: each session of one's own, and its end.
import { del, get } from "../api";
import { useData } from "../data";
import { Icon, type IconName } from "../icons";
import { Button } from "../parts/button";
import { confirm } from "../parts/dialog";
import { Loaded } from "../parts/states";
import { toast, toastError } from "../parts/toast";
import { When } from "../parts/when";
import { clientName } from "../pictures/client_name";
import type { Answer } from "../types";

const PATH = "/api/v1/me/sessions";
type Entry = Answer<typeof PATH>["sessions"][number];

const KINDS: Record<Entry["kind"], [name: string, icon: IconName]> = {
  browser: ["Browser", "person"],
  token: ["Token", "bot"],
  "access-key": ["Access key", "key"],
  socket: ["Socket of this machine", "node"],
};

const nameOf = (s: Entry) => {
  const [kind] = KINDS[s.kind];
  const what = s.accessKey ?? clientName(s.userAgent);
  return what ? `${kind}, ${what}` : kind;
};

/** The section of one's account. */
export function Sessions() {
  const list = useData("me/sessions", async abort => (await get(PATH, {}, { signal: abort })).sessions);
  const end = async (path: typeof PATH | `${typeof PATH}/${string}`, said: string) => {
    try {
      await del(path);
      toast(said);
    } catch (error) {
      toastError(error);
    }
    list.reload();
  };
  const endOne = (s: Entry) => end(`${PATH}/${s.id}`, `Ended: ${nameOf(s)}.`);
  const endOthers = async () => {
    const body = "This session goes on. Programs that use a token have to sign in again.";
    if (await confirm({ title: "End all other sessions?", verb: "End all others", body }))
      await end(PATH, "All other sessions have ended.");
  };
  const alone = list.data && list.data.every(s => s.current) ? "There is no other session." : "";
  return (
    <section class="sheet" aria-labelledby="h-sessions">
      <header>
        <h2 id="h-sessions">Sessions</h2>
        <span class="grow" />
        <Button small icon="out" writes why={alone} onClick={endOthers}>
          End all others
        </Button>
      </header>
      <div class="body">
        <Loaded of={list} what="Your sessions">
          {sessions => (
            <ul class="rules">
              {sessions.map(s => (
                <Row key={s.id} item={s} end={() => endOne(s)} />
              ))}
            </ul>
          )}
        </Loaded>
      </div>
    </section>
  );
}

const Since = ({ said, at }: { said: string; at: string | null }) =>
  at && (
    <>
      , {said} <When at={at} />
    </>
  );

function Row({ item: s, end }: { item: Entry; end: () => void }) {
  return (
    <li>
      <Icon name={KINDS[s.kind][1]} />
      <span>
        <b class="strong" data-tip={s.userAgent || undefined}>
          {nameOf(s)}
        </b>{" "}
        {s.current && <span class="soft">this one</span>}
        <span class="small soft line">
          From {s.address || "this machine"}
          <Since said="began" at={s.createdAt} />
          <Since said="last used" at={s.lastUsedAt} />
        </span>
      </span>
      {!s.current && (
        <Button small kind="quiet" icon="out" writes label={`End the session ${nameOf(s)}`} onClick={end} />
      )}
    </li>
  );
}
