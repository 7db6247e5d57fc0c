// A part in a chunk of its own, loaded when it is first shown: <Later load={load} what="The form" {...its own props} />
import type { ComponentChildren, ComponentType } from "preact";
import { ask, chunk } from "../chunks";
import { Page } from "./page";
import { Fault, Loading } from "./states";

interface LaterProps<P> {
  load: () => Promise<{ default: ComponentType<P> }>;
  what: string;
  wait?: ComponentChildren;
}

// load: () => import(…), a constant; its default export is the part. wait: what stands there meanwhile.
export function Later<P extends object>({ load, what, wait = <Loading />, ...props }: LaterProps<P> & P) {
  const { module, error } = chunk(load).value;
  const Part = module?.default;
  if (Part) return <Part {...(props as unknown as P)} />;
  return error ? <Fault error={error} what={what} retry={() => ask(load)} /> : wait;
}

/** A page in a chunk of its own: its frame and title stand at once. */
export const laterPage =
  <P extends object>(title: string, load: () => Promise<{ default: ComponentType<P> }>) =>
  (props: P) => {
    const frame = (content: ComponentChildren) => (
      <Page title={title} action={null}>
        <section class="sheet">{content}</section>
      </Page>
    );
    const { error } = chunk(load).value;
    if (error) return frame(<Fault error={error} what="The page" retry={() => ask(load)} />);
    return <Later load={load} what={title} wait={frame(<Loading rows={8} height={40} />)} {...props} />;
  };
