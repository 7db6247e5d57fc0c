// Sections of the project's and department's form: the order of node pools, scheduling rules with "+ Rule", node types.
import { Button } from "../parts/button";
import { ChipsField } from "../parts/chips_field";
import { CheckField, type FieldFacts, OrderField, Section, SelectField, TextField } from "../parts/form";
import { Menu } from "../parts/menu";
import { RULES, type Rule, type Said, TYPE_LISTS, inheritedInWords, rulePath, typesOf } from "../pictures/unit_rules";

/** The form's values and how its fields are set, as these sections need them. */
export interface Fields {
  values: Record<string, unknown>;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- what a value is follows from its path
  field: (path: string) => FieldFacts<any>;
  set: (path: string, value: unknown) => void;
}
interface OrderProps {
  word: string;
  pools: { name: string }[];
  value: string[];
  error?: string;
  onValue(value: string[]): void;
}

export function PoolOrder({ word, pools, value, error, onValue }: OrderProps) {
  const unused = pools.filter(p => !value.includes(p.name));
  if (pools.length < 2 && !value.length) return null;
  return (
    <Section title="Order of node pools" help="Where a workload is tried that names no node pool.">
      <OrderField
        label="Node pools, tried in this order"
        none={
          word === "project"
            ? "None chosen: the department's order, else the default pool. With quota in other pools alone: these, the most first."
            : "None chosen: the default pool."
        }
        items={value.map(name => ({ id: name, content: <b class="strong">{name}</b> }))}
        error={error}
        onValue={onValue}
        remove={name => onValue(value.filter(p => p !== name))}
      />
      {unused.length > 0 && (
        <div class="f">
          <Menu
            small
            icon="plus"
            text="Node pool"
            items={unused.map(({ name }) => ({ label: name, onClick: () => onValue([...value, name]) }))}
          />
        </div>
      )}
    </Section>
  );
}

const BUDGET = "Once they are used up, work starts within the quota only";
const HINTS: Partial<Record<Rule["kind"] | Rule["key"], string>> = {
  bound: "What goes beyond waits",
  limit: "Stopped after this: 30m, 4h, 1d12h",
  switch: "Inside one priority who has used least goes first",
  time: "What is so long ago counts half; 7d by itself",
  gpuHourBudget: BUDGET,
  gpuHourBudgetPerPerson: BUDGET,
  budgetPeriod: "At midnight UTC, weeks on Monday; month by itself",
  budgetEnforcement: "What runs goes on",
};
const hintOf = (rule: Rule, above: unknown) =>
  HINTS[rule.key] ??
  HINTS[rule.kind] ??
  `So long after its start; 30m, 4h, 0 for none${above && rule.key === "reclaimMinRuntimeSeconds" ? ". Against other departments the department's counts" : ""}`;

const START = { limit: "1d", protection: "30m", bound: "4", switch: true, time: "7d", choice: "" };
const startOf = (rule: Rule) => rule.options?.[0].value ?? (rule.unit === "GPU hour" ? "1000" : START[rule.kind]);

function RuleField({ rule, facts, hint }: { rule: Rule; facts: ReturnType<Fields["field"]>; hint: string }) {
  const all = { label: rule.label, ...facts, hint };
  return rule.kind === "switch" ? (
    <CheckField {...all} />
  ) : rule.options ? (
    <SelectField {...all} options={rule.options} />
  ) : (
    <TextField {...all} />
  );
}

interface RulesProps extends Fields {
  /** The department, whose limits bind too. */
  above?: Said | null;
  pools: Parameters<typeof inheritedInWords>[2];
}

export function SchedulingRules({ values, field, set, above, pools }: RulesProps) {
  const used = RULES.filter(r => values[rulePath(r)] !== null),
    unused = RULES.filter(r => !used.includes(r));
  const inherited = inheritedInWords(values, above, pools);
  const add = (rule: Rule) => {
    set(rulePath(rule), startOf(rule));
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        const field = document.getElementById(`f-${rulePath(rule)}`) as HTMLInputElement | null;
        if (rule.options) field?.focus();
        else field?.select();
      }),
    );
  };
  return (
    <Section
      title="Scheduling rules"
      help="When work is stopped, and how long it can't be: for what starts after the change. Rules for people and budgets count at once."
    >
      {used.map(rule => (
        <div class="f rule" key={rule.key}>
          <RuleField rule={rule} facts={field(rulePath(rule))} hint={hintOf(rule, above)} />
          <Button
            small
            kind="quiet"
            icon="close"
            label={`Remove the rule “${rule.label}”`}
            onClick={() => set(rulePath(rule), null)}
          />
        </div>
      ))}
      <div class="f">
        {used.length === 0 && (
          <p class="hint">None of its own{inherited.length ? "" : ": workloads run as long as they want"}.</p>
        )}
        {unused.length > 0 && (
          <Menu
            small
            icon="plus"
            text="Rule"
            items={unused.map(rule => ({ label: rule.label, onClick: () => add(rule) }))}
          />
        )}
        {inherited.map(text => (
          <p class="hint" key={text}>
            {text}
          </p>
        ))}
      </div>
    </Section>
  );
}

interface TypesProps extends Fields {
  word: string;
  /** Those that nodes have. */
  types: string[];
  names?: Record<string, string> | null;
  above?: Said | null;
}

export function NodeTypes({ word, values, field, set, types, names, above }: TypesProps) {
  return (
    <Section title="Node types" help={`Values of the node label run.ai/type that the ${word}'s work may use.`}>
      {TYPE_LISTS.map(({ key, label }) => (
        <ChipsField
          key={key}
          label={label}
          size="half"
          path={`types-${key}`}
          error={field(`types-${key}`).error}
          value={values[`types-${key}`] as string[]}
          onValue={list => set(`types-${key}`, list)}
          onBlur={() => {}}
          suggestions={types}
          names={names}
          none={
            typesOf(above?.nodeTypes, key).length
              ? `The department's: ${typesOf(above?.nodeTypes, key).join(", ")}`
              : "All nodes"
          }
        />
      ))}
    </Section>
  );
}
