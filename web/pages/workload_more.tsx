// What a workload seldom needs, folded: further fields, and things of which there may be several.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "../parts/button";
import { ChosenAssets, Entry } from "../parts/entry";
import { Menu } from "../parts/menu";
import { type Values, fieldsNow, wrongField } from "../pictures/asset_form";
import { type MoreField, type Row, THINGS, type Thing, moreFields, rowOf } from "../pictures/submission_more";
import type { WorkloadState } from "./workload_form";

type Key = `spec.${string}`;
type Props = { state: WorkloadState };

const isSet = (value: unknown) => (Array.isArray(value) ? value.length > 0 : value !== "" && value !== false);

interface FoldProps extends Props {
  title: string;
  /** What of it is open when there is something in it; the summary says how much. */
  keys: string[];
  open?: boolean;
  children: ComponentChildren;
}

export function Fold({ state: { form }, title, keys, open = false, children }: FoldProps) {
  const set = keys.filter(key => isSet(form.values[key as Key])).length;
  const [first] = useState(set > 0);
  return (
    <details class="f" open={first || open}>
      <summary>
        {title}
        {set > 0 && ` · ${set}`}
      </summary>
      <div class="fields inner">{children}</div>
    </details>
  );
}

const keysOf = (fields: MoreField[], things: Thing[] = []) => [
  ...fields.map(f => `spec.${f.path}`),
  ...things.map(t => `spec.${t.id}`),
];
export const things = (group: Thing["group"]) => THINGS.filter(t => t.group === group);

export function MoreFields({ state, fields }: Props & { fields: MoreField[] }) {
  return fields.map(f => <Entry key={f.path} field={f} facts={state.field(`spec.${f.path}`, f.hint) as never} />);
}

interface FieldsFoldProps extends Props {
  title: string;
  fold: NonNullable<MoreField["fold"]>;
  list?: Thing[];
  add?: string;
}

/** The fields of one fold, and below them a list of things. */
export function FieldsFold({ state, title, fold, list = [], add = "" }: FieldsFoldProps) {
  const fields = moreFields(fold, state.kind);
  return (
    <Fold state={state} title={title} keys={keysOf(fields, list)}>
      <MoreFields state={state} fields={fields} />
      {list.length > 0 && <Things state={state} list={list} add={add} />}
    </Fold>
  );
}

interface OneProps {
  thing: Thing;
  at: number;
  row: Row;
  /** Whether what is wrong is shown. */
  strict: boolean;
  change: (row: Row) => void;
  remove: () => void;
}

function One({ thing, at, row, strict, change, remove }: OneProps) {
  const { values } = row,
    name = `${thing.label} ${at + 1}`;
  return (
    <div class="f thing" role="group" aria-label={name}>
      <div class="bar">
        <span class="lbl">{thing.label}</span>
        <span class="grow" />
        <Button small kind="quiet" icon="close" label={`Remove ${name}`} onClick={remove} />
      </div>
      <div class="fields">
        {fieldsNow(thing, values).map(f => (
          <Entry
            key={f.path}
            field={f}
            facts={
              {
                path: `${thing.id}-${at}-${f.path}`,
                value: values[f.path],
                error: strict ? wrongField(f, values[f.path], values) : "",
                onValue: (value: Values[string]) => change({ ...row, values: { ...values, [f.path]: value } }),
                onBlur: () => {},
              } as never
            }
          />
        ))}
      </div>
    </div>
  );
}

/** Several of several kinds; add: what a button or a menu of kinds adds. */
export function Things({ state, list, add }: Props & { list: Thing[]; add: string }) {
  const { form, field } = state;
  const rowsOf = (thing: Thing) => form.values[`spec.${thing.id}`] as Row[];
  const said = list.map(thing => ({ thing, ...field(`spec.${thing.id}`) }));
  const more = (thing: Thing) => {
    const at = rowsOf(thing).length;
    form.set(`spec.${thing.id}`, [...rowsOf(thing), rowOf(thing)]);
    const first = `f-${thing.id}-${at}-${thing.fields[0].path}`;
    requestAnimationFrame(() => requestAnimationFrame(() => document.getElementById(first)?.focus()));
  };
  const free = said.filter(s => !s.lock);
  return (
    <>
      {said.map(({ thing, error, onValue }) =>
        rowsOf(thing).map((row, at) => (
          <One
            key={`${thing.id}-${at}`}
            thing={thing}
            at={at}
            row={row}
            strict={Boolean(error)}
            change={next => onValue(rowsOf(thing).map((old, i) => (i === at ? next : old)) as never)}
            remove={() => onValue(rowsOf(thing).filter((_, i) => i !== at) as never)}
          />
        )),
      )}
      <div class="f">
        {list.length > 1 && free.length > 0 ? (
          <Menu
            small
            icon="plus"
            text={add}
            items={free.map(({ thing }) => ({ label: thing.label, onClick: () => more(thing) }))}
          />
        ) : (
          free.map(({ thing }) => (
            <Button key={thing.id} small icon="plus" onClick={() => more(thing)}>
              {add}
            </Button>
          ))
        )}
        {said.map(({ thing, error, lock, hint }) => (
          <p key={thing.id} class={"hint" + (error ? " bad" : "")} role={error ? "alert" : undefined}>
            {error ? `${thing.label}: ${error}` : lock || hint ? `${thing.label}: ${lock ?? hint}` : ""}
          </p>
        ))}
      </div>
    </>
  );
}

/** Data sources of the assets, and volumes of its own. */
export function Data({ state }: Props) {
  const { facts, field } = state,
    { hint, ...chosen } = field("datasources");
  return (
    <>
      {facts.sources.length > 0 && (
        <ChosenAssets label="Data sources" hint={hint || "Enter adds one"} list={facts.sources} facts={chosen} />
      )}
      <Things state={state} list={things("data")} add="Volume or file" />
    </>
  );
}
