// The form of an asset: a new one, a changed one, a copy. Its fields are those of its kind.
import { useState } from "preact/hooks";
import { write } from "../api";
import { refreshAll } from "../live";
import { Button, LinkButton } from "../parts/button";
import { Code, curl } from "../parts/code";
import { Entry } from "../parts/entry";
import { type FieldFacts, Problem, Section, SelectField, TextField, useForm } from "../parts/form";
import { Loaded } from "../parts/states";
import { renewTables } from "../parts/table";
import { toast } from "../parts/toast";
import type { Scope } from "../pictures/access";
import { type Values, checkAsset, fieldsNow, pathsOf, specOf, valuesOf } from "../pictures/asset_form";
import type { AssetKind, AssetPage } from "../pictures/asset_kinds";
import { go, hrefWith } from "../router";
import { may, missing } from "../session";
import type { Asset } from "./assets";
import { scopeIdOf, scopeOf } from "../parts/place_words";
import { metaOf, usePlaces } from "./places_of";

interface MakeProps {
  page: AssetPage;
  /** What is changed or copied. */
  from?: Asset;
  isCopy?: boolean;
}

/** The form, once its places are known. */
export function AssetForm(props: MakeProps) {
  const { page, from } = props;
  const known = page.kinds.filter(k => may("create", k.right));
  const kinds = known.length ? known : page.kinds;
  const [id, setId] = useState((from?.is ?? kinds[0]).id);
  const kind = page.kinds.find(k => k.id === id)!;
  const places = usePlaces(kind.right);
  return (
    <Loaded of={places} what="The form" rows={8} height={44}>
      {list => <Form key={id} {...props} kind={kind} kinds={kinds} choose={setId} places={list} />}
    </Loaded>
  );
}

interface FormProps extends MakeProps {
  kind: AssetKind;
  kinds: AssetKind[];
  choose: (id: string) => void;
  places: Scope[];
}

const idOf = (s: Scope) => `${s.scopeType}/${s.scopeType === "tenant" ? "" : s.scopeId}`;

// What is sent: templates name their scope by other words, and keep their assets beside the specification.
function bodyOf({ kind, from, isCopy, places }: FormProps, v: Values) {
  const isTemplate = kind.right === "templates";
  const place = places.find(s => idOf(s) === v.place);
  const { assets, ...spec } = specOf(kind, v, from?.spec);
  const isNew = !from || isCopy;
  const where =
    !isNew || !place ? {} : isTemplate ? { scopeType: place.scopeType, scopeId: place.scopeId } : metaOf(place);
  const description = String(v.description).trim();
  const meta = { name: String(v.name).trim(), ...(description ? { description } : {}), ...where };
  return { meta, spec, ...(assets ? { assets } : {}) };
}

function useAssetForm(props: FormProps) {
  const { page, kind, from, isCopy, places } = props;
  const isNew = !from || Boolean(isCopy);
  const [only, more] = places;
  const there = from && `${scopeOf(from)}/${scopeIdOf(from)}`;
  const place = places.some(s => idOf(s) === there) ? there! : only && !more ? idOf(only) : "";
  const initial = valuesOf(kind, from?.spec ?? {}, {
    name: from ? (isCopy ? `${from.name}-copy` : from.name) : "",
    description: from?.description ?? "",
    place,
  });
  const send = async (v: Values) => {
    const body = bodyOf(props, v);
    const made = await write(isNew ? "POST" : "PUT", isNew ? kind.path : `${kind.path}/${from!.id}`, body);
    refreshAll();
    renewTables();
    const id = (made as { meta?: { id?: string } } | null)?.meta?.id ?? from?.id ?? "";
    await go(hrefWith({ new: null, edit: null, copy: null, open: id }));
    toast(isNew ? `Created ${String(v.name)}.` : `Saved ${from!.name}.`);
  };
  const form = useForm<Values>({ initial, check: v => checkAsset(kind, v, isNew), send, paths: pathsOf(kind) });
  return { ...form, isNew, verb: isNew ? `Create ${page.word}` : "Save" };
}

function Form(props: FormProps) {
  const { page, kind, from } = props;
  const form = useAssetForm(props),
    { isNew, verb } = form,
    why = missing(isNew ? "create" : "update", kind.right);
  const body = bodyOf(props, form.values);
  const isKept = !isNew && kind.right === "credentials";
  return (
    <div class="form-page">
      <form class="sheet" aria-label={verb} onSubmit={form.submit} ref={form.form} novalidate>
        <About {...props} form={form} isNew={isNew} isKept={isKept} />
        <Section title="What it holds" help={page.kinds.length > 1 ? kind.label : undefined}>
          {fieldsNow(kind, form.values).map(f => (
            <Entry key={f.path} field={f} facts={form.field(f.path) as never} />
          ))}
        </Section>
        <Problem error={form.problem} why={why} />
        <div class="submit-bar">
          <span class="grow" />
          <LinkButton href={hrefWith({ new: null, edit: null, copy: null, open: from?.id })}>Cancel</LinkButton>
          <Button kind="primary" type="submit" writes busy={form.busy} why={why}>
            {verb}
          </Button>
        </div>
      </form>
      {kind.right !== "credentials" && (
        <aside class="sheet pane" aria-label="The same without the mouse">
          <div class="body">
            <Code
              forms={{
                curl: curl(isNew ? "POST" : "PUT", isNew ? kind.path : `${kind.path}/${from!.id}`, body),
                json: JSON.stringify(body, null, 2),
              }}
            />
          </div>
        </aside>
      )}
    </div>
  );
}

interface AboutProps extends FormProps {
  form: ReturnType<typeof useAssetForm>;
  isNew: boolean;
  /** What is secret stays where its field is empty. */
  isKept: boolean;
}

function About({ page, kind, kinds, choose, from, places, form, isNew, isKept }: AboutProps) {
  const facts = (path: string) => form.field(path) as FieldFacts<string>;
  return (
    <Section
      title={page.word[0].toUpperCase() + page.word.slice(1)}
      help={isKept ? "A secret stays where its field is empty." : undefined}
    >
      {isNew && page.kinds.length > 1 && (
        <SelectField
          label="Kind"
          path="kind"
          value={kind.id}
          size="half"
          onBlur={() => {}}
          onValue={choose}
          lock={from && "A copy stays of its kind"}
          options={kinds.map(k => ({ value: k.id, label: k.label }))}
        />
      )}
      {isNew && (
        <SelectField
          label="Where it holds"
          size={page.kinds.length > 1 ? "half" : ""}
          {...facts("place")}
          hint="For all that is below it too"
          options={[
            ...(places.length === 1 ? [] : [{ value: "", label: "Choose" }]),
            ...places.map(s => ({ value: idOf(s), label: s.name })),
          ]}
        />
      )}
      <TextField label="Name" {...facts("name")} maxlength={100} />
      <TextField label="Description" {...facts("description")} maxlength={250} />
    </Section>
  );
}
