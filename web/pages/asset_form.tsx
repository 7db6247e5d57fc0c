// The form of an asset: a new one, a changed one, a copy. Its fields are those of its kind.
import { useEffect, useState } from "preact/hooks";
import { getList, write } from "../api";
import { useData } from "../data";
import { refreshAll } from "../live";
import { Button, LinkButton } from "../parts/button";
import { ChipsField } from "../parts/chips_field";
import { Code, curl } from "../parts/code";
import {
  CheckField,
  type FieldFacts,
  NumberField,
  Problem,
  Section,
  SelectField,
  TextField,
  useForm,
} from "../parts/form";
import { Loaded } from "../parts/states";
import { renewTables } from "../parts/table";
import { toast } from "../parts/toast";
import type { Scope } from "../pictures/access";
import { type Values, checkAsset, fieldsNow, pathsOf, refWord, specOf, valuesOf } from "../pictures/asset_form";
import { ASSET_PAGES, type AssetKind, type AssetPage, type Field } from "../pictures/asset_kinds";
import type { Typed } from "../pictures/quota_form";
import { go, hrefWith } from "../router";
import { may } from "../session";
import type { Asset } from "./assets";
import { metaOf, scopeIdOf, scopeOf, usePlaces } from "./places_of";

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
    { isNew, verb } = form;
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
        <Problem error={form.problem} />
        <div class="submit-bar">
          <span class="grow" />
          <LinkButton href={hrefWith({ new: null, edit: null, copy: null, open: from?.id })}>Cancel</LinkButton>
          <Button kind="primary" type="submit" writes busy={form.busy}>
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

interface EntryProps<T> {
  field: Field;
  facts: FieldFacts<T>;
}

// The control of one field.
export function Entry({ field: f, facts }: EntryProps<never>) {
  const { label, size, hint } = f;
  const as = <T,>() => facts as unknown as FieldFacts<T>;
  if (f.from) return <FromAssets field={f} facts={facts} />;
  if (f.options) return <SelectField label={label} size={size} hint={hint} {...as<string>()} options={f.options} />;
  if (f.as === "check") return <CheckField label={label} size={size} hint={hint} {...as<boolean>()} />;
  if (f.as === "number") return <NumberField label={label} size={size} hint={hint} {...as<Typed>()} />;
  return (
    <TextField
      label={label}
      size={size}
      hint={hint}
      mono={f.mono}
      rows={f.rows}
      placeholder={f.placeholder}
      type={f.secret && !f.rows && /password|secret|token|webhook/i.test(f.path) ? "password" : "text"}
      {...as<string>()}
    />
  );
}

const LISTS = {
  environment: "environments",
  compute: "compute",
  credentials: "credentials",
  datasource: "data-sources",
};
interface Named {
  meta: { id: string; name: string; kind?: string };
}

interface ChosenProps {
  label: string;
  hint: string | undefined;
  list: Named[];
  facts: FieldFacts<string[]>;
}

function ChosenAssets({ label, hint, list, facts }: ChosenProps) {
  const { value, onValue, ...rest } = facts;
  const refs = Object.fromEntries(list.map(e => [e.meta.name, refWord(e.meta)]));
  const names = Object.fromEntries(Object.entries(refs).map(([name, ref]) => [ref, name]));
  const meant = value.map(name => refs[name] ?? name);
  useEffect(() => {
    if (meant.join() !== value.join()) onValue(meant); // it was typed before the list came
  });
  return (
    <ChipsField
      label={label}
      {...rest}
      value={value.map(ref => names[ref] ?? ref)}
      onValue={said => onValue(said.map(name => refs[name] ?? name))}
      suggestions={Object.keys(refs)}
      placeholder="Name of a data source"
      none={hint}
    />
  );
}

// A choice of other assets.
function FromAssets({ field: f, facts }: EntryProps<never>) {
  const path = ASSET_PAGES[LISTS[f.from!]].list;
  const found = useData(
    path,
    async abort => ((await getList(path, {}, { signal: abort })) as { entries?: Named[] }).entries ?? [],
  );
  const list = found.data ?? [];
  const as = <T,>() => facts as unknown as FieldFacts<T>;
  const hint = found.error ? "You may not read them." : found.data && !list.length ? "There are none yet." : f.hint;
  if (f.as !== "many")
    return (
      <SelectField
        label={f.label}
        size={f.size}
        hint={hint}
        {...as<string>()}
        options={[{ value: "", label: "None" }, ...list.map(e => ({ value: e.meta.id, label: e.meta.name }))]}
      />
    );
  return <ChosenAssets label={f.label} hint={hint} list={list} facts={as<string[]>()} />;
}
