// The quick start with the projects that are there: one team borrows a GPU, the other takes it back. Pure.

const ofPool = (project, pool) => project.nodePools.find(p => p.name === pool);

// Two projects of the overview whose quotas make up a whole pool -> {says, cli(image)}; null where there are none.
export function quickStart(projects, nodePools) {
  for (const a of projects)
    for (const pool of a.nodePools.filter(p => p.quota >= 1)) {
      const total = nodePools.find(p => p.name === pool.name)?.gpus;
      const b = projects.find(
        p => p !== a && ofPool(p, pool.name)?.quota >= 2 && ofPool(p, pool.name).quota + pool.quota === total,
      );
      if (!b || !Number.isInteger(pool.quota)) continue;
      const mine = pool.quota,
        theirs = total - mine;
      const submit = (name, project, gpus) => image =>
        `prorata training submit ${name} -p ${project.name} -i ${image} -g ${gpus} --node-pools ${pool.name}`;
      const steps = [submit("a2", a, mine), submit("a1", a, 1), submit("b1", b, theirs - 1), submit("b2", b, 1)];
      return {
        says: `${a.name} runs a2 within its quota of ${mine} and borrows one GPU for a1. When ${b.name} asks for the last GPU of its ${theirs} with b2, a1 gives way.`,
        cli: image => steps.map(step => step(image)).join("\n"),
      };
    }
  return null;
}
