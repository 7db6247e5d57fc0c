// A part in a chunk of its own, loaded when it is first shown: <Later load={load} what="The form" {...its own props} />
import { ask, chunk } from "../chunks";
import { Fault, Loading } from "./states";

// load: () => import(…), a constant; its default export is the part. wait: what stands there meanwhile.
export function Later({ load, what, wait = <Loading />, ...props }) {
  const { module, error } = chunk(load).value;
  const Part = module?.default;
  if (Part) return <Part {...props} />;
  return error ? <Fault error={error} what={what} retry={() => ask(load)} /> : wait;
}
