// A form's values -> the body of the API, and the command line that does the same. Pure; both are made from one object.

import type { ComputeSpec, EnvironmentAsset } from "../types";
import { type Shape, hasMaster, shapeFlags, shapeOf } from "./gang";
import { shell, shellLine } from "./shell_words";

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
/** A port as typed, and how it is reached. */
export interface PortValue {
  container: string;
  external: string;
  type: string;
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
export interface FormValues {
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
  nodeType: string;
  ports: PortValue[];
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
  /** The one that was copied is deleted then. */
  replace: boolean;
}

export const EMPTY: FormValues = {
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
  nodeType: "",
  ports: [],
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
  replace: false,
};

// What a form may not be sent with: {field: sentence}.
export function check(v: FormValues, kind: FormKind) {
  const wrong: Record<string, string> = {};
  if (!v.name) wrong.name = "A name is needed.";
  else if (!NAME.test(v.name) || v.name.length > 63)
    wrong.name = "Small letters, digits and dashes, up to 63; a letter first, no dash last.";
  if (!v.project) wrong.project = "Choose the project that pays.";
  if (!v.image) wrong.image = "An image is needed.";
  const gpus = Number(v.gpus);
  if (v.gpus === "" || !Number.isFinite(gpus) || gpus < 0) wrong.gpus = "A number from 0.";
  else if (gpus > 1 && !Number.isInteger(gpus)) wrong.gpus = "Whole GPUs, or a part of one below 1.";
  else if (gpus < 1 && Math.abs(gpus * 100 - Math.round(gpus * 100)) > 1e-6) wrong.gpus = "Parts go in steps of 0.01.";
  if (v.cpu !== "" && !(Number(v.cpu) >= 0)) wrong.cpu = "A number of cores, e.g. 0.5.";
  if (v.memory && !/^\+?[0-9.]+(?:[eE][-+]?[0-9]+|[EPTGMk]i?|Ki|m)?$/.test(v.memory))
    wrong.memory = "An amount such as 512M or 4Gi.";
  if (kind === "distributed" && !(Number.isInteger(Number(v.workers)) && Number(v.workers) >= 1))
    wrong.workers = "At least 1 worker.";
  if (kind === "training")
    for (const key of ["completions", "parallelism"] as const)
      if (!(Number.isInteger(Number(v[key])) && Number(v[key]) >= 1)) wrong[key] = "At least 1.";
  if (kind === "inference") Object.assign(wrong, checkServing(v));
  if (v.backoff !== "" && !(Number.isInteger(Number(v.backoff)) && Number(v.backoff) >= 0))
    wrong.backoff = "A whole number from 0.";
  if (v.ports.some(p => !isPort(p.container) || (p.external !== "" && !isPort(p.external))))
    wrong.ports = "A port is a whole number from 1 to 65535.";
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

// How a port is reached: the API's service types, and a URL.
export const REACHED_BY = [
  { value: "ClusterIP", label: "Inside the cluster" },
  { value: "NodePort", label: "A port of the node" },
  { value: "LoadBalancer", label: "A load balancer" },
  { value: "URL", label: "A URL" },
];
export const isPort = (value: unknown) =>
  /^\d+$/.test(String(value).trim()) && Number(value) >= 1 && Number(value) <= 65535;
const hasExternal = (port: PortValue) => port.type !== "URL" && port.external !== "";
const portsOf = (list: PortValue[]) =>
  list
    .filter(p => p.type !== "URL")
    .map(p => ({
      container: Number(p.container),
      ...(hasExternal(p) ? { external: Number(p.external) } : {}),
      serviceType: p.type,
    }));
const urlsOf = (list: PortValue[]) => list.filter(p => p.type === "URL").map(p => ({ container: Number(p.container) }));

const lines = (text: string) =>
  String(text ?? "")
    .split("\n")
    .map(l => l.trim())
    .filter(Boolean);
const variables = (text: string) =>
  lines(text).map(line => ({ name: line.slice(0, line.indexOf("=")), value: line.slice(line.indexOf("=") + 1) }));

export function computeOf(v: FormValues) {
  const gpus = Number(v.gpus) || 0;
  const part = gpus > 0 && gpus < 1;
  return {
    ...(part
      ? { gpuDevicesRequest: 1, gpuRequestType: "portion", gpuPortionRequest: gpus }
      : { gpuDevicesRequest: gpus }),
    ...(v.cpu !== "" ? { cpuCoreRequest: Number(v.cpu) } : {}),
    ...(v.memory ? { cpuMemoryRequest: v.memory } : {}),
    ...(v.shm ? { largeShmRequest: true } : {}),
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

// The body that is sent; only what was said, so that policies and defaults can fill the rest.
export function bodyOf(v: FormValues, kind: FormKind, clusterId: string) {
  const spec: Record<string, unknown> = { image: v.image };
  for (const key of ["command", "args", "workingDir"] as const) if (v[key]) spec[key] = v[key];
  const environment = variables(v.environment);
  if (environment.length) spec.environmentVariables = environment;
  spec.compute = computeOf(v);
  if (v.pools.length) spec.nodePools = v.pools;
  if (v.nodeType) spec.nodeType = v.nodeType;
  const ports = portsOf(v.ports),
    urls = urlsOf(v.ports);
  if (ports.length) spec.ports = ports;
  if (urls.length) spec.exposedUrls = urls;
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
    spec,
  };
  if (kind !== "distributed") return body;
  return {
    ...body,
    masterSpecSameAsWorker: hasMaster(v.shape),
    spec: { ...spec, distributedFramework: v.framework, numWorkers: Number(v.workers), ...v.shape },
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
          ? (number(v.initial) ?? Math.max(1, Number(v.least) || 0))
          : 1;
  return { pods, each: Number(v.gpus) || 0, all: pods * (Number(v.gpus) || 0) };
}

function servingFlags(v: FormValues) {
  const flags = [
    `--serving-port container=${v.serving},protocol=${v.protocol}${v.inside ? ",cluster-local=true" : ""}`,
  ];
  flags.push(`--min-replicas ${v.least} --max-replicas ${v.most}`);
  if (v.initial !== "") flags.push(`--initial-replicas ${v.initial}`);
  if (v.metric) flags.push(`--metric ${shell(v.metric)} --metric-threshold ${v.threshold}`);
  if (Number(v.least) === 0 && v.retention !== "") flags.push(`--scale-to-zero-retention ${v.retention}s`);
  return flags;
}

// templateName: of the template that v names; "" where v names one whose name is not known.
export function commandOf(v: FormValues, kind: FormKind, projectName?: string, templateName?: string) {
  if (v.template && !templateName) return "";
  const verb = {
    training: "training submit",
    distributed: `training ${v.framework === "TF" ? "tensorflow" : v.framework.toLowerCase()} submit`,
    workspace: "workspace submit",
    inference: "inference submit",
  }[kind];
  const parts = [
    `prorata ${verb} ${shell(v.name || "NAME")} -p ${shell(projectName || "PROJECT")}`,
    `-i ${shell(v.image || "IMAGE")}`,
  ];
  if (v.template) parts.push(`--template ${shell(templateName ?? "")}`);
  const gpus = Number(v.gpus) || 0;
  if (gpus > 0 && gpus < 1) parts.push(`-g 1 --gpu-portion-request ${gpus}`);
  else parts.push(`-g ${gpus}`);
  if (kind === "distributed") parts.push(`--workers ${v.workers}`, ...shapeFlags(v.shape));
  if (kind === "inference") parts.push(...servingFlags(v));
  if (kind === "training" && Number(v.completions) > 1) parts.push(`--runs ${v.completions}`);
  if (kind === "training" && Number(v.parallelism) > 1) parts.push(`--parallelism ${v.parallelism}`);
  if (v.cpu !== "") parts.push(`--cpu-core-request ${v.cpu}`);
  if (v.memory) parts.push(`--cpu-memory-request ${v.memory}`);
  if (v.shm) parts.push("--large-shm");
  for (const pool of v.pools) parts.push(`--node-pools ${shell(pool)}`);
  if (v.nodeType) parts.push(`--node-type ${shell(v.nodeType)}`);
  for (const p of v.ports)
    parts.push(
      p.type === "URL"
        ? `--external-url container=${p.container}`
        : `--port container=${p.container}${hasExternal(p) ? `,external=${p.external}` : ""},service-type=${p.type}`,
    );
  for (const { name, value } of variables(v.environment)) parts.push(`-e ${shell(`${name}=${value}`)}`);
  if (v.priority) parts.push(`--priority ${v.priority}`);
  if (v.preemptibility) parts.push(`--preemptibility ${v.preemptibility}`);
  if (kind !== "inference" && v.backoff !== "") parts.push(`--backoff-limit ${v.backoff}`);
  if (v.workingDir) parts.push(`--working-dir ${shell(v.workingDir)}`);
  if (v.command) parts.push(`--command -- ${shellLine([v.command, v.args].filter(Boolean).join(" "))}`);
  else if (v.args) parts.push(`-- ${shellLine(v.args)}`);
  return parts.join(" \\\n  ");
}

interface SubmittedSpec extends ComputeOwner, Shape {
  environmentVariables?: { name: string; value?: string | null }[] | null;
  nodePools?: string[] | null;
  nodeType?: string | null;
  ports?: { container?: number; external?: number | null; serviceType?: string | null }[] | null;
  exposedUrls?: { container?: number | null }[] | null;
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

// A submitted object -> values, for Make a copy.
export function valuesOf(workload: Submitted, name: string): FormValues {
  const spec: SubmittedSpec = workload.spec ?? {};
  return {
    ...EMPTY,
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
    ...fromCompute(spec.compute ?? {}),
    pools: spec.nodePools ?? [],
    nodeType: spec.nodeType ?? "",
    ports: [
      ...(spec.ports ?? []).map(p => ({
        container: String(p.container ?? ""),
        external: String(p.external ?? ""),
        type: p.serviceType ?? "ClusterIP",
      })),
      ...(spec.exposedUrls ?? []).map(u => ({ container: String(u.container ?? ""), external: "", type: "URL" })),
    ],
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

// An asset's specification -> the values it fills.
export const fromCompute = (spec: Partial<ComputeSpec>) => ({
  gpus:
    spec.gpuRequestType === "portion" && (spec.gpuPortionRequest ?? 1) < 1
      ? spec.gpuPortionRequest!
      : (spec.gpuDevicesRequest ?? 0),
  cpu: spec.cpuCoreRequest ?? "",
  memory: spec.cpuMemoryRequest ?? "",
  shm: Boolean(spec.largeShmRequest),
});
export const fromEnvironment = (spec: EnvironmentSpec) => ({
  image: spec.image ?? "",
  command: spec.command ?? "",
  args: spec.args ?? "",
  workingDir: spec.workingDir ?? "",
});

// A free name after the one that was copied: a1 -> a1-copy, a1-copy -> a1-copy-2.
export function copyName(name: string) {
  const [, base, number] = /^(.*?-copy)(?:-(\d+))?$/.exec(name) ?? [];
  return (base ? `${base}-${Number(number ?? 1) + 1}` : `${name}-copy`).slice(0, 63);
}
