// Where each node and cell lies on the canvas, for drawing and for pointing. Pure.

import { type Holder, type MapCell, type MapPool, type MapRow, rowNote } from "./cluster_map";

export const ZOOMS = [
  { row: 16, name: 1, column: 260 },
  { row: 8, name: 4, column: 200 },
  { row: 4, name: 10, column: 150 },
]; // name: every n-th row of a column is named; column: how narrow one may be

interface Room {
  width: number;
  zoom: number;
  gap?: number;
  heading?: number;
}
/** Where a row lies; cell: the width of one; left: where the first begins. */
export interface Place {
  row: MapRow;
  pool: MapPool;
  /** In its column. */
  line: number;
  x: number;
  y: number;
  left: number;
  cell: number;
}
export interface Layout {
  places: Place[];
  heads: { pool: MapPool; x: number; y: number }[];
  rowHeight: number;
  columnWidth: number;
  perRow: number;
  height: number;
}
/** What is pointed at: a row, and a cell of it or its name. */
export interface Hit {
  place: Place;
  cell: number | null;
}

// Rows flow in columns, pool after pool. Each pool starts with a heading.
export function layout(pools: MapPool[], { width, zoom, gap = 24, heading = 24 }: Room): Layout {
  const { row: rowHeight, column } = ZOOMS[zoom];
  const columns = Math.max(1, Math.floor((width + gap) / (column + gap)));
  const columnWidth = (width - gap * (columns - 1)) / columns;
  const left = rowHeight >= 16 ? 72 : 56;
  const places: Place[] = [],
    heads: Layout["heads"] = [];
  let y = 0;
  for (const pool of pools) {
    heads.push({ pool, x: 0, y });
    const perColumn = Math.ceil(pool.rows.length / columns);
    const most = Math.max(...pool.rows.map(r => r.cells.length));
    pool.rows.forEach((row, i) => {
      const column = Math.floor(i / perColumn);
      places.push({
        row,
        pool,
        line: i % perColumn,
        x: column * (columnWidth + gap),
        y: y + heading + (i % perColumn) * rowHeight,
        left,
        cell: (columnWidth - left - 8) / most,
      });
    });
    y += heading + perColumn * rowHeight + 12;
  }
  return { places, heads, rowHeight, columnWidth, perRow: columns, height: y };
}

// What of it lies between two heights.
export function within(map: Layout, from: number, to: number): Layout {
  const here = ({ y }: { y: number }) => y > from - 24 && y < to;
  return { ...map, places: map.places.filter(here), heads: map.heads.filter(here) };
}

// The place and cell under a point, or null.
export function hit({ places, rowHeight }: Layout, x: number, y: number): Hit | null {
  const place = places.find(
    p => y >= p.y && y < p.y + rowHeight && x >= p.x && x < p.x + p.left + p.cell * p.row.cells.length,
  );
  if (!place) return null;
  const cell = Math.floor((x - place.x - place.left) / place.cell);
  return { place, cell: cell >= 0 ? cell : null };
}

const partOf = ({ share = 1 }: Holder) => (share < 1 ? ` (${share})` : "");
const usedOf = ({ idle, utilization }: MapCell) =>
  idle ? ", idle" : utilization === null ? "" : `, ${Math.round(utilization)} % used`;

// What stands under the cursor, in words.
export function wordsAt({ place, cell }: Hit) {
  const { row } = place;
  if (cell === null || !row.cells[cell]) return `${row.name} · ${rowNote(row) || "full"}`;
  const device: MapCell = row.cells[cell];
  if (device.state === "down") return `${row.name}, GPU ${cell}: down`;
  if (!device.workloads.length) return `${row.name}, GPU ${cell}: free`;
  const who = device.workloads.map(w => (w.projectName ? `${w.projectName}/` : "") + w.name + partOf(w)).join(", ");
  return `${row.name}, GPU ${cell}: ${who}${usedOf(device)}${device.state === "releasing" ? ", giving back" : ""}`;
}
