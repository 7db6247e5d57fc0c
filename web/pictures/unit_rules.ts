// Rules of projects and departments: from the API's object to a form's values and back, and in words. Pure.
import { duration, goSeconds, plural } from "../format";
import type { Node, NodeTypes, Nodepool, Rules } from "../types";

type RuleKey = keyof NonNullable<Rules>;
export interface Rule {
  key: RuleKey;
  label: string;
  /** How long work may last, how long it is safe, how much there may be, something on or off, a time, one of some words. */
  kind: "limit" | "protection" | "bound" | "switch" | "time" | "choice";
  /** Of a bound: what it counts. */
  unit?: "GPU" | "workload" | "GPU hour";
  /** Of a choice, what counts by itself first. */
  options?: { value: string; label: string }[];
}
type Values = Record<string, unknown>;
/** What projects and departments say beside their quota. */
export interface Said {
  schedulingRules?: Rules;
  defaultNodePools?: string[] | null;
  nodeTypes?: NodeTypes;
}
interface SaidUnit extends Said {
  effective?: Said;
}
type Pools = Pick<Nodepool, "name" | "schedulingConfiguration">[];

// key: the API's field; label: in a form and in lists.
export const RULES: Rule[] = [
  { key: "trainingJobMaxIdleDurationSeconds", label: "Training: idle GPUs", kind: "limit" },
  { key: "interactiveJobPreemptIdleDurationSeconds", label: "Preemptible workspace: idle GPUs", kind: "limit" },
  { key: "interactiveJobMaxIdleDurationSeconds", label: "Non-preemptible workspace: idle GPUs", kind: "limit" },
  { key: "trainingJobTimeLimitSeconds", label: "Training: time limit", kind: "limit" },
  { key: "interactiveJobTimeLimitSeconds", label: "Workspace: time limit", kind: "limit" },
  { key: "preemptMinRuntimeSeconds", label: "Not stopped for the same project", kind: "protection" },
  { key: "reclaimMinRuntimeSeconds", label: "Not stopped for other projects", kind: "protection" },
  { key: "fairAmongPeople", label: "Fair among people", kind: "switch" },
  { key: "fairHalfLifeSeconds", label: "Fair among people: half-life of past use", kind: "time" },
  { key: "maxGpusPerPerson", label: "Each person: GPUs at once", kind: "bound", unit: "GPU" },
  { key: "maxWorkloadsPerPerson", label: "Each person: running workloads", kind: "bound", unit: "workload" },
  { key: "maxWaitingGpusPerPerson", label: "Each person: GPUs waited for", kind: "bound", unit: "GPU" },
  { key: "gpuHourBudget", label: "Budget: GPU hours of the project", kind: "bound", unit: "GPU hour" },
  { key: "gpuHourBudgetPerPerson", label: "Budget: GPU hours of each person", kind: "bound", unit: "GPU hour" },
  {
    key: "budgetPeriod",
    label: "Budget: begins again each",
    kind: "choice",
    options: ["month", "week", "quarter"].map(value => ({ value, label: value })),
  },
  {
    key: "budgetEnforcement",
    label: "Budget: when it is used up",
    kind: "choice",
    options: [
      { value: "wait", label: "work beyond the quota waits" },
      { value: "refuse", label: "new work is refused, too" },
    ],
  },
];
type RuleValue = number | boolean | string;
/** Of these the project's counts, where it has one; of limits the stricter. */
const isNearest = (rule: Rule) => rule.kind !== "limit";
export const rulePath = (rule: Rule) => `rule-${rule.key}`;

// 93600 -> "1d2h"; "0" for nothing.
export function goText(seconds: number) {
  let left = Number(seconds),
    text = "";
  for (const [unit, size] of [
    ["d", 86400],
    ["h", 3600],
    ["m", 60],
    ["s", 1],
  ] as const) {
    if (left >= size) text += `${Math.floor(left / size)}${unit}`;
    left %= size;
  }
  return text || "0";
}

const isSaid = (value: unknown): value is RuleValue =>
  ["boolean", "string"].includes(typeof value) || Number.isFinite(value);
/** Kept in a form as in the API: nothing is typed. */
const isChosen = (rule: Rule) => rule.kind === "switch" || rule.kind === "choice";
const textOf = (rule: Rule, value: number) => (rule.unit ? String(value) : goText(value));

// A form's values: rule-KEY is a duration or a number as typed, a switch's true or false, a choice's word, or null where the
// rule isn't there.
export const valuesOfRules = (rules?: Rules) =>
  Object.fromEntries(
    RULES.map(r => [
      rulePath(r),
      !isSaid(rules?.[r.key]) ? null : isChosen(r) ? rules![r.key] : textOf(r, Number(rules![r.key])),
    ]),
  );

// What is wrong with it as typed; "" for nothing.
function fault(rule: Rule, text: string) {
  if (isChosen(rule)) return "";
  if (rule.unit === "GPU" || rule.unit === "GPU hour")
    return /^\d+(\.\d{1,3})?$/.test(text) ? "" : `A number of ${rule.unit}s such as 4 or 0.5.`;
  if (rule.unit === "workload") return /^\d+$/.test(text) ? "" : "A whole number such as 3.";
  const seconds = text === "" ? null : goSeconds(text);
  if (rule.kind === "protection")
    return Number.isInteger(seconds) ? "" : "A duration such as 30m, 4h or 1d12h; 0 for none.";
  if (rule.kind === "time")
    return Number.isInteger(seconds) && seconds! >= 3600 && seconds! <= 31536000 ? "" : "From 1h to 365d, such as 7d.";
  return Number.isInteger(seconds) && seconds! >= 1 ? "" : "A duration such as 30m, 4h or 1d12h, more than 0.";
}

export function checkRules(v: Values) {
  const wrong: Record<string, string> = {};
  for (const r of RULES) {
    const text = v[rulePath(r)];
    if (text === null || text === undefined) continue;
    const said = fault(r, String(text).trim());
    if (said) wrong[rulePath(r)] = said;
  }
  return wrong;
}

const valueOf = (rule: Rule, typed: unknown) =>
  isChosen(rule) ? (typed as RuleValue) : rule.unit ? Number(typed) : goSeconds(String(typed));

export const rulesOf = (v: Values): NonNullable<Rules> =>
  Object.fromEntries(
    RULES.filter(r => v[rulePath(r)] !== null && v[rulePath(r)] !== undefined).map(r => [
      r.key,
      valueOf(r, v[rulePath(r)]),
    ]),
  );

// period: of budgets.
function said(rule: Rule, given: RuleValue, period: unknown) {
  if (rule.kind === "switch") return given ? "who has used least goes first" : "off";
  if (rule.options) return rule.options.find(o => o.value === given)?.label ?? String(given);
  const value = Number(given);
  if (rule.unit)
    return `at most ${plural(value, rule.unit)}${rule.unit === "GPU hour" ? ` each ${String(period ?? "month")}` : ""}`;
  if (rule.kind === "limit") return `at most ${duration(value)}`;
  if (rule.kind === "time") return duration(value);
  return value ? `for ${duration(value)} after its start` : "no protection";
}

// [label, words] of the rules that are set.
export const rulesInWords = (rules?: Rules): [string, string][] =>
  RULES.filter(r => isSaid(rules?.[r.key]) && (isNearest(r) || rules![r.key])).map(r => [
    r.label,
    said(r, rules![r.key]!, rules!.budgetPeriod),
  ]);

// The minimum run times of node pools, which count where nothing nearer is said; "" where none has one.
const ofPools = (pools: Pools) =>
  pools
    .map(p => [p.name, goSeconds(p.schedulingConfiguration?.minGuaranteedRuntime ?? "0")] as const)
    .filter(([, seconds]) => seconds)
    .map(([name, seconds]) => `${duration(seconds)} in ${name}`)
    .join(", ");

// What counts beside a form's own rules. The stricter limit counts; of the others the nearest: the department's only where
// the form says nothing, and for minimum run times the node pool's where the department doesn't either.
export function inheritedInWords(v: Values, above: Said | null | undefined, pools: Pools) {
  const theirs = above?.schedulingRules,
    text = (list: [string, string][]) => list.map(([label, words]) => `${label}: ${words}`).join("; ");
  const limits = rulesInWords(theirs).filter(([label]) => !isNearest(RULES.find(r => r.label === label)!)),
    nearest: [string, string][] = RULES.filter(r => isNearest(r) && v[rulePath(r)] === null).map(r => [
      r.label,
      isSaid(theirs?.[r.key])
        ? `${said(r, theirs![r.key]!, v["rule-budgetPeriod"] ?? theirs!.budgetPeriod)} (department)`
        : r.kind === "protection" && ofPools(pools)
          ? `${ofPools(pools)} (node pool)`
          : "",
    ]);
  const inherited = nearest.filter(([, words]) => words);
  return [
    limits.length ? `Of the department, the stricter counts: ${text(limits)}.` : "",
    inherited.length ? `Inherited until it is said here: ${text(inherited)}.` : "",
  ].filter(Boolean);
}

// The limits that bind a workload of this kind: "24 h, or 1 h with idle GPUs"; "" where none does.
export function limitsOf(rules: Rules | undefined, isWorkspace: boolean, isFirm: boolean) {
  const limit = rules?.[isWorkspace ? "interactiveJobTimeLimitSeconds" : "trainingJobTimeLimitSeconds"];
  const idle =
    rules?.[
      !isWorkspace
        ? "trainingJobMaxIdleDurationSeconds"
        : isFirm
          ? "interactiveJobMaxIdleDurationSeconds"
          : "interactiveJobPreemptIdleDurationSeconds"
    ];
  return [limit && `after ${duration(limit)}`, idle && `after ${duration(idle)} with idle GPUs`]
    .filter(Boolean)
    .join(", or ");
}

type TypeKey = "training" | "workspace";

// Node types: what a unit allows for trainings and workspaces, by the names that a node's label has.
export const TYPE_LISTS: { key: TypeKey; label: string }[] = [
  { key: "training", label: "Trainings" },
  { key: "workspace", label: "Workspaces" },
];
export const typesOf = (nodeTypes: NodeTypes | undefined, key: TypeKey) => nodeTypes?.[key] ?? [];

// The types that nodes say of themselves, in order.
export const TYPE_LABELS = ["run.ai/type", "run-ai/node-type"];
export const knownTypes = (nodes: Node[]) =>
  [...new Set(nodes.flatMap(n => TYPE_LABELS.map(key => n.prorata?.labels?.[key] ?? "").filter(Boolean)))].sort(
    (a, b) => a.localeCompare(b, "en", { numeric: true }),
  );

// Without any, the department's lists count.
export function nodeTypesOf(v: Values, before?: NodeTypes): NonNullable<NodeTypes> {
  const lists = TYPE_LISTS.map(({ key }) => [key, v[`types-${key}`] as string[]] as const).filter(
    ([, list]) => list.length,
  );
  return { ...Object.fromEntries(lists), ...(lists.length && before?.names ? { names: before.names } : {}) };
}

// Everything that counts for a unit beside its quota, and whose it is, for a pane: [label, words].
export function unitInWords(unit: SaidUnit, ruled: Pools = []): [string, string][] {
  const { schedulingRules, defaultNodePools, nodeTypes } = { ...unit, ...unit.effective };
  const byPool = ofPools(ruled);
  const pools: [string, string][] = defaultNodePools?.length
    ? [["Node pools, in this order", defaultNodePools.join(", ")]]
    : [];
  return [
    ...pools,
    ...RULES.flatMap((r): [string, string][] => {
      const row = rulesInWords(schedulingRules).find(([label]) => label === r.label);
      if (!row) return r.kind === "protection" && byPool ? [[r.label, `${byPool}, as the node pool says`]] : [];
      return [
        schedulingRules![r.key] === unit.schedulingRules?.[r.key] ? row : [row[0], `${row[1]}, as its department says`],
      ];
    }),
    ...TYPE_LISTS.filter(t => typesOf(nodeTypes, t.key).length).map((t): [string, string] => [
      `${t.label}: node types`,
      typesOf(nodeTypes, t.key)
        .map(id => nodeTypes?.names?.[id] ?? id)
        .join(", "),
    ]),
  ];
}
