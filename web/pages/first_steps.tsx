// What to do with a cluster in which nothing was submitted yet: a project, a first workload, the quick start; each by form
// and by commands to copy.
import type { ComponentChildren } from "preact";
import { get } from "../api";
import { useData } from "../data";
import { gpuCount, gpus } from "../format";
import { Icon } from "../icons";
import { LinkButton } from "../parts/button";
import { Code, shell } from "../parts/code";
import { Facts } from "../parts/pane";
import { Empty, Loaded } from "../parts/states";
import { quickStart } from "../pictures/quick_start";
import { sharesByPool, sumParts } from "../pictures/shares";
import { may, newWorkload, session } from "../session";
import type { Overview, OverviewPool, OverviewProject, Project } from "../types";
import { WORDS } from "../words";

const IMAGE = "runai.jfrog.io/demo/quickstart";

const connect = (who: string) =>
  `prorata config set --cp-url ${location.origin} && prorata login user -u ${shell(who)}`;

const signIn = (who: string) =>
  [
    `TOKEN=$(curl -s ${location.origin}/api/v1/token -H 'Content-Type: application/json' \\`,
    `  -d '{"grantType":"password","username":${JSON.stringify(who)},"password":"YOUR PASSWORD"}' | jq -r .accessToken)`,
  ].join("\n");

const post = (path: string, body: unknown) =>
  [
    `curl -s ${location.origin}${path} -H "Authorization: Bearer $TOKEN" \\`,
    `  -H 'Content-Type: application/json' -d ${shell(JSON.stringify(body))}`,
  ].join("\n");

interface StepProps {
  number: string;
  done?: boolean;
  title: string;
  action?: ComponentChildren;
  children: ComponentChildren;
}

function Step({ number, done, title, action, children }: StepProps) {
  return (
    <li class={done ? "done" : ""}>
      <span class="n" aria-hidden="true">
        {done ? <Icon name="check" tone="ok" /> : number}
      </span>
      <div>
        <div class="bar">
          <h3>{title}</h3>
          <span class="grow" />
          {action}
        </div>
        {children}
      </div>
    </li>
  );
}

interface Found {
  project?: OverviewProject;
  pool?: OverviewPool;
  cluster: string;
  who: string;
}

function FirstProject({ project, pool, cluster, who }: Found) {
  const mayCreate = may("create", "project");
  const example = pool && {
    name: "team-a",
    clusterId: cluster,
    resources: [{ nodePool: { id: pool.id, name: pool.name }, gpu: { deserved: Math.min(2, pool.gpus) } }],
  };
  return (
    <Step
      number="1"
      done={Boolean(project)}
      title={project ? `Project ${project.name} can submit` : "Add a project"}
      action={
        mayCreate && (
          <LinkButton small icon="plus" href="/projects/new">
            New project
          </LinkButton>
        )
      }
    >
      <p class="soft">A project is a team with a quota of GPUs. What one project leaves idle another may borrow.</p>
      {!project && example && mayCreate && (
        <Code
          title="The same by command"
          forms={{ curl: `${signIn(who)}\n${post("/api/v1/org-unit/projects", example)}` }}
        />
      )}
    </Step>
  );
}

interface First {
  number: string;
  title: string;
  project: { id: string; name: string };
  cluster: string;
  who: string;
}

function FirstWorkload({ number, title, project, cluster, who }: First) {
  const body = {
    name: "first",
    projectId: project.id,
    clusterId: cluster,
    spec: { image: IMAGE, compute: { gpuDevicesRequest: 1 } },
  };
  return (
    <Step
      number={number}
      title={title}
      action={
        <LinkButton small icon="plus" href={`/workloads/new/training?project=${project.id}`}>
          New training
        </LinkButton>
      }
    >
      <Code
        title="The same by command"
        forms={{
          cli: `${connect(who)}\nprorata training submit first -p ${shell(project.name)} -i ${IMAGE} -g 1`,
          curl: `${signIn(who)}\n${post("/api/v1/workloads/trainings", body)}`,
        }}
      />
    </Step>
  );
}

/** all: of GET /overview. */
export function FirstSteps({ all: { projects = [], nodePools = [], clusters } }: { all: Overview }) {
  const project = projects.find(p => p.nodePools.some(r => (r.quota ?? 0) > 0)) ?? projects[0];
  const pool = [...nodePools].sort((a, b) => b.gpus - a.gpus)[0];
  const found = { project, pool, cluster: clusters?.[0]?.id ?? "CLUSTER", who: session.value.who?.name ?? "" };
  const exercise = quickStart(projects, nodePools),
    maySubmit = may("create", "workloads");
  return (
    <section class="sheet wide" aria-labelledby="h-first">
      <header>
        <h2 id="h-first">Nothing runs here yet</h2>
        <p>Three steps to see GPUs shared</p>
      </header>
      <ol class="first-steps">
        {pool?.gpus === 0 && (
          <Step number="0" title="Let a machine join">
            <p class="soft">
              No node with GPUs is here. <code>prorata serve --backend local</code> shares the GPUs of its own machine;{" "}
              <code>--local-gpus 4</code> pretends some.
            </p>
          </Step>
        )}
        <FirstProject {...found} />
        {project && maySubmit && (
          <FirstWorkload {...found} number="2" title="Submit a first workload" project={project} />
        )}
        {exercise && maySubmit && (
          <Step number="3" title="See a quota at work">
            <p class="soft">{exercise.says}</p>
            <Code title="The quick start" forms={{ cli: exercise.cli(IMAGE) }} />
          </Step>
        )}
      </ol>
    </section>
  );
}

const TEAMS = 20;

/** To a person who has no workload: the first one, and what their projects hold. */
export function FirstOwn() {
  const projects = useData("first/projects", abort =>
    get("/api/v1/org-unit/projects", { sortBy: "name", limit: TEAMS }, { signal: abort }).then(a => a.projects ?? []),
  );
  const list = projects.data ?? [],
    project = list.find(p => sumOf(p).quota > 0) ?? list[0];
  return (
    <section aria-labelledby="h-first">
      <div class="empty">
        <h2 id="h-first">You have run nothing yet</h2>
      </div>
      <Loaded of={projects} what="Your projects" rows={4}>
        {() =>
          project ? (
            <ol class="first-steps">
              {newWorkload() && (
                <FirstWorkload
                  number="1"
                  title={`New workload in ${project.name}`}
                  project={project}
                  cluster={project.clusterId}
                  who={session.value.who?.name ?? ""}
                />
              )}
              <Step number={newWorkload() ? "2" : "1"} title="What the team holds">
                <Facts rows={list.map(p => [p.name, shareLine(p)])} />
              </Step>
            </ol>
          ) : (
            <Empty>No project is open to you. {WORDS.askFor}</Empty>
          )
        }
      </Loaded>
    </section>
  );
}

const sumOf = (project: Project) => sumParts(Object.values(sharesByPool(project)));
function shareLine(project: Project) {
  const { held, quota, more, owed } = sumOf(project),
    waits = owed + more;
  const of = Number.isFinite(quota) ? `of ${gpuCount(quota)}` : "GPUs, quota unlimited";
  return `${gpus(held)} ${of} held${waits > 0 ? `, ${gpus(waits)} waiting` : ""}`;
}
