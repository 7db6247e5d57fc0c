// What to do with a cluster in which nothing was submitted yet: a project, a first workload, the quick start; each by form
// and by commands to copy.
import { Icon } from "../icons";
import { LinkButton } from "../parts/button";
import { Code, shell } from "../parts/code";
import { quickStart } from "../pictures/quick_start";
import { may, session } from "../session";

const IMAGE = "runai.jfrog.io/demo/quickstart";

const connect = who => `prorata config set --cp-url ${location.origin} && prorata login user -u ${shell(who)}`;

const signIn = who =>
  [
    `TOKEN=$(curl -s ${location.origin}/api/v1/token -H 'Content-Type: application/json' \\`,
    `  -d '{"grantType":"password","username":${JSON.stringify(who)},"password":"YOUR PASSWORD"}' | jq -r .accessToken)`,
  ].join("\n");

const post = (path, body) =>
  [
    `curl -s ${location.origin}${path} -H "Authorization: Bearer $TOKEN" \\`,
    `  -H 'Content-Type: application/json' -d ${shell(JSON.stringify(body))}`,
  ].join("\n");

function Step({ number, done, title, action, children }) {
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

// all: of GET /overview.
export function FirstSteps({ all: { projects = [], nodePools = [], clusters } }) {
  const who = session.value.who?.name ?? "",
    cluster = clusters?.[0]?.id ?? "CLUSTER";
  const project = projects.find(p => p.nodePools.some(r => r.quota > 0)) ?? projects[0];
  const pool = [...nodePools].sort((a, b) => b.gpus - a.gpus)[0];
  const exercise = quickStart(projects, nodePools);
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
        <Step
          number="1"
          done={project}
          title={project ? `Project ${project.name} can submit` : "Add a project"}
          action={
            may("create", "project") && (
              <LinkButton small icon="plus" href="/projects/new">
                New project
              </LinkButton>
            )
          }
        >
          <p class="soft">A project is a team with a quota of GPUs. What one project leaves idle another may borrow.</p>
          {!project && pool && may("create", "project") && (
            <Code
              title="The same by command"
              forms={{
                curl: `${signIn(who)}\n${post("/api/v1/org-unit/projects", { name: "team-a", clusterId: cluster, resources: [{ nodePool: { id: pool.id, name: pool.name }, gpu: { deserved: Math.min(2, pool.gpus) } }] })}`,
              }}
            />
          )}
        </Step>
        {project && may("create", "workloads") && (
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
                curl: `${signIn(who)}\n${post("/api/v1/workloads/trainings", { name: "first", projectId: project.id, clusterId: cluster, spec: { image: IMAGE, compute: { gpuDevicesRequest: 1 } } })}`,
              }}
            />
          </Step>
        )}
        {exercise && may("create", "workloads") && (
          <Step number="3" title="See a quota at work">
            <p class="soft">{exercise.says}</p>
            <Code title="The quick start" forms={{ cli: exercise.cli(IMAGE) }} />
          </Step>
        )}
      </ol>
    </section>
  );
}
