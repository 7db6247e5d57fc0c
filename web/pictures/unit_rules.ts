// Rules of projects and departments: from the API's object to a form's values and back, and in words. Pure.
import { duration, goSeconds } from "../format";

// key: the API's field; label: in a form and in lists. protects: how long work is safe, else how long it may last.
export const RULES = [
  { key: "trainingJobMaxIdleDurationSeconds", label: "Training: idle GPUs" },
  { key: "interactiveJobPreemptIdleDurationSeconds", label: "Preemptible workspace: idle GPUs" },
  { key: "interactiveJobMaxIdleDurationSeconds", label: "Non-preemptible workspace: idle GPUs" },
  { key: "trainingJobTimeLimitSeconds", label: "Training: time limit" },
  { key: "interactiveJobTimeLimitSeconds", label: "Workspace: time limit" },
  { key: "preemptMinRuntimeSeconds", label: "Not stopped for the same project", protects: true },
  { key: "reclaimMinRuntimeSeconds", label: "Not stopped for other projects", protects: true },
];
export const rulePath = rule => `rule-${rule.key}`;

// 93600 -> "1d2h"; "0" for nothing.
export function goText(seconds) {
  let left = Number(seconds),
    text = "";
  for (const [unit, size] of [
    ["d", 86400],
    ["h", 3600],
    ["m", 60],
    ["s", 1],
  ]) {
    if (left >= size) text += `${Math.floor(left / size)}${unit}`;
    left %= size;
  }
  return text || "0";
}

// A form's values: rule-KEY is a duration as typed, or null where the rule isn't there.
export const valuesOfRules = rules =>
  Object.fromEntries(RULES.map(r => [rulePath(r), Number.isFinite(rules?.[r.key]) ? goText(rules[r.key]) : null]));

export function checkRules(v) {
  const wrong = {};
  for (const r of RULES) {
    const text = v[rulePath(r)];
    if (text === null || text === undefined) continue;
    const seconds = String(text).trim() === "" ? null : goSeconds(text);
    if (seconds === null || !Number.isInteger(seconds) || (!r.protects && seconds < 1))
      wrong[rulePath(r)] = r.protects
        ? "A duration such as 30m, 4h or 1d12h; 0 for none."
        : "A duration such as 30m, 4h or 1d12h, more than 0.";
  }
  return wrong;
}

export const rulesOf = v =>
  Object.fromEntries(
    RULES.filter(r => v[rulePath(r)] !== null && v[rulePath(r)] !== undefined).map(r => [
      r.key,
      goSeconds(v[rulePath(r)]),
    ]),
  );

const said = (rule, seconds) =>
  !rule.protects
    ? `at most ${duration(seconds)}`
    : seconds
      ? `for ${duration(seconds)} after its start`
      : "no protection";

// [label, words] of the rules that are set.
export const rulesInWords = rules =>
  RULES.filter(r => Number.isFinite(rules?.[r.key]) && (r.protects || rules[r.key])).map(r => [
    r.label,
    said(r, rules[r.key]),
  ]);

// The limits that bind a workload of this kind: "24 h, or 1 h with idle GPUs"; "" where none does.
export function limitsOf(rules, isWorkspace, isFirm) {
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

// Node types: what a unit allows for trainings and workspaces, by the names that a node's label has.
export const TYPE_LISTS = [
  { key: "training", label: "Trainings" },
  { key: "workspace", label: "Workspaces" },
];
export const typesOf = (nodeTypes, key) => nodeTypes?.[key] ?? [];

// The types that nodes say of themselves, in order.
export const TYPE_LABELS = ["run.ai/type", "run-ai/node-type"];
export const knownTypes = nodes =>
  [...new Set(nodes.flatMap(n => TYPE_LABELS.map(key => n.prorata?.labels?.[key]).filter(Boolean)))].sort((a, b) =>
    a.localeCompare(b, "en", { numeric: true }),
  );

// Without any, the department's lists count.
export function nodeTypesOf(v, before) {
  const lists = TYPE_LISTS.map(({ key }) => [key, v[`types-${key}`]]).filter(([, list]) => list.length);
  return { ...Object.fromEntries(lists), ...(lists.length && before?.names ? { names: before.names } : {}) };
}

// Everything a unit says beside its quota, for a pane: [label, words].
export function unitInWords(unit) {
  const { schedulingRules, defaultNodePools, nodeTypes } = { ...unit, ...unit.effective };
  return [
    ...(defaultNodePools?.length ? [["Node pools, in this order", defaultNodePools.join(", ")]] : []),
    ...rulesInWords(schedulingRules),
    ...TYPE_LISTS.filter(t => typesOf(nodeTypes, t.key).length).map(t => [
      `${t.label}: node types`,
      typesOf(nodeTypes, t.key)
        .map(id => nodeTypes.names?.[id] ?? id)
        .join(", "),
    ]),
  ];
}
