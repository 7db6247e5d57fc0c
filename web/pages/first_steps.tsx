// What to do with a cluster in which nothing was submitted yet: a project, a first workload, the quick start; each by form
// and by commands to copy.
import type { ComponentChildren } from "preact";
import { Icon } from "../icons";
import { LinkButton } from "../parts/button";
import { Code, shell } from "../parts/code";
import { quickStart } from "../pictures/quick_start";
import { may, session } from "../session";
import type { Overview, OverviewPool, OverviewProject } from "../types";

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

function FirstWorkload({ project, cluster, who }: Found & { project: OverviewProject }) {
  const body = {
    name: "first",
    projectId: project.id,
    clusterId: cluster,
    spec: { image: IMAGE, compute: { gpuDevicesRequest: 1 } },
  };
  return (
    <Step
      number="2"
      title="Submit a first workload"
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
        {project && maySubmit && <FirstWorkload {...found} project={project} />}
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
