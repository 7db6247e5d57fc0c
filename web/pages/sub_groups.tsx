// A gang's own shape, where it has one: its sub-groups as a tree, and where each is to stand.
import { NONE } from "../format";
import { type Shape, shapeRows, topologyWords } from "../pictures/gang";

export function SubGroups({ shape }: { shape: Shape }) {
  const groups = shape.subGroups ?? [],
    whole = topologyWords(shape.topology);
  if (!groups.length && !whole) return null;
  const top = groups.filter(g => !g.parent).length;
  return (
    <section>
      <h3>Sub-groups</h3>
      {whole && <p>The whole stands {whole}.</p>}
      {groups.length > 0 && (
        <>
          <p>
            {shape.minSubGroups ?? top} of {top} at the top are needed.
          </p>
          <div class="scroll" tabindex={0} role="region" aria-label="Sub-groups, scrolls sideways">
            <table class="share">
              <thead>
                <tr>
                  <th scope="col">Sub-group</th>
                  <th scope="col">Needs</th>
                  <th scope="col">Stands</th>
                </tr>
              </thead>
              <tbody>
                {shapeRows(groups).map(({ group, depth, needs }) => (
                  <tr key={group.name}>
                    <td>
                      {"\u2003".repeat(depth)}
                      {group.name}
                    </td>
                    <td>{needs}</td>
                    <td>{topologyWords(group.topology) || NONE}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </section>
  );
}
