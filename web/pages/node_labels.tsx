// Labels of nodes: those of one node, to change; and a node for a node pool, by giving it the pool's label.
import { useState } from "preact/hooks";
import { patch } from "../api";
import { plural } from "../format";
import { refreshAll } from "../live";
import { Button } from "../parts/button";
import { ChipsField } from "../parts/chips_field";
import { SelectField } from "../parts/form";
import { renewTables } from "../parts/table";
import { toast, toastError } from "../parts/toast";
import { may } from "../session";
import type { Node, Nodepool } from "../types";
import { WORDS } from "../words";

// Sets labels of a node, null removes one; resolves with the node, or with null after saying what went wrong.
async function label(name: string, labels: Record<string, string | null>) {
  try {
    const node = await patch(`/api/v1/nodes/${encodeURIComponent(name)}`, { labels });
    refreshAll();
    renewTables();
    return node;
  } catch (error) {
    toastError(error);
    return null;
  }
}

const why = () => (may("update", "nodes") ? "" : WORDS.noRight("update nodes"));

type Change = [key: string, value: string | null];

// In a node's pane: every label with a way to remove it, and one to add.
export function NodeLabels({ node }: { node: Node }) {
  const labels = node.prorata?.labels ?? {},
    list = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  if (why()) return <span class="mono">{list.join(" ") || "none"}</span>;
  const change = async (next: string[]) => {
    const gone = list.filter(l => !next.includes(l)).map((l): Change => [l.slice(0, l.indexOf("=")), null]);
    const come = next
      .filter(l => !list.includes(l))
      .map((l): Change => [l.split("=")[0].trim(), l.includes("=") ? l.slice(l.indexOf("=") + 1).trim() : ""]);
    const now = await label(node.name, Object.fromEntries([...gone, ...come]));
    if (now)
      toast(
        now.nodePool === node.nodePool
          ? `${node.name} is labelled.`
          : `${node.name} is in ${now.nodePool} now. What runs there goes on.`,
        {
          undo: () =>
            label(
              node.name,
              Object.fromEntries([
                ...come.map(([key]): Change => [key, labels[key] ?? null]),
                ...gone.map(([key]): Change => [key, labels[key]]),
              ]),
            ),
        },
      );
  };
  return (
    <ChipsField
      path="labels"
      label="Labels"
      value={list}
      onValue={change}
      onBlur={() => {}}
      placeholder="key=value"
      hint="Enter adds one. The node's pool follows."
    />
  );
}

// In a pool's pane: nodes of other pools, one of which gets the label.
export function LabelNode({ pool, nodes }: { pool: Nodepool; nodes: Node[] }) {
  const [chosen, setChosen] = useState("");
  const [busy, setBusy] = useState(false);
  const others = nodes.filter(n => n.nodePool !== pool.name);
  if (pool.isDefault || !pool.labelKey || !others.length) return null;
  const give = async () => {
    const node = others.find(n => n.name === chosen);
    setBusy(true);
    const now = await label(chosen, { [pool.labelKey]: pool.labelValue });
    setBusy(false);
    if (!now) return;
    setChosen("");
    toast(
      now.nodePool === pool.name
        ? `${chosen} is in ${pool.name} now. What runs there goes on.`
        : `${chosen} has the label, and stays in ${now.nodePool}: it has the label of that older pool too.`,
      { undo: () => label(chosen, { [pool.labelKey]: node?.prorata?.labels?.[pool.labelKey] ?? null }) },
    );
  };
  const size = (n: Node) => (n.gpuInfo?.gpuCount ? `${n.gpuInfo.gpuCount} × ${n.gpuInfo.gpuType}` : "no GPUs");
  return (
    <section class="labels">
      <h3>Label a node</h3>
      <p class="small soft">{`A node of another pool gets ${pool.labelKey}=${pool.labelValue} and belongs to ${pool.name}; what runs on it goes on. ${plural(others.length, "node")} to choose from.`}</p>
      <div class="label-node">
        <SelectField
          label="Node"
          path="node"
          value={chosen}
          onValue={setChosen}
          onBlur={() => {}}
          options={[
            { value: "", label: "Choose" },
            ...others.map(n => ({ value: n.name, label: `${n.name} · ${n.nodePool} · ${size(n)}` })),
          ]}
        />
        <Button busy={busy} writes why={why() || (chosen ? "" : "Choose a node first.")} onClick={give}>
          Label the node
        </Button>
      </div>
    </section>
  );
}
