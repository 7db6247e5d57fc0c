// What a project and its people have used of their budgets of GPU hours, in the project's pane.
import { type ApiError, get } from "../api";
import { useData, useEachMinute, useWidth } from "../data";
import { count, gpus, plural } from "../format";
import { Because } from "../parts/because";
import { QuotaBar } from "../parts/quota_bar";
import { type ShareColumn, ShareTable } from "../parts/share_table";
import { Loaded } from "../parts/states";
import { budgetInWords, budgetParts, budgetPeople } from "../pictures/budget";
import { axisOf } from "../pictures/quota_bar";
import { may } from "../session";
import type { Project, ProjectBudget } from "../types";

type Person = ReturnType<typeof budgetPeople>["people"][number];

/** Nothing where the project has no budget, or who looks may not know. */
export function BudgetOf({ project: { id, effective } }: { project: Project }) {
  const { gpuHourBudget, gpuHourBudgetPerPerson } = effective?.schedulingRules ?? {};
  const isAsked = may("read", "workloads") && [gpuHourBudget, gpuHourBudgetPerPerson].some(Number.isFinite);
  const found = useData(
    isAsked ? `budget/${id}` : null,
    abort => get(`/api/v1/org-unit/projects/${id ?? ""}/budget`, {}, { signal: abort }),
    ["project"],
  );
  useEachMinute(found, isAsked);
  const { data: b, error } = found;
  if (!isAsked || (b && b.gpuHours === null && b.gpuHoursPerPerson === null)) return null;
  if (!b && [403, 404].includes((error as ApiError | null)?.status ?? 0)) return null;
  return (
    <section>
      <h3>Budget</h3>
      <Loaded of={found} what="The budget">
        {budget => <Used budget={budget} project={id} />}
      </Loaded>
    </section>
  );
}

function Used({ budget: b, project }: { budget: ProjectBudget; project: string | null }) {
  const { one, two, isOver } = budgetInWords(b),
    { people, more } = budgetPeople(b);
  return (
    <>
      <Because icon={isOver ? "wait" : "check"} tone={isOver ? "warn" : "ok"} one={one} two={two} />
      {b.gpuHours !== null && <Bar budget={b} project={project} say={one} />}
      {people.length > 0 && (
        <ShareTable label="Who has used it" columns={columnsOf(b)} rows={people} keyOf={p => p.name} />
      )}
      {more > 0 && <p class="small">{`${plural(more, "person", "people")} more`}</p>}
    </>
  );
}

function Bar({ budget, project, say }: { budget: ProjectBudget; project: string | null; say: string }) {
  const [ref, width] = useWidth();
  const parts = budgetParts(budget);
  return (
    <div class="minibar">
      <span class="strong">GPU hours</span>
      <span class="num">{`${gpus(parts.held)} / ${count(parts.quota)}`}</span>
      <div ref={ref}>
        <QuotaBar
          parts={parts}
          width={width}
          scale={Math.max(0, width - 8) / axisOf([parts]).top}
          project={project}
          name="Budget"
          say={say}
        />
      </div>
    </div>
  );
}

const columnsOf = ({ gpuHoursPerPerson: each }: ProjectBudget): ShareColumn<Person>[] => [
  { head: "Person", cell: p => p.name },
  { head: "Holds", num: true, cell: p => gpus(p.allocatedGpus), has: p => p.allocatedGpus > 0 },
  { head: each === null ? "GPU hours" : `GPU hours of ${count(each)}`, num: true, cell: p => gpus(p.usedGpuHours) },
  { head: "Used up", cell: p => p.usedUp, has: p => p.usedUp !== "" },
];
