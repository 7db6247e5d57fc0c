// Beside the form: would it start now, where, and who could take it back, by the scheduler's own word; what it takes of the
// quota; what would start it instead; and the same without the mouse. Where the scheduler gave no answer no verdict stands:
// why, and the sums it would start from.
import { gpuCount, gpus } from "../format";
import { Icon, type IconName } from "../icons";
import { Because, Expected, NotAsked } from "../parts/because";
import { Button } from "../parts/button";
import { Code, curl } from "../parts/code";
import { Fixes } from "../parts/fixes";
import { Places } from "../parts/places";
import { SoloBar } from "../parts/quota_bar";
import { type Parts, poolParts, sharesByPool } from "../pictures/shares";
import { Loading } from "../parts/states";
import { standardPools } from "../pictures/choices";
import { type FormKind, type FormValues, KINDS, bodyOf, totalGpus } from "../pictures/submission";
import { commandOf } from "../pictures/submission_command";
import { closed, isExpected, valuesOfFix, verdictOf } from "../pictures/what_if";
import type { Project, WhatIfAnswer, WhatIfFix } from "../types";
import type { Facts } from "./new_workload";
import { Facts as FactList } from "../parts/pane";
import type { useWhatIf } from "./what_if";

// What the form asks for, held against what stands: {pool, before, pods, each, all, firm}.
export function requestOf(v: FormValues, kind: FormKind, project: Project | undefined, facts: Pick<Facts, "pools">) {
  const shares = project ? sharesByPool(project) : {};
  const order = v.pools.length ? v.pools : standardPools(project, facts.pools);
  const pool = order.find(name => shares[name]?.quota > 0 && shares[name].limit !== 0) ?? order[0] ?? "default";
  const before = project && (shares[pool] ?? poolParts({}));
  const firm =
    v.preemptibility === "non-preemptible" ||
    (!v.preemptibility && (v.priority ? ["high", "very-high"].includes(v.priority) : KINDS[kind].firm));
  return { pool, before, firm, ...totalGpus(v, kind) };
}

// A queue's numbers of an answer -> the parts of its bar.
type QueueNumbers = NonNullable<NonNullable<NonNullable<WhatIfAnswer["queue"]>["project"]>["before"]>;
const partsOf = (n: QueueNumbers) =>
  poolParts({
    quota: n.quota === null ? Infinity : n.quota,
    held: n.allocated,
    firm: n.allocatedNonPreemptible,
    limit: n.limit,
  });

interface Asked {
  v: FormValues;
  kind: FormKind;
  project?: Project;
  facts: Pick<Facts, "pools" | "templates" | "sources">;
  whatIf: ReturnType<typeof useWhatIf>;
}
type Fill = (values: Partial<FormValues>) => void;
interface PanelProps extends Asked {
  clusterId: string;
  fill: Fill;
}

// What the answer says of the queue, else the sums that the form knows.
function sumsOf({ v, kind, project, facts, whatIf: { answer } }: Asked) {
  const request = requestOf(v, kind, project, facts);
  const numbers = answer?.queue?.project?.before;
  return numbers
    ? { ...request, pool: answer?.queue?.nodePool ?? request.pool, before: partsOf(numbers), numbers }
    : { ...request, numbers };
}
type Sums = ReturnType<typeof sumsOf>;

export function SubmissionPanel(props: PanelProps) {
  const { v, kind, project, clusterId, whatIf, fill } = props,
    { answer, asking } = whatIf;
  const body = bodyOf(v, kind, clusterId),
    { templates, sources } = props.facts,
    cli = commandOf(v, kind, project?.name, id => [...templates, ...sources].find(t => t.meta.id === id)?.meta.name);
  const sums = sumsOf(props);
  const waits = asking && !answer;
  return (
    <aside class="sheet pane" aria-labelledby="h-if" aria-busy={waits ? "true" : undefined}>
      <header>
        <h2 id="h-if" tabindex={-1}>
          If you submit now
        </h2>
      </header>
      {waits ? (
        <Loading key="waits" rows={4} height={32} />
      ) : (
        <div class="body" key="said">
          {project && sums.before && <Outcome kind={kind} project={project} sums={sums} whatIf={whatIf} fill={fill} />}
          <Code
            forms={{
              cli,
              curl: curl("POST", KINDS[kind].path, body),
              json: JSON.stringify(body, null, 2),
            }}
          />
          {cli && (
            <p class="small muted what-if">
              With <code>--what-if</code> the command asks this very question and submits nothing.
            </p>
          )}
        </div>
      )}
    </aside>
  );
}

interface OutcomeProps {
  kind: FormKind;
  project: Project;
  sums: Sums;
  whatIf: Asked["whatIf"];
  fill: Fill;
}

function Outcome({ kind, project, sums, whatIf, fill }: OutcomeProps) {
  const { pool, all, firm } = sums,
    { answer, asking } = whatIf,
    before = sums.before!;
  return (
    <>
      <section class="verdict-box" aria-live="polite" aria-busy={asking ? "true" : undefined}>
        {answer ? <Verdicts answer={answer} /> : <NotAsked {...whatIf} />}
      </section>
      <section>
        <h3>
          {project.name} in {pool}
        </h3>
        <RequestBar before={before} all={all} firm={firm} project={project} waits={answer?.verdict === "Waits"} />
      </section>
      {answer && answer.nodes?.length > 0 && (
        <Places nodes={answer.nodes} displaced={answer.displaced} project={project.id} />
      )}
      {answer && (answer.verdict === "Waits" || answer.fixes?.length > 0) && (
        <Fixes
          title="Instead"
          fixes={answer.fixes?.slice(0, 3) ?? []}
          at={answer.verifiedAt}
          ids={{ projectId: project.id, departmentId: project.parentId }}
          leftOut={answer.fixesLeftOut}
          act={fix => <Apply fix={fix} values={valuesOfFix(fix, kind)} fill={fill} />}
        />
      )}
      <Numbers kind={kind} sums={sums} before={before} />
    </>
  );
}

function Numbers({ kind, sums, before }: { kind: FormKind; sums: Sums; before: Parts }) {
  const { pods, each, all, firm, numbers } = sums;
  const quota = Number.isFinite(before.quota) ? gpus(before.quota) : "unlimited";
  const gang = `${gpus(all)} = ${pods} pods × ${gpus(each)}${kind === "distributed" ? ", all or nothing" : ""}`;
  return (
    <section>
      <h3>The numbers</h3>
      <FactList
        rows={[
          ["Asked for", pods > 1 ? gang : gpuCount(all)],
          [
            "Held / quota",
            `${gpus(before.held)} / ${quota}${numbers ? `, fair share ${gpus(numbers.fairShare)}` : ""}`,
          ],
          ["Limit", before.limit === null ? "none" : gpus(before.limit)],
          [
            "Preemptible",
            firm ? "No: only within the quota, never interrupted" : "Yes: what is borrowed may be asked back",
          ],
        ]}
      />
    </section>
  );
}

// The verdict in one sentence; why nobody gives it, or who could take it back.
function Verdicts({ answer }: { answer: WhatIfAnswer }) {
  const { icon, tone } = verdictOf(answer);
  const two =
    answer.verdict === "Waits"
      ? answer.reason
      : answer.couldLoseTo && `Who could take it back: ${lower(answer.couldLoseTo)}`;
  return (
    <>
      <Because icon={icon} tone={tone} one={closed(answer.sentence)} two={closed(two)} />
      {answer.verdict === "Waits" && isExpected(answer.forecast) && answer.forecast && (
        <Expected forecast={answer.forecast} />
      )}
    </>
  );
}

const lower = (text: string) => (/^[A-Z][a-z]/.test(text) ? text[0].toLowerCase() + text.slice(1) : text);

interface ApplyProps {
  fix: WhatIfFix;
  values: Partial<FormValues> | null;
  fill: Fill;
}

function Apply({ fix, values, fill }: ApplyProps) {
  const apply = () => {
    if (values) fill(values);
    document.getElementById("h-if")?.focus({ preventScroll: true });
  };
  return (
    values && (
      <Button small onClick={apply} label={`Apply: ${fix.sentence}`}>
        Apply
      </Button>
    )
  );
}

// The verdict in the fewest words, where the panel is below: on a phone.
export function Verdict({ answer, asking }: Asked["whatIf"]) {
  if (answer || asking)
    return <Short {...(answer ? verdictOf(answer) : { icon: "half", tone: "off", short: "Asking…" })} />;
  return <Short icon="info" tone="off" short="Not asked" />;
}

const Short = ({ icon, tone, short }: { icon: IconName; tone: string; short: string }) => (
  <span key={short} class={`st verdict small ${tone}`}>
    <Icon name={icon} />
    {short}
  </span>
);

// How a request divides over what is left of the quota: {inside, over}.
export function divide(before: Parts, all: number, firm: boolean) {
  const used = firm ? before.firm : before.held;
  const inside = Math.min(all, Math.max(0, before.quota - used));
  return { inside, over: all - inside };
}

interface RequestProps {
  before: Parts;
  all: number;
  firm: boolean;
  project: Project;
}
function RequestBar({ before, all, firm, project, waits }: RequestProps & { waits: boolean }) {
  const { inside, over } = divide(before, all, firm);
  const parts = poolParts({ ...before, waiting: 0 });
  const shown = {
    ...parts,
    owed: Math.min(inside, Math.max(0, parts.quota - parts.held)),
    more: all - Math.min(inside, Math.max(0, parts.quota - parts.held)),
  };
  const names: { from: number; to: number; text: string }[] = [];
  if (parts.inQuota > 0) names.push({ from: 0, to: parts.inQuota, text: `${gpus(parts.held)} held` });
  if (shown.owed > 0)
    names.push({ from: parts.inQuota, to: parts.inQuota + shown.owed, text: `${gpus(shown.owed)} in quota` });
  const from = (Number.isFinite(parts.quota) ? parts.quota : parts.inQuota) + parts.over;
  if (shown.more > 0)
    names.push({
      from,
      to: from + shown.more,
      text: `${gpus(shown.more)} ${(firm && over > 0) || (before.limit !== null && before.held + all > before.limit) ? "too many" : waits ? "over quota" : "borrowed"}`,
    });
  return <SoloBar parts={shown} project={project.id} name={project.name} names={names} />;
}
