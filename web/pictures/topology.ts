// Network topologies in a node pool's form: a choice, or a new one by its levels. Pure.
import type { Topology } from "../types";
import { WORDS } from "../words";
import { closed } from "./what_if";

const NAME = /^[a-z]([a-z0-9-]*[a-z0-9])?$/;
const LEVEL =
  /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$/;
export const NEW = "new";

export const topologyChoices = (topologies: Topology[], mayCreate: boolean) => [
  { value: "", label: "None" },
  ...topologies.map(t => ({ value: t.id, label: t.phase === "Off" ? `${t.name} (off)` : t.name })),
  ...(mayCreate ? [{ value: NEW, label: "New…" }] : []),
];

// What a person should know of the chosen one: its levels, and why it is off.
export function topologySaid(topologies: Topology[], id: string) {
  const chosen = topologies.find(t => t.id === id);
  if (!chosen) return "Gangs are kept close together on the levels of a topology.";
  const levels = `Levels, the farthest first: ${chosen.levels.join(", ")}`;
  return chosen.phase === "Off" && chosen.status?.message ? `${closed(chosen.status.message)} ${levels}` : levels;
}

export function checkTopology(v: { topology: string; topologyName: string; levels: string[] }) {
  const wrong: Record<string, string> = {};
  if (v.topology !== NEW) return wrong;
  if (!NAME.test(v.topologyName) || v.topologyName.length > 63) wrong.topologyName = WORDS.badName;
  if (!v.levels.length) wrong.levels = "At least one label that nodes have.";
  else if (v.levels.some(l => !LEVEL.test(l) || l.length > 63))
    wrong.levels = "Each level is the key of a node label, e.g. topology.kubernetes.io/rack.";
  return wrong;
}
