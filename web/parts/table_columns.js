// Which columns a table shows and in which order: kept per account. The first column is the name and stays first.
import { useState } from "preact/hooks";
import { html } from "../html.js";
import { Icon } from "../icons.js";
import { keep, pref } from "../prefs.js";
import { Button } from "./button.js";
import { Popover } from "./menu.js";

const choiceOf = name => pref(`columns:${name}`, null);

// All columns in the chosen order, each with shown: true or false.
export function arranged(name, columns) {
  const choice = choiceOf(name).value;
  const rank = new Map((choice?.order ?? []).map((id, i) => [id, i]));
  const [first, ...rest] = columns;
  const ordered = choice ? [...rest].sort((a, b) => (rank.get(a.id) ?? 999) - (rank.get(b.id) ?? 999)) : rest;
  return [{ ...first, shown: true }, ...ordered.map(c => ({ ...c, shown: choice ? choice.shown.includes(c.id) : !c.hidden }))];
}
export const shownColumns = (name, columns) => arranged(name, columns).filter(c => c.shown);

export function Columns({ name, columns }) {
  return html`<${Popover} small icon="cols" align="right" text=${html`<span class="hide-s">Columns</span>`} label="Columns">${() => html`<${Chooser} name=${name} columns=${columns} />`}<//>`;
}

function Chooser({ name, columns }) {
  const list = arranged(name, columns).slice(1);
  const [dragged, setDragged] = useState(null);
  const write = next => keep(`columns:${name}`, { order: next.map(c => c.id), shown: next.filter(c => c.shown).map(c => c.id) });
  const move = (from, to) => {
    if (to < 0 || to >= list.length) return;
    const next = [...list];
    next.splice(to, 0, ...next.splice(from, 1));
    write(next);
  };
  const drop = to => event => {
    event.preventDefault();
    if (dragged !== null) move(dragged, to);
    setDragged(null);
  };
  return html`<div class="chooser"><ul aria-label="Columns, in order">${list.map((c, i) => html`<li key=${c.id} class=${dragged === i ? "dragging" : null} draggable="true"
      onDragStart=${() => setDragged(i)} onDragOver=${e => e.preventDefault()} onDrop=${drop(i)} onDragEnd=${() => setDragged(null)}>
      <span class="grip" aria-hidden="true"><${Icon} name="grip" /></span>
      <label><input type="checkbox" checked=${c.shown} onChange=${e => write(list.map(o => o.id === c.id ? { ...o, shown: e.target.checked } : o))} />${c.label}</label>
      <${Button} small kind="quiet" icon="up" label=${`${c.label} earlier`} onClick=${() => move(i, i - 1)} /><${Button} small kind="quiet" icon="down" label=${`${c.label} later`} onClick=${() => move(i, i + 1)} /></li>`)}</ul>
    <${Button} small onClick=${() => keep(`columns:${name}`, null)}>Reset<//></div>`;
}
