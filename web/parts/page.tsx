// A page: header with title, scope, live state, find, theme and one primary action; then main. Pages differ in what they
// put into `tools` (beside the title), `actions` (at the right) and the children.
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { connection } from "../api";
import { renewed } from "../chunks";
import { second } from "../clock";
import { clock } from "../format";
import { Icon, type IconName } from "../icons";
import { stream } from "../live";
import { setTheme, theme } from "../prefs";
import { newWorkload } from "../session";
import { WORDS } from "../words";
import { Button } from "./button";
import { openFind } from "./find";
import { ScopeButton } from "./scope";

interface PageProps {
  title: string;
  /** Has the page a scope? */
  scoped?: boolean;
  /** Beside the title. */
  tools?: ComponentChildren;
  /** The one primary action, at the right. */
  action?: ComponentChildren;
  children: ComponentChildren;
}

export function Page({ title, scoped, tools, action = <NewWorkload />, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} – ${WORDS.product}`;
  }, [title]);
  const stale = connection.value.lost && second.value - connection.value.seen > 30000;
  return (
    <div class="page">
      <header class="top">
        <h1>{title}</h1>
        {scoped && <ScopeButton />}
        {tools}
        <span class="grow" />
        {renewed.value && (
          <Button
            small
            icon="refresh"
            label="Load the new version"
            data-tip={WORDS.renewed}
            onClick={() => location.reload()}
          >
            <span class="hide-s">New version</span>
          </Button>
        )}
        <Live />
        <button class="find" type="button" aria-label="Find anything" onClick={openFind}>
          <Icon name="find" />
          <span>Find anything</span>
          <kbd aria-hidden="true">/</kbd>
        </button>
        <Button
          kind="quiet"
          icon="sun"
          label={theme.value === "dark" ? "Light theme" : "Dark theme"}
          onClick={() => setTheme(theme.peek() === "dark" ? "light" : "dark")}
        />
        {action}
      </header>
      <main id="main" tabindex={-1} class={stale ? "stale" : undefined}>
        {children}
      </main>
    </div>
  );
}

function NewWorkload() {
  const href = newWorkload(),
    all = WORDS.noRight("create workloads");
  return <Primary href={href} icon="plus" label="New workload" why={href ? "" : all} />;
}

interface PrimaryProps {
  href: string;
  icon: IconName;
  label: string;
  /** The reason why it can't be used. */
  why?: string;
}

/** The one primary action of a page; on a phone only its icon is left. */
export function Primary({ href, icon, label, why }: PrimaryProps) {
  if (why)
    return (
      <Button kind="primary" icon={icon} label={label} why={why}>
        <span class="hide-s">{label}</span>
      </Button>
    );
  return (
    <a class="btn primary" href={href} aria-label={label}>
      <Icon name={icon} />
      <span class="hide-s">{label}</span>
    </a>
  );
}

function Live() {
  const { lost, seen } = connection.value;
  const state = lost ? "lost" : stream.value === "live" ? "ok" : "poll";
  const words = { lost: WORDS.reconnecting(clock(seen, true)), ok: WORDS.live, poll: "Every 5 s" }[state];
  return (
    <span
      class={"live " + state}
      role="status"
      aria-live={lost ? "assertive" : "off"}
      data-tip={state === "poll" ? WORDS.polling : undefined}
    >
      <i aria-hidden="true" />
      <span class="txt">{words}</span>
    </span>
  );
}
