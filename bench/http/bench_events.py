"""What a page of 200 events costs beside 1,000,000 of them, of which few are what the page asks for: ms of the server's
CPU a request, and the median wall time, one at a time.

bench_events.py [EVENTS]: events of pods that start and end, over and over, of 2,000 workloads in 50 projects; one in
ten thousand is what people asked for, an eviction or a failure. Asked by the administrator and by who administers the
department. Below stand the bytes of each index of events."""

import http.client
import pathlib
import shutil
import sqlite3
import statistics
import sys
import tempfile

from bench_lists import cpu_ms
from bench_scopes import Server, ask, copy, make_caller, make_projects, owners_of
from test_access import department_id

TRIES = 5
PATHS = [
    *(f"events?limit=200&kind={kind}" for kind in ("starts", "people", "evictions", "failures", "nodes")),
    "events?limit=200&type=Warning",
    "events?limit=200&type=Normal",
    "events?limit=200&search=job-7",
    "events?limit=200&search=nothing-like-it",
    "events?limit=200&kind=evictions&search=job-7",
]
FILL = """WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1),
words(place, type, reason, kind) AS (VALUES (0, 'Normal', 'Submitted', 'Workload'), (1, 'Warning', 'Preempted', 'Pod'),
  (2, 'Warning', 'BackOff', 'Pod'), (3, 'Normal', 'Pulled', 'Pod'), (4, 'Normal', 'Created', 'Pod'),
  (5, 'Normal', 'Started', 'Pod'))
INSERT INTO events (uuid, workload_id, time_ms, type, reason, message, source, object_kind, object_name, object_uuid)
SELECT printf('%08x-0000-4000-8000-%012x', i, i), 1000000 + i % 2000, (SELECT max(created_ms) FROM workloads) + i * 100,
  type, reason, printf('Pulled the container of job-%d-0-0 on node n-%d', i % 2000, i % 16), 'backend', kind,
  printf('job-%d-0-0', i % 2000), ''
FROM n CROSS JOIN words ON words.place = iif(i % 3333 = 0, i / 3333 % 3, 3 + i % 3)"""
SIZES = "SELECT name, sum(pgsize) FROM dbstat WHERE name LIKE 'events%' GROUP BY name"


def fill(data, count):
    with sqlite3.connect(data / "prorata.db") as database:
        database.execute(FILL, (count,))


def measure(server, callers):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    print(f"{'GET /api/v1/, CPU ms (wall ms)':<52}" + "".join(f"{name:>18}" for name in callers))
    for path in PATHS:
        told = []
        for token in callers.values():
            ask(connection, path, token)
            before = cpu_ms(server.process.pid)
            wall = statistics.median(ask(connection, path, token) for _ in range(TRIES))
            told.append(f"{(cpu_ms(server.process.pid) - before) / TRIES:.0f} ({wall:.1f})")
        print(f"{path:<52}" + "".join(f"{one:>18}" for one in told), flush=True)


def tell_sizes(data, count):
    database = sqlite3.connect(data / "prorata.db")
    try:
        sizes = database.execute(SIZES).fetchall()
    except sqlite3.OperationalError:  # a library without dbstat
        return
    for name, size in sizes:
        print(f"{name:<52}{size / count:>18.2f} bytes an event")


def main(count):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="prorata-bench-"))
    server = Server(folder, "--quick-start").start()
    projects = make_projects(server)
    above = make_caller(server, "of-department", ("Department administrator", "department", department_id(server)))[1]
    seed = server.submit("seed", "p-0", 0, spec={"annotations": [{"name": "prorata.io/sim-duration", "value": "1s"}]})
    server.wait_phase(seed, "Completed")
    server.stop()
    copy(server.data, seed, owners_of(projects), 2000)
    fill(server.data, count)
    server.start()
    measure(server, {"administrator": server.sign_in(), "of department": above})
    server.stop()
    tell_sizes(server.data, count)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
