// Would it start now, where, and who could take it back? The page of a new workload: what its form needs to know, and the
// form's first values.
import { useRef } from "preact/hooks";
import { get, getAll } from "../api";
import { useData } from "../data";
import { LinkButton, Seg } from "../parts/button";
import { Page } from "../parts/page";
import { Empty, Fault, Loading } from "../parts/states";
import { pref } from "../prefs";
import { byPool, sorted, startPools } from "../pictures/choices";
import { fromCompute, fromEnvironment } from "../pictures/asset_values";
import { EMPTY, type FormKind, type FormValues, KINDS, type Submitted, copyName, copyOf } from "../pictures/submission";
import { valuesOfQuery } from "../pictures/what_if";
import { go, route } from "../router";
import { kindsToMake, may, scope } from "../session";
import { WORDS } from "../words";
import { WorkloadForm } from "./workload_form";

type Query = typeof route.value.query;
/** What the form knows: projects, pools (null where they may not be read), GPUs of each, assets, what is copied. */
export type Facts = Awaited<ReturnType<typeof known>>;

const gone = () => null;
const none = () => [];

async function known(kind: FormKind, query: Query, abort: AbortSignal) {
  const options = { signal: abort };
  const figures = (type: string) =>
    may("read", "nodes")
      ? get("/api/v1/nodes/telemetry", { telemetryType: type, groupBy: "Nodepool" }, options).then(byPool, gone)
      : null;
  const [projects, pools, free, total, computes, environments, templates, sources, copied] = await Promise.all([
    getAll("/api/v1/org-unit/projects", "projects", { sortBy: "name" }, options),
    may("read", "nodepools")
      ? get("/api/v1/node-pools", { limit: 500 }, options).then(a => a.nodepools ?? [], gone)
      : null,
    figures("FREE_GPUS"),
    figures("TOTAL_GPUS"),
    get("/api/v1/asset/compute", {}, options).then(a => a.entries ?? [], none),
    get("/api/v1/asset/environment", {}, options).then(a => a.entries ?? [], none),
    get("/api/v1/workload-templates", { limit: 500 }, options).then(a => a.entries ?? [], none),
    get("/api/v1/asset/datasource", {}, options).then(a => a.entries ?? [], none),
    query.copy
      ? (get(`${KINDS[kind].path}/${query.copy}` as const, {}, options) as Promise<Submitted & { name: string }>)
      : null,
  ]);
  return { projects, pools, free, total, computes: sorted(computes), environments, templates, sources, copied };
}

const CHOICES: { value: FormKind; label: string }[] = [
  { value: "training", label: "Training" },
  { value: "distributed", label: "Distributed" },
  { value: "workspace", label: "Workspace" },
  { value: "inference", label: "Inference" },
];

export default function NewWorkload({ kind }: { kind: string }) {
  if (kind in KINDS) return <New kind={kind as FormKind} />;
  return (
    <Page title="New workload" action={null}>
      <section class="sheet">
        <Empty action={<LinkButton href="/workloads/new/training">New training</LinkButton>}>
          Workloads of this kind are made by the API and the command line.
        </Empty>
      </section>
    </Page>
  );
}

function New({ kind }: { kind: FormKind }) {
  const { query } = route.value;
  const at = useRef(""); // the project chosen in the form, for the form of another kind
  const able = kindsToMake(),
    choices = CHOICES.filter(c => c.value === kind || able.includes(c.value));
  const question = able.includes(kind) ? `new/${kind}/${query.copy ?? ""}` : null;
  const facts = useData(question, abort => known(kind, query, abort), ["asset", "project", "nodepool", "queue"]);
  const change = (other: FormKind) => {
    const project = at.current || query.project;
    return go(`/workloads/new/${other}${project ? `?project=${project}` : ""}`);
  };
  return (
    <Page title={KINDS[kind].title} action={null}>
      <div class="kind-row">
        <Seg label="Kind" options={choices} value={kind} onChange={change} />
      </div>
      {question === null ? (
        <section class="sheet">
          <Empty>
            {WORDS.noRight(`create ${kind === "distributed" ? "training" : kind}s`)} {WORDS.askFor}
          </Empty>
        </section>
      ) : facts.error && !facts.data ? (
        <Fault error={facts.error} retry={facts.reload} what="The form" />
      ) : !facts.data ? (
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
        <WorkloadForm key={kind} kind={kind} facts={facts.data} query={query} at={at} />
      )}
    </Page>
  );
}

export function startValues(facts: Facts, query: Query, kind: FormKind): FormValues {
  if (facts.copied)
    return {
      ...copyOf(facts.copied, copyName(facts.copied.name), kind),
      ...valuesOfQuery(query),
      replace: query.replace === "1" && may("delete", "workloads"),
    };
  const named = (id?: string | number | null) => (id ? facts.projects.find(p => p.id === String(id)) : undefined);
  const environment = facts.environments.find(e => e.meta.id === query.environment),
    compute = facts.computes.find(c => c.meta.id === query.compute);
  const wanted =
    named(query.project) ??
    named((environment ?? compute)?.meta.projectId) ??
    named(scope.peek()?.projectId) ??
    named(pref("lastProject", "").peek()) ??
    facts.projects.find(p => p.resources?.some(r => r.gpu?.deserved > 0)) ??
    facts.projects[0];
  const size = compute ?? facts.computes.find(c => c.meta.name === "one-gpu");
  const values = {
    ...EMPTY,
    project: wanted.id,
    ...(size ? fromCompute(size.spec) : {}),
    ...(environment ? fromEnvironment(environment.spec) : {}),
    ...valuesOfQuery(query),
  };
  return query.pools === undefined
    ? { ...values, pools: startPools(wanted, facts.pools, facts, Number(values.gpus) > 0) }
    : values;
}
