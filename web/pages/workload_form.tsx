// The form of a new workload, and beside it the project's quota with this request and the same call for the command line.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { del, getAll, post } from "../api";
import { useData } from "../data";
import { plural } from "../format";
import { refreshAll } from "../live";
import { Button, LinkButton } from "../parts/button";
import { Problem, useForm } from "../parts/form";
import { useLabels } from "../parts/place_words";
import { renewTables } from "../parts/table";
import { toast, toastError } from "../parts/toast";
import { keep } from "../prefs";
import { fromCompute, fromEnvironment } from "../pictures/asset_values";
import { startPools, typeChoice } from "../pictures/choices";
import { type FormKind, type FormValues, KINDS, bodyOf, check } from "../pictures/submission";
import { PATHS, type Policy, addedVariables, brokenRules, ruledFields } from "../pictures/submission_fields";
import { knownTypes } from "../pictures/unit_rules";
import { go, type route } from "../router";
import { may } from "../session";
import type { Body, ComputeAsset, EnvironmentAsset, Project } from "../types";
import { type Facts, startValues } from "./new_workload";
import { SubmissionPanel, Verdict } from "./submission_panel";
import { useWhatIf } from "./what_if";
import { Compute, Mounts, Rules, WhatToRun, Where } from "./workload_sections";
import { Serving } from "./serving_section";
import { usePolicy, useTemplate } from "./workload_sources";

interface FormProps {
  kind: FormKind;
  facts: Facts;
  query: typeof route.value.query;
  /** The chosen project, for the form of another kind. */
  at: { current: string };
}
type Set = ReturnType<typeof useForm<FormValues>>["set"];
type Asset = "compute" | "environment";
/** The form and what its sections share. */
export type WorkloadState = ReturnType<typeof useWorkloadForm>;

// Node pools follow the project until a person chooses some.
function usePools({ facts, query }: FormProps, v: FormValues, set: Set, project?: Project) {
  const chose = useRef(Boolean(facts.copied) || query.pools !== undefined);
  const wantsGpus = Number(v.gpus) > 0;
  useEffect(() => {
    const pools = startPools(project, facts.pools, facts, wantsGpus);
    if (!chose.current && pools.join() !== v.pools.join()) set("pools", pools);
  }, [v.project, wantsGpus]);
  const setPools = (value: string[] | ((old: string[]) => string[])) => {
    chose.current = true;
    set("pools", value);
  };
  const fill = (values: Partial<FormValues>) => {
    for (const [key, value] of Object.entries(values)) set(key as keyof FormValues, value as never);
    if ("pools" in values) chose.current = true;
  };
  return { setPools, fill };
}

// The node types to choose from; one that the project's list does not have is taken back.
function useNodeTypes(kind: FormKind, v: FormValues, set: Set, project?: Project) {
  const found = useData(may("read", "nodes") ? "node-types" : null, abort =>
    getAll("/api/v1/nodes", "nodes", {}, { signal: abort, most: 4000 }).then(knownTypes),
  );
  const types = typeChoice(project, kind, found.data ?? []);
  useEffect(() => {
    if (v.nodeType && types.list.length && !types.list.includes(v.nodeType)) set("nodeType", "");
  }, [v.project]);
  return types;
}

const plain = (value: unknown) => (typeof value === "object" ? JSON.stringify(value) : String(value));

// The assets that the values are those of, the chosen ones before others; choosing one fills its fields.
function useAssets({ facts }: FormProps, v: FormValues, fill: (values: Partial<FormValues>) => void) {
  const [chosen, setChosen] = useState<Partial<Record<Asset, string>>>({});
  const same = (fields: Partial<FormValues>) =>
    Object.entries(fields).every(([key, value]) => plain(v[key as keyof FormValues]) === plain(value));
  const pick = <A extends ComputeAsset | EnvironmentAsset>(
    list: A[],
    fieldsOf: (spec: A["spec"]) => Partial<FormValues>,
    id?: string,
  ) => list.find(a => a.meta.id === id && same(fieldsOf(a.spec))) ?? list.find(a => same(fieldsOf(a.spec)));
  const saved = (what: Asset, id: string) => setChosen(old => ({ ...old, [what]: id }));
  const choose =
    <A extends ComputeAsset | EnvironmentAsset>(
      what: Asset,
      list: A[],
      fieldsOf: (spec: A["spec"]) => Partial<FormValues>,
    ) =>
    (id: string) => {
      saved(what, id);
      fill(fieldsOf(list.find(a => a.meta.id === id)?.spec ?? ({} as A["spec"])));
    };
  const preset = pick(facts.computes, fromCompute, chosen.compute),
    environment = v.image ? pick(facts.environments, fromEnvironment, chosen.environment) : undefined;
  const labelOf = useLabels(facts.computes, facts.environments, facts.templates);
  return { preset, environment, choose, saved, labelOf };
}

type Marked = { hint?: string; lock?: string };

function useWorkloadForm(props: FormProps) {
  const { kind, facts, query, at } = props,
    { path } = KINDS[kind];
  const initial = useMemo(() => startValues(facts, query, kind), []);
  const projectOf = (values: FormValues) => facts.projects.find(p => p.id === values.project);
  const clusterOf = (values: FormValues) => projectOf(values)?.clusterId ?? "";
  const policy = useRef<Policy>({});
  const ruled = (values: FormValues) => {
    const project = projectOf(values);
    return project ? ruledFields(policy.current, kind, values, project) : {};
  };
  const send = async (values: FormValues) => {
    const body = bodyOf(values, kind, clusterOf(values));
    const made = await post(path, body as unknown as Body<typeof path, "post">);
    keep("lastProject", values.project);
    if (values.replace) await del(`${path}/${query.copy ?? ""}` as const).catch(toastError);
    refreshAll();
    renewTables();
    await go(`/workloads?open=${made.workloadId}`);
    toast(`${made.name} is submitted.`);
  };
  const wrong = (v: FormValues) => ({ ...brokenRules(v, ruled(v)), ...check(v, kind) });
  const form = useForm({ initial, check: wrong, send, paths: PATHS });
  const { values: v, set } = form;
  const project = projectOf(v);
  at.current = v.project;
  useEffect(() => document.getElementById("f-name")?.focus({ preventScroll: true }), []);
  const { setPools, fill } = usePools(props, v, set, project);
  const isReady = usePolicy(policy, kind, form, facts.copied ? {} : initial);
  const template = useTemplate(query.template, kind, v, fill);
  const rules = ruled(v),
    added = addedVariables(policy.current, kind);
  // A field with what a policy or a template says of it.
  const field = <K extends keyof FormValues & string>(key: K, hint?: string) => {
    const said = rules[key],
      words = said && `${said.whose}: ${said.text}.`,
      marked: Marked = said?.locked
        ? { lock: words }
        : { hint: [template.saidOf(key), words ?? hint].filter(Boolean).join(" · ") };
    return { ...form.field(key), ...marked };
  };
  const types = useNodeTypes(kind, v, set, project);
  const clusterId = clusterOf(v);
  const shared = {
    added,
    form,
    field,
    kind,
    facts,
    query,
    project,
    clusterId,
    types,
    whatIf: useWhatIf(v, kind, clusterId, rules, isReady),
    template,
    isReady,
    setPools,
    fill,
  };
  return { ...shared, wrong, ...useAssets(props, v, fill) };
}

export function WorkloadForm(props: FormProps) {
  const state = useWorkloadForm(props);
  const { form, kind, facts, project, whatIf, clusterId, fill } = state,
    { verb } = KINDS[kind];
  const wrong = Object.values(state.wrong(form.values)).filter(Boolean).length;
  const panel = { v: form.values, kind, project, facts, whatIf };
  return (
    <div class="form-page">
      <form
        class={"sheet" + (state.isReady ? "" : " waits")}
        aria-label={verb}
        onSubmit={form.submit}
        ref={form.form}
        novalidate
      >
        <Where state={state} />
        <WhatToRun state={state} />
        <Compute state={state} />
        {kind === "inference" && <Serving state={state} />}
        <Mounts state={state} />
        <Rules state={state} />
        <Problem error={form.problem} />
        <div class="submit-bar">
          <Verdict {...whatIf} />
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
      <SubmissionPanel {...panel} clusterId={clusterId} fill={fill} />
    </div>
  );
}
