// A project's colour: stateless, never changes, the first 24 projects all differ. Pure.

export interface Slot {
  colour: number;
  texture: string;
}

// Numeric id -> {colour: 1..8, texture: "", "dots" or "grid"}.
export function slotOf(projectId: string | number | null | undefined): Slot {
  const id = Number.parseInt(String(projectId), 10);
  const slot = Number.isFinite(id) && id > 0 ? (id - 1) % 24 : hash(String(projectId)) % 24;
  return { colour: (slot % 8) + 1, texture: ["", "dots", "grid"][Math.floor(slot / 8)] };
}

function hash(text: string) {
  let value = 0;
  for (const letter of text) value = (value * 31 + letter.codePointAt(0)!) >>> 0;
  return value;
}

// With more than 12 projects in a picture only the largest of each of the 8 colours keeps it: the set of ids that do.
export function coloured(projects: { id: string; size: number; name: string }[], most = 12): Set<string> {
  if (projects.length <= most) return new Set(projects.map(p => p.id));
  const kept = new Map<number, string>();
  for (const { id } of [...projects].sort((a, b) => b.size - a.size || a.name.localeCompare(b.name)))
    if (!kept.has(slotOf(id).colour)) kept.set(slotOf(id).colour, id);
  return new Set(kept.values());
}
