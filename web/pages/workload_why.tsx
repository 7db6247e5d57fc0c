// Why a workload is where it is: what is lacking and where, why nobody gives it, when it is expected, the project's bar with
// this request, what would start it, the numbers. The sentences are the scheduler's own.
import { useEffect, useRef } from "preact/hooks";
import { type ApiError, get } from "../api";
import { minute, now } from "../clock";
import { type Data, useData } from "../data";
import { NONE, clock, duration, gpus, iso, plural, since, time } from "../format";
import { Icon } from "../icons";
import { Because, Expected } from "../parts/because";
import { Button, LinkButton } from "../parts/button";
import { EventList } from "../parts/event_list";
import { Fixes } from "../parts/fixes";
import { type Fact, Facts } from "../parts/pane";
import { SoloBar } from "../parts/quota_bar";
import { Loaded, Loading } from "../parts/states";
import { factsIn } from "../pictures/happenings";
import { poolParts } from "../pictures/shares";
import { closed, hrefOfFix, isExpected } from "../pictures/what_if";
import { may } from "../session";
import type { Explanation, WhatIfAnswer, WhatIfFix, Workload, WorkloadExplanation } from "../types";
import { type Look, PHASES, WORDS } from "../words";
import { formOf } from "../workload_actions";

const WAITING = ["Pending", "Creating", "Resuming"];
const TRY_GAP_MS = 5000; // a trial plans many cycles

export function WorkloadWhy({ workload: w }: { workload: Workload }) {
  const why = useData(`why/${w.id}`, abort => get(`/api/v1/workloads/${w.id}/explanation`, {}, { signal: abort }), [
    "workload",
    "queue",
    "event",
  ]);
  const waits = WAITING.includes(w.phase);
  const trial = useData(waits ? `what-if/${w.id}` : null, abort =>
    get(`/api/v1/workloads/${w.id}/what-if`, {}, { signal: abort }),
  );
  useTriedAgain(trial, why.data?.updatedAt);
  return (
    <Loaded of={why} what="The explanation">
      {e => <Card workload={w} explanation={e} trial={waits ? trial : null} />}
    </Loaded>
  );
}

// Another explanation means another trial, in a storm of changes every few seconds.
function useTriedAgain(trial: Data<WhatIfAnswer>, version?: string | null) {
  const last = useRef({ version, at: Date.now() });
  useEffect(() => {
    if (version === undefined || version === last.current.version) return undefined;
    const first = last.current.version === undefined;
    const timer = setTimeout(
      () => {
        last.current = { version, at: Date.now() };
        if (!first) trial.reload();
      },
      first ? 0 : Math.max(0, last.current.at + TRY_GAP_MS - Date.now()),
    );
    return () => clearTimeout(timer);
  }, [version]);
}

const UNKNOWN: Look = { icon: "info", tone: "off" };

interface CardProps {
  workload: Workload;
  explanation: WorkloadExplanation;
  trial: Data<WhatIfAnswer> | null;
}
type Numbers = NonNullable<NonNullable<WorkloadExplanation["numbers"]>["project"]>;
type Giver = NonNullable<Explanation["reclaim"]>[number] & { nodePool?: string | null };

function Card({ workload: w, explanation: e, trial }: CardProps) {
  const { icon, tone } = PHASES[w.phase] ?? UNKNOWN;
  const { project, department, requestedGpus = w.workloadRequestedResources?.gpu?.request ?? 0 } = e.numbers ?? {};
  const waits = w.phase === "Pending";
  const findings = e.findings ?? e.nodePools ?? [];
  const givers = waits ? findings.flatMap(f => (f.reclaim ?? []).map(r => ({ ...r, nodePool: f.nodePool }))) : [];
  return (
    <>
      <section aria-label="Explanation">
        <Because icon={icon} tone={tone} one={closed(e.sentence)} two={closed(e.why)} />
        {waits && !trial?.loading && e.forecast && isExpected(e.forecast) && (
          <Expected
            forecast={
              trial?.data?.verdict === "Waits" && trial.data.forecast && trial.data.forecast.kind !== "never"
                ? trial.data.forecast
                : e.forecast
            }
          />
        )}
      </section>
      {project && !trial?.loading && (
        <section>
          <h3>
            {project.name} in {e.pool}
          </h3>
          <Bar w={w} project={project} requested={requestedGpus} waits={waits} />
        </section>
      )}
      {trial && <Trial workload={w} trial={trial} isSaid={e.forecast?.kind === "never"} />}
      {!trial?.loading && (
        <Rest
          w={w}
          e={e}
          project={project}
          department={department}
          requestedGpus={requestedGpus}
          waits={waits}
          findings={findings}
          givers={givers}
        />
      )}
    </>
  );
}

interface RestProps {
  w: Workload;
  e: WorkloadExplanation;
  project?: Numbers;
  department?: Numbers;
  requestedGpus: number;
  waits: boolean;
  findings: Explanation[];
  givers: Giver[];
}

// What the trial changes, and what stands below that, waits for it, so that nothing moves down.
function Rest({ w, e, project, department, requestedGpus, waits, findings, givers }: RestProps) {
  return (
    <>
      {givers.length > 0 && <Givers givers={givers} pool={e.pool} />}
      <section>
        <h3>The numbers</h3>
        <Facts
          rows={[
            project && [
              "Held / quota",
              `${gpus(project.allocated)} / ${project.quota === null ? "unlimited" : gpus(project.quota)}${project.fairShare !== undefined ? `, fair share ${gpus(project.fairShare)}` : ""}`,
            ],
            project && ["Non-preemptible", `${gpus(project.allocatedNonPreemptible)} of the quota`],
            project && ["Limit", project.limit === null ? "none" : gpus(project.limit)],
            department && [
              `Department ${department.name}`,
              `${gpus(department.allocated)} / ${department.quota === null ? "unlimited" : gpus(department.quota)}, fair share ${gpus(department.fairShare)}`,
            ],
            ["Asked for", askedFor(w, requestedGpus)],
            ...(waits ? findings.flatMap(f => foundIn(f, e.pool, findings)) : []),
            [
              waits ? "Waiting since" : "Since",
              w.phaseUpdatedAt ? (
                <span data-tip={iso(w.phaseUpdatedAt)}>
                  {time(w.phaseUpdatedAt, now())}, {duration(since(w.phaseUpdatedAt, minute.value || now()))}
                </span>
              ) : (
                NONE
              ),
            ],
          ]}
        />
      </section>
      {e.evidence && e.evidence.length > 0 && (
        <section>
          <h3>So far</h3>
          <EventList facts={factsIn(e.evidence.filter(o => o !== null))} />
        </section>
      )}
    </>
  );
}

// What was found in a pool: pods that have a place, why nodes don't take it; of another pool also the sentence.
function foundIn(f: Explanation, pool: string | null | undefined, all: Explanation[]): Fact[] {
  const where = all.some(o => o.nodePool !== f.nodePool) ? ` in ${f.nodePool}` : "";
  const rows: Fact[] = [];
  if (f.nodePool && f.nodePool !== pool && f.message) rows.push([`In ${f.nodePool}`, closed(f.message)]);
  if (f.progress && (f.progress.needed ?? 0) > 1)
    rows.push([
      `Placed${where}`,
      `${f.progress.placed} of ${plural(f.progress.needed, "pod")}${f.progress.subGroup ? ` of ${f.progress.subGroup}` : ""}`,
    ]);
  if (f.nodeReasons?.length) rows.push([`Nodes${where}`, f.nodeReasons.map(r => `${r.nodes}: ${r.reason}`).join("; ")]);
  return rows;
}

function askedFor(w: Workload, requested: number) {
  const pods = w.requestedPods?.number ?? 1;
  return pods > 1
    ? `${gpus(requested)} = ${pods} pods × ${gpus(requested / pods)}, ${(w.requestedPods?.min ?? pods) < pods ? `at least ${w.requestedPods?.min} pods` : "all or nothing"}`
    : gpus(requested);
}

interface BarProps {
  w: Workload;
  project: Numbers;
  requested: number;
  waits: boolean;
}

// The project's bar in that pool, this request hatched at its end.
function Bar({ w, project, requested, waits }: BarProps) {
  const never = Boolean(w.phaseReason);
  const quota = project.quota ?? Infinity,
    held = project.allocated ?? 0;
  const parts = poolParts({
    quota,
    held,
    firm: project.allocatedNonPreemptible,
    limit: project.limit,
    waiting: waits && !never ? requested : 0,
    refused: waits && never ? requested : 0,
  });
  const inside = Math.min(held, quota);
  const names: { from: number; to: number; text: string }[] = [];
  if (inside > 0) names.push({ from: 0, to: inside, text: `${gpus(inside)} held${held > inside ? " in quota" : ""}` });
  if (waits && requested > 0) {
    const from = parts.owed > 0 ? inside : (Number.isFinite(quota) ? quota : inside) + parts.over;
    names.push({ from, to: from + requested, text: `${gpus(requested)} asked by this one` });
  }
  return (
    <>
      <SoloBar parts={parts} project={w.projectId} name={project.name ?? ""} names={names} />
      {never && (
        <p class="hint bad">
          <Icon name="no" />
          {WORDS.never[w.phaseReason ?? ""] ?? "It can't start as asked."}
        </p>
      )}
    </>
  );
}

// isSaid: what is never is said above already.
function Trial({ workload: w, trial, isSaid }: { workload: Workload; trial: Data<WhatIfAnswer>; isSaid: boolean }) {
  if (trial.loading)
    return (
      <section>
        <h3>What would start it</h3>
        <Loading rows={2} height={44} />
      </section>
    );
  const error = trial.error as ApiError | null;
  if (!trial.data)
    return error && (error.status >= 500 || error.status === 0) ? (
      <section>
        <h3>What would start it</h3>
        <p class="soft none">
          {error.message}{" "}
          <Button small icon="refresh" onClick={trial.reload}>
            Try again
          </Button>
        </p>
      </section>
    ) : null;
  const { verdict, sentence, forecast, fixes = [], fixesLeftOut, verifiedAt } = trial.data;
  if (verdict !== "Waits" && !fixes.length)
    return (
      <section>
        <h3>
          Tried again <span class="muted">(by the scheduler at {clock(verifiedAt, true)})</span>
        </h3>
        <p class="soft none">{closed(sentence)}</p>
      </section>
    );
  return (
    <Fixes
      title="What would start it"
      fixes={fixes.slice(0, 4)}
      at={verifiedAt}
      act={fix => <CopyWith workload={w} fix={fix} />}
      ids={w}
      leftOut={fixesLeftOut}
      never={!isSaid && forecast?.kind === "never" ? forecast : undefined}
    />
  );
}

// The filled form of a copy with the change in it; the copy takes the place of the one that waits.
function CopyWith({ workload: w, fix }: { workload: Workload; fix: WhatIfFix }) {
  const href = hrefOfFix(fix, formOf(w), w.id);
  const why = !href ? WORDS.noForm : !may("create", "workloads") ? WORDS.noRight("create workloads") : "";
  const label = `Copy… with: ${fix.sentence}`;
  return why ? (
    <Button small why={why} label={label}>
      Copy…
    </Button>
  ) : (
    <LinkButton small href={href ?? ""} label={label}>
      Copy…
    </LinkButton>
  );
}

const SHOWN = 4;

// Whose GPUs could be asked for, and why they are not given.
function Givers({ givers, pool }: { givers: Giver[]; pool?: string | null }) {
  const row = (g: Giver) => (
    <li key={`${g.nodePool}${g.project}`}>
      <b class="strong">{g.project}</b>{" "}
      <span class="muted">
        {g.nodePool && g.nodePool !== pool ? `in ${g.nodePool}, ` : ""}holds {gpus(g.gpusHeld ?? g.held)}
        {(g.gpusReclaimable ?? g.reclaimable ?? 0) > 0 ? `, ${gpus(g.gpusReclaimable ?? g.reclaimable)} to take` : ""}
      </span>
      <p>
        {closed(g.sentence)}
        {g.protectedUntil && (
          <>
            {" "}
            <span data-tip={iso(g.protectedUntil)}>Protected until {time(g.protectedUntil, now())}.</span>
          </>
        )}
      </p>
    </li>
  );
  const rest = givers.slice(SHOWN);
  return (
    <section>
      <h3>Who could give, and why not</h3>
      <ul class="givers">{givers.slice(0, SHOWN).map(row)}</ul>
      {rest.length > 0 && (
        <details>
          <summary>{plural(rest.length, "more project")}</summary>
          <ul class="givers">{rest.map(row)}</ul>
        </details>
      )}
    </section>
  );
}
