// What does this quota take from others? The form behind projects and departments: who it is, what each node pool owes it,
// the order of the pools, rules and node types; beside it how each pool is divided, and what a save would change.
import { useMemo } from "preact/hooks";
import { get, getAll, post } from "../api";
import { useData } from "../data";
import { Button, LinkButton } from "../parts/button";
import { Code, curl } from "../parts/code";
import { confirm } from "../parts/dialog";
import { Problem, Section, SelectField, TextField, useForm } from "../parts/form";
import { Page } from "../parts/page";
import { Fault, Loading } from "../parts/states";
import { quotaIn, warnings } from "../pictures/promises";
import {
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
import { route } from "../router";
import { may } from "../session";
import { WORDS } from "../words";
import { Divisions, QuotaTable } from "./quota_table";
import { NodeTypes, PoolOrder, SchedulingRules } from "./unit_rules";

const NAME = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;

// Quota, limit, weight and rank of a unit are given from above, unless the tenant says otherwise. Where this is not the caller's: why.
const TAKES_ABOVE = {
  project: "The administrators of its department set these.",
  department: "The administrators of its cluster set these.",
};
function whyQuotaStays(unit, word, places, settings) {
  const isAbove =
    !places ||
    places.system ||
    places.tenants.length ||
    places.clusters.length ||
    (word === "project" && places.departments.includes(unit?.parentId));
  return !unit || isAbove || settings.some(o => o.key === "administratorsSetOwnQuota" && String(o.value) === "true")
    ? ""
    : TAKES_ABOVE[word];
}

// What every quota form asks for: pools, ranks, departments, projects, GPUs and node types of each pool, and the unit itself.
export function useQuotaFacts(id, unitPath, word) {
  return useData(`quota/${unitPath}/${id ?? "new"}`, async abort => {
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
      id ? get(`${unitPath}/${id}`, {}, one) : null,
    ]);
    const size = nodes ? Object.fromEntries(pools.map(p => [p.name, 0])) : {};
    for (const n of nodes ?? []) size[n.nodePool] = (size[n.nodePool] ?? 0) + (n.gpuInfo?.gpuCount ?? 0);
    return {
      pools,
      ranks,
      departments,
      projects,
      size,
      types: knownTypes(nodes ?? []),
      off: settings.filter(o => String(o.value) === "false").map(o => o.key),
      why: whyQuotaStays(unit, word, places, settings),
      unit,
    };
  });
}

export function QuotaPage({ title, facts, children }) {
  return (
    <Page title={title} action={null}>
      {facts.data ? (
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
function valuesOfUnit(unit, parents, rows) {
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
const bodyOf = (v, rows, unit) => ({
  description: v.description,
  schedulingRules: rulesOf(v),
  defaultNodePools: v.pools,
  nodeTypes: nodeTypesOf(v, unit?.nodeTypes),
  resources: resourcesOf(rows, unit?.resources),
});

// The server's names of fields -> ours.
function pathsOf(rows) {
  const paths = {
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
function changesOf(before, after, rowsBefore, rows) {
  const said = changes(rowsBefore, rows),
    differ = keys => keys.some(key => JSON.stringify(before[key]) !== JSON.stringify(after[key]));
  if (differ(["description"])) said.push("description");
  if (differ(["pools"])) said.push("order of node pools");
  if (differ(RULES.map(rulePath))) said.push("scheduling rules");
  if (differ(["types-training", "types-workspace"])) said.push("node types");
  return said;
}

// word: "project" or "department"; parents: what a new one may belong to; boundsOf(pool, values): what holds its quota in,
// the nearest first; members: units that divide it; call(values, body) -> {method, path, body}; save(call) sends it.
export function QuotaForm({ word, facts, parents, boundsOf, members = [], call, save, back }) {
  const { unit, pools } = facts;
  const standard = facts.ranks.find(r => r.isDefault)?.name ?? "MediumLow";
  const before = useMemo(() => rowsOf(pools, unit?.resources, standard, facts.size), []);
  const untouched = useMemo(() => valuesOfUnit(unit, parents, before), []);
  const initial = useMemo(
    () => ({ ...untouched, ...valuesOfRows(facts.why ? before : withAddress(before, route.peek().query)) }),
    [],
  );
  const check = v => ({
    ...(unit
      ? {}
      : {
          name: NAME.test(v.name) ? "" : WORDS.badName,
          namespace: v.namespace === "" || NAME.test(v.namespace) ? "" : WORDS.badName,
        }),
    ...checkRules(v),
    ...checkRows(rowsOfValues(before, v)),
  });
  const shares = unit ? sharesByPool(unit) : {};
  const others = facts.projects.filter(p => p.id !== unit?.id && !members.includes(p));
  const send = async values => {
    const rows = rowsOfValues(before, values);
    const said = warnings({
      name: values.name,
      before: unit ? before : before.map(r => ({ ...r, quota: 0 })),
      after: rows,
      boundsOf: row => boundsOf(row, values),
      projects: others,
      children: members,
      heldIn: row => shares[row.name]?.held ?? 0,
    });
    if (
      said.length &&
      !(await confirm({
        title: "Promise more than there is?",
        body: said,
        verb: unit ? "Save anyway" : "Create anyway",
      }))
    )
      return false;
    return save(call(values, bodyOf(values, rows, unit)));
  };
  const form = useForm({ initial, check, send, paths: pathsOf(before) });
  const { values: v, field, set } = form;
  const rows = rowsOfValues(before, v);
  const changed = changesOf(untouched, v, before, rows);
  const wrong = Object.values({ ...checkRules(v), ...checkRows(rows) }).some(Boolean);
  const planned = wrong ? null : call(v, bodyOf(v, rows, unit));
  return (
    <div class="form-page wide">
      <form
        class="sheet"
        aria-label={unit ? `${word} ${unit.name}` : `New ${word}`}
        onSubmit={form.submit}
        ref={form.form}
        novalidate
      >
        <Section
          title="Who"
          help={
            unit
              ? `${word === "project" ? `In ${unit.parent?.name ?? "no department"}, namespace ${unit.status?.namespace ?? "none"}. ` : ""}Its name stays.`
              : "The name can't be changed later."
          }
        >
          {!unit && (
            <TextField
              label="Name"
              size="half"
              {...field("name")}
              maxlength="57"
              hint="Small letters, digits, dashes"
            />
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
                maxlength="63"
                hint="Empty: it is made from the name"
              />
            </>
          )}
          <TextField
            label="Description"
            size={!unit && parents ? "half" : ""}
            {...field("description")}
            maxlength="250"
          />
        </Section>
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
          pools={pools}
          value={v.pools}
          error={field("pools").error}
          onValue={list => set("pools", list)}
        />
        <SchedulingRules
          field={field}
          set={set}
          values={v}
          above={word === "project" ? facts.departments.find(d => d.id === v.parent) : null}
        />
        <NodeTypes
          word={word}
          field={field}
          set={set}
          values={v}
          types={facts.types}
          names={unit?.nodeTypes?.names}
          above={word === "project" ? facts.departments.find(d => d.id === v.parent) : null}
        />
        <Problem error={form.problem} />
        <div class="submit-bar">
          <span class="muted small" aria-live="polite">
            {unit ? changed.join("; ") || "Nothing is changed yet." : ""}
          </span>
          <span class="grow" />
          <LinkButton href={back}>Cancel</LinkButton>
          <Button
            kind="primary"
            type="submit"
            writes
            busy={form.busy}
            why={unit && !changed.length ? "Nothing is changed yet." : ""}
          >
            {unit ? "Save" : `Create ${word}`}
          </Button>
        </div>
      </form>
      <aside class="sheet pane" aria-labelledby="h-div">
        <header>
          <h2 id="h-div">What it takes from others</h2>
        </header>
        <div class="body">
          <Divisions
            word={word}
            rows={rows.map((r, i) => ({
              row: r,
              raised: Number(r.quota) > (unit ? Number(before[i].quota) : 0),
              inside: members.reduce((sum, c) => sum + quotaIn(c, r), 0),
              bounds: boundsOf(r, v).map(b => ({ ...b, ...division(b.total, b.others, Number(r.quota) || 0) })),
            }))}
            projects={others}
          />
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
    </div>
  );
}
