// A policy as YAML or JSON: mistakes on their lines as one types, asked of the server; words completed from the schema.
import { useEffect, useState } from "preact/hooks";
import schemaUrl from "policy-schema";
import { ApiError, fieldErrors, getList, write } from "../api";
import { useData } from "../data";
import { refreshAll } from "../live";
import { Button, LinkButton, Seg } from "../parts/button";
import { Code, curl } from "../parts/code";
import { type FieldFacts, Problem, Section, SelectField, TextField, useForm } from "../parts/form";
import { Page } from "../parts/page";
import { Loaded } from "../parts/states";
import { renewTables } from "../parts/table";
import { TextEditor } from "../parts/text_editor";
import { toast } from "../parts/toast";
import type { Scope } from "../pictures/access";
import { type Mistake, type Schema, mistakesOf, offers, placeAt, readPolicy } from "../pictures/policy_text";
import { writeYaml } from "../pictures/yaml";
import { go, route } from "../router";
import { missing } from "../session";
import { metaOf, usePlaces } from "./places_of";
import { addressed } from "./policies";
import { type Answered, KINDS, pathOf, placeQuery } from "./policy_of";

const PAUSE_MS = 400;
const START = "defaults:\n  \nrules:\n  ";
const FORMS = [
  { value: "yaml", label: "YAML" },
  { value: "json", label: "JSON" },
];

interface Values {
  kind: string;
  place: string;
  name: string;
  text: string;
}
const placeWord = (s: Scope) => `${s.scopeType}/${s.scopeType === "tenant" ? "" : s.scopeId}`;
const asked = (kind: string, place: string) =>
  getList(pathOf(kind), placeQuery(addressed(`${kind}/${place}`).place)).catch(error => {
    if (error instanceof ApiError && error.status === 404) return {};
    throw error;
  }) as Promise<Answered>;

/** The page of the editor: what is edited, or where a new one begins, stands in the address. */
export function EditPolicy() {
  const { query } = route.value,
    at = query.edit ?? query.new ?? "";
  const [kind, ...rest] = at.split("/");
  const places = usePlaces("policies");
  const old = useData(`edit-policy/${at}`, async () =>
    query.edit ? await asked(kind, rest.join("/")) : ({} as Answered),
  );
  return (
    <Page title={query.edit ? "Edit policy" : "New policy"} action={null}>
      <Loaded of={places} what="The form" rows={10} height={40}>
        {list => (
          <Loaded of={old} what="The policy" rows={10} height={40}>
            {policy => <Form places={list} old={policy} kind={kind} place={rest.join("/")} isNew={!query.edit} />}
          </Loaded>
        )}
      </Loaded>
    </Page>
  );
}

interface FormProps {
  places: Scope[];
  old: Answered;
  kind: string;
  place: string;
  isNew: boolean;
}

function bodyOf({ places }: FormProps, v: Values) {
  const { policy } = readPolicy(v.text);
  const place = places.find(s => placeWord(s) === v.place) ?? places[0];
  return { meta: { name: v.name.trim() || "draft", ...(place ? metaOf(place) : { scope: "tenant" }) }, policy };
}

// What is wrong with the text: at once where it can't be read, else what the server says after a pause.
function useMistakes(props: FormProps, v: Values) {
  const read = readPolicy(v.text);
  const question = JSON.stringify([v.kind, bodyOf(props, v)]);
  const [said, setSaid] = useState<{ question: string; mistakes: Mistake[]; other: string }>({
    question: "",
    mistakes: [],
    other: "",
  });
  useEffect(() => {
    if (read.mistakes.length) return undefined;
    const abort = new AbortController();
    const timer = setTimeout(async () => {
      const [kind, body] = JSON.parse(question);
      const outcome = await write("PUT", pathOf(kind), body, {
        query: { validateOnly: true },
        signal: abort.signal,
      }).then(
        () => ({ mistakes: [], other: "" }),
        error => {
          const mistakes = error instanceof ApiError ? mistakesOf(v.text, fieldErrors(error)) : [];
          return { mistakes, other: mistakes.length ? "" : error.message };
        },
      );
      if (!abort.signal.aborted) setSaid({ question, ...outcome });
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [question, v.text]);
  if (read.mistakes.length) return { mistakes: read.mistakes, hint: "" };
  if (said.question !== question) return { mistakes: said.mistakes, hint: "Checking…" };
  return { mistakes: said.mistakes, hint: said.other || "No mistakes. Ctrl and Space shows what can stand here." };
}

function usePolicyForm(props: FormProps) {
  const { places, old, kind, place, isNew } = props;
  const [only, more] = places;
  const initial: Values = {
    kind: KINDS.some(k => k.value === kind) ? kind : KINDS[0].value,
    place: place || (only && !more ? placeWord(only) : ""),
    name: old.meta?.name ?? "",
    text: old.policy ? writeYaml(clean(old.policy)) : START,
  };
  const check = (v: Values) => ({
    name: v.name.trim() ? "" : "A name is needed.",
    place: v.place ? "" : "Choose where it holds.",
    text: readPolicy(v.text).mistakes[0]?.message ?? "",
  });
  const send = async (v: Values) => {
    if (isNew && (await asked(v.kind, v.place)).policy)
      throw new ApiError(409, { message: "There is one for this kind and place already. Edit that one." });
    await write("PUT", pathOf(v.kind), bodyOf(props, v));
    refreshAll();
    renewTables();
    await go(`/policies?open=${v.kind}/${v.place}`);
    toast(`Saved ${v.name}. It holds for what is submitted from now on.`);
  };
  return useForm<Values>({
    initial,
    check,
    send,
    paths: {
      "meta.name": "name",
      "meta.projectId": "place",
      "meta.departmentId": "place",
      "meta.scope": "place",
      policy: "text",
    },
  });
}

// What the server adds to a policy that is read is no part of one that is set.
function clean({ defaults, rules }: Record<string, unknown>) {
  const without = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(without)
      : typeof value === "object" && value !== null
        ? Object.fromEntries(
            Object.entries(value)
              .filter(([key, v]) => key !== "sourceOfRule" && v !== null)
              .map(([key, v]) => [key, without(v)]),
          )
        : value;
  return { ...(defaults ? { defaults: without(defaults) } : {}), ...(rules ? { rules: without(rules) } : {}) };
}

function Form(props: FormProps) {
  const form = usePolicyForm(props),
    { values: v } = form,
    why = missing("update", "policies");
  const { mistakes, hint } = useMistakes(props, v);
  const body = bodyOf(props, v);
  const back = props.isNew ? "/policies" : `/policies?open=${v.kind}/${v.place}`;
  return (
    <div class="form-page">
      <form class="sheet" aria-label="Policy" onSubmit={form.submit} ref={form.form} novalidate>
        <About {...props} form={form} />
        <fieldset class="full">
          <Text v={v} set={text => form.set("text", text)} mistakes={mistakes} hint={hint} />
        </fieldset>
        <Problem error={form.problem} why={why} />
        <div class="submit-bar">
          <span class="grow" />
          <LinkButton href={back}>Cancel</LinkButton>
          <Button
            kind="primary"
            type="submit"
            writes
            busy={form.busy}
            why={why || (mistakes.length ? "Line " + (mistakes[0].line + 1) + " is wrong." : "")}
          >
            Save policy
          </Button>
        </div>
      </form>
      <aside class="sheet pane" aria-label="The same without the mouse">
        <div class="body">
          <Code forms={{ curl: curl("PUT", pathOf(v.kind), body), json: JSON.stringify(body, null, 2) }} />
        </div>
      </aside>
    </div>
  );
}

function About({ places, isNew, form }: FormProps & { form: ReturnType<typeof usePolicyForm> }) {
  const { values: v, field } = form;
  const fixed = isNew ? undefined : "Make another for another place";
  const options = places.map(s => ({ value: placeWord(s), label: s.name }));
  return (
    <Section
      title="Policy"
      help="One for each kind and place. Project before department before all, but for compute and security."
    >
      <SelectField
        label="Holds for"
        size="half"
        {...(field("kind") as FieldFacts<string>)}
        lock={fixed}
        options={KINDS}
      />
      <SelectField
        label="Where"
        size="half"
        {...field("place")}
        lock={fixed}
        options={[
          ...(options.some(o => o.value === v.place) ? [] : [{ value: v.place, label: v.place || "Choose" }]),
          ...options,
        ]}
      />
      <TextField label="Name" {...field("name")} maxlength={100} />
    </Section>
  );
}

// Comes with the first text that is edited; until then, and where it can't be had, no words are offered.
let schema: Schema | undefined;
const loadSchema = async () => {
  schema ??= (await (await fetch(schemaUrl)).json()) as Schema;
};

interface TextProps {
  v: Values;
  set: (text: string) => void;
  mistakes: Mistake[];
  hint: string;
}

function Text({ v, set, mistakes, hint }: TextProps) {
  const isJson = /^\s*[{[]/.test(v.text);
  const { policy } = readPolicy(v.text);
  useEffect(() => void loadSchema().catch(() => {}), []);
  const change = (to: string) =>
    policy && set(to === "json" ? JSON.stringify(policy, null, 2) + "\n" : writeYaml(policy));
  const complete = (text: string, caret: number) => {
    const place = placeAt(text, caret);
    return place && schema
      ? { typed: place.typed.length, offers: offers(schema, v.kind, place) }
      : { typed: 0, offers: [] };
  };
  return (
    <>
      <div class="bar">
        <h2>Defaults and rules</h2>
        <span class="grow" />
        <Seg label="Form of the text" options={FORMS} value={isJson ? "json" : "yaml"} onChange={change} />
      </div>
      <TextEditor label="Text" value={v.text} onValue={set} mistakes={mistakes} hint={hint} complete={complete} />
    </>
  );
}
