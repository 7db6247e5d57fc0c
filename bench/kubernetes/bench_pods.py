"""Pods created and bound in a Kubernetes cluster with a real API server, printed with its set-up: pods a second, and
what each process spends on one. kwok pretends the nodes; all runs on this machine.

    bench/kubernetes/bench_pods.py [--pods N] [--nodes N] [--rounds N]     the binary is $PRORATA, else build/prorata
"""

import argparse
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from servers import Server  # noqa: E402

CLUSTER = ROOT / "tests/kubernetes/cluster"
PER_WORKLOAD = 100
BOUND = "SELECT count(*) FROM pods WHERE deleted_ms = 0 AND status IN ('Bound', 'Running')"
LEFT = "SELECT count(*) FROM workloads WHERE deleted_ms = 0"


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mib(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) // 1024


def wait_for(database, query, wanted):
    while database.execute(query).fetchone()[0] != wanted:
        time.sleep(0.05)
    return time.monotonic()


def one_round(server, database, pids, pods, number):
    spec = {"parallelism": PER_WORKLOAD, "completions": PER_WORKLOAD}
    before = {name: cpu_seconds(pid) for name, pid in pids.items()}
    begin = time.monotonic()
    made = [server.submit(f"w{number}-{i}", "team-a", 1, spec=spec) for i in range(pods // PER_WORKLOAD)]
    seconds = wait_for(database, BOUND, pods) - begin
    spent = {name: (cpu_seconds(pid) - before[name]) * 1000 / pods for name, pid in pids.items()}
    for workload in made:
        server.delete(f"/api/v1/workloads/trainings/{workload}")
    wait_for(database, LEFT, 0)
    return pods / seconds, spent


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pods", type=int, default=4000)
    parser.add_argument("--nodes", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=3)
    wish = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="prorata-bench-"))
    cluster = folder / "cluster"
    subprocess.run(
        [CLUSTER, "up", "--folder", cluster, "--nodes", str(wish.nodes), "--gpus", "8"],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    server = Server(
        folder, "--backend", "kubernetes", "--kubeconfig", str(cluster / "kubeconfig"), "--quick-start",
        "--log-level", "warn",
    )  # fmt: skip
    try:
        server.start()
        time.sleep(3)  # all nodes are known
        database = sqlite3.connect(f"file:{server.data}/prorata.db?mode=ro", uri=True)
        pids = {name: int((cluster / f"{name}.pid").read_text()) for name in ("kube-apiserver", "etcd", "kwok")}
        pids["prorata"] = server.process.pid
        print(
            f"# {wish.pods} pods of 1 GPU in workloads of {PER_WORKLOAD}, {wish.nodes} nodes of 8 GPUs; API server "
            f"1.37.1, etcd and kwok on these {os.cpu_count()} cores; from the first submission to the last binding"
        )
        for number in range(wish.rounds):  # kwok ends pods late, by their names: no two rounds share any
            rate, spent = one_round(server, database, pids, wish.pods, number)
            each = ", ".join(f"{name} {ms:.2f}" for name, ms in spent.items())
            print(f"{rate:7.0f} pods/s   CPU ms a pod: {each}", flush=True)
        each = ", ".join(f"{name} {resident_mib(pid)}" for name, pid in pids.items())
        print(f"# resident MiB at the end: {each}")
    finally:
        server.stop()
        subprocess.run([CLUSTER, "down", "--folder", cluster], check=False)


if __name__ == "__main__":
    main()
