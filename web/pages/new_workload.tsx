// Would it start now, where, and who could take it back? The form, and beside it the project's quota with this request and
// the same call for the command line.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { del, get, getAll, post } from "../api";
import { useData } from "../data";
import { gpuCount, gpus, plural } from "../format";
import { refreshAll } from "../live";
import { Button, LinkButton, Seg } from "../parts/button";
import {
  CheckField,
  NumberField,
  OrderField,
  Presets,
  Problem,
  Section,
  SelectField,
  TextField,
  useForm,
} from "../parts/form";
import { Icon } from "../icons";
import { Page } from "../parts/page";
import { PortsField } from "../parts/ports_field";
import { Empty, Fault, Loading } from "../parts/states";
import { renewTables } from "../parts/table";
import { toast, toastError } from "../parts/toast";
import { keep, pref } from "../prefs";
import { byPool, freeText, poolNames, sorted, standardPools, startPools, typeChoice } from "../pictures/choices";
import {
  EMPTY,
  FRAMEWORKS,
  KINDS,
  PRIORITIES,
  bodyOf,
  check,
  copyName,
  fromCompute,
  fromEnvironment,
  valuesOf,
} from "../pictures/submission";
import { knownTypes, limitsOf } from "../pictures/unit_rules";
import { sharesByPool, sumParts } from "../pictures/shares";
import { valuesOfQuery } from "../pictures/what_if";
import { go, route } from "../router";
import { may, scope } from "../session";
import { SaveAsset } from "./save_asset";
import { SubmissionPanel, Verdict } from "./submission_panel";
import { useWhatIf } from "./what_if";

// Names of the API's fields -> ours.
const PATHS = {
  name: "name",
  projectId: "project",
  "spec.image": "image",
  "spec.command": "command",
  "spec.args": "args",
  "spec.workingDir": "workingDir",
  "spec.environmentVariables": "environment",
  "spec.compute.cpuCoreRequest": "cpu",
  "spec.compute.cpuMemoryRequest": "memory",
  "spec.compute": "gpus",
  "spec.nodePools": "pools",
  "spec.nodeType": "nodeType",
  "spec.ports": "ports",
  "spec.exposedUrls": "ports",
  "spec.priorityClass": "priority",
  "spec.preemptibility": "preemptibility",
  "spec.backoffLimit": "backoff",
  "spec.completions": "completions",
  "spec.parallelism": "parallelism",
  "spec.numWorkers": "workers",
  "spec.distributedFramework": "framework",
};

async function known(query, abort) {
  const kind = route.peek().path.split("/").at(-1);
  const figures = type =>
    may("read", "nodes")
      ? get("/api/v1/nodes/telemetry", { telemetryType: type, groupBy: "Nodepool" }, { signal: abort }).then(
          byPool,
          () => null,
        )
      : null;
  const [projects, pools, free, total, computes, environments, copied] = await Promise.all([
    getAll("/api/v1/org-unit/projects", "projects", { sortBy: "name" }, { signal: abort }),
    may("read", "nodepools")
      ? get("/api/v1/node-pools", { limit: 500 }, { signal: abort }).then(
          a => a.nodepools ?? [],
          () => null,
        )
      : null,
    figures("FREE_GPUS"),
    figures("TOTAL_GPUS"),
    get("/api/v1/asset/compute", {}, { signal: abort }).then(
      a => a.entries ?? [],
      () => [],
    ),
    get("/api/v1/asset/environment", {}, { signal: abort }).then(
      a => a.entries ?? [],
      () => [],
    ),
    query.copy ? get(`${KINDS[kind].path}/${query.copy}`, {}, { signal: abort }) : null,
  ]);
  return { projects, pools, free, total, computes: sorted(computes), environments, copied };
}

export default function NewWorkload({ kind }) {
  const { query } = route.value;
  const at = useRef(""); // the project chosen in the form, for the form of another kind
  const facts = useData(`new/${kind}/${query.copy ?? ""}`, abort => known(query, abort), [
    "asset",
    "project",
    "nodepool",
    "queue",
  ]);
  const { title } = KINDS[kind] ?? {};
  const choice = (
    <Seg
      label="Kind"
      options={[
        { value: "training", label: "Training" },
        { value: "distributed", label: "Distributed" },
        { value: "workspace", label: "Workspace" },
      ]}
      value={kind}
      onChange={k =>
        go(`/workloads/new/${k}${at.current || query.project ? `?project=${at.current || query.project}` : ""}`)
      }
    />
  );
  if (!title)
    return (
      <Page title="New workload" action={null}>
        <section class="sheet">
          <Empty action={<LinkButton href="/workloads/new/training">New training</LinkButton>}>
            Workloads of this kind are made by the API and the command line.
          </Empty>
        </section>
      </Page>
    );
  return (
    <Page title={title} action={null}>
      <div class="kind-row">{choice}</div>
      {facts.error && !facts.data ? (
        <Fault error={facts.error} retry={facts.reload} what="The form" />
      ) : facts.loading ? (
        <section class="sheet">
          <Loading rows={8} height={44} />
        </section>
      ) : !facts.data.projects.length ? (
        <section class="sheet">
          <Empty action={<LinkButton href="/projects/new">New project</LinkButton>}>
            A workload needs a project that pays for it, and there is none yet.
          </Empty>
        </section>
      ) : (
        <Form key={kind} kind={kind} facts={facts.data} query={query} at={at} />
      )}
    </Page>
  );
}

function startValues(kind, facts, query) {
  if (facts.copied)
    return {
      ...valuesOf(facts.copied, copyName(facts.copied.name)),
      ...valuesOfQuery(query),
      replace: query.replace === "1" && may("delete", "workloads"),
    };
  const named = id => (id ? facts.projects.find(p => p.id === id) : undefined);
  const wanted =
    named(query.project) ??
    named(scope.peek()?.projectId) ??
    named(pref("lastProject", "").peek()) ??
    facts.projects.find(p => p.resources?.some(r => r.gpu?.deserved > 0)) ??
    facts.projects[0];
  const one = facts.computes.find(c => c.meta.name === "one-gpu");
  const values = { ...EMPTY, project: wanted.id, ...(one ? fromCompute(one.spec) : {}), ...valuesOfQuery(query) };
  return query.pools === undefined
    ? { ...values, pools: startPools(wanted, facts.pools, facts, Number(values.gpus) > 0) }
    : values;
}

function heldLine(project) {
  if (!project) return "";
  const t = sumParts(Object.values(sharesByPool(project)));
  const quota = Number.isFinite(t.quota)
    ? `${gpus(t.held)} of ${gpus(t.quota)} GPUs held`
    : `${gpuCount(t.held)} held, quota unlimited`;
  return quota + (t.owed + t.more > 0 ? `, ${gpus(t.owed + t.more)} waiting` : "");
}

function Form({ kind, facts, query, at }) {
  const { path, verb, priority, firm } = KINDS[kind];
  const initial = useMemo(() => startValues(kind, facts, query), []);
  const send = async values => {
    const made = await post(path, bodyOf(values, kind, clusterOf(values)));
    keep("lastProject", values.project);
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
  at.current = v.project;
  useEffect(() => {
    document.getElementById("f-name")?.focus({ preventScroll: true });
  }, []);
  const fill = values => {
    for (const [key, value] of Object.entries(values)) set(key, value);
    if ("pools" in values) chosePools.current = true;
  };
  // Until a person chooses node pools, they follow the project.
  const chosePools = useRef(Boolean(facts.copied) || query.pools !== undefined);
  const setPools = value => {
    chosePools.current = true;
    set("pools", value);
  };
  const wantsGpus = Number(v.gpus) > 0;
  useEffect(() => {
    const pools = startPools(project, facts.pools, facts, wantsGpus);
    if (!chosePools.current && pools.join() !== v.pools.join()) set("pools", pools);
  }, [v.project, wantsGpus]);
  const known =
    useData(may("read", "nodes") ? "node-types" : null, abort =>
      getAll("/api/v1/nodes", "nodes", {}, { signal: abort, most: 4000 }).then(knownTypes),
    ).data ?? [];
  const types = typeChoice(project, kind, known);
  useEffect(() => {
    if (v.nodeType && types.list.length && !types.list.includes(v.nodeType)) set("nodeType", "");
  }, [v.project]);
  const whatIf = useWhatIf(v, kind, clusterOf(v));
  const [chosen, setChosen] = useState({});
  const same = fields => Object.entries(fields).every(([key, value]) => String(v[key]) === String(value));
  const pick = (list, fieldsOf, id) =>
    list.find(a => a.meta.id === id && same(fieldsOf(a.spec))) ?? list.find(a => same(fieldsOf(a.spec)));
  const preset = pick(facts.computes, fromCompute, chosen.compute),
    environment = v.image && pick(facts.environments, fromEnvironment, chosen.environment);
  const choose = (what, list, fieldsOf) => id => {
    setChosen(old => ({ ...old, [what]: id }));
    fill(fieldsOf(list.find(a => a.meta.id === id)?.spec ?? {}));
  };
  const wrong = Object.values(check(v, kind)).filter(Boolean).length;
  const names = poolNames(project, facts.pools),
    unused = names.filter(name => !v.pools.includes(name));
  const isFirm = v.preemptibility ? v.preemptibility === "non-preemptible" : firm;
  const limits = limitsOf(project?.effective?.schedulingRules, kind === "workspace", isFirm);
  return (
    <div class="form-page">
      <form class="sheet" aria-label={verb} onSubmit={form.submit} ref={form.form} novalidate>
        <Section title="Where" help="The project pays with its quota.">
          <SelectField
            label="Project"
            size="half"
            {...field("project")}
            hint={heldLine(project)}
            options={facts.projects.map(p => ({ value: p.id, label: p.name }))}
          />
          <TextField label="Name" size="half" {...field("name")} hint="Small letters, digits, dashes" maxlength="63" />
          {facts.copied && query.replace === "1" && may("delete", "workloads") && (
            <CheckField
              label={`Delete ${facts.copied.name} then`}
              hint="This one takes its place in the queue."
              {...field("replace")}
            />
          )}
        </Section>
        <Section title="What to run" help="An environment fills these fields.">
          <SelectField
            label="Environment"
            size="half"
            path="environmentAsset"
            value={environment ? environment.meta.id : ""}
            hint="Loads an asset into the fields below"
            onValue={choose("environment", facts.environments, fromEnvironment)}
            options={[
              { value: "", label: facts.environments.length ? "From scratch" : "None saved yet" },
              ...facts.environments.map(e => ({ value: e.meta.id, label: e.meta.name })),
            ]}
          />
          <div class="f half end">
            <SaveAsset
              kind="environment"
              project={project}
              spec={() => ({
                image: v.image,
                ...(v.command ? { command: v.command } : {}),
                ...(v.args ? { args: v.args } : {}),
                ...(v.workingDir ? { workingDir: v.workingDir } : {}),
              })}
              why={v.image ? "" : "An image is needed first."}
              onSaved={id => setChosen(old => ({ ...old, environment: id }))}
            />
          </div>
          <TextField label="Image" mono {...field("image")} placeholder="registry.example/team/image:tag" />
          <TextField label="Command" mono {...field("command")} hint="Replaces the image's entry point" />
          <TextField label="Arguments" mono rows="2" {...field("args")} onValue={text => set("args", oneLine(text))} />
          <details class="f">
            <summary>Environment variables and working directory</summary>
            <div class="fields inner">
              <TextField
                label="Environment variables"
                mono
                rows="3"
                {...field("environment")}
                hint="One NAME=value a line"
              />
              <TextField label="Working directory" mono {...field("workingDir")} />
            </div>
          </details>
        </Section>
        <Section title="Compute" help={kind === "distributed" ? "Per pod. The master has the same size." : "Per pod."}>
          {facts.computes.length > 0 && (
            <Presets
              label="Size"
              value={preset?.meta.id ?? "custom"}
              onValue={id => id !== "custom" && choose("compute", facts.computes, fromCompute)(id)}
              options={[
                ...facts.computes.map(c => ({ value: c.meta.id, label: c.meta.name, note: c.meta.description })),
                { value: "custom", label: "Custom" },
              ]}
            />
          )}
          <NumberField label="GPUs per pod" size="third" {...field("gpus")} hint="Below 1: a part of one" />
          {kind === "distributed" && (
            <>
              <NumberField
                label="Workers"
                size="third"
                min={1}
                {...field("workers")}
                hint={`${(Number(v.workers) || 0) + 1} pods with the master, all or nothing`}
              />
              <SelectField
                label="Framework"
                size="third"
                {...field("framework")}
                options={FRAMEWORKS.map(value => ({ value }))}
              />
            </>
          )}
          {kind === "training" && (
            <>
              <NumberField label="Runs" size="third" min={1} {...field("completions")} hint="Pods that must succeed" />
              <NumberField label="At once" size="third" min={1} {...field("parallelism")} hint="Pods side by side" />
            </>
          )}
          <NumberField label="CPU cores" size="third" step={0.5} {...field("cpu")} />
          <TextField label="CPU memory" size="third" {...field("memory")} hint="512M, 4Gi" />
          <div class="f third end">
            <SaveAsset
              kind="compute"
              project={project}
              spec={() => bodyOf(v, kind).spec.compute}
              why={check(v, kind).gpus ?? ""}
              onSaved={id => setChosen(old => ({ ...old, compute: id }))}
            />
          </div>
          <CheckField label="Large shared memory (/dev/shm)" {...field("shm")} />
          {names.length > 1 && (
            <>
              <OrderField
                label="Node pools, tried in this order"
                none={`None chosen: it goes to ${standardPools(project, facts.pools).join(", then ")}.`}
                items={v.pools.map(name => ({
                  id: name,
                  content: (
                    <>
                      <b class="strong">{name}</b> <span class="muted">{poolNote(project, name)}</span>
                    </>
                  ),
                  note: freeText(facts.free, name),
                }))}
                error={field("pools").error}
                onValue={setPools}
                remove={id => setPools(old => old.filter(p => p !== id))}
              />
              {unused.length > 0 && (
                <SelectField
                  label="Add a node pool"
                  size="half"
                  path="addPool"
                  value=""
                  onValue={name => name && setPools(old => [...old, name])}
                  options={[
                    { value: "", label: "Choose" },
                    ...unused.map(value => ({
                      value,
                      label: [value, freeText(facts.free, value)].filter(Boolean).join(" · "),
                    })),
                  ]}
                />
              )}
            </>
          )}
          {types.options.length > 0 && (
            <SelectField
              label="Node type"
              size="half"
              {...field("nodeType")}
              hint={types.list.length ? "The project's list" : "The node's label run.ai/type"}
              options={[
                { value: "", label: types.list.length ? "Any of the project's" : "Any" },
                ...(types.options.some(o => o.value === v.nodeType) || !v.nodeType ? [] : [{ value: v.nodeType }]),
                ...types.options,
              ]}
            />
          )}
        </Section>
        {(kind === "workspace" || v.ports.length > 0) && (
          <Section title="Ports" help="What others can reach in it.">
            <PortsField value={v.ports} error={field("ports").error} onValue={list => set("ports", list)} />
          </Section>
        )}
        <Section title="Rules" help="Non-preemptible work must fit the quota and is never interrupted.">
          <SelectField
            label="Priority"
            size="third"
            {...field("priority")}
            options={[{ value: "", label: `${priority} (default)` }, ...PRIORITIES.map(value => ({ value }))]}
          />
          <SelectField
            label="Preemptible"
            size="third"
            {...field("preemptibility")}
            options={[
              { value: "", label: firm ? "No (default)" : "Yes (default)" },
              { value: "preemptible", label: "Yes" },
              { value: "non-preemptible", label: "No" },
            ]}
          />
          <NumberField label="Retries" size="third" {...field("backoff")} placeholder="6" />
          {limits && (
            <p class="f hint">
              <span class="lock">
                <Icon name="lock" />
                {`It is stopped ${limits}: a rule of ${project.name}.`}
              </span>
            </p>
          )}
        </Section>
        <Problem error={form.problem} />
        <div class="submit-bar">
          <Verdict v={v} kind={kind} project={project} facts={facts} whatIf={whatIf} />
          <span class="muted small hide-s">
            {wrong > 0 && `${plural(wrong, "field is", "fields are")} missing or wrong`}
          </span>
          <span class="grow" />
          <LinkButton href="/workloads">Cancel</LinkButton>
          <Button kind="primary" type="submit" writes busy={form.busy}>
            {verb}
          </Button>
        </div>
      </form>
      <SubmissionPanel
        v={v}
        kind={kind}
        project={project}
        facts={facts}
        clusterId={clusterOf(v)}
        whatIf={whatIf}
        fill={fill}
      />
    </div>
  );
}

// Pasted lines with a backslash at their end are one command.
const oneLine = text => text.replace(/\s*\\?\r?\n\s*/g, " ");

function poolNote(project, pool) {
  const parts = project && sharesByPool(project)[pool];
  return parts
    ? `· ${project.name} holds ${gpus(parts.held)} of ${Number.isFinite(parts.quota) ? gpus(parts.quota) : "unlimited"}`
    : "";
}
