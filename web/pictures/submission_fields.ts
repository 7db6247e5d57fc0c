// Where each field of the workload form stands in a specification, and what policies and templates say of it. Pure.
import { bytes } from "../format";
import { type Values as AssetValues, meant } from "./asset_form";
import { type FormKind, type FormValues, type Submitted, isPart, valuesOf } from "./submission";
import { MORE, THINGS } from "./submission_more";
import { goText } from "./unit_rules";

type Key = keyof FormValues & string;
type Values = Partial<FormValues>;
type Spec = NonNullable<Submitted["spec"]>;

const PLACES: Partial<Record<Key, string>> = {
  image: "image",
  command: "command",
  args: "args",
  workingDir: "workingDir",
  environment: "environmentVariables",
  gpus: "compute.gpuDevicesRequest",
  cpu: "compute.cpuCoreRequest",
  memory: "compute.cpuMemoryRequest",
  shm: "compute.largeShmRequest",
  pools: "nodePools",
  nodeType: "nodeType",
  priority: "priorityClass",
  preemptibility: "preemptibility",
  backoff: "backoffLimit",
  completions: "completions",
  parallelism: "parallelism",
  workers: "numWorkers",
  framework: "distributedFramework",
  serving: "servingPort.container",
  protocol: "servingPort.protocol",
  inside: "servingPort.clusterLocalAccessOnly",
  least: "autoscaling.minReplicas",
  most: "autoscaling.maxReplicas",
  initial: "autoscaling.initialReplicas",
  metric: "autoscaling.metric",
  threshold: "autoscaling.metricThreshold",
  retention: "autoscaling.scaleToZeroRetentionSeconds",
};
const PART = "compute.gpuPortionRequest";
const PLAIN = Object.fromEntries(MORE.map(f => [`spec.${f.path}`, f]));
const LISTS = THINGS.map(t => [`spec.${t.id}`, t.path] as [Key, string]);
const FIELDS = [...Object.entries(PLACES), ...Object.keys(PLAIN).map(key => [key, key.slice(5)])] as [Key, string][];

// Names of the API's fields -> ours: of a submission, and as a policy writes them.
export const PATHS: Record<string, string> = {
  name: "name",
  projectId: "project",
  templateId: "template",
  assets: "datasources",
};
for (const [key, path] of [...LISTS, ...FIELDS, ["gpus", "compute"]])
  for (const front of ["", "spec.", "worker."]) PATHS[front + path] = key;

function at(tree: unknown, path: string) {
  let here: unknown = tree;
  for (const name of path.split(".")) here = (here as Record<string, unknown> | null | undefined)?.[name];
  return here ?? undefined;
}

// ---- templates ----

/** Who set a value of a template: the template itself or an asset of it. */
export interface Origin {
  from: string;
  name?: string;
}
type Origins = Record<string, Origin | undefined>;
const ASSETS: Record<string, string> = { compute: "compute resource ", environment: "environment " };

/** What a template fills in, and where each of its values comes from, in words. */
export function ofTemplate(spec: Spec, origins: Origins, name: string) {
  const all = valuesOf({ projectId: "", spec }, "");
  const values: Values = {},
    said: Partial<Record<Key, string>> = {};
  for (const [key, path] of FIELDS) {
    const places = key === "gpus" ? [path, PART] : [path];
    if (places.every(p => at(spec, p) === undefined)) continue;
    Object.assign(values, { [key]: all[key] });
    const origin = places.map(p => origins[p]).find(Boolean);
    said[key] = `From ${ASSETS[origin?.from ?? ""] ?? "template "}${origin?.name ?? name}`;
  }
  return { values, said };
}

// ---- policies ----

interface Source {
  scope?: string;
}
interface Rule {
  sourceOfRule?: Source | null;
  required?: boolean | null;
  canEdit?: boolean | null;
  canAdd?: boolean | null;
  min?: number | string | null;
  max?: number | string | null;
  step?: number | null;
  options?: ({ value?: string | null } | string)[] | null;
}
/** The effective policy, of any kind. */
export interface Policy {
  defaults?: object | null;
  rules?: object | null;
}
/** What a policy says of a field, and whose it is. */
export interface Ruled {
  whose: string;
  text: string;
  locked: boolean;
  rule: Rule;
}
export type RuledFields = Partial<Record<string, Ruled>>;

const part = (tree: object | null | undefined, kind: FormKind) =>
  kind === "distributed" ? (tree as { worker?: object } | null | undefined)?.worker : tree;

function whoseOf(source: Source | null | undefined, project: { name: string; parent?: { name?: string } | null }) {
  const names: Record<string, string> = {
    system: "the system",
    tenant: "the tenant",
    cluster: "the cluster",
    department: `department ${project.parent?.name ?? ""}`.trim(),
    project: `project ${project.name}`,
  };
  return `Policy of ${names[source?.scope ?? ""] ?? "an administrator"}`;
}

export const optionsOf = (rule: Rule) => (rule.options ?? []).map(o => (typeof o === "string" ? o : (o.value ?? "")));
const isSet = (value: unknown) => value !== undefined && value !== null;

const isTime = (key: string) => PLAIN[key]?.as === "seconds";

function wordsOf(rule: Rule, key: string) {
  const { step } = rule,
    options = optionsOf(rule);
  const [min, max] = [rule.min, rule.max].map(bound => (isSet(bound) && isTime(key) ? goText(Number(bound)) : bound));
  return [
    rule.canEdit === false && "fixed",
    rule.canAdd === false && "nothing may be added",
    isSet(min) && isSet(max) ? `${min} to ${max}` : isSet(min) ? `at least ${min}` : isSet(max) && `at most ${max}`,
    isSet(step) && `in steps of ${step}`,
    options.length > 0 && `one of ${options.join(", ")}`,
    rule.required && rule.canEdit !== false && "required",
  ]
    .filter(Boolean)
    .join(", ");
}

// The rules of the fields that have any. A part of a GPU has its own.
export function ruledFields(
  policy: Policy | null | undefined,
  kind: FormKind,
  v: FormValues,
  project: { name: string; parent?: { name?: string } | null },
): RuledFields {
  const rules = part(policy?.rules, kind),
    found: RuledFields = {};
  const lists = [...LISTS, ...FIELDS.filter(([key]) => PLAIN[key]?.pair)];
  for (const [key, path] of [...FIELDS, ...lists.map(([id, list]) => [id, `${list}.instances`])]) {
    const place = key === "gpus" && isPart(v.gpus) ? PART : path;
    const rule = at(rules, place) as Rule | undefined;
    const text = rule && wordsOf(rule, key);
    const locked = rule?.canEdit === false || rule?.canAdd === false;
    if (rule && text) found[key] = { whose: whoseOf(rule.sourceOfRule, project), text, locked, rule };
  }
  return found;
}

const sizeOf = (value: unknown) => bytes(value as string | number) ?? Number(value);

function breaks(value: unknown, rule: Rule) {
  if (value === "" || !isSet(value)) return Boolean(rule.required);
  const options = optionsOf(rule),
    size = sizeOf(value);
  if (options.length) return !options.includes(String(value));
  if (isSet(rule.min) && size < sizeOf(rule.min)) return true;
  if (isSet(rule.max) && size > sizeOf(rule.max)) return true;
  return isSet(rule.step) && Math.abs(((size - sizeOf(rule.min ?? 0)) / rule.step!) % 1) > 1e-9;
}

// What a field with a form of its own says to the server.
const asSent = (key: string, value: unknown) =>
  isTime(key) ? meant(PLAIN[key], value as AssetValues[string], 0) : value;

/** The environment variables that a policy adds to every submission, by name. */
export function addedVariables(policy: Policy | null | undefined, kind: FormKind) {
  const listed = at(part(policy?.defaults, kind), "environmentVariables.instances") as { name?: string }[] | undefined;
  return (listed ?? []).map(i => i.name).filter(Boolean);
}

// What of a form the policy refuses: {field: sentence}.
export function brokenRules(v: FormValues, ruled: RuledFields) {
  const wrong: Record<string, string> = {};
  for (const [key, said] of Object.entries(ruled))
    if (said && !said.locked && !Array.isArray(v[key as Key]) && breaks(asSent(key, v[key as Key]), said.rule))
      wrong[key] = `${said.whose}: ${said.text}.`;
  return wrong;
}

// The values that the policy's defaults give the form.
function defaultsOf(policy: Policy | null | undefined, kind: FormKind): Values {
  const spec = part(policy?.defaults, kind) as Spec | undefined;
  if (!spec) return {};
  const lists = MORE.filter(f => f.pair).map(f => f.path); // what a policy adds is no value of the form
  const { values } = ofTemplate({ ...spec, environmentVariables: null } as Spec, {}, "");
  for (const path of lists) delete values[`spec.${path}`];
  return values;
}

const same = (a: unknown, b: unknown) => String(a) === String(b);

/**
 * A form's values with a policy's defaults: where nobody has typed (the value is still what it was given) and where the
 * policy locks the field. given: what the fields got by themselves until now; start: what they get without any policy.
 */
export function withDefaults(
  v: FormValues,
  given: Values,
  start: Values,
  policy: Policy | null | undefined,
  kind: FormKind,
) {
  const defaults = defaultsOf(policy, kind),
    rules = part(policy?.rules, kind);
  const next: Values = {},
    values: Values = {};
  for (const [key, path] of FIELDS) {
    const value = defaults[key] ?? start[key];
    if (value === undefined || (key === "pools" && !defaults.pools)) continue;
    Object.assign(next, { [key]: value });
    const locked = (at(rules, path) as Rule | undefined)?.canEdit === false && defaults[key] !== undefined;
    if ((locked || (given[key] !== undefined && same(v[key], given[key]))) && !same(v[key], value))
      Object.assign(values, { [key]: value });
  }
  return { values, given: next };
}
