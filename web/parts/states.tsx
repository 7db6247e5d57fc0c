// What stands where data should be: nothing yet, not yet, not at all.
import { useEffect, useState } from "preact/hooks";
import { Icon } from "../icons";
import { Button } from "./button";

// One sentence and the next step.
export function Empty({ children, action }) {
  return (
    <div class="empty">
      <p>{children}</p>
      {action}
    </div>
  );
}

// Nothing for 150 ms, then grey lines of the final geometry.
export function Loading({ rows = 3, height = 20, label = "Loading" }) {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 150);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class={"loading" + (late ? " late" : "")} role="status" aria-label={late ? label : undefined}>
      {Array.from({ length: rows }, (_, i) => (
        <svg key={i} class="bone" width="100%" height={height} aria-hidden="true">
          <rect x="0" y={height / 2 - 5} width={[86, 64, 74, 58][i % 4] + "%"} height="10" rx="3" />
        </svg>
      ))}
    </div>
  );
}

// In place of the part that failed: what, what to do, the request to copy.
export function Fault({ error, retry, what = "This part" }) {
  return (
    <div class="fault" role="alert">
      <Icon name="x" tone="bad" />
      <div>
        <p>
          <b class="strong">{what} could not be loaded.</b> {error.message}
        </p>
        {error.details && <p class="small muted mono">{error.details}</p>}
        <div class="bar">
          {retry && (
            <Button small icon="refresh" onClick={retry}>
              Try again
            </Button>
          )}
          {error.request && (
            <Button
              small
              kind="quiet"
              icon="copy"
              onClick={() =>
                navigator.clipboard?.writeText(`${error.request} ${error.status} ${error.message} ${error.details}`)
              }
            >
              Copy the request
            </Button>
          )}
        </div>
      </div>
    </div>
  );
}

// The usual three, then the data: <${Loaded} of=${useData(…)} what="Projects">${data => …}<//>
export function Loaded({ of, what, rows, height, children }) {
  if (of.error && !of.data) return <Fault error={of.error} retry={of.reload} what={what} />;
  if (of.loading) return <Loading rows={rows} height={height} />;
  return children(of.data);
}
