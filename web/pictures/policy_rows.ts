// A policy as rows: each field with its default, its rule in words, and the scope that set each. Pure.
import type { Placed } from "../parts/place_words";

type Tree = { [key: string]: unknown };
export interface PolicyRow {
  field: string;
  value: string;
  rule: string;
  /** Who set the default, and who the rule. */
  valueFrom: Placed[];
  ruleFrom: Placed[];
}

const RULES = [
  "required",
  "canEdit",
  "min",
  "max",
  "step",
  "options",
  "defaultFrom",
  "canAdd",
  "locked",
  "sourceOfRule",
];
const isTree = (value: unknown): value is Tree => typeof value === "object" && value !== null && !Array.isArray(value);
const isRule = (tree: Tree) =>
  Object.keys(tree).some(key => RULES.includes(key) && !(isTree(tree[key]) && isNested(tree, key)));
// A field may itself be called as a rule is ("options"): a rule's own members hold no rules.
const isNested = (tree: Tree, key: string) =>
  !["sourceOfRule", "defaultFrom"].includes(key) && Object.values(tree[key] as Tree).some(isTree);

const said = (value: unknown): string =>
  isTree(value)
    ? Object.entries(value)
        .filter(([, v]) => v !== null && v !== undefined)
        .map(([k, v]) => `${k} ${said(v)}`)
        .join(", ")
    : Array.isArray(value)
      ? value.map(said).join(", ")
      : String(value);

/** A rule in words: "at least 1, at most 4, in steps of 1". */
export function ruleWords(rule: Tree): string {
  const { required, canEdit, min, max, step, options, defaultFrom, canAdd, locked } = rule;
  const from = defaultFrom as { field?: string; factor?: number } | null | undefined;
  const isSet = (value: unknown) => value !== undefined && value !== null;
  return [
    required && "required",
    canEdit === false && "fixed",
    isSet(min) && `at least ${min}`,
    isSet(max) && `at most ${max}`,
    isSet(step) && `in steps of ${step}`,
    Array.isArray(options) && `one of ${options.map(o => o?.displayed ?? o?.value ?? o).join(", ")}`,
    from?.field && `as ${from.field}${(from.factor ?? 1) === 1 ? "" : ` × ${from.factor}`}`,
    canAdd === false && "nothing can be added",
    Array.isArray(locked) && locked.length > 0 && `${locked.join(", ")} locked`,
  ]
    .filter(Boolean)
    .join(", ");
}

function leaves(tree: unknown, path: string, isLeaf: (value: Tree) => boolean, found: Map<string, unknown>) {
  if (tree === null || tree === undefined) return found;
  if (!isTree(tree) || isLeaf(tree)) return found.set(path, tree);
  for (const [key, value] of Object.entries(tree)) leaves(value, path ? `${path}.${key}` : key, isLeaf, found);
  return found;
}

// Who set a path, or what lies in it.
const sources = (of: Record<string, Placed>, path: string) =>
  Object.entries(of)
    .filter(([key]) => key === path || key.startsWith(`${path}.`) || key.startsWith(`${path}[`))
    .map(([, from]) => from)
    .filter((from, i, all) => all.findIndex(f => JSON.stringify(f) === JSON.stringify(from)) === i);

/** The rows of a policy, by field. */
export function policyRows(
  policy: { defaults?: unknown; rules?: unknown } | null | undefined,
  sourceOfDefaults: Record<string, Placed> = {},
): PolicyRow[] {
  const defaults = leaves(policy?.defaults, "", () => false, new Map());
  const rules = leaves(policy?.rules, "", isRule, new Map());
  return [...new Set([...defaults.keys(), ...rules.keys()])].sort().map(field => {
    const rule = (rules.get(field) ?? {}) as Tree;
    return {
      field,
      value: defaults.has(field) ? said(defaults.get(field)) : "",
      rule: ruleWords(rule),
      valueFrom: defaults.has(field) ? sources(sourceOfDefaults, field) : [],
      ruleFrom: rule.sourceOfRule ? [rule.sourceOfRule as Placed] : [],
    };
  });
}
