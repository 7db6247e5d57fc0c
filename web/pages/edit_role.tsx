// New role, and what a role that was made allows: a matrix of check boxes.
import { get, post, put } from "../api";
import { useData } from "../data";
import { plural } from "../format";
import { refreshAll } from "../live";
import { Button, LinkButton } from "../parts/button";
import { Code, curl } from "../parts/code";
import { CheckField, Problem, Section, TextField, useForm } from "../parts/form";
import { Page } from "../parts/page";
import { RightsMatrix } from "../parts/rights_matrix";
import { Fault, Loading } from "../parts/states";
import { renewTables } from "../parts/table";
import { toast } from "../parts/toast";
import { type Allowed, allowedOf, matrixOf, permissionsOf, toggled } from "../pictures/roles";
import { go, route } from "../router";
import { missing } from "../session";
import type { Role } from "../types";

const ROLES = "/api/v1/authorization/roles",
  PATH = "/api/v2/authorization/roles";

/** The form of a role; ?from= copies what another one allows. */
export default function EditRole({ id }: { id?: string }) {
  const found = useData("edit-role", abort => get(ROLES, {}, { signal: abort }));
  const wanted = id ?? route.value.query.from;
  const role = found.data?.find(r => String(r.id) === wanted);
  const gone = found.data && id && !role?.custom && new Error("There is no such role that can be changed.");
  const error = found.error ?? (gone || null);
  return (
    <Page title={id ? `Role ${role?.name ?? ""}` : "New role"} action={null}>
      {error ? (
        <Fault error={error} retry={found.reload} what="The form" />
      ) : found.data ? (
        <Form id={id} role={role} all={found.data} />
      ) : (
        <section class="sheet">
          <Loading rows={8} height={40} />
        </section>
      )}
    </Page>
  );
}

interface RoleFacts {
  id?: string;
  /** The one that is changed, or copied. */
  role?: Role;
  all: Role[];
}
interface Values {
  name: string;
  description: string;
  enabled: boolean;
  permissions: Allowed;
}

const bodyOf = (v: Values) => ({
  name: v.name.trim(),
  description: v.description,
  enabled: v.enabled,
  permissionSets: [],
  permissions: permissionsOf(v.permissions),
});

const check = (v: Values) => ({
  name: v.name.trim() ? "" : "A name is needed.",
  permissions: permissionsOf(v.permissions).length ? "" : "Tick at least one box.",
});

function useRoleForm({ id, role }: RoleFacts) {
  const send = async (v: Values) => {
    const body = bodyOf(v);
    const saved = id ? await put(`${PATH}/${id}` as `${typeof PATH}/${string}`, body) : await post(PATH, body);
    refreshAll();
    renewTables();
    await go(`/access/roles?open=${saved.id}`);
    toast(id ? `Saved ${body.name}.` : `Created ${body.name}.`);
  };
  const initial: Values = {
    name: id ? (role?.name ?? "") : "",
    description: role?.description ?? "",
    enabled: id ? role?.enabled !== false : true,
    permissions: role ? allowedOf(role) : {},
  };
  return useForm({ initial, check, send });
}

function Form(props: RoleFacts) {
  const { id, role, all } = props;
  const form = useRoleForm(props),
    { values: v, field } = form,
    why = missing(id ? "update" : "create", "roles");
  return (
    <div class="form-page">
      <form class="sheet" aria-label={id ? "Role" : "New role"} onSubmit={form.submit} ref={form.form} novalidate>
        <Section
          title="Role"
          help={!id && role ? `Begins with what ${role.name} allows.` : "A name that says who needs it."}
        >
          <TextField label="Name" {...field("name")} maxlength={100} />
          <TextField label="Description" {...field("description")} maxlength={1000} />
          <CheckField label="In force" {...field("enabled")} hint="Off: its access rules give nothing." />
        </Section>
        <fieldset class="full">
          <div class="lg">
            <h2>What it allows</h2>
            <p>Nobody puts more into a role than he may do in the whole tenant. Whoever may do more may also view.</p>
          </div>
          <Boxes all={all} value={v.permissions} onValue={p => form.set("permissions", p)} />
          <p class={"hint" + (field("permissions").error ? " bad" : "")} role="status">
            {field("permissions").error || plural(permissionsOf(v.permissions).flatMap(p => p.actions).length, "right")}
          </p>
        </fieldset>
        <Problem error={form.problem} why={why} />
        <div class="submit-bar">
          <span class="grow" />
          <LinkButton href={id ? `/access/roles?open=${id}` : "/access/roles"}>Cancel</LinkButton>
          <Button kind="primary" type="submit" writes busy={form.busy} why={why}>
            {id ? "Save" : "Create role"}
          </Button>
        </div>
      </form>
      <aside class="sheet pane" aria-label="The same without the mouse">
        <div class="body">
          <Code
            forms={{
              curl: curl(id ? "PUT" : "POST", id ? `${PATH}/${id}` : PATH, bodyOf(v)),
              json: JSON.stringify(bodyOf(v), null, 2),
            }}
          />
        </div>
      </aside>
    </div>
  );
}

interface BoxesProps {
  all: Role[];
  value: Allowed;
  onValue: (value: Allowed) => void;
}

function Boxes({ all, value, onValue }: BoxesProps) {
  return (
    <RightsMatrix
      caption="What the role allows"
      groups={matrixOf({ permissions: permissionsOf(value) }, all)}
      cell={(l, action, word) => (
        <label class="box">
          <input
            type="checkbox"
            aria-label={`${word}: ${l.name}`}
            checked={l.actions.includes(action)}
            onChange={() => onValue(toggled(value, l.type, action))}
          />
        </label>
      )}
    />
  );
}
