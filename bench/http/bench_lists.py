"""What a list of 50,000 workloads costs the server: ms of its CPU a request, and the median wall time, one at a time.

bench_lists.py [WORKLOADS]: makes a database with so many workloads in 50 projects, nine of ten finished and the others
suspended, and asks as the administrator and as the viewer of one project. Beside each stands our own bound. Below them
stand bare SQLite, which reads the same rows of the same file, and bare civetweb, which sends as many bytes."""

import http.client
import os
import pathlib
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

from bench_scopes import ROOT, Server, ask, copy, make_caller, make_projects, owners_of

sys.path[:0] = [str(ROOT / "tests")]
from document import OPERATIONS, resolve  # noqa: E402

TRIES = 20
TICK_MS = 1000 / os.sysconf("SC_CLK_TCK")


def sorts():
    parameters = map(resolve, OPERATIONS["get_workloads"][2]["parameters"])
    return next(p["schema"]["enum"] for p in parameters if p["name"] == "sortBy")


def rows(count):
    """(path, bound in ms)"""
    offsets = [count // 5, count // 2, count - 100]
    return [
        ("workloads?limit=50", 2),
        *((f"workloads?limit=50&offset={offset}", 2) for offset in offsets),
        ("workloads/count", 3),
        ("workloads?search=job-777", 10),
        ("workloads?search=nothing-like-it", 10),
        ("workloads/count?search=job-777", 10),
        ("workloads?filterBy=name==job-5", 3),
        ("workloads/telemetry?telemetryType=WORKLOADS_COUNT", 10),
        ("workloads/telemetry?telemetryType=GPU_ALLOCATION&groupBy=ProjectId", 10),
        *((f"workloads?limit=50&sortBy={name}&sortOrder={o}", 20) for name in sorts() for o in ("asc", "desc")),
    ]


def cpu_ms(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * TICK_MS


def resident_mib(pid):
    return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def suspend_some(data):
    with sqlite3.connect(data / "prorata.db") as database:
        database.execute(
            "UPDATE workloads SET desired_phase = 'Stopped', phase = 'Stopped' WHERE id % 10 = 0 AND id >= 1000000"
        )


def measure(server, callers, count):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    pid = server.process.pid
    print(f"{'GET /api/v1/, CPU ms (wall ms)':<72}{'bound':>6}" + "".join(f"{name:>18}" for name in callers))
    for path, bound in rows(count):
        told = []
        for token in callers.values():
            ask(connection, path, token)
            before = cpu_ms(pid)
            wall = statistics.median(ask(connection, path, token) for _ in range(TRIES))
            cpu = (cpu_ms(pid) - before) / TRIES
            told.append(f"{cpu:.1f} ({wall:.1f}){'!' if cpu > bound else ' '}")
        print(f"{path:<72}{bound:>6}" + "".join(f"{one:>18}" for one in told), flush=True)
    print(f"resident: {resident_mib(pid):.0f} MiB")


BARE_ROWS = {
    "page": "SELECT * FROM workloads WHERE deleted_ms = 0 ORDER BY created_ms DESC, id DESC LIMIT 51",
    "count": "SELECT count(*) FROM workloads WHERE deleted_ms = 0",
    "search of a name": "SELECT count(*) FROM workloads WHERE deleted_ms = 0 AND name LIKE '%job-777%'",
    "sort without an index of its own": "SELECT id FROM workloads WHERE deleted_ms = 0 ORDER BY category, id LIMIT 51",
}


def measure_bare_sqlite(data):
    database = sqlite3.connect(data / "prorata.db")
    for name, sql in BARE_ROWS.items():
        database.execute(sql).fetchall()
        before = time.process_time()
        for _ in range(TRIES):
            database.execute(sql).fetchall()
        print(f"{'bare SQLite: ' + name:<78}{(time.process_time() - before) * 1000 / TRIES:>12.1f}")
    database.close()


def measure_bare_civetweb(size):
    program = os.environ.get("PRORATA", ROOT / "build" / "prorata")
    bare = subprocess.Popen(
        [pathlib.Path(program).with_name("bench_bare_civetweb"), "18998", str(size)], stdin=subprocess.PIPE
    )
    time.sleep(0.5)
    connection = http.client.HTTPConnection("127.0.0.1", 18998, timeout=60)
    before = cpu_ms(bare.pid)
    for _ in range(1000):
        connection.request("GET", "/")
        connection.getresponse().read()
    print(f"{f'bare civetweb: the bytes of a page, {size}':<78}{(cpu_ms(bare.pid) - before) / 1000:>12.2f}")
    bare.communicate()


def page_bytes(server, token):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("GET", "/api/v1/workloads?limit=50", headers={"Authorization": f"Bearer {token}"})
    return len(connection.getresponse().read())


def main(count):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="prorata-bench-"))
    server = Server(folder, "--quick-start").start()
    projects = make_projects(server)
    caller = make_caller(server, "of-project", ("Viewer", "project", projects[0]))[1]
    seed = server.submit("seed", "p-0", 0, spec={"annotations": [{"name": "prorata.io/sim-duration", "value": "1s"}]})
    server.wait_phase(seed, "Completed")
    server.stop()
    copy(server.data, seed, owners_of(projects), count)
    suspend_some(server.data)
    server.start()
    measure(server, {"all": server.sign_in(), "project": caller}, count)
    size = page_bytes(server, server.sign_in())
    server.stop()
    measure_bare_sqlite(server.data)
    measure_bare_civetweb(size)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50_000)
