// Gives a role: up to ten subjects in up to ten scopes, one rule for each pair.
import { useEffect, useState } from "preact/hooks";
import { ApiError, get, getAll, post } from "../api";
import { useData } from "../data";
import { plural } from "../format";
import { Button } from "../parts/button";
import { ChipsField } from "../parts/chips_field";
import { Dialog } from "../parts/dialog";
import { Problem, SelectField, TextField, useForm } from "../parts/form";
import { Fault, Loading } from "../parts/states";
import { renewTables } from "../parts/table";
import { toast } from "../parts/toast";
import {
  type Choices,
  type Scope,
  type Subject,
  type Values,
  MOST,
  checkRule,
  pairsSaid,
  scopesOf,
  subjectsOf,
} from "../pictures/access";
import { may, missing } from "../session";
import type { Answer, Role } from "../types";

const PERMITTED = "/api/v1/authorization/permitted-scopes",
  BATCH = "/api/v1/authorization/access-rules/batch-create";
type Outcome = Answer<typeof BATCH, "post">;

interface NewRuleProps {
  /** Names to begin with. */
  subjects?: string[];
  role?: number;
  /** The scope to begin with, as it is called in the list. */
  scope?: string;
  onClose: () => void;
  /** After rules were made. */
  onDone?: () => void;
}

// What can be chosen: as much as the account may read.
const useChoices = () =>
  useData("rule-choices", async abort => {
    const at = { signal: abort, most: 2000 };
    const [roles, users, accounts, departments, projects, clusters, permitted, seen] = await Promise.all([
      get("/api/v1/authorization/roles", {}, at),
      may("read", "users") ? getAll("/api/v1/users", null, {}, at) : null,
      may("read", "service-account") ? get("/api/v1/service-accounts", {}, at) : null,
      may("read", "department") ? getAll("/api/v1/org-unit/departments", "departments", { sortBy: "name" }, at) : [],
      may("read", "project") ? getAll("/api/v1/org-unit/projects", "projects", { sortBy: "name" }, at) : [],
      may("read", "cluster") ? get("/api/v1/clusters", {}, at) : [],
      post(PERMITTED, { resourceType: "access_rules", action: "create" }, at),
      post(PERMITTED, { resourceType: "users", action: "read" }, at),
    ]);
    const scopes = scopesOf({ departments, projects, clusters, permitted: permitted.create });
    return {
      roles,
      choices: {
        users: users?.map(u => u.username) ?? [],
        seesAll: Boolean(seen.read.tenants?.length),
        accounts,
        scopes,
      },
    };
  });

/** The dialog that makes access rules. */
export function NewRule(props: NewRuleProps) {
  const found = useChoices();
  return (
    <Dialog labelledby="rule-title" class="roomy" onClose={props.onClose}>
      <h2 id="rule-title">New access rule</h2>
      {found.data ? (
        <Form {...found.data} {...props} />
      ) : found.error ? (
        <Fault error={found.error} what="The form" retry={found.reload} />
      ) : (
        <Loading rows={4} height={44} />
      )}
    </Dialog>
  );
}

const pairBody = (v: Values, subjects: Subject[], scopes: Scope[]) => ({
  payload: {
    roleId: Number(v.role),
    ...(v.ends ? { expiresAt: new Date(v.ends).toISOString() } : {}),
    subjects: subjects.map(({ subjectId, subjectType }) => ({ subjectId, subjectType })),
    scopes: scopes.map(({ scopeId, scopeType }) => ({ scopeId, scopeType })),
  },
});

// One reason for all of them is the form's own; several are listed.
function refusal({ succeeded = [], failed = [] }: Outcome) {
  const reasons = [...new Set(failed.map(f => f.message ?? ""))];
  if (reasons.length === 1 && !succeeded.length) return new ApiError(failed[0].code ?? 400, { message: reasons[0] });
  return new ApiError(400, {
    message: `${failed.length} of ${plural(failed.length + succeeded.length, "rule")} could not be made.`,
    details: failed
      .map(f => `${f.payload?.subjectId}, ${f.payload?.scopeType} ${f.payload?.scopeId}: ${f.message}`)
      .join("; "),
  });
}

interface FormProps extends NewRuleProps {
  roles: Role[];
  choices: Choices;
}

// Sends every pair at once. What was made stays made where others are refused.
function useRuleForm({ choices, subjects = [], role, scope, onClose, onDone }: FormProps) {
  const [made, setMade] = useState(0);
  const chosen = choices.scopes.filter(s => s.name === scope),
    [only, more] = chosen.length ? chosen : choices.scopes;
  const send = async (v: Values) => {
    const scopes = choices.scopes.filter(s => v.scopes.includes(s.name));
    const outcome = await post(BATCH, pairBody(v, subjectsOf(v.subjects, choices), scopes));
    const number = outcome.succeeded?.length ?? 0;
    if (number) {
      setMade(made + number);
      renewTables();
      onDone?.();
    }
    if (outcome.failed?.length) throw refusal(outcome);
    toast(`Made ${plural(number, "access rule")}.`);
    onClose();
  };
  const form = useForm({
    initial: { role: role ? String(role) : "", subjects, scopes: only && !more ? [only.name] : [], ends: "" },
    check: v => checkRule(v, choices),
    paths: { roleId: "role", subjectId: "subjects", scopeId: "scopes", expiresAt: "ends" },
    send,
  });
  return { ...form, made };
}

function Form(props: FormProps) {
  const { roles, choices, onClose } = props;
  const form = useRuleForm(props);
  const { values: v, field } = form;
  const why = missing("create", "access_rules");
  useEffect(() => form.form.current?.querySelector<HTMLElement>("select")?.focus(), []); // the dialog was there before
  return (
    <form onSubmit={form.submit} ref={form.form} novalidate>
      <p class="soft">It can't be changed later: delete it and make another.</p>
      <div class="fields">
        <SelectField
          label="Role"
          {...field("role")}
          options={[{ value: "", label: "Choose" }, ...roles.map(r => ({ value: String(r.id), label: r.name }))]}
          hint={roles.find(r => String(r.id) === v.role)?.description ?? ""}
        />
        <ChipsField
          label="Who"
          {...field("subjects")}
          suggestions={[...choices.users, ...(choices.accounts ?? []).map(a => a.name)]}
          placeholder="Name of a user or service account"
          hint={`Enter adds one, up to ${MOST}; group:NAME is a group of your identity provider`}
        />
        <ChipsField
          label="Where"
          {...field("scopes")}
          suggestions={choices.scopes.map(s => s.name)}
          placeholder="Everywhere, a department or a project"
          hint={`Enter adds one, up to ${MOST}; a department holds its projects`}
        />
        <TextField
          label="Until"
          {...field("ends")}
          type="datetime-local"
          size="half"
          hint="Empty: until somebody deletes it"
        />
      </div>
      <Problem error={form.problem} why={why} />
      <div class="acts">
        <span class="muted small pairs" role="status">
          {pairsSaid(v)}
        </span>
        <Button onClick={onClose}>{form.made ? "Close" : "Cancel"}</Button>
        <Button kind="primary" type="submit" writes busy={form.busy} why={why}>
          Make the rule
        </Button>
      </div>
    </form>
  );
}
