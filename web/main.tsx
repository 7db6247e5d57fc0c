// Starts the dashboard: who is signed in, then the page of the address.
import { type ComponentType, render } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { ask, chunk, renew, renewed } from "./chunks";
import { start } from "./live";
import { Frame } from "./parts/frame";
import { Button, LinkButton } from "./parts/button";
import { openFind } from "./parts/find";
import { Page } from "./parts/page";
import { ChoosePasswordPage, SignInPage } from "./parts/sign_in";
import { Empty, Fault, Loading } from "./parts/states";
import { allPages, home, landing } from "./nav";
import { go, match, route } from "./router";
import { learnSession, session } from "./session";
import { WORDS } from "./words";

const loadPages = () => import("./routes");

function NotFound() {
  const links = (
    <div class="bar">
      {allPages().map(
        p =>
          p.key && (
            <LinkButton key={p.href} icon={p.icon} href={p.href}>
              {p.label}
            </LinkButton>
          ),
      )}
      <Button icon="find" onClick={openFind}>
        Find anything
      </Button>
    </div>
  );
  return (
    <Page title="Not found">
      <section class="sheet">
        <Empty action={links}>{WORDS.notFound(route.value.path)}</Empty>
      </section>
    </Page>
  );
}

function Outlet() {
  const { module, error } = chunk(loadPages).value;
  const { path } = route.value;
  const [page, params, pattern] = (module && match(module.ROUTES, path)) ?? [];
  const View = page as ComponentType<Record<string, string>> | undefined;
  const before = useRef(path);
  useEffect(() => {
    // on the way to another page nothing typed is lost
    if (renewed.value && (error || before.current !== path)) renew();
    before.current = path;
  }, [path, error]);
  if (error)
    return (
      <Page title="Not loaded">
        <Fault error={error} what="The page" retry={() => ask(loadPages)} />
      </Page>
    );
  if (!module)
    return (
      <div class="page">
        <header class="top" />
        <main id="main" tabindex={-1}>
          <Loading />
        </main>
      </div>
    );
  return View && params ? <View {...params} key={pattern ?? ""} /> : <NotFound />;
}

// Was the address typed or followed from elsewhere, rather than reloaded?
const isFresh = () =>
  (performance.getEntriesByType("navigation")[0] as PerformanceNavigationTiming | undefined)?.type === "navigate";

function App() {
  const { state, error, who } = session.value;
  const { path, query } = route.value;
  const closed = state === "in" && Boolean(who?.mustChangePassword);
  const framed = useRef(false);
  useEffect(() => {
    if (state === "out" && location.pathname !== "/sign-in")
      // who signed out is there before this effect runs
      go("/sign-in?from=" + encodeURIComponent(location.pathname + location.search), { replace: true });
    if (state === "in" && path === "/sign-in") go(landing(query.from), { replace: true });
    else if (state === "in" && path === "/" && home() !== "/" && isFresh()) go(home(), { replace: true });
    if (state === "in" && !closed) start();
    framed.current = state === "in" && (framed.current || !closed);
  }, [state, closed]);
  if (state === "unknown")
    return error ? (
      <main id="main" class="sign-page">
        <div class="sheet">
          <h1>{WORDS.product}</h1>
          <Fault error={error} what="The session" retry={learnSession} />
        </div>
      </main>
    ) : null;
  if (path === "/sign-in" || state === "out") return <SignInPage />;
  if (closed && !framed.current) return <ChoosePasswordPage />; // else asked over the page, which keeps what was typed
  return (
    <Frame>
      <Outlet />
    </Frame>
  );
}

render(<App />, document.getElementById("app")!);
learnSession();
