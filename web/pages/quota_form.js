// What does this quota take from others? The form behind projects and departments: quota, weight, rank and limit in each
// pool; beside it how each pool is divided, and what a save would change.
import { useMemo, useState } from "preact/hooks";
import { get, getAll } from "../api.js";
import { useData } from "../data.js";
import { gpus } from "../format.js";
import { html } from "../html.js";
import { Icon } from "../icons.js";
import { Button, LinkButton } from "../parts/button.js";
import { Code, curl } from "../parts/code.js";
import { Problem, Section, SelectField, TextField, useForm } from "../parts/form.js";
import { Page } from "../parts/page.js";
import { Fault, Loading } from "../parts/states.js";
import { changes, checkRows, division, resourcesOf, rowsOf, withAddress } from "../pictures/quota_form.js";
import { route } from "../router.js";

const NAME = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;

// What every quota form asks for: pools, ranks, departments, projects, GPUs of each pool, and the unit itself.
export function useQuotaFacts(id, unitPath) {
  return useData(`quota/${unitPath}/${id ?? "new"}`, async abort => {
    const one = { signal: abort };
    const [pools, ranks, departments, projects, nodes, unit] = await Promise.all([
      get("/api/v1/node-pools", { limit: 500 }, one).then(a => a.nodepools ?? []), get("/api/v1/org-unit/priorities", {}, one).then(a => a.priorities ?? [], () => []), getAll("/api/v1/org-unit/departments", "departments", { sortBy: "name" }, one),
      getAll("/api/v1/org-unit/projects", "projects", { sortBy: "name" }, one), getAll("/api/v1/nodes", "nodes", {}, { signal: abort, most: 4000 }).catch(() => []), id ? get(`${unitPath}/${id}`, {}, one) : null,
    ]);
    const size = {};
    for (const n of nodes) size[n.nodePool] = (size[n.nodePool] ?? 0) + (n.gpuInfo?.gpuCount ?? 0);
    return { pools, ranks, departments, projects, size, unit };
  });
}

export function QuotaPage({ title, facts, children }) {
  return html`<${Page} title=${title} action=${null}>${facts.data ? children(facts.data) : facts.error ? html`<${Fault} error=${facts.error} retry=${facts.reload} what="The form" />` : html`<section class="sheet"><${Loading} rows=${6} height=${44} /></section>`}<//>`;
}

// word: "project" or "department"; parents: what a new one may belong to; totalOf(pool, values), othersOf(pool, values):
// GPUs to divide and what others have of them; call(values, resources) -> {method, path, body}; save(call) sends it.
export function QuotaForm({ word, facts, parents, totalOf, othersOf, totalWord, call, save, back }) {
  const { unit, pools } = facts;
  const standard = facts.ranks.find(r => r.isDefault)?.name ?? "MediumLow";
  const before = useMemo(() => rowsOf(pools, unit?.resources, standard), []);
  const [rows, setRows] = useState(() => withAddress(before, route.peek().query));
  const check = v => ({ ...(unit ? {} : { name: NAME.test(v.name) ? "" : "Small letters, digits and dashes; a letter first, no dash last." }), ...checkRows(rows) });
  const initial = { name: unit?.name ?? "", parent: unit?.parentId ?? parents?.[0]?.id ?? "", ...Object.fromEntries(before.flatMap(r => ["quota", "weight", "limit", "rank"].map(k => [`${k}-${r.id}`, true]))) };
  const send = values => save(call(values, resourcesOf(rows, unit?.resources)), values);
  const form = useForm({ initial, check, send, paths: { parentId: "parent", resources: `quota-${before[0]?.id}` } });
  const { values: v, field } = form;
  const edit = (id, key) => value => {
    form.set(`${key}-${id}`, true);
    setRows(old => old.map(r => r.id === id ? { ...r, [key]: value } : r));
  };
  const changed = changes(before, rows);
  const planned = call(v, resourcesOf(rows, unit?.resources));
  return html`<div class="form-page"><form class="sheet" aria-label=${unit ? `Quota of ${unit.name}` : `New ${word}`} onSubmit=${form.submit} ref=${form.form} novalidate>
    ${!unit && html`<${Section} title="Who" help=${`The name can't be changed later.`}><${TextField} label="Name" size="half" ...${field("name")} maxlength="57" hint="Small letters, digits, dashes" />
      ${parents && html`<${SelectField} label="Department" size="half" ...${field("parent")} options=${parents.map(d => ({ value: d.id, label: d.name }))} />`}<//>`}
    ${rows.map(r => html`<${Section} key=${r.id} title=${r.name} help=${`${gpus(facts.size[r.name] ?? 0)} GPUs in this pool.`}>
      ${amount("Quota", "quota", r, field, edit, "GPUs owed")}${amount("Weight", "weight", r, field, edit, "Of what is left over")}${amount("Limit", "limit", r, field, edit, "Empty: none")}
      <${SelectField} label="Rank" size="quarter" path=${`rank-${r.id}`} value=${r.rank} onValue=${edit(r.id, "rank")} hint="Higher: first" options=${(facts.ranks.length ? facts.ranks : [{ name: r.rank }]).map(o => ({ value: o.name, label: o.name.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase() }))} /><//>`)}
    <${Problem} error=${form.problem} />
    <div class="submit-bar"><span class="muted small" aria-live="polite">${unit ? changed.join("; ") || "Nothing is changed yet." : ""}</span><span class="grow"></span><${LinkButton} href=${back}>Cancel<//><${Button} kind="primary" type="submit" writes busy=${form.busy} why=${unit && !changed.length ? "Nothing is changed yet." : ""}>${unit ? "Save" : `Create ${word}`}<//></div></form>
    <aside class="sheet pane" aria-labelledby="h-div"><header><h2 id="h-div">What it takes from others</h2></header><div class="body">
      ${rows.map(r => html`<${Division} key=${r.id} pool=${r.name} parts=${division(totalOf(r, v), othersOf(r, v), Number(r.quota) || 0)} word=${word} totalWord=${totalWord} />`)}
      <${Code} forms=${{ curl: curl(planned.method, planned.path, planned.body), json: JSON.stringify(planned.body, null, 2) }} /></div></aside></div>`;
}

function amount(label, key, row, field, edit, hint) {
  const path = `${key}-${row.id}`;
  return html`<${TextField} key=${path} label=${label} size="quarter" ...${field(path)} value=${row[key]} onValue=${text => edit(row.id, key)(text.trim().replace(",", "."))} inputmode="decimal" hint=${hint} placeholder=${key === "limit" ? "none" : null} />`;
}

// One bar of the pool: this one, others, unassigned; what is promised beyond the total in bad.
function Division({ pool, parts, word, totalWord }) {
  const x = value => `${value / parts.top * 100}%`;
  const say = [`${gpus(parts.mine)} this ${word}`, `${gpus(parts.others)} others`, parts.over > 0 ? `${gpus(parts.over)} more than ${totalWord}` : `${gpus(parts.free)} unassigned`].join(", ");
  return html`<section><h3>${pool} <span class="muted">${totalWord}: ${gpus(parts.total)}</span></h3><svg class="division" width="100%" height="18" role="img" aria-label=${`${pool}: ${say}`}>
    <rect width=${x(parts.total)} height="18" rx="3" class="track" /><rect width=${x(parts.others)} height="18" rx="3" class="others" /><rect x=${x(parts.others)} width=${x(parts.mine)} height="18" rx="3" class="mine" />
    ${parts.over > 0 && html`<rect x=${x(parts.top - parts.over)} width=${x(parts.over)} height="18" rx="3" class="too-much" />`}</svg>
    <p class=${"small " + (parts.over > 0 ? "over-said" : "soft")}>${parts.over > 0 && html`<${Icon} name="no" tone="bad" /> `}${say}</p></section>`;
}
