"""Data folders that the dashboard's benchmark opens: labs.py large|timeline FOLDER [NODES PROJECTS WORKLOADS].

large: 2,000 nodes of 8 GPUs in 4 pools, 500 projects in 25 departments, 100,000 workloads: 5,000 that ask for more than
there is, so that some wait; the others have finished. timeline: 1,600 GPUs, held for 30 days by 100,000 pods."""

import concurrent.futures
import pathlib
import random
import sys
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "http")]
import bench_timeline  # noqa: E402
from bench_scopes import Server, copy, department_id  # noqa: E402

POOLS = ["h100", "a100", "l40s", "b200"]
OF_A_DEPARTMENT = 20
LIVE = 5000


def write_cluster(path, nodes):
    per_pool = nodes // len(POOLS)
    lines = ["nodePools:", "- {name: default}", *(f"- {{name: {pool}}}" for pool in POOLS), "nodes:"]
    for pool in POOLS:
        lines.append(
            f"- {{name: gpu-{pool}, nodePool: {pool}, count: {per_pool}, gpus: 8, gpuType: {pool.upper()},"
            " gpuMemoryMib: 81920, cpuCores: 128, memoryBytes: 1Ti}"
        )
    lines.append("- {name: cpu, count: 4, cpuCores: 64, memoryBytes: 256Gi}")
    path.write_text("\n".join(lines) + "\n")


class Caller:
    """Calls of several threads, each of which must succeed."""

    def __init__(self, server):
        self.server, self.pool = server, concurrent.futures.ThreadPoolExecutor(4)
        server.sign_in()

    def post(self, path, body):
        answer = self.server.post(path, body)
        assert answer.status < 300, answer
        return answer.json

    def all(self, path_and_bodies):
        return list(self.pool.map(lambda one: self.post(*one), path_and_bodies))


def make_units(caller, cluster, count, nodes):
    pools = {p["name"]: p["id"] for p in caller.server.get("/api/v1/node-pools").json["nodepools"]}
    share = nodes * 8 // len(POOLS)

    def resources(deserved):
        return [
            {"nodePool": {"id": pools[pool], "name": pool}, "gpu": {"deserved": deserved, "overQuotaWeight": 2}}
            for pool in POOLS
        ]

    groups = max(1, count // OF_A_DEPARTMENT)
    departments = caller.all(
        (
            "/api/v1/org-unit/departments",
            {"name": f"department-{i}", "clusterId": cluster, "resources": resources(share // groups)},
        )
        for i in range(groups)
    )
    return caller.all(
        (
            "/api/v1/org-unit/projects",
            {
                "name": f"team-{i}",
                "clusterId": cluster,
                "parentId": departments[i % groups]["id"],
                "resources": resources(share // count),
            },
        )
        for i in range(count)
    )


def submissions(cluster, projects, count, dice):
    for i in range(count):
        spec = {"image": "registry.lab.example/train:4.2", "nodePools": [POOLS[i % len(POOLS)]]}
        spec["compute"] = {"gpuDevicesRequest": dice.choice([1, 2, 4, 8]), "cpuCoreRequest": 2}
        body = {"name": f"run-{i}", "projectId": dice.choice(projects)["id"], "clusterId": cluster, "spec": spec}
        yield "/api/v1/workloads/trainings", body


def large(folder, nodes=2000, projects=500, workloads=100_000):
    write_cluster(folder / "cluster.yaml", nodes)
    server = Server(folder, "--cluster", str(folder / "cluster.yaml"), "--workloads-per-person", "0").start()
    caller, cluster, dice = Caller(server), server.cluster_id(), random.Random(11)
    units = make_units(caller, cluster, projects, nodes)
    done = {"annotations": [{"name": "prorata.io/sim-duration", "value": "1s"}]}
    seed = server.submit("seed", "team-0", 0, spec=done)
    server.wait_phase(seed, "Completed", seconds=300)
    caller.all(submissions(cluster, units, min(LIVE, workloads), dice))
    for _ in range(60):
        last = phases(server)
        if last.get("Running") and not last.keys() & {"Creating", "Initializing", "Terminating"}:
            break
        time.sleep(5)
    server.stop(120)
    owners = [
        {"project_id": int(u["id"]), "project_name": u["name"], "department_id": int(u["parentId"])}
        | {"department_name": u["parent"]["name"]}
        for u in units
    ]
    copy(server.data, seed, owners, workloads - LIVE)
    print(f"{nodes} nodes, {projects} projects, {workloads} workloads: {last}", file=sys.stderr)


def phases(server):
    return server.request("GET", "/api/v1/overview", timeout=120).json["phases"]


def timeline(folder, nodes=200):
    server = Server(folder, "--quick-start").start()
    projects, department = bench_timeline.make_projects(server), int(department_id(server))
    server.stop()
    count = bench_timeline.fill(server.data, nodes, projects, department)
    print(f"{count} places in {nodes} nodes", file=sys.stderr)


if __name__ == "__main__":
    path = pathlib.Path(sys.argv[2])
    path.mkdir(parents=True, exist_ok=True)
    {"large": large, "timeline": timeline}[sys.argv[1]](path, *map(int, sys.argv[3:]))
