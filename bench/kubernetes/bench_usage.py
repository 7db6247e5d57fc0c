"""What reading CPU and memory from metrics.k8s.io costs the server in a large cluster, printed with its set-up. The
cluster is build/fakekube on this machine; only the server's own time is counted.

    bench/kubernetes/bench_usage.py [--nodes N] [--pods N]     the binary is $PRORATA, else build/prorata
"""

import argparse
import datetime
import pathlib
import random
import sqlite3
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "bench/kubernetes")]
from bench_pods import BOUND, PER_WORKLOAD, cpu_seconds, resident_mib, wait_for  # noqa: E402
from fake_kube import FakeKube  # noqa: E402
from servers import Server  # noqa: E402

GROUP = "/apis/metrics.k8s.io/v1beta1"
WATCHED_S = 60
ROWS = "SELECT count(*) FROM samples WHERE metric IN ('CPU_USAGE_CORES', 'CPU_MEMORY_USAGE_BYTES')"


def watch(what, server, database):
    """Prints what the server spends in a minute, and the rows that it writes."""
    before, rows = cpu_seconds(server.process.pid), database.execute(ROWS).fetchone()[0]
    time.sleep(WATCHED_S)
    spent = 100 * (cpu_seconds(server.process.pid) - before) / WATCHED_S
    rows = database.execute(ROWS).fetchone()[0] - rows
    print(f"{what}: {spent:.2f} % of a core, {rows} rows a minute, {resident_mib(server.process.pid)} MiB", flush=True)


def usage():
    return {"cpu": f"{random.randrange(100, 8000)}m", "memory": f"{random.randrange(100, 64000)}Mi"}


def head(name, **more):
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {"metadata": {"name": name, **more}, "timestamp": now, "window": "15s"}


def measure_all(kube, nodes, pods):
    """New values of everything."""
    for name in nodes:
        path = f"{GROUP}/nodes"
        kube.ask("DELETE", f"{path}/{name}")
        kube.ask("POST", path, {"kind": "NodeMetrics", "usage": usage(), **head(name)})
    for pod in pods:
        meta = pod["metadata"]
        path = f"{GROUP}/namespaces/{meta['namespace']}/pods"
        kube.ask("DELETE", f"{path}/{meta['name']}")
        containers = [{"name": "main", "usage": usage()}]
        kube.ask(
            "POST", path, {"kind": "PodMetrics", "containers": containers, **head(meta["name"], labels=meta["labels"])}
        )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=10000)
    wish = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="prorata-bench-"))
    kube = FakeKube(folder, "--nodes", wish.nodes, "--gpus", 8)
    server = Server(
        folder, "--backend", "kubernetes", "--kubeconfig", kube.kubeconfig, "--quick-start", "--log-level", "warn"
    )
    print(f"# {wish.nodes} nodes and {wish.pods} running pods of the server's, in the stand-in on this machine")
    try:
        server.start()
        time.sleep(5)  # all nodes are known
        database = sqlite3.connect(f"file:{server.data}/prorata.db?mode=ro", uri=True)
        spec = {"parallelism": PER_WORKLOAD, "completions": PER_WORKLOAD}
        for i in range(wish.pods // PER_WORKLOAD):
            server.submit(f"w{i}", "team-a", 1, spec=spec)
        wait_for(database, BOUND, wish.pods)
        time.sleep(20)
        watch("nobody measures", server, database)
        names = [item["metadata"]["name"] for item in kube.ask("GET", "/api/v1/nodes").json["items"]]
        pods = kube.ask("GET", "/api/v1/pods?labelSelector=prorata.io/instance").json["items"]
        begin = time.monotonic()
        measure_all(kube, names, pods)
        print(f"# new values for all took the stand-in {time.monotonic() - begin:.0f} s", flush=True)
        watch("the first values are told", server, database)
        time.sleep(60)
        watch("values stay", server, database)
        measure_all(kube, names, pods)
        watch("every value has changed once", server, database)
    finally:
        server.stop()
        kube.close()


if __name__ == "__main__":
    main()
