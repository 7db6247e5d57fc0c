// Why is the share what it is: the terms of the division, from the pool down to one project, or of all under it. Each
// term's GPUs stand beside its sentence, and their sum is the share.
import { type ApiError, get } from "../api";
import { useData } from "../data";
import { gpus, percent } from "../format";
import { closed, pathTo } from "../pictures/what_if";
import type { ShareNode } from "../types";
import { WORDS } from "../words";
import { Empty, Fault, Loading } from "./states";

const useShares = (pool: string) =>
  useData(
    pool ? `fairshare/${pool}` : null,
    abort => get("/api/v1/scheduler/fairshare", { nodePool: pool }, { signal: abort }),
    ["queue", "workload", "project", "department", "nodepool"],
  );

const childrenOf = (node: ShareNode) => (node.children ?? []) as ShareNode[];

// kind and name of the queue that the page is about; of a pool the whole tree.
export function ShareTree({
  pool,
  kind,
  name,
}: {
  pool: string;
  kind: "pool" | "department" | "project";
  name: string;
}) {
  const shares = useShares(pool);
  if (shares.error && !shares.data)
    return (shares.error as ApiError).status === 403 ? (
      <p class="soft">{WORDS.noRight("read project")}</p>
    ) : (
      <Fault error={shares.error} retry={shares.reload} what="The division" />
    );
  if (shares.loading) return <Loading rows={4} />;
  const { root, total } = shares.data!;
  if (kind === "pool")
    return (
      <>
        <p class="soft">
          {gpus(total)} GPUs of {pool} are divided between the departments, then inside each between its projects.
        </p>
        {root.children.length ? (
          <ul class="tree">
            {childrenOf(root).map((d, i) => (
              <Branch key={d.id ?? i} node={d} />
            ))}
          </ul>
        ) : (
          <Empty>Nobody has a share here.</Empty>
        )}
      </>
    );
  const path = pathTo(root, kind, name);
  if (!path.length)
    return (
      <p class="soft">
        {name} has no share in {pool}: no quota there and nothing asked for.
      </p>
    );
  return (
    <>
      <p class="soft">
        {gpus(total)} GPUs of {pool} are there to divide.
      </p>
      {path.slice(1).map(node => (
        <Bill key={node.kind} node={node} />
      ))}
      {path.at(-1)!.kind === "department" && (
        <ul class="tree">
          {childrenOf(path.at(-1)!).map((p, i) => (
            <Branch key={p.id ?? i} node={p} />
          ))}
        </ul>
      )}
    </>
  );
}

// The terms as a bill.
function Bill({ node }: { node: ShareNode }) {
  return (
    <table class="share bill">
      <caption>
        {node.kind === "department" ? "Department" : "Project"} <b class="strong">{node.name}</b>
      </caption>
      <tbody>
        {node.terms.map((t, i) => (
          <tr key={i}>
            <td>{closed(t.sentence)}</td>
            <td class="num">{gpus(t.given)}</td>
          </tr>
        ))}
        {node.terms.length === 0 && (
          <tr>
            <td>It asks for nothing and is owed nothing.</td>
            <td class="num">0</td>
          </tr>
        )}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row">
            Fair share <span class="muted">{inputs(node)}</span>
          </th>
          <td class="num strong">{gpus(node.fairShare)}</td>
        </tr>
      </tfoot>
    </table>
  );
}

function inputs(n: ShareNode) {
  return [
    `asks for ${gpus(n.requested)}`,
    n.deserved === null ? "quota unlimited" : `quota ${gpus(n.deserved)}`,
    n.limit === null ? "no limit" : `limit ${gpus(n.limit)}`,
    `weight ${gpus(n.weight)}`,
    n.usage && n.usage > 0 ? `${percent(n.usage * 100)} used before` : "",
  ]
    .filter(Boolean)
    .join(", ");
}

function Branch({ node }: { node: ShareNode }) {
  return (
    <li>
      <details>
        <summary>
          <span class="strong cut">{node.name}</span>
          <span class="muted">
            holds {gpus(node.allocated)}, asks for {gpus(node.requested)}
          </span>
          <span class="num strong">{gpus(node.fairShare)}</span>
        </summary>
        <Bill node={node} />
        {node.children?.length > 0 && (
          <ul class="tree">
            {childrenOf(node).map((c, i) => (
              <Branch key={c.id ?? i} node={c} />
            ))}
          </ul>
        )}
      </details>
    </li>
  );
}
