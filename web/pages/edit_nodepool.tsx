// New node pool, and the rules of one that exists.
import { useState } from "preact/hooks";
import { get, patch, post } from "../api";
import { useData } from "../data";
import { refreshAll } from "../live";
import { Button, LinkButton } from "../parts/button";
import { Code, curl } from "../parts/code";
import { ChipsField } from "../parts/chips_field";
import { CheckField, Problem, Section, SelectField, TextField, useForm } from "../parts/form";
import { Page } from "../parts/page";
import { Fault, Loading } from "../parts/states";
import { renewTables } from "../parts/table";
import { toast } from "../parts/toast";
import { NVLINK, type PoolValues, checkRules, configurationOf, valuesOfPool } from "../pictures/pool_rules";
import { NEW, checkTopology, topologyChoices, topologySaid } from "../pictures/topology";
import { go } from "../router";
import { may, missing } from "../session";
import type { Body, Nodepool, Topology } from "../types";
import { WORDS } from "../words";

const PATH = "/api/v1/node-pools",
  TOPOLOGIES = "/api/v1/network-topologies";
const NAME = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const KEY = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?\/?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;
const PLACEMENTS = [
  { value: "binpack", label: "Bin-pack: fill nodes up" },
  { value: "spread", label: "Spread: scatter over nodes" },
];
const GPU_PLACEMENTS = [...PLACEMENTS, { value: "fragmentation", label: "Fragmentation: keep free GPUs useful" }];
const PAST_USE = [
  { value: "off", label: "Doesn't count" },
  { value: "sliding", label: "Of the latest window" },
  { value: "tumbling", label: "Since a window began" },
];
const SCHEDULING = "schedulingConfiguration",
  SHARE = `${SCHEDULING}.timeBasedFairShare`;
const PATHS: Record<string, string> = {
  [`${SCHEDULING}.minGuaranteedRuntime`]: "guaranteed",
  [`${SCHEDULING}.placementStrategy.gpu`]: "gpu",
  [`${SCHEDULING}.placementStrategy.cpu`]: "cpu",
  [`${SHARE}.windowDuration`]: "window",
  [`${SHARE}.decayHalfLife`]: "halfLife",
  [`${SHARE}.historicalUsageWeight`]: "weight",
  [`${SHARE}.tumblingWindowStartTime`]: "begin",
  networkTopologyId: "topology",
  gpuNetworkAccelerationDetection: "nvlink",
  gpuNetworkAccelerationLabelKey: "clique",
};

export default function EditNodePool({ id }: { id?: string }) {
  const facts = useData(`edit-pool/${id ?? "new"}`, async abort => {
    const [clusters, { nodepools = [] }, topologies] = await Promise.all([
      get("/api/v1/clusters", {}, { signal: abort }),
      get(PATH, { limit: 500 }, { signal: abort }),
      may("read", "network-topologies")
        ? get(TOPOLOGIES, {}, { signal: abort }).then(
            a => a.networkTopologies ?? [],
            () => [],
          )
        : [],
    ]);
    return {
      cluster: clusters[0]?.uuid ?? nodepools[0]?.clusterId,
      pool: id ? nodepools.find(p => p.id === id) : null,
      topologies,
    };
  });
  const title = id ? `Node pool ${facts.data?.pool?.name ?? ""}` : "New node pool";
  return (
    <Page title={title} action={null}>
      {facts.data ? (
        <Form id={id} {...facts.data} />
      ) : facts.error ? (
        <Fault error={facts.error} retry={facts.reload} what="The form" />
      ) : (
        <section class="sheet">
          <Loading rows={5} height={44} />
        </section>
      )}
    </Page>
  );
}

function check(v: Values, pool?: Nodepool | null) {
  const wrong: Record<string, string> = { ...checkRules(v), ...checkTopology(v) };
  if (v.clique && !KEY.test(v.clique)) wrong.clique = "A label's key, e.g. nvidia.com/gpu.clique.";
  if (!pool && !NAME.test(v.name)) wrong.name = WORDS.badName;
  if (!pool?.isDefault && !KEY.test(v.labelKey)) wrong.labelKey = "A label's key, e.g. prorata.io/node-pool.";
  if (!pool?.isDefault && !(v.labelValue && VALUE.test(v.labelValue)))
    wrong.labelValue = "A label's value: letters, digits, - _ .";
  return wrong;
}

interface PoolFacts {
  cluster?: string;
  pool?: Nodepool | null;
  topologies: Topology[];
}
interface Values extends PoolValues {
  name: string;
  labelKey: string;
  labelValue: string;
  topology: string;
  topologyName: string;
  levels: string[];
}
type PoolForm = ReturnType<typeof usePoolForm>;

const startValues = (pool?: Nodepool | null): Values => ({
  name: pool?.name ?? "",
  labelKey: pool?.labelKey ?? "prorata.io/node-pool",
  labelValue: pool?.labelValue ?? "",
  topology: pool?.networkTopologyId ?? "",
  topologyName: "",
  levels: [],
  ...valuesOfPool(pool),
});

function bodyOf(v: Values, { cluster, pool }: PoolFacts) {
  const rules = {
    schedulingConfiguration: configurationOf(v, pool),
    networkTopologyId: v.topology === NEW ? "ID" : v.topology || null,
    gpuNetworkAccelerationDetection: v.nvlink,
    gpuNetworkAccelerationLabelKey: v.clique || null,
  };
  const label = pool?.isDefault ? {} : { labelKey: v.labelKey, labelValue: v.labelValue };
  return pool ? { ...label, ...rules } : { name: v.name, clusterId: cluster, ...label, ...rules };
}

const topologyOf = (v: Values, cluster = "") => ({ name: v.topologyName, clusterId: cluster, levels: v.levels });

function usePoolForm(facts: PoolFacts, id?: string) {
  const { cluster, pool, topologies } = facts;
  const [made, setMade] = useState<Topology[]>([]); // topologies of this form's own
  const send = async (typed: Values) => {
    let values = typed;
    if (values.topology === NEW) {
      const topology = await post(TOPOLOGIES, topologyOf(values, cluster));
      setMade(old => [...old, topology]); // it stays where the pool is refused
      form.setValues(old => ({ ...old, topology: topology.id }));
      values = { ...values, topology: topology.id };
    }
    const body = bodyOf(values, facts);
    const saved = pool
      ? await patch(`${PATH}/${id ?? ""}` as const, body as Body<`${typeof PATH}/${string}`, "patch">)
      : await post(PATH, body as Body<typeof PATH, "post">);
    refreshAll();
    renewTables();
    await go(`/nodepools?open=${id ?? saved.id}`);
    toast(pool ? `Saved ${pool.name}.` : `Created ${values.name}.`);
  };
  const form = useForm({ initial: startValues(pool), check: v => check(v, pool), send, paths: PATHS });
  return { ...form, pool, topologies: [...topologies, ...made] };
}

function Form({ id, ...facts }: PoolFacts & { id?: string }) {
  const { cluster, pool } = facts;
  const form = usePoolForm(facts, id),
    { values: v } = form,
    why = missing(pool ? "update" : "create", "nodepools");
  const body = bodyOf(v, facts);
  return (
    <div class="form-page">
      <form
        class="sheet"
        aria-label={pool ? `Node pool ${pool.name}` : "New node pool"}
        onSubmit={form.submit}
        ref={form.form}
        novalidate
      >
        <WhichNodes form={form} />
        <Placement form={form} />
        <Fairness form={form} />
        <Network form={form} />
        <LargeGangs form={form} />
        <Problem error={form.problem} why={why} />
        <div class="submit-bar">
          <span class="grow" />
          <LinkButton href={id ? `/nodepools?open=${id}` : "/nodepools"}>Cancel</LinkButton>
          <Button kind="primary" type="submit" writes busy={form.busy} why={why}>
            {pool ? "Save" : "Create node pool"}
          </Button>
        </div>
      </form>
      <aside class="sheet pane" aria-label="The same without the mouse">
        <div class="body">
          <Code
            forms={{
              curl:
                (v.topology === NEW ? `${curl("POST", TOPOLOGIES, topologyOf(v, cluster))}\n\n` : "") +
                curl(pool ? "PATCH" : "POST", pool ? `${PATH}/${id}` : PATH, body),
              json: JSON.stringify(body, null, 2),
            }}
          />
        </div>
      </aside>
    </div>
  );
}

function WhichNodes({ form: { field, pool } }: { form: PoolForm }) {
  return (
    <Section title="Which nodes" help="Nodes with this label belong to the pool; all others stay in default.">
      {!pool && (
        <TextField
          label="Name"
          {...field("name")}
          maxlength={63}
          hint="Small letters, digits, dashes. It can't be changed later."
        />
      )}
      {pool?.isDefault ? (
        <p class="f soft">The default pool holds all nodes that belong to no other.</p>
      ) : (
        <>
          <TextField label="Label key" size="half" mono {...field("labelKey")} />
          <TextField label="Label value" size="half" mono {...field("labelValue")} />
        </>
      )}
    </Section>
  );
}

function Placement({ form: { field } }: { form: PoolForm }) {
  return (
    <Section title="Placement" help="Where the scheduler puts a pod that fits in several places.">
      <SelectField label="GPU pods" size="half" {...field("gpu")} options={GPU_PLACEMENTS} />
      <SelectField label="CPU-only pods" size="half" {...field("cpu")} options={PLACEMENTS} />
    </Section>
  );
}

function Fairness({ form: { field, values: v } }: { form: PoolForm }) {
  return (
    <Section
      title="Fairness"
      help="How long borrowed GPUs are safe, and whether who used much gets less of what is left over."
    >
      <TextField
        label="Minimum guaranteed run time"
        size="half"
        {...field("guaranteed")}
        hint="30m, 4h, 1d12h; 0 for none"
      />
      <SelectField label="Past use" size="half" {...field("pastUse")} options={PAST_USE} />
      {v.pastUse !== "off" && (
        <>
          <TextField label="Window" size="third" {...field("window")} hint="12h, 7d, 2w" />
          <TextField label="Half life" size="third" {...field("halfLife")} hint="After it, use counts half; 0: never" />
          <TextField
            label="Weight"
            size="third"
            {...field("weight")}
            inputmode="decimal"
            hint="0: no effect; 1: the usual"
          />
        </>
      )}
      {v.pastUse === "tumbling" && (
        <TextField label="A window began on" size="third" {...field("begin")} hint="A day in UTC, as 2026-01-01" />
      )}
      <CheckField
        label="Higher ranks may take from within lower ones' quota"
        {...field("byRank")}
        hint="Only where quotas add up to more than there is; never from non-preemptible work."
      />
    </Section>
  );
}

function Network({ form: { field, values: v, set, topologies } }: { form: PoolForm }) {
  return (
    <Section
      title="Network"
      help="A gang in this pool is placed close together where the labels of nodes say what is close."
    >
      <SelectField
        label="Topology"
        size="half"
        {...field("topology")}
        hint={v.topology === NEW ? "It is made with the pool." : topologySaid(topologies, v.topology)}
        options={topologyChoices(topologies, may("create", "network-topologies"))}
      />
      {v.topology === NEW && (
        <>
          <TextField label="Name of the topology" size="half" {...field("topologyName")} maxlength={63} />
          <ChipsField
            label="Levels"
            path="levels"
            error={field("levels").error}
            value={v.levels}
            onValue={list => set("levels", list)}
            onBlur={() => {}}
            placeholder="topology.kubernetes.io/rack"
            hint="Keys of node labels, the farthest first; Enter adds one"
          />
        </>
      )}
      <SelectField
        label="NVLink between nodes (MNNVL)"
        size="half"
        {...field("nvlink")}
        hint="Kept for Run:ai's clients; placement goes by the topology."
        options={Object.entries(NVLINK).map(([value, label]) => ({ value, label }))}
      />
      <TextField
        label="Label key of NVLink"
        size="half"
        mono
        {...field("clique")}
        placeholder="nvidia.com/gpu.clique"
        hint="Kept as well; empty: as shown"
      />
    </Section>
  );
}

function LargeGangs({ form: { field } }: { form: PoolForm }) {
  return (
    <Section title="Large gangs" help="Small workloads that fit in between can keep a large one waiting for ever.">
      <CheckField
        label="Keep free GPUs for the largest gang that waits"
        {...field("reservation")}
        hint="Workloads that end in time may use them until then."
      />
    </Section>
  );
}
