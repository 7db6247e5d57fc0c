// A role as a matrix: a line a resource type, in groups, a column an action.
import type { ComponentChildren } from "preact";
import { type Action, type Line, ACTIONS } from "../pictures/roles";

interface RightsMatrixProps {
  caption: string;
  groups: [name: string, lines: Line[]][];
  /** Lines without any action stand back. */
  dims?: boolean;
  cell: (line: Line, action: Action, word: string) => ComponentChildren;
}

/** The cells are the page's: marks to read, boxes to tick. */
export function RightsMatrix({ caption, groups, dims, cell }: RightsMatrixProps) {
  return (
    <table class="share matrix">
      <caption class="sr">{caption}</caption>
      <thead>
        <tr>
          <th scope="col">To what</th>
          {ACTIONS.map(([action, word]) => (
            <th key={action} scope="col">
              {word}
            </th>
          ))}
        </tr>
      </thead>
      {groups.map(([name, lines]) => (
        <tbody key={name}>
          <tr class="group">
            <th scope="rowgroup" colspan={ACTIONS.length + 1}>
              {name}
            </th>
          </tr>
          {lines.map(l => (
            <tr key={l.type} class={dims && !l.actions.length ? "none" : undefined}>
              <th scope="row">{l.name}</th>
              {ACTIONS.map(([action, word]) => (
                <td key={action}>{cell(l, action, word)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      ))}
    </table>
  );
}
