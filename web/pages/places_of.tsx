// Where an asset or a policy may hold: the places that the account may choose, and the column that says it.
import { post } from "../api";
import { useData } from "../data";
import { type Placed, units } from "../parts/place_words";
import type { Column } from "../parts/table";
import { type Scope, scopesOf } from "../pictures/access";
import type { Body } from "../types";

const PERMITTED = "/api/v1/authorization/permitted-scopes";
type Permitted = Body<typeof PERMITTED, "post">;

/** The places where the account may make things of this resource type, widest first. */
export const usePlaces = (resourceType: string) =>
  useData(`places/${resourceType}`, async abort => {
    const question = { resourceType, action: "create" } as Permitted;
    const [known, permitted] = await Promise.all([units(abort), post(PERMITTED, question, { signal: abort })]);
    return scopesOf({ ...known, permitted: permitted.create });
  });

/** A chosen place as assets and policies say it: {scope, projectId}. */
export const metaOf = ({ scopeType, scopeId }: Scope) => ({
  scope: scopeType,
  ...(scopeType === "tenant" ? {} : { [`${scopeType}Id`]: scopeType === "project" ? Number(scopeId) : scopeId }),
});

/** The column of places. */
export const whereColumn = <R extends Placed>(where: (p: Placed) => string): Column<R> => ({
  id: "scope",
  label: "Where",
  sort: "scope",
  keep: true,
  cap: true,
  text: where,
  cell: r => <span class="brief">{where(r)}</span>,
});
