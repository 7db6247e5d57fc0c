// The access rules of one user, service account or group, in its pane.
import { useState } from "preact/hooks";
import { del, getAll } from "../api";
import { useData } from "../data";
import { plural } from "../format";
import { Icon } from "../icons";
import { Button } from "../parts/button";
import { confirm } from "../parts/dialog";
import { Empty, Loaded } from "../parts/states";
import { renewTables } from "../parts/table";
import { toast, toastError } from "../parts/toast";
import { may } from "../session";
import type { AccessRule, MeRule } from "../types";
import { WORDS } from "../words";
import { NewRule } from "./new_rule";
import { scopeWords } from "../parts/place_words";

const RULES = "/api/v1/authorization/access-rules",
  MOST = 2000;

/** "L1 researcher · Project vision", for one rule; "3 rules" for more. */
export const rulesInBrief = (rules: AccessRule[]) =>
  rules.length === 1
    ? `${rules[0].roleName} · ${scopeWords(rules[0])}`
    : rules.length
      ? plural(rules.length, "rule")
      : "no rules";

/** The rules of the subjects that a table shows: [what the table tells, subject -> rules], null until they are there. */
export function useRulesOfRows<R>(idOf: (row: R) => string) {
  const [ids, setIds] = useState("");
  const found = useData(
    ids && may("read", "access_rules") ? `rules-of/${ids}` : null,
    abort => getAll(RULES, "accessRules", { subjectIds: ids.split(",") }, { signal: abort, most: MOST }),
    ["access"],
  );
  const onRows = (rows: R[]) => {
    const next = rows.map(idOf).join(",");
    if (next === ids) found.reload();
    else setIds(next);
  };
  const of = (row: R) => found.data?.filter(r => r.subjectId === idOf(row)) ?? null;
  return { onRows, of };
}

/** Asks, and takes a rule back; true when it is gone. */
export async function dropRule(rule: MeRule, name = rule.subjectId) {
  const yes = await confirm({
    title: "Delete this access rule?",
    verb: "Delete access rule",
    body: `${name} is ${rule.roleName} no more: ${scopeWords(rule).toLowerCase()}. What runs there goes on.`,
  });
  if (!yes) return false;
  try {
    await del(`${RULES}/${rule.id}` as `${typeof RULES}/${string}`);
    toast(`Deleted the rule of ${name}.`);
    renewTables();
    return true;
  } catch (error) {
    toastError(error);
    return false;
  }
}

interface Subject {
  /** As rules name it: the e-mail of a user, the client id of a service account. */
  id: string;
  name: string;
}

/** The button that opens the form of a new rule. */
export const GiveRole = ({ onClick }: { onClick: () => void }) => (
  <Button
    small
    icon="plus"
    writes
    why={may("create", "access_rules") ? "" : WORDS.noRight("create access_rules")}
    onClick={onClick}
  >
    Give a role
  </Button>
);

/** In a pane: what it may do and where, with buttons to give and to take. */
export function RulesOf({ id, name }: Subject) {
  const [giving, setGiving] = useState(false);
  const rules = useData(
    `rules-of/${id}`,
    abort => getAll(RULES, "accessRules", { subjectIds: [id] }, { signal: abort, most: MOST }),
    ["access"],
  );
  const drop = async (rule: MeRule) => {
    if (await dropRule(rule, name)) rules.reload();
  };
  return (
    <section>
      <div class="bar">
        <h3>Access rules</h3>
        <span class="grow" />
        <GiveRole onClick={() => setGiving(true)} />
      </div>
      <Loaded of={rules} what="The access rules">
        {list => (list.length ? <RuleList rules={list} drop={drop} /> : <Empty>{name} has no role yet.</Empty>)}
      </Loaded>
      {giving && <NewRule subjects={[name]} onClose={() => setGiving(false)} onDone={rules.reload} />}
    </section>
  );
}

interface RuleListProps {
  rules: MeRule[];
  /** Each line begins with whose rule it is. */
  named?: boolean;
  /** What the button of a rule does; without it there is none. */
  drop?: (rule: MeRule) => void;
}

/** Role and scope, a line each. */
export function RuleList({ rules, named, drop }: RuleListProps) {
  return (
    <ul class="rules">
      {rules.map(r => (
        <li key={r.id}>
          <Icon name="key" />
          <span>
            <b class="strong">{named ? r.subjectId : r.roleName}</b>{" "}
            <span class="soft">{named ? `${r.roleName}, ${scopeWords(r)}` : scopeWords(r)}</span>
          </span>
          {drop && (
            <Button
              small
              kind="quiet"
              icon="trash"
              writes
              label={`Delete the rule ${r.roleName}, ${scopeWords(r)}`}
              why={may("delete", "access_rules") ? "" : WORDS.noRight("delete access_rules")}
              onClick={() => drop(r)}
            />
          )}
        </li>
      ))}
    </ul>
  );
}
