// The kinds of assets: where each lives in the API, what it is called, and the fields of its form. Pure tables.
import { plural } from "../format";
import type { IconName } from "../icons";
import type { Spec, Values } from "./asset_form";
import { at } from "./asset_form";

export interface Field {
  /** In the specification; dots go deeper. */
  path: string;
  label: string;
  as?: "number" | "percent" | "check" | "flag" | "many" | "lines" | "seconds" | "time";
  /** Lines NAME=value: the two members of each item. */
  pair?: [string, string];
  options?: { value: string; label?: string }[];
  /** The options are the ids of other assets. */
  from?: "environment" | "compute" | "credentials" | "datasource";
  /** Of what is typed beside it. */
  required?: boolean | ((v: Values) => boolean);
  /** Sent, never shown. */
  secret?: boolean;
  initial?: unknown;
  hint?: string;
  placeholder?: string;
  size?: "half" | "third";
  mono?: boolean;
  rows?: number;
  when?: (v: Values) => boolean;
  wrong?: (text: string) => string;
}
export interface AssetKind {
  /** meta.kind, or a template's workload type. */
  id: string;
  label: string;
  /** Where it is made, read, changed and deleted. */
  path: string;
  /** The permission's resource type. */
  right: string;
  /** Where its specification stands in the list of all kinds. */
  within?: string;
  fields: Field[];
  /** What it is, in a few words. */
  brief: (spec: Spec) => string;
}
export interface AssetPage {
  title: string;
  word: string;
  icon: IconName;
  /** The list of all its kinds. */
  list: string;
  /** What the list is asked with. */
  query?: { limit: number };
  kinds: AssetKind[];
  none: string;
}

const text = (spec: Spec, path: string) => String(at(spec, path) ?? "");
const words = (...list: unknown[]) => list.filter(Boolean).join(" · ");
const choices = (list: string) => list.split(" ").map(value => ({ value }));
const NEVER_SHOWN = "Never shown again";
const MOUNT: Field = {
  path: "mountPath",
  label: "Path in the container",
  mono: true,
  required: true,
  placeholder: "/data",
};
const inside = (path: string): Field => ({ ...MOUNT, path });
const READ_ONLY: Field = { path: "readOnly", label: "Read only", as: "check" };
const RUN: Field[] = [
  { path: "command", label: "Command", mono: true, size: "half", hint: "Replaces the image's entry point" },
  { path: "args", label: "Arguments", mono: true, size: "half" },
  { path: "workingDir", label: "Working directory", mono: true, size: "half" },
];
const IMAGE: Field = { path: "image", label: "Image", mono: true, placeholder: "registry.example/team/image:tag" };
const VARIABLES: Field = {
  path: "environmentVariables",
  label: "Environment variables",
  pair: ["name", "value"],
  rows: 3,
  mono: true,
  hint: "One NAME=value a line",
};
export const PULL: Field = {
  path: "imagePullPolicy",
  label: "Pull the image",
  size: "half",
  options: [
    { value: "", label: "As its tag says" },
    { value: "Always" },
    { value: "IfNotPresent", label: "If not there" },
    { value: "Never" },
  ],
};

const ENVIRONMENT: AssetKind = {
  id: "environment",
  label: "Environment",
  path: "/api/v1/asset/environment",
  right: "environments",
  brief: spec => text(spec, "image"),
  fields: [
    { ...IMAGE, required: true },
    PULL,
    ...RUN,
    VARIABLES,
    {
      path: "uidGidSource",
      label: "Runs as",
      size: "half",
      options: [
        { value: "", label: "The image's user" },
        { value: "fromIdpToken", label: "Who submits it" },
        { value: "custom", label: "A user of your choice" },
      ],
    },
    { path: "runAsUid", label: "User id", as: "number", size: "third", when: v => v.uidGidSource === "custom" },
    { path: "runAsGid", label: "Group id", as: "number", size: "third", when: v => v.uidGidSource === "custom" },
  ],
};

export const isAmount = (amount: string) =>
  /^\d+(\.\d+)?([kMGTPE]i?|m)?$/.test(amount) ? "" : "An amount such as 512M or 4Gi.";
// In a template the same fields lie one deeper.
const computeFields = (under: string): Field[] => [
  { path: `${under}gpuDevicesRequest`, label: "GPUs per pod", as: "number", size: "third" },
  {
    path: `${under}gpuRequestType`,
    label: "Of each GPU",
    size: "third",
    options: [
      { value: "", label: "All of it" },
      { value: "portion", label: "A part" },
      { value: "memory", label: "Some memory" },
    ],
  },
  {
    path: `${under}gpuPortionRequest`,
    label: "% of its memory",
    as: "percent",
    size: "third",
    hint: "50: half a GPU",
    required: true,
    wrong: share => (Number(share) >= 1 && Number(share) <= 100 ? "" : "1 to 100."),
    when: v => v[`${under}gpuRequestType`] === "portion",
  },
  {
    path: `${under}gpuMemoryRequest`,
    label: "GPU memory",
    size: "third",
    hint: "10G, 20Gi",
    required: true,
    wrong: isAmount,
    when: v => v[`${under}gpuRequestType`] === "memory",
  },
  { path: `${under}cpuCoreRequest`, label: "CPU cores", as: "number", size: "third" },
  { path: `${under}cpuMemoryRequest`, label: "CPU memory", size: "third", hint: "512M, 4Gi", wrong: isAmount },
  { path: `${under}largeShmRequest`, label: "Large shared memory (/dev/shm)", as: "check" },
];
const gpusOf = (spec: Spec) => {
  const devices = Number(spec.gpuDevicesRequest ?? 0);
  if (spec.gpuRequestType === "portion") return `${spec.gpuPortionRequest} GPU`;
  if (spec.gpuRequestType === "memory") return `${spec.gpuMemoryRequest} of GPU memory`;
  return devices ? plural(devices, "GPU") : "no GPU";
};
export const computeBrief = (spec: Spec) =>
  words(
    gpusOf(spec),
    spec.cpuCoreRequest !== undefined && spec.cpuCoreRequest !== null && plural(Number(spec.cpuCoreRequest), "core"),
    spec.cpuMemoryRequest,
  );
const COMPUTE: AssetKind = {
  id: "compute",
  label: "Compute resource",
  path: "/api/v1/asset/compute",
  right: "compute-resources",
  brief: computeBrief,
  fields: [
    ...computeFields(""),
    { path: "cpuCoreLimit", label: "At most CPU cores", as: "number", size: "half" },
    { path: "cpuMemoryLimit", label: "At most CPU memory", size: "half", wrong: isAmount },
    {
      path: "extendedResources",
      label: "Other devices",
      pair: ["resource", "quantity"],
      rows: 2,
      mono: true,
      hint: "One RESOURCE=number a line",
    },
  ],
};

const source = (
  id: string,
  label: string,
  path: string,
  right: string,
  within: string,
  more: Pick<AssetKind, "fields" | "brief">,
) => ({
  id,
  label,
  path: `/api/v1/asset/datasource/${path}`,
  right,
  within,
  ...more,
});
const MODE: Field = { path: "defaultMode", label: "Mode of the files", size: "half", mono: true, placeholder: "0644" };
export const SOURCES: AssetKind[] = [
  source("pvc", "Volume (PVC)", "pvc", "pvc-assets", "pvc", {
    brief: s => words(text(s, "claimName") || text(s, "claimInfo.size"), text(s, "path")),
    fields: [
      { path: "existingPvc", label: "The claim is there already", as: "check" },
      { path: "claimName", label: "Name of the claim", mono: true, hint: "Empty: a name is made" },
      inside("path"),
      {
        path: "claimInfo.size",
        label: "Size",
        size: "third",
        placeholder: "10Gi",
        wrong: isAmount,
        required: true,
        when: v => !v.existingPvc,
      },
      { path: "claimInfo.storageClass", label: "Storage class", size: "third", when: v => !v.existingPvc },
      {
        path: "claimInfo.accessModes",
        label: "Who mounts it",
        as: "flag",
        size: "third",
        initial: { readWriteOnce: true },
        options: [
          { value: "readWriteOnce", label: "One node" },
          { value: "readWriteMany", label: "Many nodes" },
          { value: "readOnlyMany", label: "Many, read only" },
        ],
        when: v => !v.existingPvc,
      },
      READ_ONLY,
    ],
  }),
  source("nfs", "NFS", "nfs", "nfs-assets", "nfs", {
    brief: s => words(`${text(s, "server")}:${text(s, "path")}`, text(s, "mountPath")),
    fields: [
      { path: "server", label: "Server", size: "half", mono: true, required: true },
      { path: "path", label: "Exported path", size: "half", mono: true, required: true },
      MOUNT,
      READ_ONLY,
    ],
  }),
  source("hostPath", "Host path", "host-path", "host-path-assets", "hostPath", {
    brief: s => words(text(s, "path"), text(s, "mountPath")),
    fields: [{ path: "path", label: "Path on the node", mono: true, required: true }, MOUNT, READ_ONLY],
  }),
  source("git", "Git", "git", "git-assets", "git", {
    brief: s => words(text(s, "repository"), text(s, "branch"), text(s, "path")),
    fields: [
      {
        path: "repository",
        label: "Repository",
        mono: true,
        required: true,
        placeholder: "https://git.example/team/code.git",
      },
      { path: "branch", label: "Branch", size: "half", mono: true },
      { path: "revision", label: "Revision", size: "half", mono: true },
      inside("path"),
      { path: "credentialId", label: "Credentials", from: "credentials" },
    ],
  }),
  source("s3", "S3", "s3", "s3-assets", "s3", {
    brief: s => words(text(s, "bucket"), text(s, "path")),
    fields: [
      { path: "url", label: "Service URL", mono: true, placeholder: "https://s3.amazonaws.com" },
      { path: "bucket", label: "Bucket", mono: true, size: "half", required: true },
      { path: "accessKeyAssetId", label: "Credentials", size: "half", from: "credentials" },
      inside("path"),
    ],
  }),
  source("config-map", "Config map", "config-map", "cm-volume-assets", "configMap", {
    brief: s => words(text(s, "configMap"), text(s, "mountPath")),
    fields: [
      { path: "configMap", label: "Name of the config map", mono: true, required: true },
      MOUNT,
      { path: "subPath", label: "Path in it", size: "half", mono: true },
      MODE,
    ],
  }),
  source("secret-volume", "Secret", "secrets", "secret-volume-assets", "secret", {
    brief: s => text(s, "mountPath"),
    fields: [{ path: "credentialAssetId", label: "Credentials", from: "credentials", required: true }, MOUNT, MODE],
  }),
];

const credential = (id: string, label: string, path: string, within: string, fields: Field[]): AssetKind => ({
  id,
  label,
  path: `/api/v1/asset/credentials/${path}`,
  right: "credentials",
  within,
  brief: s => (s.existingSecretName ? `Secret ${s.existingSecretName}` : ""),
  fields: [
    ...fields.map(f => ({ ...f, secret: true, when: (v: Values) => !v.existingSecretName })),
    { path: "existingSecretName", label: "Or an existing secret", mono: true, hint: "Its name in the cluster" },
  ],
});
const hidden = (path: string, label: string, more: Partial<Field> = {}): Field => ({
  path,
  label,
  size: "half",
  required: true,
  ...more,
});
const CREDENTIALS: AssetKind[] = [
  credential("password", "User and password", "password", "password", [
    hidden("user", "User"),
    hidden("password", "Password", { hint: NEVER_SHOWN }),
  ]),
  credential("accessKey", "Access key", "access-key", "accessKey", [
    hidden("accessKeyId", "Access key"),
    hidden("secretAccessKey", "Secret", { hint: NEVER_SHOWN }),
  ]),
  credential("dockerRegistry", "Docker registry", "docker-registry", "dockerRegistry", [
    hidden("url", "Registry URL", { size: undefined }),
    hidden("user", "User"),
    hidden("password", "Password", { hint: NEVER_SHOWN }),
  ]),
  credential("genericSecret", "Generic secret", "generic-secret", "genericSecret", [
    {
      path: "keyValuePairs",
      label: "Keys and values",
      pair: ["key", "value"],
      rows: 3,
      mono: true,
      required: true,
      hint: `One KEY=value a line. ${NEVER_SHOWN}.`,
    },
  ]),
];

const PRIORITIES = choices("very-low low medium-low medium medium-high high very-high");
const FROM_ASSETS: Field[] = [
  { path: "assets.environment", label: "Environment", size: "half", from: "environment" },
  { path: "assets.compute", label: "Compute resource", size: "half", from: "compute" },
  { path: "assets.datasources", label: "Data sources", as: "many", from: "datasource" },
];
const template = (id: string, path: string, fields: Field[]): AssetKind => ({
  id,
  label: id,
  path: `/api/v1/workload-templates/${path}`,
  right: "templates",
  brief: s => words(text(s, "image"), at(s, "compute") && computeBrief(at(s, "compute") as Spec)),
  fields: [
    ...FROM_ASSETS,
    IMAGE,
    ...RUN,
    VARIABLES,
    ...computeFields("compute."),
    ...fields,
    {
      path: "priorityClass",
      label: "Priority",
      size: "half",
      options: [{ value: "", label: "As the kind says" }, ...PRIORITIES],
    },
    {
      path: "preemptibility",
      label: "Preemptible",
      size: "half",
      options: [{ value: "", label: "As the priority says" }, ...choices("preemptible non-preemptible")],
    },
  ],
});
const count = (path: string, label: string): Field => ({ path, label, as: "number", size: "half" });
const TEMPLATES: AssetKind[] = [
  template("Workspace", "workspaces", []),
  template("Training", "trainings", [count("completions", "Runs"), count("parallelism", "At once")]),
  template("Distributed", "distributed", [
    { ...count("numWorkers", "Workers"), initial: 1 },
    {
      path: "distributedFramework",
      label: "Framework",
      size: "half",
      options: choices("PyTorch MPI TF XGBoost JAX"),
      initial: "PyTorch",
    },
  ]),
  template("Inference", "inferences", [
    { path: "servingPort.container", label: "Port it serves at", as: "number", size: "third" },
    { ...count("autoscaling.minReplicas", "At least replicas"), size: "third" },
    { ...count("autoscaling.maxReplicas", "At most replicas"), size: "third" },
  ]),
];

/** The pages, by the word in their address. */
export const ASSET_PAGES: Record<string, AssetPage> = {
  environments: {
    title: "Environments",
    word: "environment",
    icon: "asset",
    list: ENVIRONMENT.path,
    kinds: [ENVIRONMENT],
    none: "No environments yet: an image with its command and variables, to be loaded into a submission.",
  },
  compute: {
    title: "Compute resources",
    word: "compute resource",
    icon: "chip",
    list: COMPUTE.path,
    kinds: [COMPUTE],
    none: "No compute resources yet: GPUs, cores and memory of a pod under one name.",
  },
  templates: {
    title: "Templates",
    word: "template",
    icon: "copy",
    list: "/api/v1/workload-templates",
    query: { limit: 500 },
    kinds: TEMPLATES,
    none: "No templates yet: a workload that is ready but for its name and project.",
  },
  "data-sources": {
    title: "Data sources",
    word: "data source",
    icon: "folder",
    list: "/api/v1/asset/datasource",
    kinds: SOURCES,
    none: "No data sources yet: volumes, shares, repositories and buckets that workloads mount.",
  },
  credentials: {
    title: "Credentials",
    word: "credential",
    icon: "lock",
    list: "/api/v1/asset/credentials",
    kinds: CREDENTIALS,
    none: "No credentials yet. Their values are never shown again.",
  },
};
