"""What a caller with a small scope pays beside 50,000 workloads of others: median ms of a request, one at a time.

bench_scopes.py [WORKLOADS]: makes a database with so many finished workloads in 50 projects, and asks as the viewer of
an empty project, of one of the 50, of their department and as the administrator."""

import http.client
import pathlib
import shutil
import sqlite3
import statistics
import sys
import tempfile
import time
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "api")]
from servers import Server  # noqa: E402
from test_access import department_id, make_caller  # noqa: E402

PROJECTS = 50
TRIES = 9
PATHS = [
    "workloads?limit=50",
    "workloads?limit=50&deleted=true",
    "workloads/count",
    "workloads?search=job-77",
    "workloads/count?search=job-77",
    "workloads?sortBy=priority",
    "workloads?filterBy=name==job-5",
    "workloads/telemetry?telemetryType=WORKLOADS_COUNT",
    "workloads/pods?limit=50",
    "workloads/pods/count",
    "events?limit=50",
    "scheduler/receipts",
    "overview",
    "overview/counts",
]


def make_projects(server):
    body = {"clusterId": server.cluster_id(), "parentId": department_id(server), "resources": []}
    names = [f"p-{i}" for i in range(PROJECTS)] + ["empty"]
    return [server.post("/api/v1/org-unit/projects", {"name": name, **body}).json["id"] for name in names]


def rows_of(database, table, where, value):
    found = database.execute(f"SELECT * FROM {table} WHERE {where} = ?", (value,))
    names = [column[0] for column in found.description]
    return [dict(zip(names, row, strict=True)) for row in found]


def insert(database, table, rows):
    marks = ", ".join("?" * len(rows[0]))
    database.executemany(f"INSERT INTO {table} VALUES ({marks})", [tuple(row.values()) for row in rows])


def owners_of(projects):
    return [{"project_id": int(id), "project_name": f"p-{i}"} for i, id in enumerate(projects[:PROJECTS])]


def copy(data, seed, owners, count):
    """The finished workload COUNT times, with its pod and its events, by turns with the columns of each owner."""
    database = sqlite3.connect(data / "prorata.db")
    workload = rows_of(database, "workloads", "uuid", seed)[0]
    pods = rows_of(database, "pods", "workload_id", workload["id"])
    events = rows_of(database, "events", "workload_id", workload["id"])
    tables = {"workloads": [], "pods": [], "events": []}
    for i in range(count):
        at = workload["created_ms"] - (count - i) * 1000
        own = {"id": 1_000_000 + i, "name": f"job-{i}", "requested_name": f"job-{i}", "created_ms": at}
        own |= owners[i % len(owners)]
        tables["workloads"].append({**workload, **own, "uuid": str(uuid.uuid4())})
        of = {"workload_id": own["id"]}
        for table, rows, time_column in (("pods", pods, "created_ms"), ("events", events, "time_ms")):
            for row in rows:
                new = {"id": 10_000_000 + len(tables[table]), "uuid": str(uuid.uuid4()), time_column: at}
                tables[table].append({**row, **of, **new})
    for table, rows in tables.items():
        insert(database, table, rows)
    database.commit()
    database.close()


def ask(connection, path, token):
    begin = time.perf_counter()
    connection.request("GET", "/api/v1/" + path, headers={"Authorization": "Bearer " + token})
    answer = connection.getresponse()
    answer.read()
    assert answer.status == 200, (path, answer.status)
    return (time.perf_counter() - begin) * 1000


def measure(server, callers):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    print(f"{'GET /api/v1/':<52}" + "".join(f"{name:>12}" for name in callers))
    for path in PATHS:
        times = [statistics.median(ask(connection, path, token) for _ in range(TRIES)) for token in callers.values()]
        print(f"{path:<52}" + "".join(f"{value:>12.1f}" for value in times), flush=True)


def main(count):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="prorata-bench-"))
    server = Server(folder, "--quick-start").start()
    projects = make_projects(server)
    callers = {
        "empty": make_caller(server, "of-empty", ("Viewer", "project", projects[-1]))[1],
        "project": make_caller(server, "of-project", ("Viewer", "project", projects[0]))[1],
        "department": make_caller(server, "of-department", ("Viewer", "department", department_id(server)))[1],
    }
    seed = server.submit("seed", "p-0", 0, spec={"annotations": [{"name": "prorata.io/sim-duration", "value": "1s"}]})
    server.wait_phase(seed, "Completed")
    server.stop()
    copy(server.data, seed, owners_of(projects), count)
    server.start()
    measure(server, {**callers, "all": server.sign_in()})
    server.stop()
    shutil.rmtree(folder)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50_000)
