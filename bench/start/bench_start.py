"""How long a start takes on a filled database: from the process's start until /healthz and /readyz answer 200.

    bench/start/bench_start.py [--mib N] [--starts N]     the binary is $PRORATA, else build/prorata

The folder is filled by SQL with copies of what the server itself wrote: 45,000 workloads of which 40,000 have completed
and 5,000 are suspended, and, until the file is that large, events and deleted workloads."""

import argparse
import http.client
import json
import os
import pathlib
import re
import shutil
import sqlite3
import statistics
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PRORATA = os.environ.get("PRORATA", str(ROOT / "build" / "prorata"))
PASSWORD = "a password for the bench"
COMPLETED, SUSPENDED, STEP = 40000, 5000, 50000
UUID = (
    "lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-8' || "
    "substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))"
)


def serve(data, port=0):
    return subprocess.Popen(
        [
            PRORATA,
            "serve",
            "--data",
            data,
            "--listen",
            f"127.0.0.1:{port}",
            "--quick-start",
            "--log-level",
            "warn",
            "--database-bytes",
            "0",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=dict(os.environ, PRORATA_ADMIN_PASSWORD=PASSWORD),
    )


def ask(port, method, path, body=None, token=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"Content-Type": "application/json", **({"Authorization": "Bearer " + token} if token else {})}
    connection.request(method, path, json.dumps(body) if body else None, headers)
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    return answer.status, text


def write_one(data):
    """One workload that has completed, by the server itself. Returns the port, which is free afterwards."""
    process = serve(data)
    port = int(re.search(rb":(\d+)", process.stdout.readline()).group(1))
    token = json.loads(
        ask(
            port,
            "POST",
            "/api/v1/token",
            {"grantType": "password", "username": "admin@prorata.local", "password": PASSWORD},
        )[1]
    )["accessToken"]

    def read(path):
        return json.loads(ask(port, "GET", path, token=token)[1])

    project = next(p["id"] for p in read("/api/v1/org-unit/projects")["projects"] if p["name"] == "team-a")
    spec = {
        "image": "bench",
        "compute": {"gpuDevicesRequest": 1},
        "annotations": [{"name": "prorata.io/sim-duration", "value": "0.1s"}],
        "environmentVariables": [{"name": f"VARIABLE_{i}", "value": "x" * 60} for i in range(10)],
    }
    ask(
        port,
        "POST",
        "/api/v1/workloads/trainings",
        {"name": "one", "projectId": project, "clusterId": read("/api/v1/clusters")[0]["uuid"], "spec": spec},
        token,
    )
    while read("/api/v1/workloads")["workloads"][0]["phase"] != "Completed":
        time.sleep(0.05)
    process.terminate()
    process.wait()
    return port


class Filling:
    def __init__(self, path):
        self.database = sqlite3.connect(path, isolation_level=None)
        self.database.execute("PRAGMA synchronous=OFF")
        self.database.execute("PRAGMA cache_size=-262144")

    def copy(self, table, count, **expressions):
        """Copies of the table's first row; expressions may use i from 1 to count, and first, the highest id."""
        columns = [row[1] for row in self.database.execute(f"PRAGMA table_info({table})")]
        first = self.database.execute(f"SELECT max(id) FROM {table}").fetchone()[0]
        wanted = {"id": "first + i", **expressions}
        self.database.execute(
            f"WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < {count}) "
            f"INSERT INTO {table}({', '.join(columns)}) SELECT {', '.join(wanted.get(c, 't.' + c) for c in columns)} "
            f"FROM numbers, (SELECT * FROM {table} ORDER BY id LIMIT 1) AS t, (SELECT {first} AS first)"
        )
        return first

    def workloads(self, count, pod_deleted_ms="0", **more):
        name = "'w-' || (first + i)"
        first = self.copy("workloads", count, uuid=UUID, name=name, requested_name=name, **more)
        self.copy(
            "pods",
            count,
            uuid=UUID,
            workload_id=f"{first} + i",
            name=f"'w-' || ({first} + i) || '-0-0'",
            deleted_ms=pod_deleted_ms,
        )

    def mib(self):
        pages, size = (self.database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
        return pages * size >> 20


def fill(path, mib):
    filling = Filling(path)
    filling.workloads(COMPLETED)
    filling.workloads(SUSPENDED, phase="'Stopped'", desired_phase="'Stopped'")
    while filling.mib() < mib:
        filling.database.execute("BEGIN")
        filling.workloads(
            STEP // 10, pod_deleted_ms="t.completed_ms", deleted_ms="t.completed_ms", desired_phase="'Deleted'"
        )
        filling.copy("events", STEP, uuid=UUID)
        filling.database.execute("COMMIT")
    counts = {
        table: filling.database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        for table in ("workloads", "events")
    }
    filling.database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    size = filling.mib()
    filling.database.close()
    return size, counts


def drop_cache(path):
    """What the kernel keeps of the file goes; as if the machine had just come up."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def wait_for(port, path, began):
    while True:
        try:
            if ask(port, "GET", path)[0] == 200:
                return (time.monotonic() - began) * 1000
        except OSError:
            pass
        time.sleep(0.001)


def start(data, port):
    """(healthz, readyz) in milliseconds since the process's start, and the MiB that it read."""
    began = time.monotonic()
    process = serve(data, port)
    times = wait_for(port, "/healthz", began), wait_for(port, "/readyz", began)
    counts = dict(line.split(": ") for line in pathlib.Path(f"/proc/{process.pid}/io").read_text().splitlines())
    process.terminate()
    process.wait()
    return *times, int(counts["rchar"]) >> 20


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mib", type=int, default=500)
    parser.add_argument("--starts", type=int, default=5)
    parser.add_argument("--keep", action="store_true", help="the folder stays, and is named")
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="prorata-bench-")
    data = folder + "/data"
    try:
        port = write_one(data)
        size, counts = fill(data + "/prorata.db", options.mib)
        print(
            f"# start on a database of {size} MiB: {counts['workloads']} workloads, {counts['events']} events; "
            f"{options.starts} starts each"
        )
        for name, prepare in (("warm", lambda: None), ("file not in memory", lambda: drop_cache(data + "/prorata.db"))):
            rows = []
            for _ in range(options.starts):
                prepare()
                rows.append(start(data, port))
            healthz, readyz, read = ([row[i] for row in rows] for i in range(3))
            print(
                f"start, {name}: healthz {statistics.median(healthz):.0f} ms (max {max(healthz):.0f}), "
                f"readyz {statistics.median(readyz):.0f} ms (max {max(readyz):.0f}), read {max(read)} MiB"
            )
    finally:
        if options.keep:
            print(data)
        else:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
