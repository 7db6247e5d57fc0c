// Starts the dashboard: who is signed in, then the page of the address. Pages other than Overview are chunks of their own,
// loaded when first opened.
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { html } from "./html.js";
import { start } from "./live.js";
import { Frame } from "./parts/frame.js";
import { LinkButton } from "./parts/button.js";
import { Page } from "./parts/page.js";
import { SignInPage } from "./parts/sign_in.js";
import { Empty, Fault, Loading } from "./parts/states.js";
import { home, landing } from "./nav.js";
import { go, match, route } from "./router.js";
import { learnSession, session } from "./session.js";
import { WORDS } from "./words.js";

// Path -> how to load the module whose default export is the page. The server answers index.html for these paths alone.
const ROUTES = {
  "/": () => import("./pages/overview.js"),
  "/workloads": () => import("./pages/workloads.js"),
  "/workloads/new/:kind": () => import("./pages/new_workload.js"),
  "/projects": () => import("./pages/projects.js"),
  "/projects/new": () => import("./pages/edit_project.js"),
  "/projects/:id/edit": () => import("./pages/edit_project.js"),
  "/departments": () => import("./pages/departments.js"),
  "/departments/new": () => import("./pages/edit_department.js"),
  "/departments/:id/edit": () => import("./pages/edit_department.js"),
  "/nodes": () => import("./pages/nodes.js"),
  "/nodepools": () => import("./pages/nodepools.js"),
  "/nodepools/new": () => import("./pages/edit_nodepool.js"),
  "/nodepools/:id/edit": () => import("./pages/edit_nodepool.js"),
};

function NotFound() {
  return html`<${Page} title="Not found"><section class="sheet"><${Empty} action=${html`<${LinkButton} href="/">To the overview<//>`}>${WORDS.notFound}<//></section><//>`;
}

const loaded = new Map();
function Outlet() {
  const { path } = route.value;
  const [, redraw] = useState(0);
  const [load, params] = match(ROUTES, path) ?? [null, {}];
  const known = loaded.get(load);
  useEffect(() => {
    if (!load || known) return;
    load().then(m => loaded.set(load, { View: m.default }), error => loaded.set(load, { error })).then(() => redraw(n => n + 1));
  }, [load]);
  if (!load) return html`<${NotFound} />`;
  if (known?.error) return html`<${Page} title="Not loaded"><${Fault} error=${known.error} what="The page" retry=${() => location.reload()} /><//>`;
  if (!known) return html`<div class="page"><header class="top"></header><main id="main" tabindex="-1"><${Loading} /></main></div>`;
  return html`<${known.View} key=${load} ...${params} />`;
}

// Was the address typed or followed from elsewhere, rather than reloaded?
const isFresh = () => performance.getEntriesByType("navigation")[0]?.type === "navigate";

function App() {
  const { state, error } = session.value;
  const { path, query } = route.value;
  useEffect(() => {
    if (state === "out" && path !== "/sign-in") go("/sign-in?from=" + encodeURIComponent(location.pathname + location.search), { replace: true });
    if (state === "in" && path === "/sign-in") go(landing(query.from), { replace: true });
    else if (state === "in" && path === "/" && home() !== "/" && isFresh()) go(home(), { replace: true });
    if (state === "in") start();
  }, [state]);
  if (state === "unknown") return error ? html`<main id="main" class="sign-page"><div class="sheet"><h1>${WORDS.product}</h1><${Fault} error=${error} what="The session" retry=${learnSession} /></div></main>` : null;
  if (path === "/sign-in" || state === "out") return html`<${SignInPage} />`;
  return html`<${Frame}><${Outlet} /><//>`;
}

render(html`<${App} />`, document.getElementById("app"));
learnSession();
