"""What a change of quotas leads to, over HTTP, as forms ask it while somebody types: 200 nodes x 8 GPUs in 4 pools, 60
projects in 7 departments, 1,500 workloads of which about a third wait."""

import concurrent.futures
import os
import pathlib
import random
import shutil
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from servers import Server  # noqa: E402

POOLS = {"h100": 80, "a100": 60, "l40s": 40, "b200": 20}
DEPARTMENTS, PROJECTS, WORKLOADS = 7, 60, 1500
ROUNDS = 20
PATH = "/api/v1/scheduler/what-if/quota"


def make_cluster(folder):
    path = folder / "cluster.yaml"
    pools = "".join(f"- {{name: {name}}}\n" for name in ["default", *POOLS])
    nodes = "".join(
        f"- {{name: {name}, nodePool: {name}, count: {count}, gpus: 8, cpuCores: 128, memoryBytes: 1Ti}}\n"
        for name, count in POOLS.items()
    )
    path.write_text(f"nodePools:\n{pools}nodes:\n{nodes}")
    return path


def workload(number, projects, cluster, dice):
    gang = dice.random() < 0.15
    spec = {
        "image": "x",
        "nodePools": [dice.choices(list(POOLS), POOLS.values())[0]],
        "compute": {"gpuDevicesRequest": dice.choice([4, 8]) if gang else dice.choice([1, 1, 1, 2, 2, 4])},
    }
    body = {"name": f"w{number:04}", "projectId": dice.choice(projects), "clusterId": cluster, "spec": spec}
    if not gang:
        return "trainings", body
    spec.update(distributedFramework="PyTorch", numWorkers=dice.randint(1, 4))
    return "distributed", {**body, "masterSpecSameAsWorker": True}


def fill(server, dice):
    """The ids of projects, and of node pools by name."""
    cluster = server.cluster_id()
    pools = {p["name"]: p["id"] for p in server.get("/api/v1/node-pools").json["nodepools"]}

    def make(kind, name, quotas, **more):
        resources = [{"nodePool": {"id": pools[p]}, "gpu": {"deserved": q}} for p, q in quotas.items()]
        answer = server.post(
            f"/api/v1/org-unit/{kind}", {"name": name, "clusterId": cluster, "resources": resources, **more}
        )
        assert answer.status == 201, answer
        return answer.json["id"]

    departments = [
        make("departments", f"d{i}", {p: n * 8 // DEPARTMENTS for p, n in POOLS.items()}) for i in range(DEPARTMENTS)
    ]
    projects = [
        make(
            "projects",
            f"p{i:02}",
            {p: n * 8 // PROJECTS for p, n in POOLS.items()},
            parentId=departments[i % DEPARTMENTS],
        )
        for i in range(PROJECTS)
    ]
    bodies = [workload(i, projects, cluster, dice) for i in range(WORKLOADS)]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda w: server.post(f"/api/v1/workloads/{w[0]}", w[1]), bodies))
    assert {a.status for a in answers} == {202}

    def is_at_rest():
        phases = {p: server.get("/api/v1/workloads/count", filterBy=f"phase=={p}").json["count"] for p in PHASES}
        return sum(phases.values()) == WORKLOADS and ask(server, projects[0], []).json["cycles"] == 1

    server.wait_for("rest", is_at_rest, seconds=300)
    return projects, pools


PHASES = ("Running", "Pending")


def ask(server, project, resources):
    answer = server.post(PATH, {"projects": [{"id": project, "resources": resources}]})
    assert answer.status == 200, answer
    return answer


def cpu_ms(server):
    fields = pathlib.Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def measure(server, name, projects, resources_of):
    times, cycles, losers, size, cut = [], 0, 0, 0, 0
    spent = cpu_ms(server)
    for number in range(ROUNDS):
        begin = time.monotonic()
        answer = ask(server, projects[number % PROJECTS], resources_of(number))
        times.append((time.monotonic() - begin) * 1000)
        cut += not answer.json["atRest"]
        cycles, size = max(cycles, answer.json["plans"]), max(size, len(answer.body))
        losers = max(losers, answer.json["totals"]["givesWay"])
    times.sort()
    spent = (cpu_ms(server) - spent) / ROUNDS
    print(
        f"{name:<44} p50 {times[len(times) // 2]:7.1f} ms  p99 {times[-1]:7.1f} ms   "
        f"{spent:5.0f} ms of a core, at most {cycles} cycles, {losers} give way, {size / 1000:.1f} KB"
        + (f", {cut} cut" if cut else ""),
        flush=True,
    )


def main():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="prorata-bench-"))
    server = Server(
        folder, "--cluster", str(make_cluster(folder)), "--journal-bytes", "0", "--workloads-per-person", "0"
    ).start()
    try:
        server.sign_in()
        projects, pools = fill(server, random.Random(4711))
        print(f"# what-if of quotas, 200 nodes x 8 GPUs, {PROJECTS} projects, {WORKLOADS} workloads; over HTTP")
        h100 = {"nodePool": {"id": pools["h100"]}}
        measure(server, "quota: nothing changes", projects, lambda n: [])
        measure(server, "quota: 40 GPUs more in h100", projects, lambda n: [{**h100, "gpu": {"deserved": 50}}])
        measure(server, "quota: none left in h100", projects, lambda n: [{**h100, "gpu": {"deserved": 0}}])
        measure(
            server,
            "quota: 30 GPUs more in every pool",
            projects,
            lambda n: [{"nodePool": {"id": i}, "gpu": {"deserved": 40}} for p, i in pools.items() if p in POOLS],
        )
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
