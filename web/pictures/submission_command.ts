// A form's values -> the command line that sends what the form would. Pure.
import { shapeFlags } from "./gang";
import { shell, shellLine } from "./shell_words";
import { type FormKind, type FormValues, KINDS, bodyOf, isPart, variables } from "./submission";
import { unseen } from "./asset_values";
import { moreFlags } from "./submission_more";

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

// What no flag says is sent as a file.
function fileCommand(v: FormValues, kind: FormKind, projectName = "PROJECT") {
  const { projectId: _project, clusterId: _cluster, ...body } = bodyOf(v, kind, "");
  const file = JSON.stringify({ type: KINDS[kind].type, ...body }, null, 2);
  return `prorata workload submit ${shell(v.name || "NAME")} -p ${shell(projectName)} -f /dev/stdin <<'END'\n${file}\nEND`;
}

/** What a template and data sources are called; "": it is not known. */
export type Names = (id: string) => string | undefined;

// "" where v names a template whose name is not known.
export function commandOf(v: FormValues, kind: FormKind, projectName?: string, names: Names = () => "") {
  const templateName = v.template && names(v.template),
    more = moreFlags(v, kind);
  if (v.template && !templateName) return "";
  if (!more || unseen(v).length) return fileCommand(v, kind, projectName);
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
  if (isPart(gpus)) parts.push(`-g 1 --gpu-portion-request ${gpus}`);
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
  for (const word of v.datasources) {
    const id = word.slice(word.indexOf(":") + 1);
    parts.push(`--datasource ${shell(names(id) || id)}`);
  }
  for (const { name, value } of variables(v.environment)) parts.push(`-e ${shell(`${name}=${value}`)}`);
  if (v.priority) parts.push(`--priority ${v.priority}`);
  if (v.preemptibility) parts.push(`--preemptibility ${v.preemptibility}`);
  if (kind !== "inference" && v.backoff !== "") parts.push(`--backoff-limit ${v.backoff}`);
  if (v.workingDir) parts.push(`--working-dir ${shell(v.workingDir)}`);
  if (v.held && kind !== "inference") parts.push("--hold");
  parts.push(...more);
  if (v.command) parts.push(`--command -- ${shellLine([v.command, v.args].filter(Boolean).join(" "))}`);
  else if (v.args) parts.push(`-- ${shellLine(v.args)}`);
  return parts.join(" \\\n  ");
}
