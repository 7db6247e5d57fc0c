// The sections of the workload form.
import { gpuCount, gpus, percent } from "../format";
import { Icon } from "../icons";
import { CheckField, NumberField, OrderField, Presets, Section, SelectField, TextField } from "../parts/form";
import { Menu } from "../parts/menu";
import { freeText, poolNames, standardPools } from "../pictures/choices";
import { moreFields } from "../pictures/submission_more";
import { environmentOf, fromCompute, fromEnvironment, unseen } from "../pictures/asset_values";
import { FRAMEWORKS, KINDS, PRIORITIES, check, computeOf, gpusTyped, isPart } from "../pictures/submission";
import { sharesByPool, sumParts } from "../pictures/shares";
import { limitsOf } from "../pictures/unit_rules";
import { may } from "../session";
import type { Project } from "../types";
import { SaveAsset } from "./save_asset";
import type { WorkloadState } from "./workload_form";
import { Data, FieldsFold, Fold, MoreFields, Things, things } from "./workload_more";

type Props = { state: WorkloadState };
const noBlur = () => {};

export function heldLine(project?: Project) {
  if (!project) return "";
  const t = sumParts(Object.values(sharesByPool(project)));
  const quota = Number.isFinite(t.quota)
    ? `${gpus(t.held)} of ${gpus(t.quota)} GPUs held`
    : `${gpuCount(t.held)} held, quota unlimited`;
  return quota + (t.owed + t.more > 0 ? `, ${gpus(t.owed + t.more)} waiting` : "");
}

export function Where({
  state: {
    field,
    facts,
    kind,
    query,
    project,
    template,
    labelOf,
    form: { values: v },
  },
}: Props) {
  const templates = facts.templates.filter(t => t.meta.workloadType === KINDS[kind].type);
  return (
    <Section title="Where" help="The project pays with its quota.">
      <SelectField
        label="Project"
        size="half"
        {...field("project", heldLine(project))}
        options={facts.projects.map(p => ({ value: p.id, label: p.name }))}
      />
      <TextField label="Name" size="half" {...field("name", "Small letters, digits, dashes")} maxlength={63} />
      {(templates.length > 0 || v.template) && (
        <SelectField
          label="Template"
          size="half"
          {...field(
            "template",
            templates.find(t => t.meta.id === v.template)?.meta.description ?? "Fills the fields below",
          )}
          onValue={template.choose}
          options={[
            { value: "", label: "Start from scratch" },
            ...templates.map(t => ({ value: t.meta.id, label: labelOf(t) })),
          ]}
        />
      )}
      {facts.copied && query.replace === "1" && may("delete", "workloads") && (
        <CheckField
          label={`Delete ${facts.copied.name} then`}
          hint="This one takes its place in the queue."
          {...field("replace")}
        />
      )}
    </Section>
  );
}

export function WhatToRun({ state }: Props) {
  const {
    field,
    form: { set, values: v },
    facts,
    project,
    environment,
    labelOf,
    choose,
    saved,
  } = state;
  return (
    <Section title="What to run" help="An environment fills these fields.">
      <SelectField
        label="Environment"
        size="half"
        path="environmentAsset"
        value={environment ? environment.meta.id : ""}
        hint="Loads an asset into the fields below"
        onBlur={noBlur}
        onValue={choose("environment", facts.environments, fromEnvironment)}
        options={[
          { value: "", label: facts.environments.length ? "From scratch" : "None saved yet" },
          ...facts.environments.map(e => ({ value: e.meta.id, label: labelOf(e) })),
        ]}
      />
      <div class="f half end">
        <SaveAsset
          kind="environment"
          project={project}
          spec={() => environmentOf(v)}
          why={v.image ? "" : "An image is needed first."}
          onSaved={id => saved("environment", id)}
        />
      </div>
      <TextField label="Image" mono {...field("image")} placeholder="registry.example/team/image:tag" />
      <TextField label="Command" mono {...field("command", "Replaces the image's entry point")} />
      <TextField label="Arguments" mono rows={2} {...field("args")} onValue={text => set("args", oneLine(text))} />
      <MoreToRun state={state} />
    </Section>
  );
}

function MoreToRun({ state }: Props) {
  const { added, field, kind, template } = state,
    fields = moreFields("run", kind),
    list = things("variables");
  const adds = added.length ? `. A policy adds ${added.join(", ")}` : "";
  const keys = ["environment", "workingDir", ...[...fields, ...list].map(f => `spec.${"id" in f ? f.id : f.path}`)];
  return (
    <Fold
      state={state}
      title="Environment variables and working directory"
      keys={keys}
      open={Boolean(template.saidOf("environment"))}
    >
      <TextField
        label="Environment variables"
        mono
        rows={3}
        {...field("environment", `One NAME=value a line${adds}`)}
      />
      <Things state={state} list={list} add="Variable from elsewhere" />
      <TextField label="Working directory" mono size="half" {...field("workingDir")} />
      <MoreFields state={state} fields={fields} />
    </Fold>
  );
}

// Pasted lines with a backslash at their end are one command.
const oneLine = (text: string) => text.replace(/\s*\\?\r?\n\s*/g, " ");

export function Compute({ state }: Props) {
  const { form, field, kind, facts, project, preset, labelOf, choose, saved } = state,
    { values: v } = form;
  const choosePreset = choose("compute", facts.computes, fromCompute);
  return (
    <Section title="Compute" help={kind === "distributed" ? "Per pod. The master has the same size." : "Per pod."}>
      {facts.computes.length > 0 && (
        <Presets
          label="Size"
          value={preset?.meta.id ?? "custom"}
          onValue={id => id !== "custom" && choosePreset(id)}
          options={[
            ...facts.computes.map(c => ({
              value: c.meta.id,
              label: labelOf(c),
              note: c.meta.description ?? undefined,
            })),
            { value: "custom", label: "Custom" },
          ]}
        />
      )}
      <NumberField
        label="GPUs per pod"
        size="third"
        {...field(
          "gpus",
          isPart(v.gpus) ? `${percent(Number(v.gpus) * 100)} of a GPU's memory` : "0.5 or 50%: half of one",
        )}
        onValue={typed => form.set("gpus", gpusTyped(typed))}
      />
      <PodCounts state={state} />
      <NumberField label="CPU cores" size="third" step={0.5} {...field("cpu")} />
      <TextField label="CPU memory" size="third" {...field("memory", "512M, 4Gi")} />
      <div class="f third end">
        <SaveAsset
          kind="compute"
          project={project}
          spec={() => ({ ...computeOf(v), ...(v.computeRest.compute as object) })}
          why={check(v, kind).gpus ?? ""}
          onSaved={id => saved("compute", id)}
        />
      </div>
      <CheckField label="Large shared memory (/dev/shm)" {...field("shm")} />
      <Pools state={state} />
      <NodeType state={state} />
      <FieldsFold
        state={state}
        title="GPU memory, limits, tolerations"
        fold="compute"
        list={things("tolerations")}
        add="Toleration"
      />
    </Section>
  );
}

// How many pods there are.
function PodCounts({
  state: {
    field,
    form: { values: v },
    kind,
  },
}: Props) {
  return (
    <>
      {kind === "distributed" && (
        <>
          <NumberField
            label="Workers"
            size="third"
            min={1}
            {...field("workers", `${(Number(v.workers) || 0) + 1} pods with the master, all or nothing`)}
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
          <NumberField label="Runs" size="third" min={1} {...field("completions", "Pods that must succeed")} />
          <NumberField label="At once" size="third" min={1} {...field("parallelism", "Pods side by side")} />
        </>
      )}
    </>
  );
}

function poolNote(project: Project | undefined, pool: string) {
  const parts = project && sharesByPool(project)[pool];
  return parts
    ? `· ${project.name} holds ${gpus(parts.held)} of ${Number.isFinite(parts.quota) ? gpus(parts.quota) : "unlimited"}`
    : "";
}

// Which node pools, in which order; a choice where there are several.
function Pools({
  state: {
    field,
    form: { values: v },
    facts,
    project,
    setPools,
  },
}: Props) {
  const names = poolNames(project, facts.pools),
    unused = names.filter(name => !v.pools.includes(name));
  if (names.length < 2) return null;
  const items = v.pools.map(name => ({
    id: name,
    content: (
      <>
        <b class="strong">{name}</b> <span class="muted">{poolNote(project, name)}</span>
      </>
    ),
    note: freeText(facts.free, name),
  }));
  return (
    <>
      <OrderField
        label="Node pools, tried in this order"
        none={`None chosen: it goes to ${standardPools(project, facts.pools).join(", then ")}.`}
        items={items}
        error={field("pools").error}
        onValue={setPools}
        remove={id => setPools(old => old.filter(p => p !== id))}
      />
      {unused.length > 0 && (
        <div class="f">
          <Menu
            small
            icon="plus"
            text="Node pool"
            items={unused.map(name => ({
              label: [name, freeText(facts.free, name)].filter(Boolean).join(" · "),
              onClick: () => setPools(old => [...old, name]),
            }))}
          />
        </div>
      )}
    </>
  );
}

function NodeType({
  state: {
    field,
    form: { values: v },
    types,
  },
}: Props) {
  if (!types.options.length) return null;
  return (
    <SelectField
      label="Node type"
      size="half"
      {...field("nodeType", types.list.length ? "The project's list" : "The node's label run.ai/type")}
      options={[
        { value: "", label: types.list.length ? "Any of the project's" : "Any" },
        ...(types.options.some(o => o.value === v.nodeType) || !v.nodeType ? [] : [{ value: v.nodeType }]),
        ...types.options,
      ]}
    />
  );
}

export function Mounts({ state }: Props) {
  return (
    <>
      <Section title="Data" help="Paths are those in the container.">
        <Data state={state} />
      </Section>
      <Section title="Ports and URLs" help="What others can reach in it.">
        <Things state={state} list={things("ports")} add="Port or URL" />
      </Section>
    </>
  );
}

export function Rules({ state }: Props) {
  const {
    field,
    form: { values: v },
    kind,
    project,
  } = state;
  const { priority, firm } = KINDS[kind];
  const isFirm = v.preemptibility ? v.preemptibility === "non-preemptible" : firm;
  const limits = limitsOf(project?.effective?.schedulingRules, kind === "workspace", isFirm);
  return (
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
      {kind !== "inference" && <NumberField label="Retries" size="third" {...field("backoff")} placeholder="6" />}
      {limits && (
        <p class="f hint">
          <span class="lock">
            <Icon name="lock" />
            {`It is stopped ${limits}: a rule of ${project?.name}.`}
          </span>
        </p>
      )}
      {kind !== "inference" && <CheckField label="Hold it: suspended until somebody resumes it" {...field("held")} />}
      {kind !== "inference" && (
        <FieldsFold
          state={state}
          title="When it starts, stops, ends and goes"
          fold="end"
          list={things("ends")}
          add="After another workload"
        />
      )}
      <FieldsFold state={state} title="Security" fold="security" />
      <FieldsFold state={state} title="Category, labels, annotations" fold="marks" />
      {unseen(v).length > 0 && <p class="f hint">{`Sent too, though no field shows it: ${unseen(v).join(", ")}.`}</p>}
    </Section>
  );
}
