// A small table in a pane: the columns that one of its rows has something to say in.
import type { ComponentChildren } from "preact";

export interface ShareColumn<R> {
  head: string;
  num?: boolean;
  cell: (row: R) => ComponentChildren;
  /** Only where one of the rows has something to say. */
  has?: (row: R) => boolean;
}

interface ShareTableProps<R> {
  label: string;
  class?: string;
  columns: ShareColumn<R>[];
  rows: R[];
  keyOf: (row: R) => string | number;
}

export function ShareTable<R>({ label, class: more = "", columns, rows, keyOf }: ShareTableProps<R>) {
  const shown = columns.filter(({ has }) => !has || rows.some(has)),
    kind = (column: ShareColumn<R>) => (column.num ? "num" : undefined);
  return (
    <div class="scroll" tabindex={0} role="region" aria-label={`${label}, scrolls sideways`}>
      <table class={["share", more].filter(Boolean).join(" ")}>
        <thead>
          <tr>
            {shown.map(c => (
              <th key={c.head} scope="col" class={kind(c)}>
                {c.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(row => (
            <tr key={keyOf(row)}>
              {shown.map(c => (
                <td key={c.head} class={kind(c)}>
                  {c.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
