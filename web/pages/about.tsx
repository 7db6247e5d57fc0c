// Which server this is, whether its parts are well, and what it keeps on its disk.
import { useState } from "preact/hooks";
import { get, post } from "../api";
import { now } from "../clock";
import { useData, useEachMinute } from "../data";
import { count, iso, memory, time } from "../format";
import { Icon } from "../icons";
import { Button } from "../parts/button";
import { Page } from "../parts/page";
import { Facts } from "../parts/pane";
import { Loaded } from "../parts/states";
import { toast, toastError } from "../parts/toast";
import type { About as Found } from "../types";

const TONES = { ok: ["check", "ok"], warning: ["info", "warn"], failed: ["x", "bad"] } as const;

const When = ({ at }: { at: string }) => <span title={iso(at)}>{time(at, now())}</span>;

/** The server itself. */
export default function About() {
  const found = useData("about", abort => get("/api/v1/about", {}, { signal: abort }));
  useEachMinute(found);
  return (
    <Page title="About" action={null}>
      <div class="account-page">
        <Loaded of={found} what="The server" rows={6} height={36}>
          {about => (
            <>
              <Server of={about} />
              <Parts of={about} />
              {about.storage && <Kept of={about} changed={found.reload} />}
            </>
          )}
        </Loaded>
      </div>
    </Page>
  );
}

const Server = ({ of }: { of: Found }) => (
  <section class="sheet" aria-labelledby="h-server">
    <header>
      <h2 id="h-server">Prorata {of.version}</h2>
    </header>
    <div class="body">
      <Facts
        rows={[
          ["Backend", of.backend],
          ["Runs since", <When at={of.startedAt} />],
          of.cycles !== undefined && ["Cycles since then", count(of.cycles)],
          of.lastCycleUs !== undefined && ["The last one took", `${Number((of.lastCycleUs / 1000).toPrecision(2))} ms`],
          ["API", <a href="/api/docs">Pages of all operations</a>],
        ]}
      />
    </div>
  </section>
);

const Parts = ({ of }: { of: Found }) => (
  <section class="sheet" aria-labelledby="h-parts">
    <header>
      <h2 id="h-parts">Health</h2>
    </header>
    <div class="body">
      <ul class="rules parts">
        {of.parts.map(({ name, state, problem }) => (
          <li key={name}>
            <Icon name={TONES[state][0]} tone={TONES[state][1]} />
            <span>
              <b class="strong">{name}</b> <span class="soft">{problem ?? "well"}</span>
            </span>
          </li>
        ))}
      </ul>
    </div>
  </section>
);

function Kept({ of, changed }: { of: Found; changed: () => void }) {
  const [busy, setBusy] = useState(false);
  const backUp = async () => {
    setBusy(true);
    await post("/api/v1/admin/backup", { withoutKeys: false }).then(
      b => toast(`Wrote ${b.name}, ${memory(b.sizeBytes)}.`),
      toastError,
    );
    setBusy(false);
    changed();
  };
  const { disk, backups } = of;
  return (
    <section class="sheet" aria-labelledby="h-kept">
      <header>
        <h2 id="h-kept">On the disk</h2>
        <p>{disk && `${memory(disk.freeBytes)} of ${memory(disk.sizeBytes)} are free.`}</p>
        <span class="grow" />
        <Button small icon="save" writes busy={busy} onClick={backUp}>
          Back up now
        </Button>
      </header>
      <div class="body">
        <Facts
          rows={[
            ...(of.storage ?? []).map(({ name, sizeBytes }) => [name, memory(sizeBytes)] as [string, string]),
            backups && ["The newest backup", backups.newestAt ? <When at={backups.newestAt} /> : "none"],
          ]}
        />
        <p class="soft apart">Backups lie on the same disk: copy them elsewhere.</p>
      </div>
    </section>
  );
}
