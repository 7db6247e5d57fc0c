"""What-if over HTTP, as pages ask it on each keystroke: 1,000 nodes x 8 GPUs, 8,000 running pods in 50 projects."""

import os
import pathlib
import shutil
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from servers import Server  # noqa: E402

NODES, PROJECTS, PODS = int(os.environ.get("BENCH_NODES", "1000")), 50, 8
ROUNDS = 60


def make_cluster(folder):
    path = folder / "cluster.yaml"
    path.write_text(
        "nodes:\n"
        + "".join(f"- {{name: n{i:04}, gpus: 8, cpuCores: 128, memoryBytes: 1099511627776}}\n" for i in range(NODES))
    )
    return path


def fill(server, workloads):
    cluster = server.cluster_id()
    # Quota for all but a tenth of the GPUs; the last project has the rest, and asks last.
    share = NODES * 8 // PROJECTS
    pool = server.get("/api/v1/node-pools").json["nodepools"][0]
    for i in range(PROJECTS):
        body = {
            "name": f"p{i:02}",
            "clusterId": cluster,
            "resources": [
                {
                    "nodePool": {"id": pool["id"], "name": pool["name"]},
                    "gpu": {"deserved": share, "limit": None, "overQuotaWeight": 2},
                    "cpu": {"deserved": None, "limit": None, "overQuotaWeight": 1},
                    "memory": {"deserved": None, "limit": None, "overQuotaWeight": 1, "units": "MB"},
                }
            ],
        }
        answer = server.post("/api/v1/org-unit/projects", body)
        assert answer.status == 201, answer
    ids = [server.project_id(f"p{i:02}") for i in range(PROJECTS)]
    for i in range(workloads):
        body = {
            "name": f"w{i}",
            "projectId": ids[i % (PROJECTS - 1)],
            "clusterId": cluster,
            "spec": {"image": "ubuntu", "parallelism": PODS, "completions": PODS, "compute": {"gpuDevicesRequest": 1}},
        }
        assert server.post("/api/v1/workloads/trainings", body).status == 202

    def running():
        return server.get("/api/v1/workloads/count", filterBy="phase==Running").json["count"]

    server.wait_for("all pods", lambda: running() == workloads, seconds=120)
    return ids, cluster


def measure(server, name, project, cluster, gpus, pods=1, fixes=True):
    times, verdicts = [], set()
    for number in range(ROUNDS):
        body = {
            "type": "Distributed",
            "fixes": fixes,
            "workload": {
                "name": f"ask{number}",
                "projectId": project,
                "clusterId": cluster,
                "spec": {"image": "ubuntu", "numWorkers": pods, "compute": {"gpuDevicesRequest": gpus}},
            },
        }
        begin = time.monotonic()
        answer = server.post("/api/v1/scheduler/what-if", body)
        times.append((time.monotonic() - begin) * 1000)
        assert answer.status == 200, answer
        verdicts.add(answer.json["verdict"])
    times.sort()
    print(
        f"{name:<44} p50 {times[len(times) // 2]:7.1f} ms  p99 {times[-1]:7.1f} ms   "
        f"{'/'.join(sorted(verdicts))}, {answer.json['plans']} cycles, "
        f"{len(answer.json['fixes'])} fixes",
        flush=True,
    )


def main():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="prorata-bench-"))
    server = Server(folder, "--cluster", str(make_cluster(folder)), "--journal-bytes", "0").start()
    try:
        server.sign_in()
        ids, cluster = fill(server, NODES - 10)
        print(
            f"# what-if, {NODES} nodes x 8 GPUs, {(NODES - 10) * PODS} running pods, {PROJECTS} projects; over "
            f"HTTP, one after the other"
        )
        measure(server, "what-if: 8 GPUs, free", ids[0], cluster, 8)
        measure(server, "what-if: 16 pods x 8 GPUs, evicting", ids[-1], cluster, 8, 16)
        measure(server, "what-if: 9 GPUs, waits, with fixes", ids[0], cluster, 9)
        measure(server, "what-if: 80 pods x 8 GPUs, waits, no fixes", ids[0], cluster, 8, 80, fixes=False)
        measure(server, "what-if: 80 pods x 8 GPUs, waits, with fixes", ids[0], cluster, 8, 80)
        begin = time.monotonic()
        server.get("/api/v1/scheduler/fairshare")
        print(f"{'fair-share tree':<44} {(time.monotonic() - begin) * 1000:11.1f} ms")
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
