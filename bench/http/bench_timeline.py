"""What the timeline costs: 1,600 GPUs in 200 nodes, held for 30 days by 100,000 pods of 60 projects.

bench_timeline.py [NODES]: makes such a database and prints, for some periods and callers, the median ms of a request,
the bytes of its answer and how many blocks it has. Bounds of ours: 100 ms and 300 KB."""

import http.client
import json
import pathlib
import random
import shutil
import sqlite3
import statistics
import sys
import tempfile
import time

from bench_scopes import Server, department_id, make_caller

DAY_MS = 86_400_000
TRIES = 9
PROJECTS = 60


def make_projects(server):
    body = {"clusterId": server.cluster_id(), "parentId": department_id(server), "resources": []}
    return [
        int(server.post("/api/v1/org-unit/projects", {"name": f"project-{i}", **body}).json["id"])
        for i in range(PROJECTS)
    ]


def places(nodes, projects, department, pool, now):
    """Each node in turn: pods of 1, 2, 4 or 8 GPUs for an hour to two days, one after the other on the same devices."""
    generator = random.Random(7)
    for node in range(nodes):
        first = 0
        while first < 8:
            size = generator.choice([size for size in (1, 2, 2, 4, 8) if size <= 8 - first and first % size == 0])
            at = now - 31 * DAY_MS
            while at < now:
                lasts = int(generator.expovariate(1 / (6 * 3_600_000))) + 600_000
                end, project = at + lasts, generator.randrange(PROJECTS)
                reason = generator.choices(["Completed", "Error", "Preempted", "Suspended"], [80, 8, 8, 4])[0]
                held = json.dumps(list(range(first, first + size)), separators=(",", ":"))
                yield (
                    at, f"train-{generator.randrange(10**6)}", projects[project], f"project-{project}", department,
                    f"gpu-node-{node}", pool, held, size * 1000, 0 if end >= now else end, "" if end >= now else reason,
                )  # fmt: skip
                at = end + generator.randrange(1_800_000)
            first += size


def waiting(projects, department, pool, now):
    """In one project of ten somebody else waits each minute, in the others twice an hour."""
    units = [("nodepool", pool, 0, 1), *(("department", department, p, 1) for p in (0, pool))]
    units += [("project", id, p, 30 if i % 10 else 1) for i, id in enumerate(projects) for p in (0, pool)]
    for scope, id, of_pool, minutes in units:
        for i in range(0, 30 * 1440, minutes):
            yield scope, id, of_pool, now - i * 60_000, i // minutes % 7


def fill(data, nodes, projects, department):
    database = sqlite3.connect(data / "prorata.db")
    (pool,) = database.execute("SELECT id FROM node_pools WHERE deleted_ms = 0 ORDER BY id LIMIT 1").fetchone()
    now = int(time.time() * 1000)
    found = database.execute("SELECT * FROM nodes LIMIT 1")
    names = [column[0] for column in found.description]
    node = dict(zip(names, found.fetchone(), strict=True))
    for i in range(nodes):
        row = {**node, "id": 10_000 + i, "uuid": f"00000000-0000-4000-8000-{i:012}", "name": f"gpu-node-{i}"}
        row["gpu_count"] = 8
        database.execute(f"INSERT INTO nodes VALUES ({', '.join('?' * len(row))})", tuple(row.values()))
    rows = sorted(places(nodes, projects, department, pool, now))
    database.executemany(
        "INSERT INTO allocations (pod_id, workload_id, workload_name, project_id, project_name, department_id, person,"
        " node_name, node_pool_id, gpu_indices_json, gpu_milli, cpu_milli, memory_bytes, started_ms, ended_ms,"
        " end_reason) VALUES (?, ?, ?, ?, ?, ?, 'p', ?, ?, ?, ?, 1000, 1, ?, ?, ?)",
        [(10**7 + i, 10**7 + i, *row[1:9], row[0], *row[9:]) for i, row in enumerate(rows)],
    )
    (cluster,) = database.execute("SELECT min(id) FROM clusters").fetchone()
    database.executemany(
        "INSERT OR REPLACE INTO samples VALUES ('cluster', ?, 0, ?, ?, ?)",
        [
            (cluster, m, now - i * 60_000, i % 977)
            for i in range(30 * 1440)
            for m in ("ALLOCATED_GPU", "READY_GPU", "WAITING_WORKLOADS")
        ],
    )
    database.executemany(
        "INSERT OR REPLACE INTO samples VALUES (?, ?, ?, 'WAITING_WORKLOADS', ?, ?)",
        waiting(projects, department, pool, now),
    )
    database.commit()
    database.close()
    return len(rows)


def measure(server, callers):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    now = time.time()
    print(f"{'GET /api/v1/scheduler/timeline':<40}{'caller':>14}{'ms':>8}{'KB':>8}{'blocks':>8}{'part s':>9}")
    for name, days, extra in [
        ("30 days", 30, ""), ("7 days", 7, ""), ("1 day", 1, ""), ("1 hour", 1 / 24, ""),
        ("30 days, one node pool", 30, "&nodePool=default"),
        ("30 days, by pools", 30, "&by=pools"), ("30 days, by projects", 30, "&by=projects"),
        ("30 days, one node", 30, "&node=gpu-node-3"), ("1 day, one node", 1, "&node=gpu-node-3"),
    ]:  # fmt: skip
        start = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now - days * 86400))
        for caller, token in callers.items():
            times = []
            for _ in range(TRIES):
                begin = time.perf_counter()
                path = f"/api/v1/scheduler/timeline?width=1200&start={start}{extra}"
                connection.request("GET", path, headers={"Authorization": "Bearer " + token})
                answer = connection.getresponse()
                body = answer.read()
                times.append((time.perf_counter() - begin) * 1000)
                assert answer.status == 200, body
            seen = json.loads(body)
            print(
                f"{name:<40}{caller:>14}{statistics.median(times):>8.1f}{len(body) / 1000:>8.0f}"
                f"{len(seen['blocks']):>8}{seen['partSeconds']:>9.0f}",
                flush=True,
            )


def main(nodes):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="prorata-bench-"))
    server = Server(folder, "--quick-start").start()
    projects, department = make_projects(server), int(department_id(server))
    caller = make_caller(server, "of-project", ("Viewer", "project", str(projects[0])))[1]
    half = [("Viewer", "project", str(project)) for project in projects[: PROJECTS // 2]]
    of_half = make_caller(server, "of-half", *half)[1]
    server.stop()
    print(f"{fill(server.data, nodes, projects, department)} places in {nodes} nodes")
    server.start()
    measure(server, {"all": server.sign_in(), "project": caller, "half of them": of_half})
    server.stop()
    shutil.rmtree(folder)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
