// A part in a chunk of its own, loaded when it is first shown: <Later load={load} what="The form" {...its own props} />
import type { ComponentChildren, ComponentType } from "preact";
import { ask, chunk } from "../chunks";
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
