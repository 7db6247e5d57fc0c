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

interface Sized {
  id: string;
  size: number;
  name: string;
}
const largest = (projects: Sized[], keyOf: (slot: Slot) => string | number) => {
  const kept = new Map<string | number, string>();
  for (const { id } of [...projects].sort((a, b) => b.size - a.size || a.name.localeCompare(b.name)))
    if (!kept.has(keyOf(slotOf(id)))) kept.set(keyOf(slotOf(id)), id);
  return new Set(kept.values());
};

// With more than 12 projects in a picture only the largest of each of the 8 colours keeps it: the set of ids that do.
export const coloured = (projects: Sized[], most = 12): Set<string> =>
  projects.length <= most ? new Set(projects.map(p => p.id)) : largest(projects, slot => slot.colour);

/** Where textures can be seen, the largest of each of the 24 looks keeps it. */
export const textured = (projects: Sized[]): Set<string> =>
  largest(projects, ({ colour, texture }) => `${colour}${texture}`);
