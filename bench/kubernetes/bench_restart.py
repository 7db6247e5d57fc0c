"""A server in a large Kubernetes cluster, printed with its set-up: how long after a restart it has the whole picture,
what it holds in memory, and what it spends while nothing happens. The cluster is build/fakekube on this machine.

    bench/kubernetes/bench_restart.py [--nodes N] [--pods N] [--rounds N]     the binary is $PRORATA, else build/prorata
"""

import argparse
import pathlib
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "bench/kubernetes")]
from bench_pods import cpu_seconds, resident_mib  # noqa: E402
from fake_kube import FakeKube  # noqa: E402
from servers import Server  # noqa: E402

IDLE_S = 20
FLAGS = ("--quick-start", "--log-level", "warn")


def has_whole_picture(server):
    lines = server.get("/metrics").body.decode().splitlines()
    up = [line.rsplit(" ", 1)[1] for line in lines if line.startswith("prorata_kubernetes_watch_up")]
    return bool(up) and all(float(value) == 1 for value in up)


def start(server):
    begin = time.monotonic()
    server.start()
    while not has_whole_picture(server):
        time.sleep(0.02)
    return time.monotonic() - begin


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=50000)
    parser.add_argument("--rounds", type=int, default=3)
    wish = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="prorata-bench-"))
    kube = FakeKube(folder, "--nodes", wish.nodes, "--gpus", 8, "--pods", wish.pods)
    server = Server(folder, "--backend", "kubernetes", "--kubeconfig", kube.kubeconfig, *FLAGS)
    print(f"# {wish.nodes} nodes of 8 GPUs and {wish.pods} pods of others, in the stand-in on this machine")
    try:
        print(f"first start: whole picture after {start(server):.1f} s", flush=True)
        for _ in range(wish.rounds):
            time.sleep(3)
            server.stop()
            seconds = start(server)
            print(f"restart: whole picture after {seconds:.1f} s, {resident_mib(server.process.pid)} MiB", flush=True)
        time.sleep(5)
        before = cpu_seconds(server.process.pid)
        time.sleep(IDLE_S)
        spent = (cpu_seconds(server.process.pid) - before) / IDLE_S
        print(f"while nothing happens: {100 * spent:.2f} % of a core, {resident_mib(server.process.pid)} MiB")
    finally:
        server.stop()
        kube.close()


if __name__ == "__main__":
    main()
