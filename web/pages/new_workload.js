// Would it start now, where, and who could take it back? The form, and beside it the project's quota with this request and
// the same call for the command line.
import { useEffect, useMemo } from "preact/hooks";
import { del, get, getAll, post } from "../api.js";
import { useData } from "../data.js";
import { gpuCount, gpus, plural } from "../format.js";
import { html } from "../html.js";
import { refreshAll } from "../live.js";
import { Button, LinkButton, Seg } from "../parts/button.js";
import { CheckField, NumberField, OrderField, Presets, Problem, Section, SelectField, TextField, useForm } from "../parts/form.js";
import { Page } from "../parts/page.js";
import { Empty, Fault, Loading } from "../parts/states.js";
import { renewTables } from "../parts/table.js";
import { toast, toastError } from "../parts/toast.js";
import { EMPTY, FRAMEWORKS, KINDS, PRIORITIES, bodyOf, check, copyName, fromCompute, fromEnvironment, standardPools, valuesOf } from "../pictures/submission.js";
import { sharesByPool, sumParts } from "../pictures/shares.js";
import { valuesOfQuery } from "../pictures/what_if.js";
import { go, route } from "../router.js";
import { may, scope } from "../session.js";
import { SaveAsset } from "./save_asset.js";
import { SubmissionPanel, Verdict } from "./submission_panel.js";
import { useWhatIf } from "./what_if.js";

// Names of the API's fields -> ours.
const PATHS = {
  name: "name", projectId: "project", "spec.image": "image", "spec.command": "command", "spec.args": "args", "spec.workingDir": "workingDir", "spec.environmentVariables": "environment", "spec.compute.cpuCoreRequest": "cpu", "spec.compute.cpuMemoryRequest": "memory",
  "spec.compute": "gpus", "spec.nodePools": "pools", "spec.priorityClass": "priority", "spec.preemptibility": "preemptibility", "spec.backoffLimit": "backoff", "spec.completions": "completions", "spec.parallelism": "parallelism", "spec.numWorkers": "workers", "spec.distributedFramework": "framework",
};

async function known(query, abort) {
  const kind = route.peek().path.split("/").at(-1);
  const [projects, pools, computes, environments, copied] = await Promise.all([
    getAll("/api/v1/org-unit/projects", "projects", { sortBy: "name" }, { signal: abort }),
    get("/api/v1/node-pools", { limit: 500 }, { signal: abort }).then(a => a.nodepools ?? [], () => []),
    get("/api/v1/asset/compute", {}, { signal: abort }).then(a => a.entries ?? [], () => []),
    get("/api/v1/asset/environment", {}, { signal: abort }).then(a => a.entries ?? [], () => []),
    query.copy ? get(`${KINDS[kind].path}/${query.copy}`, {}, { signal: abort }) : null,
  ]);
  return { projects, pools, computes, environments, copied };
}

export default function NewWorkload({ kind }) {
  const { query } = route.value;
  const facts = useData(`new/${kind}/${query.copy ?? ""}`, abort => known(query, abort), ["asset", "project", "nodepool", "queue"]);
  const { title } = KINDS[kind] ?? {};
  const choice = html`<${Seg} label="Kind" options=${[{ value: "training", label: "Training" }, { value: "distributed", label: "Distributed" }, { value: "workspace", label: "Workspace" }]} value=${kind} onChange=${k => go(`/workloads/new/${k}${query.project ? `?project=${query.project}` : ""}`)} />`;
  if (!title) return html`<${Page} title="New workload" action=${null}><section class="sheet"><${Empty} action=${html`<${LinkButton} href="/workloads/new/training">New training<//>`}>Workloads of this kind are made by the API and the command line.<//></section><//>`;
  return html`<${Page} title=${title} tools=${choice} action=${null}>${facts.error && !facts.data ? html`<${Fault} error=${facts.error} retry=${facts.reload} what="The form" />` : facts.loading ? html`<section class="sheet"><${Loading} rows=${8} height=${44} /></section>`
    : !facts.data.projects.length ? html`<section class="sheet"><${Empty} action=${html`<${LinkButton} href="/projects/new">New project<//>`}>A workload needs a project that pays for it, and there is none yet.<//></section>`
    : html`<${Form} key=${kind} kind=${kind} facts=${facts.data} query=${query} />`}<//>`;
}

function startValues(kind, facts, query) {
  if (facts.copied) return { ...valuesOf(facts.copied, copyName(facts.copied.name)), ...valuesOfQuery(query), replace: query.replace === "1" && may("delete", "workloads") };
  const wanted = facts.projects.find(p => p.id === query.project || p.id === scope.peek()?.projectId) ?? facts.projects[0];
  const one = facts.computes.find(c => c.meta.name === "one-gpu");
  return { ...EMPTY, project: wanted.id, ...(one ? fromCompute(one.spec) : {}), ...valuesOfQuery(query) };
}

function heldLine(project) {
  if (!project) return "";
  const t = sumParts(Object.values(sharesByPool(project)));
  const quota = Number.isFinite(t.quota) ? `${gpus(t.held)} of ${gpus(t.quota)} GPUs held` : `${gpuCount(t.held)} held, quota unlimited`;
  return quota + (t.owed + t.more > 0 ? `, ${gpus(t.owed + t.more)} waiting` : "");
}

function Form({ kind, facts, query }) {
  const { path, verb, priority, firm } = KINDS[kind];
  const initial = useMemo(() => startValues(kind, facts, query), []);
  const send = async values => {
    const made = await post(path, bodyOf(values, kind, clusterOf(values)));
    if (values.replace) await del(`${path}/${query.copy}`).catch(toastError);
    refreshAll();
    renewTables();
    await go(`/workloads?open=${made.workloadId ?? made.id}`);
    toast(`${made.name} is submitted.`);
  };
  const clusterOf = values => facts.projects.find(p => p.id === values.project)?.clusterId;
  const form = useForm({ initial, check: v => check(v, kind), send, paths: PATHS });
  const { values: v, field, set } = form;
  const project = facts.projects.find(p => p.id === v.project);
  useEffect(() => {
    document.getElementById("f-name")?.focus({ preventScroll: true });
  }, []);
  const fill = values => {
    for (const [key, value] of Object.entries(values)) set(key, value);
  };
  const whatIf = useWhatIf(v, kind, clusterOf(v));
  const preset = facts.computes.find(c => Object.entries(fromCompute(c.spec)).every(([key, value]) => String(v[key]) === String(value)));
  const wrong = Object.values(check(v, kind)).filter(Boolean).length;
  const unused = facts.pools.filter(p => !v.pools.includes(p.name));
  return html`<div class="form-page"><form class="sheet" aria-label=${verb} onSubmit=${form.submit} ref=${form.form} novalidate>
    <${Section} title="Where" help="The project pays with its quota.">
      <${SelectField} label="Project" size="half" ...${field("project")} hint=${heldLine(project)} options=${facts.projects.map(p => ({ value: p.id, label: p.name }))} />
      <${TextField} label="Name" size="half" ...${field("name")} hint="Small letters, digits, dashes" maxlength="63" />
      ${facts.copied && query.replace === "1" && may("delete", "workloads") && html`<${CheckField} label=${`Delete ${facts.copied.name} then`} hint="This one takes its place in the queue." ...${field("replace")} />`}<//>
    <${Section} title="What to run" help="An environment fills these fields.">
      <${SelectField} label="Environment" size="half" path="environmentAsset" value="" hint="Loads an asset into the fields below" onValue=${id => fill(fromEnvironment(facts.environments.find(e => e.meta.id === id)?.spec ?? {}))} options=${[{ value: "", label: facts.environments.length ? "From scratch" : "None saved yet" }, ...facts.environments.map(e => ({ value: e.meta.id, label: e.meta.name }))]} />
      <div class="f half end"><${SaveAsset} kind="environment" project=${project} spec=${() => ({ image: v.image, ...(v.command ? { command: v.command } : {}), ...(v.args ? { args: v.args } : {}), ...(v.workingDir ? { workingDir: v.workingDir } : {}) })} why=${v.image ? "" : "An image is needed first."} /></div>
      <${TextField} label="Image" mono ...${field("image")} placeholder="registry.example/team/image:tag" />
      <${TextField} label="Command" mono size="half" ...${field("command")} hint="Replaces the image's entry point" /><${TextField} label="Arguments" mono size="half" ...${field("args")} />
      <details class="f"><summary>Environment variables and working directory</summary><div class="fields inner"><${TextField} label="Environment variables" mono rows="3" ...${field("environment")} hint="One NAME=value a line" /><${TextField} label="Working directory" mono ...${field("workingDir")} /></div></details><//>
    <${Section} title="Compute" help=${kind === "distributed" ? "Per pod. The master has the same size." : "Per pod."}>
      ${facts.computes.length > 0 && html`<${Presets} label="Size" value=${preset?.meta.id ?? "custom"} onValue=${id => id !== "custom" && fill(fromCompute(facts.computes.find(c => c.meta.id === id).spec))} options=${[...facts.computes.map(c => ({ value: c.meta.id, label: c.meta.name, note: c.meta.description })), { value: "custom", label: "Custom" }]} />`}
      <${NumberField} label="GPUs per pod" size="third" ...${field("gpus")} hint="Below 1: a part of one" />
      ${kind === "distributed" && html`<${NumberField} label="Workers" size="third" min=${1} ...${field("workers")} hint=${`${(Number(v.workers) || 0) + 1} pods with the master, all or nothing`} /><${SelectField} label="Framework" size="third" ...${field("framework")} options=${FRAMEWORKS.map(value => ({ value }))} />`}
      ${kind === "training" && html`<${NumberField} label="Runs" size="third" min=${1} ...${field("completions")} hint="Pods that must succeed" /><${NumberField} label="At once" size="third" min=${1} ...${field("parallelism")} hint="Pods side by side" />`}
      <${NumberField} label="CPU cores" size="third" step=${0.5} ...${field("cpu")} /><${TextField} label="CPU memory" size="third" ...${field("memory")} hint="512M, 4Gi" />
      <div class="f third end"><${SaveAsset} kind="compute" project=${project} spec=${() => bodyOf(v, kind).spec.compute} why=${check(v, kind).gpus ?? ""} /></div>
      <${CheckField} label="Large shared memory (/dev/shm)" ...${field("shm")} />
      ${facts.pools.length > 1 && html`<${OrderField} label="Node pools, tried in this order" none=${`None chosen: it goes to ${standardPools(project, facts.pools).join(", then ")}.`} items=${v.pools.map(name => ({ id: name, content: html`<b class="strong">${name}</b>`, note: poolNote(project, name) }))} onValue=${ids => set("pools", ids)} remove=${id => set("pools", old => old.filter(p => p !== id))} />
      ${unused.length > 0 && html`<${SelectField} label="Add a node pool" size="half" path="addPool" value="" onValue=${name => name && set("pools", old => [...old, name])} options=${[{ value: "", label: "Choose" }, ...unused.map(p => ({ value: p.name }))]} />`}`}<//>
    <${Section} title="Rules" help="Non-preemptible work must fit the quota and is never interrupted.">
      <${SelectField} label="Priority" size="third" ...${field("priority")} options=${[{ value: "", label: `${priority} (default)` }, ...PRIORITIES.map(value => ({ value }))]} />
      <${SelectField} label="Preemptible" size="third" ...${field("preemptibility")} options=${[{ value: "", label: firm ? "No (default)" : "Yes (default)" }, { value: "preemptible", label: "Yes" }, { value: "non-preemptible", label: "No" }]} />
      <${NumberField} label="Retries" size="third" ...${field("backoff")} placeholder="6" /><//>
    <${Problem} error=${form.problem} />
    <div class="submit-bar"><${Verdict} ...${{ v, kind, project, facts, whatIf }} /><span class="muted small hide-s">${wrong > 0 && `${plural(wrong, "field is", "fields are")} missing or wrong`}</span><span class="grow"></span><${LinkButton} href="/workloads">Cancel<//><${Button} kind="primary" type="submit" writes busy=${form.busy}>${verb}<//></div></form>
    <${SubmissionPanel} ...${{ v, kind, project, facts, clusterId: clusterOf(v), whatIf, fill }} /></div>`;
}

function poolNote(project, pool) {
  const parts = project && sharesByPool(project)[pool];
  return parts ? `${project.name} holds ${gpus(parts.held)} of ${Number.isFinite(parts.quota) ? gpus(parts.quota) : "unlimited"}` : "";
}
