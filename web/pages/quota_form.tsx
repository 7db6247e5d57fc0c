// What does this quota take from others? The form behind projects and departments: who it is, what each node pool owes it,
// the order of the pools, rules and node types; beside it how each pool is divided, and what a save would change.
import type { ComponentChildren } from "preact";
import { useMemo, useRef } from "preact/hooks";
import { get, getAll, patch, post, put } from "../api";
import { type Data, useData } from "../data";
import { Button, LinkButton } from "../parts/button";
import { Code, curl } from "../parts/code";
import { choose } from "../parts/dialog";
import { Problem, Section, SelectField, TextField, useForm } from "../parts/form";
import { Page } from "../parts/page";
import { Empty, Fault, Loading } from "../parts/states";
import { type Bound, type Sizes, isOverPools, quotaIn, raised, raisesOf, warnings } from "../pictures/promises";
import { effectsOf, isLoss, quotaQuestion, sayEffect } from "../pictures/quota_effect";
import {
  type QuotaRow,
  cellPath,
  changes,
  checkRows,
  division,
  resourcesOf,
  rowsOf,
  rowsOfValues,
  valuesOfRows,
  withAddress,
} from "../pictures/quota_form";
import { sharesByPool } from "../pictures/shares";
import {
  RULES,
  checkRules,
  knownTypes,
  nodeTypesOf,
  rulePath,
  rulesOf,
  typesOf,
  valuesOfRules,
} from "../pictures/unit_rules";
import { closed } from "../pictures/what_if";
import { route } from "../router";
import { may, missing } from "../session";
import type { Answer, Body, Department, DepartmentForList, Project, WhatIfQuotaAnswer } from "../types";
import { WORDS } from "../words";
import { QuotaVerdict, askQuota } from "./quota_effect";
import { Divisions, QuotaTable } from "./quota_table";
import { NodeTypes, PoolOrder, SchedulingRules } from "./unit_rules";
import { useAnswer } from "./what_if";

const NAME = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;

// Quota, limit, weight and rank of a unit are given from above, unless the tenant says otherwise. Where this is not the caller's: why.
type Word = "project" | "department";
export type Unit = (Project | Department) & { parentId?: string };
/** A form's values; those of rows, rules and node types by the names that their rooms give them. */
export interface QuotaValues {
  name: string;
  parent: string;
  namespace: string;
  description: string;
  pools: string[];
  [path: string]: unknown;
}
export type UnitBody = ReturnType<typeof bodyOf>;
type UnitPath = "/api/v1/org-unit/projects" | "/api/v1/org-unit/departments";
/** The call that a save makes. */
export type Planned =
  { method: "PUT"; path: `${UnitPath}/${string}`; body: object } | { method: "POST"; path: UnitPath; body: object };

export const sendPlanned = (planned: Planned): Promise<{ id: string; name: string }> =>
  planned.method === "PUT"
    ? put(planned.path, planned.body as Body<typeof planned.path, "put">)
    : post(planned.path, planned.body as Body<typeof planned.path, "post">);

const TAKES_ABOVE = {
  project: "The administrators of its department set these.",
  department: "The administrators of its cluster set these.",
};
type Places = Answer<"/api/v1/authorization/permitted-scopes", "post">["update"] | null;
type SettingOf = { key?: string; value?: unknown };
function whyQuotaStays(unit: Unit | null, word: Word, places: Places, settings: SettingOf[]) {
  const isAbove =
    !places ||
    places.system ||
    places.tenants?.length ||
    places.clusters?.length ||
    (word === "project" && places.departments?.includes(unit?.parentId ?? ""));
  return !unit || isAbove || settings.some(o => o.key === "administratorsSetOwnQuota" && String(o.value) === "true")
    ? ""
    : TAKES_ABOVE[word];
}

// What every quota form asks for: pools, ranks, departments, projects, GPUs and node types of each pool, and the unit itself.
export type QuotaFacts = NonNullable<ReturnType<typeof useQuotaFacts>["data"]>;

/** Why there is no form, or "": node pools are its rows. Who may only not create reads it, and finds its button off. */
export function whyNot(word: Word, id?: string) {
  const right = missing(id ? "update" : "create", word),
    unread = missing("read", "nodepools");
  return (id || unread) && (right || unread);
}

export function useQuotaFacts(id: string | undefined, unitPath: UnitPath, word: Word) {
  return useData(whyNot(word, id) ? null : `quota/${unitPath}/${id ?? "new"}`, async abort => {
    const one = { signal: abort },
      all = { signal: abort, most: 10000 }; // sums of a cut list would be wrong
    const [pools, ranks, departments, projects, nodes, settings, places, unit] = await Promise.all([
      get("/api/v1/node-pools", { limit: 500 }, one).then(a => a.nodepools ?? []),
      get("/api/v1/org-unit/priorities", {}, one).then(
        a => a.priorities ?? [],
        () => [],
      ),
      may("read", "department") ? getAll("/api/v1/org-unit/departments", "departments", { sortBy: "name" }, all) : [],
      getAll("/api/v1/org-unit/projects", "projects", { sortBy: "name" }, all),
      may("read", "nodes") ? getAll("/api/v1/nodes", "nodes", {}, all).catch(() => null) : null,
      get("/v1/k8s/setting", {}, one).catch(() => []),
      id
        ? post("/api/v1/authorization/permitted-scopes", { resourceType: word, action: "update" }, one).then(
            a => a.update,
          )
        : null,
      id ? (get(`${unitPath}/${id}` as const, {}, one) as Promise<Unit>) : null,
    ]);
    const size: Sizes = nodes ? Object.fromEntries(pools.map(p => [p.name, 0])) : {};
    for (const n of nodes ?? []) size[n.nodePool] = (size[n.nodePool] ?? 0) + (n.gpuInfo?.gpuCount ?? 0);
    return {
      pools,
      ranks,
      departments,
      projects,
      size,
      types: knownTypes(nodes ?? []),
      off: settings.filter(o => String(o.value) === "false").map(o => o.key ?? ""),
      why: whyQuotaStays(unit, word, places, settings),
      unit,
    };
  });
}

interface PageProps {
  title: string;
  /** Why the account may not use it, or "". */
  why: string;
  facts: Data<QuotaFacts>;
  children: (facts: QuotaFacts) => ComponentChildren;
}

export function QuotaPage({ title, why, facts, children }: PageProps) {
  return (
    <Page title={title} action={null}>
      {why ? (
        <section class="sheet">
          <Empty>
            {why} {WORDS.askFor}
          </Empty>
        </section>
      ) : facts.data ? (
        children(facts.data)
      ) : facts.error ? (
        <Fault error={facts.error} retry={facts.reload} what="The form" />
      ) : (
        <section class="sheet">
          <Loading rows={6} height={44} />
        </section>
      )}
    </Page>
  );
}

// The values that a unit starts with.
function valuesOfUnit(unit: Unit | null, parents: DepartmentForList[] | undefined, rows: QuotaRow[]): QuotaValues {
  return {
    name: unit?.name ?? "",
    parent: unit?.parentId ?? parents?.[0]?.id ?? "",
    namespace: "",
    description: unit?.description ?? "",
    pools: unit?.defaultNodePools ?? [],
    "types-training": typesOf(unit?.nodeTypes, "training"),
    "types-workspace": typesOf(unit?.nodeTypes, "workspace"),
    ...valuesOfRules(unit?.schedulingRules),
    ...valuesOfRows(rows),
  };
}

// What a save sends beside name and place.
const bodyOf = (v: QuotaValues, rows: QuotaRow[], unit: Unit | null) => ({
  description: v.description,
  schedulingRules: rulesOf(v),
  defaultNodePools: v.pools,
  nodeTypes: nodeTypesOf(v, unit?.nodeTypes),
  resources: resourcesOf(rows, unit?.resources),
});

// The server's names of fields -> ours.
function pathsOf(rows: QuotaRow[]) {
  const paths: Record<string, string> = {
    parentId: "parent",
    requestedNamespace: "namespace",
    defaultNodePools: "pools",
    nodeTypes: "types-training",
  };
  for (const rule of RULES) paths[`schedulingRules.${rule.key}`] = rulePath(rule);
  rows.forEach((row, i) =>
    Object.assign(paths, {
      [`resources[${i}]`]: cellPath("quota", row),
      [`resources[${i}].gpu.limit`]: cellPath("limit", row),
      [`resources[${i}].gpu.overQuotaWeight`]: cellPath("weight", row),
      [`resources[${i}].cpu`]: cellPath("cpu", row),
      [`resources[${i}].memory`]: cellPath("memory", row),
      [`resources[${i}].priority`]: cellPath("rank", row),
    }),
  );
  return paths;
}

// What a save would change, in words.
function changesOf(before: QuotaValues, after: QuotaValues, rowsBefore: QuotaRow[], rows: QuotaRow[]) {
  const said = changes(rowsBefore, rows),
    differ = (keys: string[]) => keys.some(key => JSON.stringify(before[key]) !== JSON.stringify(after[key]));
  if (differ(["description"])) said.push("description");
  if (differ(["pools"])) said.push("order of node pools");
  if (differ(RULES.map(rulePath))) said.push("scheduling rules");
  if (differ(["types-training", "types-workspace"])) said.push("node types");
  return said;
}

interface QuotaProps {
  word: Word;
  facts: QuotaFacts;
  /** What a new one may belong to. */
  parents?: DepartmentForList[];
  /** What holds the quota of a pool in, the nearest first. */
  boundsOf: (pool: QuotaRow, values: QuotaValues) => Bound[];
  /** Units that divide it. */
  members?: Project[];
  /** The call that a save makes. */
  call: (values: QuotaValues, body: UnitBody) => Planned;
  save: (planned: Planned) => Promise<void>;
  /** Where Cancel goes. */
  back: string;
}

const checkOf = (unit: Unit | null, before: QuotaRow[]) => (v: QuotaValues) => ({
  ...(unit
    ? {}
    : {
        name: NAME.test(v.name) ? "" : WORDS.badName,
        namespace: v.namespace === "" || NAME.test(v.namespace) ? "" : WORDS.badName,
      }),
  ...checkRules(v),
  ...checkRows(rowsOfValues(before, v)),
});

const RAISE_TOO = "Raise the department's quota too?";

/** What the scheduler says of the change; null where it can't be had. */
type Told = () => Promise<WhatIfQuotaAnswer | null>;

// Asks before more is promised than there is, and offers to raise the department's quota along; then saves. false: the
// person took it back.
async function ask(props: QuotaProps, before: QuotaRow[], values: QuotaValues, others: Project[], told: Told) {
  const { facts, boundsOf, members = [], call, save } = props,
    { unit } = facts;
  const rows = rowsOfValues(before, values),
    old = unit ? before : before.map(r => ({ ...r, quota: 0 })),
    bounds = (row: QuotaRow) => boundsOf(row, values),
    shares = unit ? sharesByPool(unit) : {};
  const said = warnings({
    name: values.name,
    before: old,
    after: rows,
    boundsOf: bounds,
    projects: others,
    children: members,
    heldIn: row => shares[row.name]?.held ?? 0,
  });
  if (said.length) {
    const raises = raisesOf(old, rows, bounds),
      verb = unit ? "Save" : "Create";
    const answer = await told();
    const lose = answer ? effectsOf(answer).filter(isLoss) : [];
    const each = lose.length > 1 ? lose.slice(0, 6).map(e => `${e.pool}: ${sayEffect(e)}.`) : [];
    const go = await choose({
      title: raises.length && !isOverPools(old, rows, bounds) ? RAISE_TOO : "Promise more than there is?",
      body: answer ? [...said, `If it is saved now: ${closed(answer.sentence)}`, ...each] : said,
      verb: `${verb} anyway`,
      other: raises.length && may("update", "department") ? `Raise it and ${verb.toLowerCase()}` : undefined,
    });
    if (!go) return false;
    if (go === "other")
      for (const raise of raises)
        await patch(`/api/v1/org-unit/departments/${raise.department.id}/resources`, raised(raise));
  }
  return save(call(values, bodyOf(values, rows, unit)));
}

// The values, what is wrong with them, what a save would change and the call that it makes.
function useQuotaForm(props: QuotaProps) {
  const { word, facts, parents, members = [], call } = props,
    { unit, pools } = facts;
  const standard = facts.ranks.find(r => r.isDefault)?.name ?? "MediumLow";
  const before = useMemo(() => rowsOf(pools, unit?.resources, standard, facts.size), []);
  const untouched = useMemo(() => valuesOfUnit(unit, parents, before), []);
  const initial = useMemo(
    () => ({ ...untouched, ...valuesOfRows(facts.why ? before : withAddress(before, route.peek().query)) }),
    [],
  );
  const others = facts.projects.filter(p => p.id !== unit?.id && !members.includes(p));
  const told = useRef<Told>(async () => null);
  const send = (values: QuotaValues) => ask(props, before, values, others, () => told.current());
  const form = useForm<QuotaValues>({ initial, check: checkOf(unit, before), send, paths: pathsOf(before) });
  const { values } = form;
  const rows = rowsOfValues(before, values);
  const changed = changesOf(untouched, values, before, rows);
  const wrong = Object.values({ ...checkRules(values), ...checkRows(rows) }).some(Boolean);
  const planned = wrong ? null : call(values, bodyOf(values, rows, unit));
  const question =
    unit && planned && !facts.why
      ? quotaQuestion(word, unit.id, before, rows, resourcesOf(rows, unit.resources))
      : null;
  const effect = useAnswer(question, askQuota);
  told.current = async () =>
    question !== null && effect.asking ? askQuota(question).catch(() => null) : effect.answer;
  return { form, before, rows, others, changed, planned, effect };
}

/** The form of a project or a department, and beside it what it takes from others. */
export function QuotaForm(props: QuotaProps) {
  const { word, facts, parents, back } = props,
    { unit } = facts;
  const state = useQuotaForm(props);
  const { form, rows, changed } = state,
    { values: v, field } = form,
    why = missing(unit ? "update" : "create", word);
  const set = form.set as (path: string, value: unknown) => void;
  const above = word === "project" ? facts.departments.find(d => d.id === v.parent) : null;
  const fields = { values: v, field, set };
  return (
    <div class="form-page wide">
      <form
        class="sheet"
        aria-label={unit ? `${word} ${unit.name}` : `New ${word}`}
        onSubmit={form.submit}
        ref={form.form}
        novalidate
      >
        <Who word={word} unit={unit} parents={parents} form={form} />
        <QuotaTable
          word={word}
          rows={rows}
          field={field}
          set={set}
          ranks={facts.ranks}
          size={facts.size}
          off={facts.off}
          why={facts.why}
        />
        <PoolOrder
          word={word}
          pools={facts.pools}
          value={v.pools}
          error={field("pools").error}
          onValue={list => set("pools", list)}
        />
        <SchedulingRules {...fields} above={above} pools={facts.pools} />
        <NodeTypes {...fields} word={word} types={facts.types} names={unit?.nodeTypes?.names} above={above} />
        <Problem error={form.problem} why={why} />
        <SubmitBar word={word} isNew={!unit} changed={changed} busy={form.busy} back={back} why={why} />
      </form>
      <Beside props={props} state={state} />
    </div>
  );
}

interface WhoProps {
  word: Word;
  unit: Unit | null;
  parents?: DepartmentForList[];
  form: ReturnType<typeof useForm<QuotaValues>>;
}

function Who({ word, unit, parents, form: { field, values: v } }: WhoProps) {
  return (
    <Section
      title="Who"
      help={
        unit
          ? `${word === "project" ? `In ${(unit as Project).parent?.name ?? "no department"}, namespace ${(unit as Project).status?.namespace ?? "none"}. ` : ""}Its name stays.`
          : "The name can't be changed later."
      }
    >
      {!unit && (
        <TextField label="Name" size="half" {...field("name")} maxlength={57} hint="Small letters, digits, dashes" />
      )}
      {!unit && parents && (
        <>
          <SelectField
            label="Department"
            size="half"
            {...field("parent")}
            options={parents.map(d => ({ value: d.id, label: d.name }))}
          />
          <TextField
            label="Namespace"
            size="half"
            {...field("namespace")}
            placeholder={`runai-${v.name || "NAME"}`}
            maxlength={63}
            hint="Empty: it is made from the name"
          />
        </>
      )}
      <TextField label="Description" size={!unit && parents ? "half" : ""} {...field("description")} maxlength={250} />
    </Section>
  );
}

interface SubmitProps {
  word: Word;
  isNew: boolean;
  changed: string[];
  busy: boolean;
  back: string;
  why: string;
}

function SubmitBar({ word, isNew, changed, busy, back, why }: SubmitProps) {
  const nothing = isNew || changed.length ? "" : "Nothing is changed yet.";
  return (
    <div class="submit-bar">
      <span class="muted small" aria-live="polite">
        {isNew ? "" : changed.join("; ") || nothing}
      </span>
      <span class="grow" />
      <LinkButton href={back}>Cancel</LinkButton>
      <Button kind="primary" type="submit" writes busy={busy} why={why || nothing}>
        {isNew ? `Create ${word}` : "Save"}
      </Button>
    </div>
  );
}

function Beside({ props, state }: { props: QuotaProps; state: ReturnType<typeof useQuotaForm> }) {
  const { word, facts, boundsOf, members = [] } = props,
    { form, before, rows, others, planned, effect } = state;
  const divided = rows.map((row, i) => {
    const mine = Number(row.quota) || 0;
    return {
      row,
      raised: Number(row.quota) > (facts.unit ? Number(before[i].quota) : 0),
      inside: members.reduce((sum, c) => sum + quotaIn(c, row), 0),
      bounds: boundsOf(row, form.values).map(b => ({ ...b, ...division(b.total, b.others, mine) })),
    };
  });
  return (
    <aside class="sheet pane" aria-labelledby="h-div">
      <header>
        <h2 id="h-div">What it takes from others</h2>
      </header>
      <div class="body">
        <QuotaVerdict {...effect} />
        <Divisions word={word} rows={divided} projects={others} effects={effect.answer && effectsOf(effect.answer)} />
        {planned && (
          <Code
            forms={{
              curl: curl(planned.method, planned.path, planned.body),
              json: JSON.stringify(planned.body, null, 2),
            }}
          />
        )}
      </div>
    </aside>
  );
}
