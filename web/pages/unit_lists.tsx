// What a project or department has inside it, and who has access to it: numbers in its table, each with the list behind it.
import { get, getAll } from "../api";
import { useData } from "../data";
import { NONE, gpus } from "../format";
import { Counted } from "../parts/counted";
import type { Tab } from "../parts/pane";
import { Empty, Loaded } from "../parts/states";
import { Status } from "../parts/status";
import type { Column } from "../parts/table";
import { may } from "../session";
import type { AccessRule, Project, Workload } from "../types";
import { scopeWords } from "../parts/place_words";
import { SUBJECTS, useNames } from "./subjects";
import { podsOf } from "./workload_pods";

const MOST = 2000;
const DAYS = 30; // of which GPU hours are counted

interface Unit extends Pick<Project, "id" | "name" | "clusterId" | "prorata"> {
  parentId?: string;
}
interface Which {
  /** Of the workloads, for the list; and as the page of workloads filters. */
  filter: string;
  list: string;
}
/** A unit, as access rules name it and the places above it: scope types and ids. */
interface Places {
  name: string;
  at: [scopeType: string, scopeId: string][];
}

export const placesAbove = (u: Unit): Places => ({
  name: u.name,
  at: [
    ["tenant", "1"],
    ["cluster", u.clusterId],
    ["department", u.parentId ?? u.id],
    ["project", u.parentId === undefined ? "" : u.id],
  ],
});

const number = (n: number | undefined) => (n === undefined ? NONE : String(n));

export const workloadsIn = <R extends Unit>(which: (row: R) => Which): Column<R> => ({
  id: "workloads",
  label: "Workloads",
  num: true,
  low: true,
  text: u => number(u.prorata?.workloads),
  cell: u => (
    <Counted text={number(u.prorata?.workloads)} count={u.prorata?.workloads ?? 0} title={`Workloads of ${u.name}`}>
      {() => <WorkloadsOf {...which(u)} full />}
    </Counted>
  ),
});

export const subjectsIn = <R extends Unit>(places: (row: R) => Places): Column<R> => ({
  id: "subjects",
  label: "Subjects",
  num: true,
  low: true,
  text: u => number(u.prorata?.subjects),
  cell: u => (
    <Counted text={number(u.prorata?.subjects)} count={u.prorata?.subjects ?? 0} title={`Access to ${u.name}`}>
      {() => <SubjectsOf {...places(u)} />}
    </Counted>
  ),
});

/** Who has access, in a pane; for those who may read rules. */
export const accessTab = (places: Places): Tab[] =>
  may("read", "access_rules")
    ? [
        {
          id: "access",
          label: "Access",
          view: () => (
            <div class="scroll" tabindex={0} role="region" aria-label="Who has access">
              <SubjectsOf {...places} />
            </div>
          ),
        },
      ]
    : [];

function SubjectsOf({ name, at }: Places) {
  const nameOf = useNames();
  const found = useData(
    `subjects/${at.join()}`,
    abort => {
      const filterBy = at.flatMap(([, id]) => (id ? `scopeId==${id}` : []));
      return getAll(
        "/api/v1/authorization/access-rules",
        "accessRules",
        { filterBy, sortBy: "subjectId" },
        { signal: abort, most: MOST },
      );
    },
    ["access"],
  );
  // One id may be of several kinds of places.
  const isHere = (r: AccessRule) => at.some(([type, id]) => type === r.scopeType && id === r.scopeId);
  return (
    <Loaded of={found} what="The access rules">
      {all =>
        all.some(isHere) ? (
          <table class="share">
            <thead>
              <tr>
                <th scope="col">Subject</th>
                <th scope="col">Type</th>
                <th scope="col">Role</th>
                <th scope="col">Scope</th>
              </tr>
            </thead>
            <tbody>
              {all.filter(isHere).map(r => (
                <tr key={r.id}>
                  <td>
                    <a class="plain" href={`/access/rules?open=${r.id}`}>
                      {nameOf(r)}
                    </a>
                  </td>
                  <td>{SUBJECTS[r.subjectType].word}</td>
                  <td>{r.roleName}</td>
                  <td>{scopeWords(r)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        ) : (
          <Empty>No rule that you may read gives access to {name}.</Empty>
        )
      }
    </Loaded>
  );
}

interface WorkloadsProps extends Which {
  /** As wide as the window: who, what and how many pods, too. */
  full?: boolean;
}

export function WorkloadsOf({ filter, list, full }: WorkloadsProps) {
  const found = useData(
    `of/${filter}`,
    abort =>
      get(
        "/api/v1/workloads",
        { filterBy: [filter], sortBy: "createdAt", sortOrder: "desc", limit: 50 },
        { signal: abort },
      ).then(a => a.workloads),
    ["workload"],
  );
  return (
    <Loaded of={found} what="Workloads">
      {rows =>
        rows.length ? (
          <>
            <WorkloadRows rows={rows} full={full} />
            <p class="small">
              <a href={`/workloads?f=${encodeURIComponent(list)}`}>All in the table</a>
            </p>
          </>
        ) : (
          <Empty>It has no workloads.</Empty>
        )
      }
    </Loaded>
  );
}

function WorkloadRows({ rows, full }: { rows: Workload[]; full?: boolean }) {
  return (
    <table class="share">
      <thead>
        <tr>
          <th scope="col">Workload</th>
          {full && <th scope="col">Type</th>}
          <th scope="col">Status</th>
          {full && <th scope="col">By</th>}
          {full && (
            <th scope="col" class="num">
              Pods
            </th>
          )}
          <th scope="col" class="num">
            GPUs
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(w => (
          <tr key={w.id}>
            <td>
              <a class="plain" href={`/workloads?open=${w.id}`}>
                {w.name}
              </a>
            </td>
            {full && <td>{w.type}</td>}
            <td>
              <Status phase={w.phase} />
            </td>
            {full && <td>{w.submittedBy ?? NONE}</td>}
            {full && <td class="num">{podsOf(w)}</td>}
            <td class="num">{gpus(w.allocatedResources?.gpu ?? 0)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const workloadsOf = (project: string, person: string) =>
  `/workloads?f=${encodeURIComponent(`projectName==${project},submittedBy==${person}`)}`;

/** Who of a project holds what, waits for what, and has used how much; who holds most first. */
export function PeopleOf({ project: { id, name } }: { project: Project }) {
  // It reads all of the period: not again with each change.
  const people = useData(`people/${id}`, abort =>
    get(`/api/v1/org-unit/projects/${id ?? ""}/people`, { days: DAYS }, { signal: abort }),
  );
  return (
    <Loaded of={people} what="The people">
      {({ people: all }) =>
        all.length ? (
          <table class="share">
            <thead>
              <tr>
                <th scope="col">Person</th>
                <th scope="col" class="num">
                  Holds
                </th>
                <th scope="col" class="num">
                  Waits for
                </th>
                <th scope="col" class="num">
                  {`GPU hours, ${DAYS} d`}
                </th>
              </tr>
            </thead>
            <tbody>
              {all.map(p => (
                <tr key={p.name}>
                  <td>
                    <a class="plain" href={workloadsOf(name, p.name)}>
                      {p.name}
                    </a>
                  </td>
                  <td class="num">{p.runningWorkloads ? gpus(p.allocatedGpus) : NONE}</td>
                  <td class="num">{p.pendingWorkloads ? gpus(p.pendingGpus) : NONE}</td>
                  <td class="num">{gpus(p.gpuHours)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        ) : (
          <Empty>{`Nobody has used ${name} in the last ${DAYS} days, and nobody waits.`}</Empty>
        )
      }
    </Loaded>
  );
}
