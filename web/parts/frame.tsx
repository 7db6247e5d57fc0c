// The frame around every page: skip link, sidebar, tab bar and drawer of a phone, account menu, dialogs, toasts, tip.
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { get } from "../api";
import { useData } from "../data";
import { count } from "../format";
import { Icon, Mark } from "../icons";
import { keys, keysOn, known } from "../keys";
import { allPages, groups, home, isCurrent } from "../nav";
import { keep, setTheme, theme } from "../prefs";
import { go, route } from "../router";
import { newWorkload, session, signOut, takeCounts } from "../session";
import type { Answer, Session } from "../types";
import { WORDS } from "../words";
import { Button } from "./button";
import { Confirms, Dialog } from "./dialog";
import { Find, openFind } from "./find";
import { type Entry, Menu } from "./menu";
import { ChangePassword, SignedOut } from "./sign_in";
import { Patterns } from "./status";
import { Tip } from "./tip";
import { Announcer, Toasts } from "./toast";

export function Frame({ children }: { children: ComponentChildren }) {
  const [help, setHelp] = useState(false);
  useLayoutEffect(
    () =>
      keys({
        "/": { say: "Find anything: every page by its name", run: openFind },
        "?": { say: "These keys", run: () => setHelp(true) },
        ...(newWorkload() ? { n: { say: "New workload", run: () => go(newWorkload()) } } : {}),
        ...Object.fromEntries(
          allPages().flatMap(p => (p.key ? [[`g ${p.key}`, { say: `Go to ${p.label}`, run: () => go(p.href) }]] : [])),
        ),
      }),
    [],
  );
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <div class="app">
        <Side />
        {children}
      </div>
      <TabBar />
      <Find />
      <Confirms />
      <SignedOut />
      {changing.value && <ChangePassword onClose={() => (changing.value = false)} />}
      <Toasts />
      <Announcer />
      <Tip />
      <Patterns />
      {help && <Keys onClose={() => setHelp(false)} />}
    </>
  );
}

const NO_COUNTS: Answer<"/api/v1/overview/counts"> = {};

// The numbers beside the pages; those of what one may not read are absent.
const useCounts = () =>
  useData("counts", abort => takeCounts() ?? get("/api/v1/overview/counts", {}, { signal: abort }), [
    "workload",
    "project",
    "department",
    "node",
    "nodepool",
  ]).data ?? NO_COUNTS;

function Side() {
  const counts = useCounts();
  return (
    <nav class="side" aria-label="Main">
      <a class="brand" href={home()} aria-label="Prorata, to the first page">
        <Mark />
        <span>{WORDS.product}</span>
      </a>
      <div class="pages">
        {groups().map(g => (
          <>
            {g.group && <h2 class="nav-group">{g.group}</h2>}
            {g.pages.map(p => (
              <a
                key={p.href}
                class="nav"
                href={p.href}
                title={p.label}
                aria-current={isCurrent(p, route.value.path) ? "page" : undefined}
              >
                <Icon name={p.icon} />
                <span class="txt">{p.label}</span>
                {p.count && counts[p.count] !== undefined && <span class="count">{count(counts[p.count])}</span>}
              </a>
            ))}
          </>
        ))}
      </div>
      <div class="foot">
        <Account />
      </div>
    </nav>
  );
}

function initials(name: string) {
  return (
    name
      .split("@")[0]
      .split(/[.\-_\s]+/)
      .map(w => w[0] ?? "")
      .join("")
      .slice(0, 2)
      .toUpperCase() || "?"
  );
}

const changing = signal(false); // the dialog that changes the password is open

function accountItems(): (Entry | null)[] {
  const on = keysOn().value;
  const change: Entry = { label: "Change password", icon: "lock", onClick: () => void (changing.value = true) };
  return [
    { label: "Account", icon: "person", href: "/account" },
    ...(session.value.who?.subjectType === "user" && session.value.who.isLocal !== false ? [change] : []),
    {
      label: theme.value === "dark" ? "Light theme" : "Dark theme",
      icon: "sun",
      onClick: () => setTheme(theme.peek() === "dark" ? "light" : "dark"),
    },
    { label: on ? "Switch keys off" : "Switch keys on", icon: "help", onClick: () => keep("keys", !on) },
    { label: "API pages", icon: "rule", href: "/api/docs" },
    { label: "About", icon: "info", href: "/about" },
    null,
    { label: "Sign out", icon: "out", onClick: leave },
  ];
}

async function leave() {
  await signOut();
  go("/sign-in");
}

function Account() {
  const who = session.value.who ?? {};
  const name = who.name ?? "";
  const role = roleWords(who.roles ?? []);
  return (
    <Menu
      class="account"
      kind="quiet"
      align="up"
      items={accountItems()}
      text={
        <>
          <span class="avatar" aria-hidden="true">
            {initials(name)}
          </span>
          <span class="who">
            <span class="strong">{name}</span>
            <span class="muted small" data-tip={role}>
              {role}
            </span>
          </span>
        </>
      }
    />
  );
}

// The widest role, where it is not everywhere, and how many more there are.
const WIDTHS = ["tenant", "cluster", "department", "project"];
function roleWords(roles: NonNullable<Session["roles"]>) {
  const [first, ...more] = [...roles].sort(
    (a, b) =>
      WIDTHS.indexOf(a.scopeType ?? "") - WIDTHS.indexOf(b.scopeType ?? "") || (a.roleId ?? 0) - (b.roleId ?? 0),
  );
  if (!first) return "No role yet";
  return `${first.roleName}${["tenant", "cluster"].includes(first.scopeType ?? "") ? "" : ` of ${first.scopeName}`}${more.length ? `, ${more.length} more` : ""}`;
}

const TABS = ["/", "/workloads", "/projects", "/nodes"];

function TabBar() {
  const [more, setMore] = useState(false);
  const path = route.value.path;
  const pages = allPages();
  useEffect(() => setMore(false), [path]);
  return (
    <>
      <nav class="tabbar" aria-label="Main, small screen">
        {pages
          .filter(p => TABS.includes(p.href))
          .map(p => (
            <a key={p.href} href={p.href} aria-current={isCurrent(p, path) ? "page" : undefined}>
              <Icon name={p.icon} />
              {p.label}
            </a>
          ))}
        <button type="button" aria-haspopup="dialog" onClick={() => setMore(true)}>
          <Icon name="more" />
          More
        </button>
      </nav>
      {more && (
        <Dialog class="drawer" label="More pages" onClose={() => setMore(false)}>
          <ul class="menu">
            {pages
              .filter(p => !TABS.includes(p.href))
              .map(p => (
                <li key={p.href}>
                  <a class="btn quiet" href={p.href}>
                    <Icon name={p.icon} />
                    {p.label}
                  </a>
                </li>
              ))}
            {accountItems()
              .filter(i => i !== null)
              .map(i => (
                <li key={i.label}>
                  {i.href ? (
                    <a class="btn quiet" href={i.href}>
                      <Icon name={i.icon ?? ""} />
                      {i.label}
                    </a>
                  ) : (
                    <Button kind="quiet" icon={i.icon} onClick={() => (setMore(false), i.onClick?.())}>
                      {i.label}
                    </Button>
                  )}
                </li>
              ))}
          </ul>
        </Dialog>
      )}
    </>
  );
}

function Keys({ onClose }: { onClose: () => void }) {
  return (
    <Dialog labelledby="keys-title" onClose={onClose}>
      <h2 id="keys-title">Keys</h2>
      <dl class="facts">
        {known().map(([key, say]) => (
          <>
            <dt key={key}>
              {key.split(" ").map(k => (
                <>
                  <kbd>{k}</kbd>{" "}
                </>
              ))}
            </dt>
            <dd>{say}</dd>
          </>
        ))}
        <dt>
          <kbd>Esc</kbd>
        </dt>
        <dd>Close</dd>
      </dl>
      <p class="small muted apart">Keys are off while typing. The account menu switches them off altogether.</p>
      <div class="acts">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}
