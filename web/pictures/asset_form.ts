// An asset's fields as a form has them, and what the API makes of them. Pure. What the form does not show stays as it is.
import { goSeconds, iso } from "../format";
import type { Field } from "./asset_kinds";
import type { Typed } from "./quota_form";
import { goText } from "./unit_rules";

export type Spec = { [key: string]: unknown };
/** Name, description and place, and the fields of the kind by their paths. */
export type Values = Record<string, Typed | boolean | string[]>;

const OWN = ["name", "description", "place"];

export function at(spec: unknown, path: string): unknown {
  return path.split(".").reduce<unknown>((o, key) => (o as Spec | null | undefined)?.[key], spec);
}

// A copy of spec with one value set; undefined takes it away, and what is left empty around it.
export function put(spec: Spec, [key, ...rest]: string[], value: unknown): Spec {
  const { [key]: old, ...others } = spec;
  const next = rest.length ? put((old as Spec) ?? {}, rest, value) : value;
  const isEmpty = next === undefined || (rest.length > 0 && Object.keys(next as Spec).length === 0);
  return isEmpty ? others : { ...others, [key]: next };
}

interface Ref {
  id: string;
  kind?: string;
}
/** An asset that another names, as one word. */
export const refWord = ({ id, kind = "" }: Ref) => `${kind}:${id}`;
const refOf = (word: string): Ref => ({
  id: word.slice(word.indexOf(":") + 1),
  kind: word.slice(0, word.indexOf(":")),
});

type Pair = Record<string, unknown>;
const isSaid = (value: unknown) => value !== undefined && value !== null;
const isPlain = (pair: Pair, [, value]: [string, string]) => isSaid(pair[value]);

// A value of the specification -> what its field shows.
export function shown({ as, pair }: Field, value: unknown): Values[string] {
  if (as === "check") return Boolean(value);
  if (as === "percent") return isSaid(value) ? Math.round(Number(value) * 1e4) / 100 : "";
  if (as === "lines") return ((value ?? []) as string[]).join("\n");
  if (as === "seconds") return goText(Number(value));
  if (as === "time") return iso(value as string).slice(0, 16); // as a field of date and time has it
  if (as === "many") return ((value ?? []) as Ref[]).map(refWord);
  if (pair)
    return ((value ?? []) as Pair[])
      .filter(p => isPlain(p, pair))
      .map(p => `${p[pair[0]]}=${p[pair[1]]}`)
      .join("\n");
  if (as === "flag") return Object.entries((value ?? {}) as Spec).find(([, on]) => on)?.[0] ?? "";
  return (value ?? "") as Typed;
}

// "NAME=value" lines -> pairs; what stands between them that is no plain value stays.
function pairs(text: string, [name, value]: [string, string], old: unknown) {
  const kept = ((old ?? []) as Pair[]).filter(p => !isPlain(p, [name, value]));
  const typed = text
    .split("\n")
    .filter(line => line.trim())
    .map(line => ({ [name]: line.slice(0, line.indexOf("=")).trim(), [value]: line.slice(line.indexOf("=") + 1) }));
  return typed.length || kept.length ? [...typed, ...kept] : undefined;
}

// What was typed -> a value of the specification; undefined: none.
export function meant({ as, pair }: Field, value: Values[string], old: unknown): unknown {
  if (as === "check") return Boolean(value);
  if (as === "many") return (value as string[]).length ? (value as string[]).map(refOf) : undefined;
  if (pair) return pairs(String(value), pair, old);
  const text = String(value ?? "").trim();
  if (as === "lines")
    return text
      .split("\n")
      .map(line => line.trim())
      .filter(Boolean);
  if (text === "") return undefined;
  if (as === "seconds") return goSeconds(text) ?? undefined;
  if (as === "time") return new Date(text).toISOString();
  if (as === "percent") return Number(text) / 100;
  return as === "number" ? Number(text) : as === "flag" ? { [text]: true } : text;
}

/** What has fields: a kind of assets. */
interface Fielded {
  fields: Field[];
}
/** The fields that matter for what is typed so far. */
export const fieldsNow = <F extends Field>(kind: { fields: F[] }, v: Values) =>
  kind.fields.filter(f => !f.when || f.when(v));

export const valuesOf = (kind: Fielded, spec: unknown, more: Values): Values => ({
  ...Object.fromEntries(kind.fields.map(f => [f.path, f.secret ? "" : shown(f, at(spec, f.path) ?? f.initial)])),
  ...more,
});

/** The specification that is sent: what stood there with what the form says. */
export function specOf(kind: Fielded, v: Values, before: Spec = {}): Spec {
  const now = fieldsNow(kind, v);
  return kind.fields.reduce<Spec>((spec, f) => {
    if (f.secret && v[f.path] === "") return spec;
    return put(spec, f.path.split("."), now.includes(f) ? meant(f, v[f.path], at(before, f.path)) : undefined);
  }, before);
}

/** v: what is typed beside it. */
export function wrongField(f: Field, value: Values[string], v: Values) {
  const text = String(value ?? "").trim();
  if (text === "" && (f.required instanceof Function ? f.required(v) : f.required)) return "Missing.";
  if (f.as === "number" && text !== "" && !(Number(text) >= 0)) return "A number of at least 0.";
  const bad = f.pair && text.split("\n").find(line => line.trim() && line.indexOf("=") < 1);
  if (bad) return `NAME=value expected, got "${bad.trim()}".`;
  return (text && f.wrong?.(text)) || "";
}

/** What is wrong, by field. */
export const checkAsset = (kind: Fielded, v: Values, isNew: boolean): Record<string, string> => ({
  name: String(v.name).trim() ? "" : "A name is needed.",
  ...(isNew ? { place: v.place ? "" : "Choose where it holds." } : {}),
  ...Object.fromEntries(
    fieldsNow(kind, v).map(f => [f.path, f.secret && !isNew ? "" : wrongField(f, v[f.path] as string, v)]),
  ),
});

/** The server's names of fields -> ours. */
export const pathsOf = (kind: Fielded) =>
  Object.fromEntries([
    ...kind.fields.map(f => [`spec.${f.path}`, f.path]),
    ...kind.fields.map(f => [f.path, f.path]),
    ...OWN.map(name => [`meta.${name}`, name]),
    ...["projectId", "departmentId", "clusterId", "scope", "scopeType", "scopeId"].map(n => [`meta.${n}`, "place"]),
  ]);
