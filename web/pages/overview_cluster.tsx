// The cluster map on Overview: a row is a node, a cell is a GPU.
import { useMemo, useState } from "preact/hooks";
import type { Data } from "../data";
import { LinkButton, Seg } from "../parts/button";
import { ClusterMap, MapKey, VIEWS, isBrief } from "../parts/cluster_map";
import { Empty, Loaded } from "../parts/states";
import { groupsIn, nodesInBrief, poolsOf } from "../pictures/cluster_map";
import type { OverviewNodes, OverviewPool } from "../types";

export function Cluster({ nodes, order = [] }: { nodes: Data<OverviewNodes>; order?: OverviewPool[] }) {
  const pools = useMemo(() => {
    const names = order.map(p => p.name);
    return nodes.data ? poolsOf(nodesInBrief(nodes.data), names) : [];
  }, [nodes.data]);
  const [view, setView] = useState("project");
  const [lifted, setLifted] = useState<string | null>(null);
  const groups = useMemo(() => groupsIn(pools, view), [pools, view]);
  const look = { view, lifted, groups };
  return (
    <section class="sheet wide" aria-labelledby="h-map">
      <header>
        <h2 id="h-map">Cluster</h2>
        {!isBrief(pools) && <p>A row is a node, a cell is a GPU</p>}
        <span class="grow" />
        {!isBrief(pools) && <Seg label="Colour by" options={VIEWS} value={view} onChange={setView} />}
        <LinkButton small href="/nodes">
          Table
        </LinkButton>
      </header>
      <div class="body">
        <Loaded of={nodes} what="Nodes" rows={6} height={24}>
          {() =>
            pools.length ? (
              <ClusterMap pools={pools} {...look}>
                <MapKey {...look} lift={setLifted} />
              </ClusterMap>
            ) : (
              <Empty>No node with GPUs has joined yet.</Empty>
            )
          }
        </Loaded>
      </div>
    </section>
  );
}
