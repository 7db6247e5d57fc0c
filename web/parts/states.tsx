// What stands where data should be: nothing yet, not yet, not at all.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ApiError } from "../api";
import type { Data } from "../data";
import { Icon } from "../icons";
import { Button } from "./button";

// One sentence and the next step.
export function Empty({ children, action }: { children: ComponentChildren; action?: ComponentChildren }) {
  return (
    <div class="empty">
      <p>{children}</p>
      {action}
    </div>
  );
}

// Nothing for 150 ms, then grey lines of the final geometry.
export function Loading({
  rows = 3,
  height = 20,
  label = "Loading",
}: {
  rows?: number;
  height?: number;
  label?: string;
}) {
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
export function Fault({
  error: cause,
  retry,
  what = "This part",
}: {
  error: Error;
  retry?: () => void;
  what?: string;
}) {
  const error: Error & Partial<ApiError> = cause;
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

interface LoadedProps<T> {
  of: Data<T>;
  what?: string;
  rows?: number;
  height?: number;
  children: (data: T) => ComponentChildren;
}

/** The usual three, then the data: <Loaded of={useData(…)} what="Projects">{data => …}</Loaded> */
export function Loaded<T>({ of, what, rows, height, children }: LoadedProps<T>) {
  if (of.error && !of.data) return <Fault error={of.error} retry={of.reload} what={what} />;
  if (of.loading) return <Loading rows={rows} height={height} />;
  return <>{children(of.data as T)}</>;
}
