// A form's values -> the body of the API, and back. Pure.

import { bytes } from "../format";
import type { ComputeSpec, EnvironmentAsset } from "../types";
import { type Spec, at, put } from "./asset_form";
import { type Shape, hasMaster, shapeOf } from "./gang";
import { type More, NO_MORE, moreSpec, moreValues, wrongMore } from "./submission_more";

/** What the forms of workloads are for. */
export type FormKind = "training" | "distributed" | "workspace" | "inference";
interface KindFacts {
  type: "Training" | "Distributed" | "Workspace" | "Inference";
  path:
    | "/api/v1/workloads/trainings"
    | "/api/v1/workloads/distributed"
    | "/api/v1/workloads/workspaces"
    | "/api/v1/workloads/inferences";
  policy:
    | "/api/v2/policy/trainings"
    | "/api/v2/policy/distributed"
    | "/api/v2/policy/workspaces"
    | "/api/v2/policy/inferences";
  title: string;
  verb: string;
  priority: string;
  firm: boolean;
}
export const KINDS: Record<FormKind, KindFacts> = {
  training: {
    type: "Training",
    path: "/api/v1/workloads/trainings",
    policy: "/api/v2/policy/trainings",
    title: "New training",
    verb: "Create training",
    priority: "low",
    firm: false,
  },
  distributed: {
    type: "Distributed",
    path: "/api/v1/workloads/distributed",
    policy: "/api/v2/policy/distributed",
    title: "New distributed training",
    verb: "Create distributed training",
    priority: "low",
    firm: false,
  },
  workspace: {
    type: "Workspace",
    path: "/api/v1/workloads/workspaces",
    policy: "/api/v2/policy/workspaces",
    title: "New workspace",
    verb: "Create workspace",
    priority: "high",
    firm: true,
  },
  inference: {
    type: "Inference",
    path: "/api/v1/workloads/inferences",
    policy: "/api/v2/policy/inferences",
    title: "New inference",
    verb: "Create inference",
    priority: "very-high",
    firm: true,
  },
};
export const PRIORITIES = ["very-low", "low", "medium-low", "medium", "medium-high", "high", "very-high"];
export const FRAMEWORKS = ["PyTorch", "MPI", "TF", "XGBoost", "JAX"];
const NAME = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;

type Typed = number | string;
/** A form's values; numbers are "" where nothing is typed. */
export interface FormValues extends More {
  name: string;
  project: string;
  image: string;
  command: string;
  args: string;
  workingDir: string;
  environment: string;
  gpus: Typed;
  workers: Typed;
  shape: Shape; // of a copy's gang; no field of the form
  framework: string;
  cpu: Typed;
  memory: string;
  pools: string[];
  priority: string;
  preemptibility: string;
  backoff: Typed;
  completions: Typed;
  parallelism: Typed;
  shm: boolean;
  held: boolean;
  nodeType: string;
  /** Data sources: kind and id. */
  datasources: string[];
  serving: Typed;
  protocol: string;
  inside: boolean;
  least: Typed;
  most: Typed;
  initial: Typed;
  metric: string;
  threshold: Typed;
  retention: Typed;
  /** The id of the template that fills what the form leaves out. */
  template: string;
  /** What a copy, an environment and a compute resource have and no field shows. */
  rest: Spec;
  environmentRest: Spec;
  computeRest: Spec;
  /** The one that was copied is deleted then. */
  replace: boolean;
}

export const EMPTY: FormValues = {
  ...NO_MORE,
  name: "",
  project: "",
  image: "",
  command: "",
  args: "",
  workingDir: "",
  environment: "",
  gpus: 1,
  workers: 1,
  shape: {},
  framework: "PyTorch",
  cpu: 0.1,
  memory: "100M",
  pools: [],
  priority: "",
  preemptibility: "",
  backoff: "",
  completions: 1,
  parallelism: 1,
  shm: false,
  held: false,
  nodeType: "",
  datasources: [],
  serving: 8000,
  protocol: "http",
  inside: false,
  least: 1,
  most: 1,
  initial: "",
  metric: "",
  threshold: "",
  retention: "",
  template: "",
  rest: {},
  environmentRest: {},
  computeRest: {},
  replace: false,
};

/** A part of a GPU may be typed as documents say it: "50%" is 0.5. */
export function gpusTyped(value: Typed): Typed {
  const [, share] = /^(\d+(?:\.\d+)?)\s*%$/.exec(String(value)) ?? [];
  return share ? Number(share) / 100 : value;
}
export const isPart = (value: Typed) => Number(value) > 0 && Number(value) < 1;

// What a form may not be sent with: {field: sentence}.
export function check(v: FormValues, kind: FormKind) {
  const wrong = wrongMore(v, kind);
  if (!v.name) wrong.name = "A name is needed.";
  else if (!NAME.test(v.name) || v.name.length > 63)
    wrong.name = "Small letters, digits and dashes, up to 63; a letter first, no dash last.";
  if (!v.project) wrong.project = "Choose the project that pays.";
  if (!v.image) wrong.image = "An image is needed.";
  const gpus = Number(v.gpus);
  if (v.gpus === "" || !Number.isFinite(gpus) || gpus < 0) wrong.gpus = "A number from 0.";
  else if (gpus > 1 && !Number.isInteger(gpus)) wrong.gpus = "Whole GPUs, or a part of one below 1.";
  else if (gpus < 1 && Math.abs(gpus * 100 - Math.round(gpus * 100)) > 1e-6)
    wrong.gpus = "Parts go in steps of 0.01, which is 1 %.";
  if (v.cpu !== "" && !(Number(v.cpu) >= 0)) wrong.cpu = "A number of cores, e.g. 0.5.";
  if (v.memory && !/^\+?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?[0-9]+|[EPTGMk]i?|Ki|m)?$/.test(v.memory))
    wrong.memory = "An amount such as 512M or 4Gi.";
  if (kind === "distributed" && !(Number.isInteger(Number(v.workers)) && Number(v.workers) >= 1))
    wrong.workers = "At least 1 worker.";
  if (kind === "training")
    for (const key of ["completions", "parallelism"] as const)
      if (!(Number.isInteger(Number(v[key])) && Number(v[key]) >= 1)) wrong[key] = "At least 1.";
  if (kind === "inference") Object.assign(wrong, checkServing(v));
  if (v.backoff !== "" && !(Number.isInteger(Number(v.backoff)) && Number(v.backoff) >= 0))
    wrong.backoff = "A whole number from 0.";
  if (v[GPU_MEMORY] && !(gpus >= 1)) wrong[GPU_MEMORY] = "Of at least 1 GPU.";
  if (below(v["spec.compute.cpuCoreLimit"], v.cpu)) wrong["spec.compute.cpuCoreLimit"] ??= LEAST;
  if (below(v["spec.compute.cpuMemoryLimit"], v.memory)) wrong["spec.compute.cpuMemoryLimit"] ??= LEAST;
  for (const line of lines(v.environment))
    if (!/^[A-Za-z_][A-Za-z0-9_.-]*=/.test(line))
      wrong.environment = `One NAME=value a line; "${line.slice(0, 30)}" is none.`;
  return wrong;
}

const isFrom = (least: number, value: Typed) => Number.isInteger(Number(value)) && Number(value) >= least;

// What a model's replicas may not be.
function checkServing(v: FormValues) {
  const wrong: Record<string, string> = {};
  if (!isPort(v.serving)) wrong.serving = "A port from 1 to 65535.";
  if (v.least === "" || !isFrom(0, v.least)) wrong.least = "A whole number from 0.";
  if (!isFrom(1, v.most)) wrong.most = "At least 1.";
  else if (Number(v.most) < Number(v.least)) wrong.most = `At least the ${v.least} that are always there.`;
  else if (Number(v.most) > Math.max(1, Number(v.least)) && !v.metric)
    wrong.metric = "Which figure decides how many there are?";
  if (v.initial !== "" && !isFrom(0, v.initial)) wrong.initial = "A whole number from 0.";
  if (v.metric && !/^[a-zA-Z_:][a-zA-Z0-9_:]*$/.test(v.metric)) wrong.metric = "Letters, digits, _ and : only.";
  if (v.metric && !isFrom(1, v.threshold)) wrong.threshold = "A whole number from 1.";
  if (v.retention !== "" && !(isFrom(0, v.retention) && Number(v.retention) <= 3600))
    wrong.retention = "Seconds, 0 to 3600.";
  return wrong;
}

const isPort = (value: unknown) => /^\d+$/.test(String(value).trim()) && Number(value) >= 1 && Number(value) <= 65535;
const LEAST = "At least what it asks for.";
const below = (limit: unknown, asked: Typed) => limit !== "" && (bytes(String(limit)) ?? 0) < (bytes(asked) ?? 0);
const GPU_MEMORY = "spec.compute.gpuMemoryRequest";

const lines = (text: string) =>
  String(text ?? "")
    .split("\n")
    .map(l => l.trim())
    .filter(Boolean);
export const variables = (text: string) =>
  lines(text).map(line => ({ name: line.slice(0, line.indexOf("=")), value: line.slice(line.indexOf("=") + 1) }));

export function computeOf(v: FormValues) {
  const gpus = Number(v.gpus) || 0;
  return {
    ...(isPart(gpus)
      ? { gpuDevicesRequest: 1, gpuRequestType: "portion", gpuPortionRequest: gpus }
      : { gpuDevicesRequest: gpus, ...(v[GPU_MEMORY] ? { gpuRequestType: "memory" } : {}) }),
    ...(v.cpu !== "" ? { cpuCoreRequest: Number(v.cpu) } : {}),
    ...(v.memory ? { cpuMemoryRequest: v.memory } : {}),
    ...(v.shm ? { largeShmRequest: true } : {}),
    ...(moreSpec(v, "training").compute as Spec),
  };
}

const number = (value: Typed) => (value === "" ? undefined : Number(value));
const without = (fields: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

// Where a model answers, and how many replicas of it there are.
function servingOf(v: FormValues) {
  const zero = Number(v.least) === 0;
  return {
    servingPort: without({
      container: Number(v.serving),
      protocol: v.protocol,
      clusterLocalAccessOnly: v.inside || undefined,
    }),
    autoscaling: without({
      minReplicas: Number(v.least),
      maxReplicas: Number(v.most),
      initialReplicas: number(v.initial),
      metric: v.metric || undefined,
      metricThreshold: v.metric ? number(v.threshold) : undefined,
      scaleToZeroRetentionSeconds: zero ? number(v.retention) : undefined,
    }),
  };
}

const isObject = (value: unknown): value is Spec =>
  typeof value === "object" && value !== null && !Array.isArray(value);
// Both, the second above the first.
const merged = (under: Spec, over: Spec): Spec =>
  Object.entries(over).reduce(
    (all, [key, value]) => ({
      ...all,
      [key]: isObject(value) && isObject(all[key]) ? merged(all[key] as Spec, value) : value,
    }),
    under,
  );
// What of it the other does not say.
export function restOf(all: Spec, said: Spec): Spec {
  const left = Object.entries(all).map(([key, value]) => {
    if (!isObject(value)) return [key, value === null || key in said ? undefined : value];
    const rest = restOf(value, (said[key] as Spec) ?? {});
    return [key, Object.keys(rest).length ? rest : undefined];
  });
  return Object.fromEntries(left.filter(([, value]) => value !== undefined)) as Spec;
}

// Data sources, as a submission names them.
const assetsOf = (v: FormValues) =>
  v.datasources.length
    ? { assets: { datasources: v.datasources.map(word => ({ id: word.slice(word.indexOf(":") + 1) })) } }
    : {};

// The body that is sent; only what was said, so that policies and defaults can fill the rest.
export function bodyOf(v: FormValues, kind: FormKind, clusterId: string) {
  const more = moreSpec(v, kind),
    spec: Spec = { image: v.image, ...more };
  for (const key of ["command", "args", "workingDir"] as const) if (v[key]) spec[key] = v[key];
  const environment = [...variables(v.environment), ...((more.environmentVariables ?? []) as Spec[])];
  if (environment.length) spec.environmentVariables = environment;
  spec.compute = computeOf(v);
  if (v.pools.length) spec.nodePools = v.pools;
  if (v.nodeType) spec.nodeType = v.nodeType;
  if (v.priority) spec.priorityClass = v.priority;
  if (v.preemptibility) spec.preemptibility = v.preemptibility;
  if (kind === "inference") Object.assign(spec, servingOf(v));
  else if (v.backoff !== "") spec.backoffLimit = Number(v.backoff);
  if (kind === "training" && Number(v.completions) > 1) spec.completions = Number(v.completions);
  if (kind === "training" && Number(v.parallelism) > 1) spec.parallelism = Number(v.parallelism);
  const body = {
    name: v.name,
    projectId: v.project,
    clusterId,
    ...(v.template ? { templateId: v.template } : {}),
    ...assetsOf(v),
    ...(v.held && kind !== "inference" ? { suspend: true } : {}),
    spec: [v.rest, v.environmentRest, v.computeRest, spec].reduce(merged),
  };
  if (kind !== "distributed") return body;
  return {
    ...body,
    masterSpecSameAsWorker: hasMaster(v.shape),
    spec: { ...body.spec, distributedFramework: v.framework, numWorkers: Number(v.workers), ...v.shape },
  };
}

// How many GPUs all pods ask for at once.
export function totalGpus(v: FormValues, kind: FormKind) {
  const pods =
    kind === "distributed"
      ? (Number(v.workers) || 0) + 1
      : kind === "training"
        ? Math.min(
            Number(v.parallelism) || 1,
            Number(v.completions) > 1 ? Number(v.completions) : Number(v.parallelism) || 1,
          )
        : kind === "inference"
          ? v.initial !== "" && isFrom(0, v.initial)
            ? Number(v.initial)
            : Math.max(1, Number(v.least) || 0)
          : 1;
  return { pods, each: Number(v.gpus) || 0, all: pods * (Number(v.gpus) || 0) };
}

interface SubmittedSpec extends ComputeOwner, Shape {
  environmentVariables?: { name: string; value?: string | null }[] | null;
  nodePools?: string[] | null;
  nodeType?: string | null;
  priorityClass?: string | null;
  preemptibility?: string | null;
  backoffLimit?: number | null;
  completions?: number | null;
  parallelism?: number | null;
  numWorkers?: number | null;
  distributedFramework?: string | null;
  servingPort?: { container?: number | null; protocol?: string | null; clusterLocalAccessOnly?: boolean | null } | null;
  autoscaling?: {
    minReplicas?: number | null;
    maxReplicas?: number | null;
    initialReplicas?: number | null;
    metric?: string | null;
    metricThreshold?: number | null;
    scaleToZeroRetentionSeconds?: number | null;
  } | null;
}
type ComputeOwner = EnvironmentSpec & { compute?: ComputeSpec | null };
type EnvironmentSpec = Pick<EnvironmentAsset["spec"], "image" | "command" | "args" | "workingDir">;
/** As much of a submitted workload as a copy needs. */
export interface Submitted {
  projectId: string | number;
  spec?: SubmittedSpec | null;
}

// What the server sets where nothing is said, of what no field shows.
const STANDARD: [path: string, value: string][] = [
  ["sshAuthMountPath", "/root/.ssh"],
  ["servingPort.authorizationType", "public"],
];

/** A submitted object -> values, for Make a copy; kind: of the form it is for. */
export function copyOf(workload: Submitted, name: string, kind: FormKind): FormValues {
  const v = valuesOf(workload, name);
  const { spec } = bodyOf(v, kind, "");
  const said = STANDARD.filter(([path, value]) => at(workload.spec, path) === value).reduce(
    (all, [path]) => put(all, path.split("."), true),
    spec as Spec,
  );
  return { ...v, rest: restOf((workload.spec ?? {}) as Spec, said) };
}

// A submitted object -> values.
export function valuesOf(workload: Submitted, name: string): FormValues {
  const spec: SubmittedSpec = workload.spec ?? {};
  return {
    ...EMPTY,
    ...moreValues(spec),
    name,
    project: String(workload.projectId),
    image: spec.image ?? "",
    command: spec.command ?? "",
    args: spec.args ?? "",
    workingDir: spec.workingDir ?? "",
    environment: (spec.environmentVariables ?? [])
      .filter(e => e.value !== undefined && e.value !== null)
      .map(e => `${e.name}=${e.value}`)
      .join("\n"),
    ...computeValues(spec.compute ?? {}),
    pools: spec.nodePools ?? [],
    nodeType: spec.nodeType ?? "",
    priority: spec.priorityClass ?? "",
    preemptibility: spec.preemptibility ?? "",
    backoff: spec.backoffLimit ?? "",
    completions: spec.completions ?? 1,
    parallelism: spec.parallelism ?? 1,
    workers: spec.numWorkers ?? 1,
    shape: shapeOf(spec),
    framework: spec.distributedFramework ?? "PyTorch",
    ...fromServing(spec),
  };
}

function fromServing({ servingPort: port, autoscaling: scale }: Pick<SubmittedSpec, "servingPort" | "autoscaling">) {
  const least = scale?.minReplicas ?? EMPTY.least;
  return {
    serving: port?.container ?? EMPTY.serving,
    protocol: port?.protocol ?? EMPTY.protocol,
    inside: Boolean(port?.clusterLocalAccessOnly),
    least,
    most: scale?.maxReplicas ?? Math.max(1, Number(least)),
    initial: scale?.initialReplicas ?? "",
    metric: scale?.metric ?? "",
    threshold: scale?.metricThreshold ?? "",
    retention: scale?.scaleToZeroRetentionSeconds ?? "",
  };
}

const computeValues = (spec: Partial<ComputeSpec>) => ({
  gpus:
    spec.gpuRequestType === "portion" && (spec.gpuPortionRequest ?? 1) < 1
      ? spec.gpuPortionRequest!
      : (spec.gpuDevicesRequest ?? 0),
  cpu: spec.cpuCoreRequest ?? "",
  memory: spec.cpuMemoryRequest ?? "",
  shm: Boolean(spec.largeShmRequest),
});

// A free name after the one that was copied: a1 -> a1-copy, a1-copy -> a1-copy-2.
export function copyName(name: string) {
  const [, base, number] = /^(.*?-copy)(?:-(\d+))?$/.exec(name) ?? [];
  return (base ? `${base}-${Number(number ?? 1) + 1}` : `${name}-copy`).slice(0, 63);
}
