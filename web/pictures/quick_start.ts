import type { OverviewPool, OverviewProject } from "../types";

// The quick start with the projects that are there: one team borrows a GPU, the other takes it back. Pure.

const ofPool = (project: OverviewProject, pool: string) => project.nodePools.find(p => p.name === pool);

// Two projects of the overview whose quotas make up a whole pool -> {says, cli(image)}; null where there are none.
export function quickStart(projects: OverviewProject[], nodePools: Pick<OverviewPool, "name" | "gpus">[]) {
  const quotaIn = (project: OverviewProject, pool: string) => ofPool(project, pool)?.quota ?? 0;
  for (const a of projects)
    for (const pool of a.nodePools) {
      const total = nodePools.find(p => p.name === pool.name)?.gpus ?? 0,
        mine = pool.quota ?? 0,
        theirs = total - mine;
      const b = projects.find(p => p !== a && quotaIn(p, pool.name) >= 2 && quotaIn(p, pool.name) + mine === total);
      if (!b || mine < 1 || !Number.isInteger(mine)) continue;
      const submit = (name: string, project: OverviewProject, gpus: number) => (image: string) =>
        `prorata training submit ${name} -p ${project.name} -i ${image} -g ${gpus} --node-pools ${pool.name}`;
      const steps = [submit("a2", a, mine), submit("a1", a, 1), submit("b1", b, theirs - 1), submit("b2", b, 1)];
      return {
        says: `${a.name} runs a2 within its quota of ${mine} and borrows one GPU for a1. When ${b.name} asks for the last GPU of its ${theirs} with b2, a1 gives way.`,
        cli: (image: string) => steps.map(step => step(image)).join("\n"),
      };
    }
  return null;
}
