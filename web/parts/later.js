// A part in a chunk of its own, loaded when it is first shown: <${Later} load=${load} what="The form" …its own props />
import { ask, chunk } from "../chunks.js";
import { html } from "../html.js";
import { Fault, Loading } from "./states.js";

// load: () => import(…), a constant; its default export is the part. wait: what stands there meanwhile.
export function Later({ load, what, wait = html`<${Loading} />`, ...props }) {
  const { module, error } = chunk(load).value;
  if (module) return html`<${module.default} ...${props} />`;
  return error ? html`<${Fault} error=${error} what=${what} retry=${() => ask(load)} />` : wait;
}
