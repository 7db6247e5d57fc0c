"""What an honest client sees while the server is attacked: latency and memory, each row with its set-up.

bench/attacks/bench_attacks.py [ROW ...]     slow readers sign-in exec start; the binary is $PRORATA, else build/prorata
"""

import contextlib
import os
import pathlib
import shutil
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/api")]
from servers import ADMIN, PASSWORD, Server  # noqa: E402
from slow_clients import KINDS, slow_clients  # noqa: E402
from test_access import make_caller  # noqa: E402
from test_heavy_readers import HEAVY, resident_mib, with_rows  # noqa: E402

SECONDS = int(os.environ.get("BENCH_SECONDS", "8"))


def show(name, value, setup):
    print(f"{name:<44} {value:<46} {setup}", flush=True)


def timed(act):
    begin = time.monotonic()
    act()
    return (time.monotonic() - begin) * 1000


def for_a_while(act):
    """How long each took, in ms, of those that began within the bench's seconds; eight at least."""
    until, times = time.monotonic() + SECONDS, []
    while time.monotonic() < until or len(times) < 8:
        times.append(timed(act))
        time.sleep(0.02)
    return sorted(times)


def show_times(name, times, setup, more=""):
    show(name, f"{len(times)} times, p50 {times[len(times) // 2]:.1f} ms  longest {times[-1]:.0f} ms{more}", setup)


def asks_little(server):
    def act():
        assert server.get("/api/v1/workloads", limit=1).status == 200

    return act


@contextlib.contextmanager
def served(*arguments):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="prorata-bench-"))
    server = Server(folder, "--quick-start", *arguments).start()
    try:
        server.sign_in()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def crowd(count, act):
    """So many threads that do it again and again while the block runs; each gets its number."""
    over = threading.Event()

    def go_on(number):
        while not over.is_set():
            act(number)

    with ThreadPoolExecutor(count) as pool:
        running = [pool.submit(go_on, number) for number in range(count)]
        try:
            yield
        finally:
            over.set()
        for one in running:
            one.result()


def slow():
    with served() as server:
        show_times(
            "a request, nobody else", for_a_while(asks_little(server)), "GET workloads?limit=1, a connection each time"
        )
        for kind in KINDS:
            with slow_clients(server.port, kind):
                times = for_a_while(asks_little(server))
            show_times(
                f"a request beside 600 slow clients: {kind}",
                times,
                "60 addresses, 256 threads; what is cut comes back after 0.2 s",
                f"  {resident_mib(server, 'VmRSS'):.0f} MiB",
            )


def readers():
    with served() as server:
        with_rows(server, 150, {f"V{i}": "v" * 3500 for i in range(256)})
        _, greedy = make_caller(server, "greedy", ("Viewer", "tenant", 1))
        server.sign_in()
        idle = resident_mib(server, "VmRSS")
        with crowd(40, lambda _: server.request("GET", "/api/v1/workloads?limit=500", token=greedy, timeout=120)):
            times = for_a_while(asks_little(server))
        show_times(
            "a request beside forty limit=500",
            times,
            f"150 workloads of 0.9 MB from before; {idle:.0f} MiB without them",
            f"  at most {resident_mib(server):.0f} MiB",
        )
    with served() as server:
        with_rows(server, 30_000)
        _, greedy = make_caller(server, "greedy", ("Viewer", "tenant", 1))
        with crowd(24, lambda _: server.request("GET", HEAVY, token=greedy, timeout=120)):
            show_times(
                "a request beside 24 heavy sorts",
                for_a_while(asks_little(server)),
                "30,000 workloads, one caller, a sort without an index",
            )
            show_times("a sign-in beside 24 heavy sorts", for_a_while(server.sign_in), "the same")


def sign_in():
    with served("--trusted-proxy", "127.0.0.1") as server:

        def try_it(address, username, password):
            return server.request(
                "POST",
                "/api/v1/token",
                {"grantType": "password", "username": username, "password": password},
                token=None,
                headers={"X-Forwarded-For": address},
                timeout=60,
            ).status

        def honest():
            assert try_it("10.3.0.1", ADMIN, PASSWORD) == 200

        show_times("a sign-in, nobody else", for_a_while(honest), "Argon2id, 2 passes, 64 MiB")
        with crowd(
            40, lambda number: try_it(f"10.1.{number}.1", ADMIN if number % 2 else "nobody@example.org", "guess")
        ):
            show_times(
                "a sign-in beside a flood", for_a_while(honest), "40 addresses guess at a known and an unknown account"
            )


def exec_():
    """Beside a pod that is full of sessions."""
    with served("--backend", "local", "--local-gpus", "2") as server:
        spec = {"command": "/bin/sh -c", "args": "'while true; do sleep 0.2; done'"}
        full, other = (server.submit(name, "team-a", spec=spec) for name in ("full", "other"))
        for workload in (full, other):
            server.wait_phase(workload, "Running")

        def run(workload, *command):
            return server.post(f"/api/v1/workloads/{workload}/exec", {"command": list(command)})

        def run_true():
            session = run(other, "true").json["sessionId"]
            assert server.get(f"/api/v1/workloads/{other}/exec/{session}").status == 200

        try:
            show_times("a command in a pod, to its end", for_a_while(run_true), "`true`, opened and read to its end")
            while run(full, "sleep", "1000").status == 201:
                pass
            with crowd(16, lambda _: run(full, "sleep", "1000")):
                show_times(
                    "the same, another pod being full", for_a_while(run_true), "16 clients ask the full pod for more"
                )
        finally:
            for workload in (full, other):
                server.delete(f"/api/v1/workloads/trainings/{workload}")
            server.wait_for("their ends", lambda: all(server.workload(w).get("deletedAt") for w in (full, other)))


def start():
    with served() as server:
        with_rows(server, 45_000)
        size = (server.data / "prorata.db").stat().st_size / 1e6
        server.stop()
        begin = time.monotonic()
        server.start(wait=False)
        for path in ("/healthz", "/readyz"):
            while True:
                with contextlib.suppress(OSError):
                    if server.request("GET", path, token=None).status == 200:
                        break
                time.sleep(0.0005)
            show(
                f"start to first good {path}",
                f"{(time.monotonic() - begin) * 1000:.0f} ms",
                f"45,000 workloads, {size:.0f} MB",
            )


ROWS = {"slow": slow, "readers": readers, "sign-in": sign_in, "exec": exec_, "start": start}


def main():
    print(f"# {os.cpu_count()} cores, the attackers on the same machine, {SECONDS} s a row")
    for name in sys.argv[1:] or ROWS:
        ROWS[name]()


if __name__ == "__main__":
    main()
