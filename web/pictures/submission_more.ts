// What a submission may have besides: plain fields, and things of which there may be several, as tables. A row names its place
// in the specification and the flag of the command line that says the same. Pure.
import { goSeconds } from "../format";
import { type Spec, type Values, at, fieldsNow, meant, put, shown, specOf, valuesOf, wrongField } from "./asset_form";
import { type Field, PULL, SOURCES, isAmount } from "./asset_kinds";
import type { FormKind } from "./submission";
import { shell } from "./shell_words";

/** A field of the form; its key there is "spec." and its path. */
export interface MoreField extends Field {
  /** Of the command line, where it is called otherwise than the field. */
  flag?: string;
  /** The fold it stands in; without one it is kept and shown nowhere. */
  fold?: "run" | "compute" | "end" | "security" | "marks";
  /** Inferences don't have it. */
  jobs?: true;
}
/** One of several: its key in the form is "spec." and its id. */
export interface Thing {
  id: string;
  label: string;
  path: string;
  fields: (Field & { word?: string })[];
  /** Empty where the command line has none. */
  flag: (v: Values) => string;
  /** Which items of the path are of this kind. */
  has?: string;
  group: "variables" | "data" | "ports" | "tolerations" | "ends";
  /** What the flag says, where that is not its fields as name=value. */
  said?: (v: Values) => string;
  jobs?: true;
}
export interface Row {
  values: Values;
  /** What the form does not show of it. */
  was: Spec;
}
export type More = { [key: `spec.${string}`]: Values[string] | Row[] };

const third = { size: "third" } as const;
const options = (words: string, none: string) => [
  { value: "", label: none },
  ...words.split(" ").map(value => ({ value })),
];
const wrongTime = (text: string) => (goSeconds(text) === null ? "A time such as 30s, 5m or 2h." : "");
const isNumber = (text: string) => (/^\d+$/.test(text) ? "" : "A whole number.");
type Rest = Partial<MoreField>;
const field = (fold: MoreField["fold"], path: string, label: string, more: Rest = {}): MoreField => ({
  path,
  label,
  fold,
  ...more,
});
const time = (path: string, label: string, flag: string, hint: string) =>
  field("end", path, label, { flag, hint, ...third, as: "seconds", jobs: true, wrong: wrongTime });
const secure = (path: string, label: string, more: Rest = third) => field("security", `security.${path}`, label, more);
const may = (path: string, label: string, jobs?: true) => secure(path, label, { as: "check", jobs });
const pairs = (fold: MoreField["fold"], path: string, label: string, flag: string, pair: [string, string]) =>
  field(fold, path, label, { flag, pair, rows: 2, mono: true, hint: `One ${pair.join("=").toUpperCase()} a line` });
const number = { as: "number", ...third } as const;

export const MORE: MoreField[] = [
  { ...PULL, fold: "run" },
  field("run", "createHomeDir", "A home directory of its own", { as: "check" }),
  field("compute", "compute.gpuMemoryRequest", "GPU memory", { hint: "10G of each GPU", ...third, wrong: isAmount }),
  field("compute", "compute.cpuCoreLimit", "At most CPU cores", number),
  field("compute", "compute.cpuMemoryLimit", "At most CPU memory", { ...third, wrong: isAmount }),
  {
    ...pairs("compute", "compute.extendedResources", "Other devices", "extended-resource", ["resource", "quantity"]),
    wrong: text => (/=\s*$/m.test(text) ? "How many of it?" : ""),
  },
  field("end", "startAt", "Not before", {
    flag: "begin",
    as: "time",
    hint: "It joins the queue then",
    jobs: true,
    size: "half",
  }),
  field("end", "restartPolicy", "What restarts", {
    options: options("Always OnFailure Never", "As the kind says"),
    jobs: true,
    ...third,
  }),
  time("terminationGracePeriodSeconds", "Time to stop", "termination-grace-period", "30s, 5m"),
  time(
    "autoDeletionTimeAfterCompletionSeconds",
    "Deleted after its end",
    "auto-deletion-time-after-completion",
    "2h, 30d",
  ),
  field("end", "terminateAfterPreemption", "It ends when it gives its place to others", { as: "check", jobs: true }),
  secure("uidGidSource", "Runs as", {
    flag: "user-group-source",
    ...third,
    options: options("fromTheImage fromIdpToken custom", "As the environment says"),
  }),
  secure("runAsUid", "User id", { ...number, wrong: isNumber }),
  secure("runAsGid", "Group id", { ...number, wrong: isNumber }),
  secure("supplementalGroups", "More groups", { ...third, hint: "100,200" }),
  secure("seccompProfileType", "System calls", {
    flag: "seccomp-profile",
    ...third,
    options: options("RuntimeDefault Unconfined Localhost", "As the cluster says"),
  }),
  secure("capabilities", "Capabilities", {
    flag: "capability",
    as: "lines",
    rows: 1,
    ...third,
    hint: "One a line: SYS_NICE",
  }),
  may("runAsNonRoot", "Never as root"),
  may("readOnlyRootFilesystem", "The image's files cannot be changed"),
  may("allowPrivilegeEscalation", "Processes may get more rights", true),
  may("hostNetwork", "The node's network", true),
  may("hostIpc", "The node's shared memory", true),
  field("marks", "category", "Category", { hint: "Build, Train, Deploy", ...third }),
  pairs("marks", "labels", "Labels", "label", ["name", "value"]),
  pairs("marks", "annotations", "Annotations", "annotation", ["name", "value"]),
  field(undefined, "slotsPerWorker", "", { as: "number" }),
  field(undefined, "cleanPodPolicy", ""),
  field(undefined, "stdin", "", { as: "check" }),
  field(undefined, "tty", "", { as: "check" }),
];

// "compute.cpuCoreLimit" -> "cpu-core-limit".
const kebab = (path: string) => path.replace(/.*\./, "").replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`);

const secret = (path: string): Field => ({ path, label: "Name of the secret", mono: true, size: "half" });
// How the parts of a flag are called, where not as the field; "!" is said of what is not so.
const WORDS: Record<string, string> = {
  claimName: "claimname",
  "claimInfo.size": "size",
  "claimInfo.storageClass": "storageclass",
  "claimInfo.accessModes": "accessmode",
  readOnly: "ro",
  revision: "rev",
  passwordSecret: "secret",
  accessKeySecret: "accesskey",
  subPath: "subpath",
  authorizedUsers: "authusers",
  authorizedGroups: "authgroups",
};
const MODES: Record<string, string> = { readWriteOnce: "rwo", readOnlyMany: "rom", readWriteMany: "rwm" };
const OF_SOURCE: Record<string, { path?: string; flag: string; words?: Record<string, string> }> = {
  pvc: { flag: "", words: { existingPvc: "" } },
  nfs: { flag: "nfs", words: { mountPath: "mountpath", readOnly: "!readwrite" } },
  hostPath: { flag: "host-path", words: { mountPath: "mount", readOnly: "!readwrite" } },
  git: { flag: "git-sync" },
  s3: { flag: "s3" },
  "config-map": {
    path: "configMapVolume",
    flag: "configmap-map-volume",
    words: { configMap: "name", mountPath: "path" },
  },
  "secret-volume": { path: "secretVolume", flag: "secret-volume", words: { secret: "name", mountPath: "path" } },
};
// A data source names credentials by their asset, a submission by the name of the secret.
const SECRETS: Record<string, string> = {
  credentialId: "passwordSecret",
  accessKeyAssetId: "accessKeySecret",
  credentialAssetId: "secret",
};

const EPHEMERAL: Field = {
  path: "ephemeral",
  label: "It goes with the workload",
  as: "check",
  when: v => !v.existingPvc,
};
const volumes = SOURCES.map(({ id, label, fields }): Thing => {
  const { path = id, flag, words = {} } = OF_SOURCE[id];
  return {
    id: `storage.${path}`,
    label,
    path: `storage.${path}`,
    group: "data",
    flag: v => flag || (v.existingPvc ? "existing-pvc" : "new-pvc"),
    fields: (id === "pvc" ? [...fields, EPHEMERAL] : fields)
      .map(f => (SECRETS[f.path] ? { ...secret(SECRETS[f.path]), required: f.required } : f))
      .map(f => ({ ...f, word: words[f.path], ...(words[f.path]?.[0] === "!" ? { initial: true } : {}) })),
  };
});
const variable = (has: string, label: string, flag: string, fields: Field[]): Thing => ({
  id: `environmentVariables.${has}`,
  label,
  path: "environmentVariables",
  has,
  group: "variables",
  flag: () => flag,
  fields: [{ path: "name", label: "Variable", mono: true, required: true, ...third }, ...fields],
});
const from = (has: string, label: string): Field[] => [
  { path: `${has}.name`, label, mono: true, required: true, ...third },
  { path: `${has}.key`, label: "Key in it", mono: true, required: true, ...third },
];
const isPort = (text: string) =>
  /^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= 65535 ? "" : "A port is a whole number from 1 to 65535.";
const port: Field = {
  path: "container",
  label: "Container port",
  as: "number",
  required: true,
  placeholder: "8888",
  wrong: isPort,
  ...third,
};
const people = (path: string, label: string): Field => ({
  path,
  label,
  as: "lines",
  rows: 2,
  hint: "One a line",
  required: true,
  when: v => v.authorizationType === path,
});

export const THINGS: Thing[] = [
  variable("secret", "Variable from a secret", "env-secret", from("secret", "Secret")),
  variable("configMap", "Variable from a config map", "env-config-map", from("configMap", "Config map")),
  variable("podFieldRef", "Variable from the pod", "env-pod-field-ref", [
    { path: "podFieldRef.path", label: "Field", mono: true, required: true, placeholder: "metadata.name", ...third },
  ]),
  variable("userCredential", "Variable from one's own credential", "", from("userCredential", "Credential")),
  ...volumes,
  {
    id: "storage.emptyDirVolume",
    label: "Empty folder",
    path: "storage.emptyDirVolume",
    group: "data",
    flag: () => "empty-dir-volume",
    fields: [
      { path: "path", label: "Path in the container", mono: true, required: true, placeholder: "/scratch", ...third },
      {
        path: "medium",
        label: "Kept in",
        options: [{ value: "", label: "The node's disk" }, { value: "Memory" }],
        ...third,
      },
      { path: "sizeLimit", label: "At most", placeholder: "10Gi", wrong: isAmount, ...third },
    ],
  },
  {
    id: "ports",
    label: "Port",
    path: "ports",
    group: "ports",
    flag: () => "port",
    fields: [
      port,
      {
        path: "serviceType",
        label: "Reached by",
        initial: "ClusterIP",
        options: [
          { value: "ClusterIP", label: "Inside the cluster" },
          { value: "NodePort", label: "A port of the node" },
          { value: "LoadBalancer", label: "A load balancer" },
        ],
        ...third,
      },
      { path: "external", label: "Port there", as: "number", placeholder: "any", wrong: isPort, ...third },
    ],
  },
  {
    id: "exposedUrls",
    label: "URL",
    path: "exposedUrls",
    group: "ports",
    flag: () => "external-url",
    fields: [
      port,
      { path: "toolType", label: "Tool", placeholder: "jupyter-notebook", ...third },
      {
        path: "authorizationType",
        label: "Who may open it",
        ...third,
        options: [
          { value: "", label: "Everybody" },
          { value: "authenticatedUsers", label: "Who is signed in" },
          { value: "authorizedUsers", label: "Some people" },
          { value: "authorizedGroups", label: "Some groups" },
        ],
      },
      people("authorizedUsers", "People"),
      people("authorizedGroups", "Groups"),
      { path: "url", label: "Address", mono: true, hint: "Empty: the cluster's own" },
    ],
  },
  {
    id: "after",
    label: "After another workload",
    path: "after",
    group: "ends",
    jobs: true,
    flag: () => "after",
    said: v => `${String(v.name)}:${String(v.when)}`,
    fields: [
      { path: "name", label: "Workload of the project", mono: true, required: true, size: "half" },
      {
        path: "when",
        label: "Has",
        initial: "ok",
        options: [
          { value: "ok", label: "Completed" },
          { value: "any", label: "Ended" },
          { value: "failed", label: "Failed" },
        ],
        ...third,
      },
    ],
  },
  {
    id: "tolerations",
    label: "Toleration",
    path: "tolerations",
    group: "tolerations",
    flag: () => "toleration",
    fields: [
      { path: "key", label: "Key of the taint", mono: true, required: v => v.operator !== "Exists", ...third },
      {
        path: "operator",
        label: "Its value",
        initial: "Equal",
        options: [
          { value: "Equal", label: "Is" },
          { value: "Exists", label: "Any" },
        ],
        ...third,
      },
      { path: "value", label: "Value", mono: true, when: v => v.operator !== "Exists", ...third },
      { path: "effect", label: "Effect", options: options("NoSchedule NoExecute PreferNoSchedule", "Any"), ...third },
      {
        path: "seconds",
        label: "For so many seconds",
        as: "number",
        wrong: isNumber,
        when: v => v.effect === "NoExecute",
        ...third,
      },
    ],
  },
];

const keyOf = (path: string) => `spec.${path}` as const;
const isOf = (f: { jobs?: true }, kind: FormKind) => !f.jobs || kind !== "inference";
export const moreFields = (fold: string, kind: FormKind) => MORE.filter(f => f.fold === fold && isOf(f, kind));
const isEmpty = (value: unknown) => value === undefined || value === "" || (Array.isArray(value) && !value.length);

export const NO_MORE: More = Object.fromEntries([
  ...MORE.map(f => [keyOf(f.path), ""]),
  ...THINGS.map(t => [keyOf(t.id), []]),
]);

/** A new one; or one that stands in a specification. */
export const rowOf = ({ fields }: Thing, item: Spec = {}): Row => ({
  values: valuesOf({ fields }, item, {}),
  was: item,
});

// As it is sent: what is not so is not said, but where it would be so unsaid.
function itemOf(thing: Thing, { values, was }: Row) {
  const item = specOf(thing, values, was);
  for (const { path, word, as } of thing.fields)
    if ((as === "check" && item[path] === false && !word) || isEmpty(item[path])) delete item[path];
  return item;
}

/** What was typed beyond the plain fields, as a part of the specification. */
export function moreSpec(v: More, kind: FormKind): Spec {
  let spec: Spec = {};
  for (const f of MORE) {
    const typed = v[keyOf(f.path)] as Values[string];
    const value = typed === "" ? undefined : meant(f, typed, undefined);
    if (isOf(f, kind) && !isEmpty(value)) spec = put(spec, f.path.split("."), value);
  }
  for (const thing of THINGS) {
    const rows = v[keyOf(thing.id)] as Row[];
    if (rows.length)
      spec = put(spec, thing.path.split("."), [
        ...((at(spec, thing.path) as Spec[]) ?? []),
        ...rows.map(row => itemOf(thing, row)),
      ]);
  }
  return spec;
}

// A policy has an object in the place of a list.
function listAt(spec: unknown, path: string) {
  const list = at(spec, path);
  return Array.isArray(list) ? (list as (Spec | null)[]) : [];
}

/** The same of a specification: what the form shows of it. */
export const moreValues = (spec: unknown): More =>
  Object.fromEntries([
    ...MORE.map(f => {
      const value = f.pair ? listAt(spec, f.path) : at(spec, f.path);
      return [keyOf(f.path), isEmpty(value) || value === null ? "" : shown(f, value)];
    }),
    ...THINGS.map(thing => [
      keyOf(thing.id),
      listAt(spec, thing.path)
        .filter(item => item && (!thing.has || at(item, thing.has)))
        .map(item => rowOf(thing, item!)),
    ]),
  ]);

/** What is wrong with it, by key. */
export function wrongMore(v: More, kind: FormKind) {
  const wrong: Record<string, string> = {};
  for (const f of MORE) if (isOf(f, kind)) wrong[keyOf(f.path)] = wrongField(f, v[keyOf(f.path)] as Values[string], {});
  for (const thing of THINGS)
    wrong[keyOf(thing.id)] = (v[keyOf(thing.id)] as Row[])
      .flatMap(({ values }) => fieldsNow(thing, values).map(f => wrongField(f, values[f.path], values)))
      .filter(Boolean)[0];
  return Object.fromEntries(Object.entries(wrong).filter(([, text]) => text));
}

const linesOf = (value: unknown) =>
  String(value)
    .split("\n")
    .map(line => line.trim())
    .filter(Boolean);

// The parts of a flag that say a field of a thing.
function partOf({ path, word = WORDS[path] ?? kebab(path), as }: Thing["fields"][number], value: unknown) {
  if (!word) return [];
  if (as === "flag") return value ? [`${word}-${MODES[String(value)]}`] : [];
  if (as === "check") return Boolean(value) === !word.startsWith("!") ? [word.replace("!", "")] : [];
  return linesOf(value).map(text => `${word}=${text}`);
}

const VARIABLE = /^environmentVariables/;
function thingFlag(thing: Thing, { values }: Row) {
  const flag = thing.flag(values);
  const [name, ...rest] = fieldsNow(thing, values);
  const [source, key] = rest.map(f => String(values[f.path]));
  const text = thing.said
    ? thing.said(values)
    : VARIABLE.test(thing.id)
      ? `${String(values[name.path])}=${source}${key ? `,key=${key}` : ""}`
      : fieldsNow(thing, values)
          .flatMap(f => partOf(f, values[f.path]))
          .join(",");
  return `--${flag} ${shell(text)}`;
}

/** Flags of all that was typed beyond the plain fields; null where one of it has none, or a comma that a flag would split at. */
export function moreFlags(v: More, kind: FormKind): string[] | null {
  const flags: string[] = [];
  for (const f of MORE) {
    const value = v[keyOf(f.path)] as Values[string];
    if (value === "" || !isOf(f, kind)) continue;
    const flag = `--${f.flag ?? kebab(f.path)}`;
    if (f.as === "check") flags.push(`${flag}${value ? "" : "=false"}`);
    else if (f.as === "time") flags.push(`${flag} ${new Date(String(value)).toISOString()}`);
    else if (f.as === "seconds") flags.push(`${flag} ${goSeconds(String(value))}s`);
    else if (f.pair || f.as === "lines") flags.push(...linesOf(value).map(line => `${flag} ${shell(line)}`));
    else flags.push(`${flag} ${shell(String(value))}`);
  }
  for (const thing of THINGS)
    for (const row of v[keyOf(thing.id)] as Row[]) {
      const [all, said] = [row, { ...row, was: {} }].map(r => JSON.stringify(itemOf(thing, r)));
      const commas = fieldsNow(thing, row.values).some(f => String(row.values[f.path]).includes(","));
      if (all.length !== said.length || commas || !thing.flag(row.values)) return null;
      flags.push(thingFlag(thing, row));
    }
  return flags;
}
