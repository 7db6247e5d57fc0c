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

// With more than 12 projects in a picture only the 8 largest keep their colour: the set of ids that do.
export function coloured<I>(projects: { id: I; size: number; name: string }[], most = 12, kept = 8): Set<I> {
  const list =
    projects.length <= most
      ? projects
      : [...projects].sort((a, b) => b.size - a.size || a.name.localeCompare(b.name)).slice(0, kept);
  return new Set(list.map(p => p.id));
}
