// What holds in a place: the effective policy by kind of workload, each field with its default, its rule and who set them.
import { useState } from "preact/hooks";
import { ApiError, getList } from "../api";
import { useData } from "../data";
import { Button, LinkButton, Seg } from "../parts/button";
import { Dialog } from "../parts/dialog";
import { Empty, Loaded } from "../parts/states";
import { policyRows } from "../pictures/policy_rows";
import { may } from "../session";
import { WORDS } from "../words";
import { type Placed, scopeIdOf, scopeOf, usePlaceWords } from "../parts/place_words";

/** A policy as it is asked for by its kind and place. */
export interface Answered {
  meta?: Placed & { id: string; name: string };
  policy?: Record<string, unknown> | null;
  effective?: Record<string, unknown> | null;
}

/** The kinds by the words of their addresses. */
export const KINDS = [
  { value: "trainings", label: "Trainings", type: "training" },
  { value: "workspaces", label: "Workspaces", type: "workspace" },
  { value: "distributed", label: "Distributed", type: "distributed" },
  { value: "inferences", label: "Inferences", type: "inference" },
];
export const pathOf = (kind: string) => `/api/v2/policy/${kind}`;
export const placeQuery = (p: Placed) => ({
  scope: scopeOf(p),
  ...(scopeIdOf(p) ? { [`${scopeOf(p)}Id`]: scopeIdOf(p) } : {}),
});

/** The policy of a kind in a place; empty where none is set there and nothing is said of what holds. */
export const usePolicy = (kind: string, place: Placed) =>
  useData<Answered>(
    `policy/${kind}/${scopeOf(place)}/${scopeIdOf(place)}`,
    abort =>
      (getList(pathOf(kind), placeQuery(place), { signal: abort }) as Promise<Answered>).catch(error => {
        if (error instanceof ApiError && error.status === 404) return {};
        throw error;
      }),
    ["policy"],
  );

/** The effective policy as a table. */
export function EffectivePolicy({ kind, place }: { kind: string; place: Placed }) {
  const found = usePolicy(kind, place);
  const where = usePlaceWords();
  const from = (list: Placed[]) =>
    [...new Set(list.map(p => (scopeOf(p) === "system" ? "Built in" : where(p))))].join(", ");
  return (
    <Loaded of={found} what="The policy">
      {({ effective }) => {
        const rows = policyRows(effective, (effective?.sourceOfDefaults ?? undefined) as Record<string, Placed>);
        if (!rows.length) return <Empty>No policy holds here: everything may be asked for.</Empty>;
        const isOwn = rows.some(r => [...r.valueFrom, ...r.ruleFrom].some(p => scopeOf(p) !== "system"));
        const table = (
          <div class="policy-of" tabindex={0} role="region" aria-label={`Policy of ${kind}`}>
            <table class="share policy">
              <thead>
                <tr>
                  <th scope="col">Field</th>
                  <th scope="col">Default</th>
                  <th scope="col">Rule</th>
                  <th scope="col">Set by</th>
                </tr>
              </thead>
              <tbody>
                {rows.map(r => (
                  <tr key={r.field}>
                    <td class="mono small">{r.field}</td>
                    <td>{r.value || "–"}</td>
                    <td>{r.rule || "–"}</td>
                    <td>{from([...r.valueFrom, ...r.ruleFrom]) || "–"}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        );
        if (isOwn) return table;
        return (
          <>
            <p class="soft">Nothing of your own is set here: only built-in rules hold.</p>
            {table}
          </>
        );
      }}
    </Loaded>
  );
}

interface ViewProps {
  name: string;
  place: Placed;
  onClose: () => void;
}

/** The dialog of projects and departments. */
export default function ViewPolicy({ name, place, onClose }: ViewProps) {
  const [kind, setKind] = useState(KINDS[0].value);
  const isOwn = usePolicy(kind, place).data?.policy;
  return (
    <Dialog labelledby="policy-title" class="wide" onClose={onClose}>
      <h2 id="policy-title">Policy of {name}</h2>
      <p class="soft">What a submission is filled with, and what it must hold to.</p>
      <div class="kind-row">
        <Seg label="Kind" options={KINDS} value={kind} onChange={setKind} />
      </div>
      <EffectivePolicy kind={kind} place={place} />
      <div class="acts">
        {may("update", "policies") ? (
          <LinkButton
            icon="edit"
            href={`/policies?${isOwn ? "edit" : "new"}=${kind}/${scopeOf(place)}/${scopeIdOf(place)}`}
          >
            {isOwn ? "Edit its own" : "Set its own"}
          </LinkButton>
        ) : (
          <Button icon="edit" why={WORDS.noRight("update policies")}>
            Edit its own
          </Button>
        )}
        <Button onClick={onClose} autofocus>
          Close
        </Button>
      </div>
    </Dialog>
  );
}
