"""A gang that takes a whole Kubernetes cluster back from others, printed with its set-up: how long after the last of
them has ended its last pod is bound. The cluster is build/fakekube on this machine.

    bench/kubernetes/bench_reclaim.py [--nodes N] [--rounds N]     the binary is $PRORATA, else build/prorata
"""

import argparse
import pathlib
import sqlite3
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from fake_kube import FakeKube  # noqa: E402
from servers import Server  # noqa: E402

GPUS = 8
NODES = "SELECT count(*) FROM nodes"
BOUND = "SELECT count(*) FROM pods WHERE deleted_ms = 0 AND status IN ('Bound', 'Running') AND workload_id = {}"


def wait_until(database, query, wanted):
    while database.execute(query).fetchone()[0] != wanted:
        time.sleep(0.02)
    return time.time()


def id_of(database, workload):
    return database.execute("SELECT id FROM workloads WHERE uuid = ?", (workload,)).fetchone()[0]


def set_quota(server, project, gpus):
    pools = server.get("/api/v1/node-pools").json["nodepools"]
    entry = {"nodePool": {"id": pools[0]["id"], "name": pools[0]["name"]}, "gpu": {"deserved": gpus}}
    answer = server.request("PATCH", f"/api/v1/org-unit/projects/{server.project_id(project)}/resources", [entry])
    assert answer.status < 300, answer


def one_round(server, database, nodes):
    spec = {"parallelism": nodes, "completions": nodes}
    filler = server.submit("filler", "team-a", GPUS, spec=spec)
    wait_until(database, BOUND.format(id_of(database, filler)), nodes)
    begin = time.time()
    gang = server.submit("gang", "team-b", GPUS, kind="distributed", spec={"numWorkers": nodes})
    bound = wait_until(database, BOUND.format(id_of(database, gang)), nodes)
    ended = database.execute(
        "SELECT max(completed_ms) FROM pods WHERE workload_id = ?", (id_of(database, filler),)
    ).fetchone()[0]
    print(
        f"decided and {nodes} pods ended after {ended / 1000 - begin:.1f} s; all bound {bound - ended / 1000:.1f} s "
        "after the last of them",
        flush=True,
    )
    for workload, kind in ((gang, "distributed"), (filler, "trainings")):
        server.delete(f"/api/v1/workloads/{kind}/{workload}")
    wait_until(database, "SELECT count(*) FROM pods WHERE deleted_ms = 0", 0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=3)
    wish = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="prorata-bench-"))
    kube = FakeKube(folder, "--nodes", wish.nodes, "--gpus", GPUS)
    kube.settings(startMs=100, stopMs=1000)
    flags = ("--quick-start", "--log-level", "warn")
    server = Server(folder, "--backend", "kubernetes", "--kubeconfig", kube.kubeconfig, *flags)
    print(
        f"# a gang of {wish.nodes} pods of {GPUS} GPUs on as many nodes that another project borrows, in the stand-in"
    )
    try:
        server.start()
        database = sqlite3.connect(f"file:{server.data}/prorata.db?mode=ro", uri=True)
        wait_until(database, NODES, wish.nodes)
        set_quota(server, "team-a", 0)
        set_quota(server, "team-b", wish.nodes * GPUS)
        for _ in range(wish.rounds):
            one_round(server, database, wish.nodes)
    finally:
        server.stop()
        kube.close()


if __name__ == "__main__":
    main()
