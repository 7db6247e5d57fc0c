// The tab Terminal of a workload: a shell in one of its pods. A session lives on while another tab of the pane is shown, and is
// hung up when the pane shows something else.
import { effect, signal } from "@preact/signals";
import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { getAll } from "../api";
import { useData } from "../data";
import { Button } from "../parts/button";
// Not needed; but the build takes the chunk of the small parts in two where not all of them are reached.
import "../parts/dialog";
import "../parts/menu";
import { type Said, type Screen, openScreen, readAloud, readsAloud } from "../parts/screen";
import { Empty, Loaded } from "../parts/states";
import { route } from "../router";
import { session } from "../session";
import type { Pod, Workload } from "../types";

const SHELLS: Record<string, string> = {
  "bash, or sh": "command -v bash >/dev/null 2>&1 && exec bash -i; exec sh -i",
  sh: "exec sh -i",
};
const commandOf = (shell: string) => ["/bin/sh", "-c", `export TERM="$1"; ${SHELLS[shell]}`, "sh", "xterm-256color"];

const shown = signal<Screen | null>(null);
function close() {
  shown.peek()?.close();
  shown.value = null;
}
effect(() => {
  const isHere = session.value.state === "in" && route.value.query.open === shown.peek()?.workloadId;
  if (!isHere) close();
});

// Ctrl+W deletes a word in a shell, and closes the tab of a browser: that asks first.
addEventListener("beforeunload", event => {
  if (shown.peek()?.said.peek().state === "open") event.preventDefault();
});

const leave = () => document.getElementById("pane-panel")?.focus();

function Choice({
  label,
  value,
  set,
  options,
}: {
  label: string;
  value: string;
  set: (v: string) => void;
  options: string[];
}) {
  return (
    <select class="in slim" aria-label={label} value={value} onChange={e => set(e.currentTarget.value)}>
      {options.map(o => (
        <option key={o}>{o}</option>
      ))}
    </select>
  );
}

function ReadsAloud() {
  const is = readsAloud().value;
  return (
    <Button small kind="quiet" aria-pressed={is} onClick={() => readAloud(!is)}>
      Screen reader
    </Button>
  );
}

function endOf({ status, words }: Said) {
  if (status === null) return `The session is over. ${words}`;
  return `The session has ended with exit code ${status}${words ? `: ${words}` : "."}`;
}
const wordsOf = (said: Said, pod: string) =>
  said.state === "ended"
    ? endOf(said)
    : said.trouble || (said.state === "opening" ? "Opening a shell" : `A shell in ${pod}.`);

export default function TerminalTab({ workload: w }: { workload: Workload }) {
  const pods = useData(
    `pods/${w.id}`,
    abort => getAll(`/api/v1/workloads/${w.id}/pods`, "pods", {}, { signal: abort }),
    ["pod", "workload"],
  );
  return (
    <Loaded of={pods} what="Pods">
      {list => <Shells workload={w} pods={list} />}
    </Loaded>
  );
}

// The screen in its place, as large as that.
function useShown(place: RefObject<HTMLDivElement | null>, screen: Screen | null) {
  useLayoutEffect(() => {
    if (!screen) return undefined;
    const at = place.current!;
    if (screen.element.parentNode !== at) at.replaceChildren(screen.element); // else it loses the focus
    const watch = new ResizeObserver(screen.fit);
    watch.observe(at);
    return () => watch.disconnect();
  }, [screen]);
}

function Shells({ workload: w, pods }: { workload: Workload; pods: Pod[] }) {
  const running = pods.filter(p => p.k8sPhase === "Running").map(p => p.name);
  const screen = shown.value?.workloadId === w.id ? shown.value : null;
  const [chosen, setPod] = useState(screen?.pod);
  const [shell, setShell] = useState(Object.keys(SHELLS)[0]);
  const place = useRef<HTMLDivElement>(null);
  const pod = running.find(name => name === chosen) ?? running[0];
  const none = pod ? "" : `A terminal opens in a pod that runs. ${w.name} is ${w.phase}, and none of its pods runs.`;
  const said = screen?.said.value;
  const isOpen = said && said.state !== "ended";

  useShown(place, screen);
  const start = () => {
    close();
    shown.value = openScreen(place.current!, { workloadId: w.id, pod, command: commandOf(shell) }, leave);
    shown.value.focus();
  };
  if (none && !screen) return <Empty>{none}</Empty>;
  return (
    <div class="log-view">
      <div class="bar">
        {running.length > 1 && <Choice label="Pod" value={pod} set={setPod} options={running} />}
        <Choice label="Shell" value={shell} set={setShell} options={Object.keys(SHELLS)} />
        <span class="grow" />
        {isOpen ? (
          <Button small icon="close" onClick={screen!.hangUp}>
            Hang up
          </Button>
        ) : (
          !screen && (
            <Button small icon="play" writes onClick={start}>
              Open a shell
            </Button>
          )
        )}
      </div>
      <div class="term" ref={place} />
      <div class="bar term-foot">
        <span role="status">{said && wordsOf(said, screen!.pod)}</span>
        {said?.state === "ended" && (
          <Button small icon="refresh" why={none} writes onClick={start}>
            Start again
          </Button>
        )}
        <span class="grow" />
        <ReadsAloud />
      </div>
      <p class="small muted" id="term-keys">
        Ctrl+Shift+X leaves the terminal, Ctrl+Shift+C copies what is marked. To close these details ends the session.
      </p>
    </div>
  );
}
