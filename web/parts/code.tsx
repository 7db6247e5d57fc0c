// The same without the mouse: one object as command line, curl and JSON, with a button that copies.
import { useState } from "preact/hooks";
import { shown } from "../pictures/ansi";
import { Button, Seg } from "./button";
import { toast } from "./toast";

const NAMES = { cli: "CLI", curl: "curl", json: "JSON" };
type Form = keyof typeof NAMES;

// forms: {cli: text, curl: text, json: text}; in this order; those that are absent are left out.
export function Code({
  title = "The same without the mouse",
  forms,
  names = NAMES,
}: {
  title?: string;
  forms: Partial<Record<Form, string>>;
  names?: Partial<Record<Form, string>>;
}) {
  const word = (form: Form) => names[form] ?? NAMES[form];
  const options = (Object.keys(forms) as Form[]).filter(k => forms[k]).map(k => ({ value: k, label: word(k) }));
  const [wanted, setForm] = useState(options[0]?.value);
  const form = forms[wanted] ? wanted : options[0]?.value;
  const copy = () =>
    navigator.clipboard?.writeText(forms[form] ?? "").then(
      () => toast("Copied."),
      () => toast("The browser doesn't allow copying here.", { tone: "bad" }),
    );
  return (
    <section>
      <div class="bar">
        <h3>{title}</h3>
        <span class="grow" />
        {options.length > 1 && <Seg label="Form of the command" options={options} value={form} onChange={setForm} />}
        <Button small kind="quiet" icon="copy" label="Copy" onClick={copy} />
      </div>
      <pre class="code" tabindex={0} role="region" aria-label={title}>
        {(forms[form] ?? "").split("\n").flatMap((line, i) => [
          i ? "\n" : "",
          <span key={i} class="line">
            {shown(line)}
          </span>,
        ])}
      </pre>
    </section>
  );
}

// A word for the shell: quoted only where it must be.
export const shell = (text: string) =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${String(text).replaceAll("'", "'\\''")}'`;

export function curl(method: string, path: string, body?: unknown) {
  const lines = [`curl -X ${method} ${location.origin}${path}`, '-H "Authorization: Bearer $TOKEN"'];
  if (body !== undefined)
    lines.push("-H 'Content-Type: application/json'", `-d ${shell(JSON.stringify(body, null, 2))}`);
  return lines.join(" \\\n  ");
}
