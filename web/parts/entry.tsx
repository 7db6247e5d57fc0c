// The control of one field that a table describes, and choices among assets.
import { useEffect } from "preact/hooks";
import { getList } from "../api";
import { useData } from "../data";
import { refWord } from "../pictures/asset_form";
import { ASSET_PAGES, type Field } from "../pictures/asset_kinds";
import type { Typed } from "../pictures/quota_form";
import { ChipsField } from "./chips_field";
import { CheckField, type FieldFacts, NumberField, SelectField, TextField } from "./form";
import { type Placed, useLabels } from "./place_words";

interface EntryProps<T> {
  field: Field;
  facts: FieldFacts<T>;
}

function typeOf(f: Field) {
  if (f.as === "time") return "datetime-local";
  return f.secret && !f.rows && /password|secret|token|webhook/i.test(f.path) ? "password" : "text";
}

/** The control of one field; a lock or hint of the facts goes above its own. */
export function Entry({ field: f, facts }: EntryProps<never>) {
  const { label, size, hint } = f;
  const as = <T,>() => facts as unknown as FieldFacts<T>;
  if (f.from) return <FromAssets field={f} facts={facts} />;
  if (f.options) return <SelectField label={label} size={size} hint={hint} {...as<string>()} options={f.options} />;
  if (f.as === "check") return <CheckField label={label} size={size} hint={hint} {...as<boolean>()} />;
  if (f.as === "number" || f.as === "percent")
    return <NumberField label={label} size={size} hint={hint} {...as<Typed>()} />;
  return (
    <TextField
      label={label}
      size={size}
      hint={hint}
      mono={f.mono}
      rows={f.rows}
      placeholder={f.placeholder}
      type={typeOf(f)}
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
  meta: Placed & { id: string; name: string; kind?: string };
}

interface ChosenProps {
  label: string;
  hint?: string;
  list: Named[];
  facts: FieldFacts<string[]>;
}

export function ChosenAssets({ label, hint, list, facts }: ChosenProps) {
  const { value, onValue, ...rest } = facts;
  const labelOf = useLabels(list);
  const refs = Object.fromEntries(list.map(e => [labelOf(e), refWord(e.meta)]));
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
  const list = found.data ?? [],
    labelOf = useLabels(list);
  const as = <T,>() => facts as unknown as FieldFacts<T>;
  const hint = found.error ? "You may not read them." : found.data && !list.length ? "There are none yet." : f.hint;
  if (f.as !== "many")
    return (
      <SelectField
        label={f.label}
        size={f.size}
        hint={hint}
        {...as<string>()}
        options={[{ value: "", label: "None" }, ...list.map(e => ({ value: e.meta.id, label: labelOf(e) }))]}
      />
    );
  return <ChosenAssets label={f.label} hint={hint} list={list} facts={as<string[]>()} />;
}
