// An environment or a compute resource -> the values of a form that it fills, empty where it says nothing; and back. What no
// field shows is kept beside them and sent all the same. Pure.
import type { ComputeSpec, EnvironmentAsset } from "../types";
import { type Spec, at } from "./asset_form";
import { type FormValues, bodyOf, restOf, valuesOf } from "./submission";
import { MORE, THINGS } from "./submission_more";

type Keys = (keyof FormValues)[];
const SECURITY = MORE.filter(f => f.fold === "security").map(f => f.path.replace("security.", ""));
const keysOf = (is: (path: string) => boolean): Keys => [
  ...MORE.filter(f => is(f.path)).map(f => `spec.${f.path}` as const),
  ...THINGS.filter(t => is(t.path)).map(t => `spec.${t.id}` as const),
];
const RUN = keysOf(path => /^(security|environmentVariables|imagePull|createHome|stdin|tty)/.test(path));
const SIZE = keysOf(path => path.startsWith("compute."));
const TOOLS = keysOf(path => /^(ports|exposedUrls)/.test(path));

const isSaid = ([, value]: [string, unknown]) => value !== undefined && value !== null;
const part = (spec: Spec, is: (name: string) => boolean) =>
  Object.fromEntries(Object.entries(spec).filter(entry => isSaid(entry) && is(entry[0])));

function filled(spec: Spec, keys: Keys, rest: "environmentRest" | "computeRest"): Partial<FormValues> {
  const v = valuesOf({ projectId: "", spec }, "");
  const { spec: said } = bodyOf(v, "training", "");
  const values = { ...Object.fromEntries(keys.map(key => [key, v[key]])), [rest]: restOf(spec, said as Spec) };
  return values as Partial<FormValues>;
}

export const fromCompute = (spec: Partial<ComputeSpec>) =>
  filled({ compute: spec as Spec }, ["gpus", "cpu", "memory", "shm", ...SIZE], "computeRest");

// What a tool of an environment is in a submission: a URL, a port or an address outside (model/asset_spec.c).
function toolsOf(connections: Spec[]) {
  const tools: Record<string, Spec[]> = {};
  for (const { name, isExternal, internalToolInfo: inside, externalToolInfo: outside } of connections) {
    const type = at(inside, "connectionType");
    const item = { container: at(inside, "containerPort"), toolType: at(inside, "toolType"), toolName: name };
    if (isExternal)
      (tools.relatedUrls ??= []).push({ name, type: at(outside, "toolType"), url: at(outside, "externalUrl") });
    else if (type === "ExternalUrl")
      (tools.exposedUrls ??= []).push(part({ ...item, url: at(inside, "externalUrlInfo.externalUrl") }, () => true));
    else if (type && type !== "ServingPort")
      (tools.ports ??= []).push(part({ ...item, serviceType: type }, () => true));
  }
  return tools;
}

// A variable that a credential fills is a key of the secret that stands for the credential.
const variableOf = ({ credential, ...variable }: Spec) =>
  credential ? { ...variable, secret: { name: at(credential, "assetId"), key: at(credential, "key") } } : variable;

export function fromEnvironment(spec: Partial<EnvironmentAsset["spec"]>) {
  const { connections, environmentVariables, overrideUidGidInWorkspace: _own, ...plain } = spec as Spec;
  const variables = ((environmentVariables ?? []) as (Spec | null)[]).filter(v => v !== null).map(variableOf);
  const security = part(plain, name => SECURITY.includes(name)),
    tools = toolsOf((connections ?? []) as Spec[]);
  const submission = {
    ...part(plain, name => !SECURITY.includes(name)),
    ...(variables.length ? { environmentVariables: variables } : {}),
    ...(Object.keys(security).length ? { security } : {}),
    ...tools,
  };
  const keys: Keys = ["image", "command", "args", "workingDir", "environment", ...RUN];
  const opened = TOOLS.filter(key => key.slice("spec.".length) in tools); // without tools, what was typed stays
  return filled(submission, [...keys, ...opened], "environmentRest");
}

/** The environment that the form's values are. */
export function environmentOf(v: FormValues): Spec {
  const { spec } = bodyOf({ ...v, rest: {}, computeRest: {} }, "training", "");
  const names = ["image", "command", "args", "workingDir", "probes", ...RUN.map(key => key.split(".")[1])];
  const { security, environmentVariables, ...plain } = part(spec as Spec, name => names.includes(name));
  const variables = ((environmentVariables ?? []) as Spec[]).filter(v => !v.secret && !v.userCredential);
  return {
    ...plain,
    ...(security as Spec),
    ...(variables.length ? { environmentVariables: variables } : {}),
  };
}

/** What is sent and no field shows, by its names in the specification. */
export function unseen(v: FormValues) {
  const names = (spec: Spec, under = ""): string[] =>
    Object.entries(spec).flatMap(([name, value]) =>
      ["compute", "storage", "security"].includes(name) ? names(value as Spec, `${name}.`) : [under + name],
    );
  return [...new Set([v.rest, v.environmentRest, v.computeRest].flatMap(spec => names(spec)))];
}
