"""What the database keeps is bounded by size as well as by time; hours stay, and the file becomes smaller."""

import calendar
import collections
import contextlib
import json
import os
import re
import sqlite3
import subprocess
import threading
import time

import pytest
from servers import PRORATA, ROOT, Server

MIB = 1 << 20
DAY_MS = 86400000
HOUR_MS = 3600000
LONG = bool(os.environ.get("PRORATA_LONG"))
# As reviews measured them of a workload that was submitted, ran and was deleted.
EVENTS, PHASES, SAMPLES = 10, 6, 13


def connect(server):
    return sqlite3.connect(server.data / "prorata.db", isolation_level=None)


def number(database, sql):
    return database.execute(sql).fetchone()[0]


def columns(database, table, **changed):
    """The table's columns, and the expressions that make a row of a pattern's."""
    names = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
    return ", ".join(names), ", ".join(changed.get(name, name) for name in names)


def multiply(server, count, age_days, days=1.0):
    """Copies of a workload that the server itself made and deleted: `count` with their rows, deleted age_days ago and
    within so many days."""
    step = int(days * DAY_MS / count)
    with connect(server) as database:
        database.execute("PRAGMA cache_size=-262144")
        database.execute("BEGIN")
        now = number(database, "SELECT max(updated_ms) FROM workloads") - int(age_days * DAY_MS)
        pattern, pod = database.execute(
            "SELECT w.id, max(p.id) FROM workloads w JOIN pods p ON p.workload_id = w.id WHERE w.deleted_ms > 0 "
            "GROUP BY w.id"
        ).fetchone()
        first, first_pod = (
            number(database, "SELECT max(id) FROM workloads"),
            number(database, "SELECT max(id) FROM pods"),
        )
        uuid = (
            "lower(printf('%s-%s-%s-%s-%s', hex(randomblob(4)), hex(randomblob(2)), hex(randomblob(2)), "
            "hex(randomblob(2)), hex(randomblob(6))))"
        )
        # Shifts all times of a row so that the workload was deleted when its turn is.
        at = f"({now} + n * {step} - {number(database, f'SELECT deleted_ms FROM workloads WHERE id = {pattern}')})"

        def copy(table, where, repeat=1, **changed):
            times = {
                name: f"iif({name} > 0, {name} + {at}, 0)"
                for name in (
                    "created_ms",
                    "updated_ms",
                    "phase_updated_ms",
                    "k8s_phase_updated_ms",
                    "started_ms",
                    "ended_ms",
                    "completed_ms",
                    "deleted_ms",
                    "scheduled_ms",
                    "stopping_ms",
                    "time_ms",
                )
            }
            into, values = columns(database, table, **{**times, **changed})
            database.execute(
                f"WITH RECURSIVE i(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM i WHERE n < {count}),"
                f" again(k) AS (VALUES (1) UNION ALL SELECT k + 1 FROM again WHERE k < {repeat})"
                f" INSERT INTO {table} ({into}) SELECT {values} FROM i, again, (SELECT * FROM {table} WHERE "
                f"{where} LIMIT 1)"
            )

        copy("workloads", f"id = {pattern}", id=f"{first} + n", uuid=uuid, name="name || n")
        copy("pods", f"id = {pod}", id=f"{first_pod} + n", uuid=uuid, workload_id=f"{first} + n")
        copy(
            "allocations",
            f"pod_id = {pod}",
            id="NULL",
            pod_id=f"{first_pod} + n",
            workload_id=f"{first} + n",
            started_ms=f"{now} + n * {step} - n % 70 * {HOUR_MS}",
            ended_ms=f"{now} + n * {step}",
        )
        copy("events", f"workload_id = {pattern}", EVENTS, id="NULL", uuid=uuid, workload_id=f"{first} + n")
        copy("phase_history", f"workload_id = {pattern}", PHASES, id="NULL", workload_id=f"{first} + n")
        copy(
            "samples",
            f"scope = 'workload' AND scope_id = {pattern}",
            SAMPLES,
            scope_id=f"{first} + n",
            metric="metric || k",
        )
        database.execute("COMMIT")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()


def hours(database):
    """Milliseconds times thousandths of a GPU and of a core, and times MiB, by day, project, pool and person: counted
    here, apart from the server."""
    total = collections.Counter()
    for project, pool, person, gpu, cpu, memory, start, end in database.execute(
        "SELECT project_id, node_pool_id, person, gpu_milli, cpu_milli, memory_bytes, started_ms, ended_ms FROM "
        "allocations WHERE ended_ms > 0"
    ):
        while start < end:
            until = min(end, (start // DAY_MS + 1) * DAY_MS)
            key = start // DAY_MS * DAY_MS, project, pool, person
            for what, amount in (("gpu", gpu), ("cpu", cpu), ("memory", -(-memory // MIB))):
                total[key, what] += amount * (until - start)
            start = until
    for day, project, pool, person, *amounts in database.execute(
        "SELECT day_ms, project_id, node_pool_id, person, gpu_milli_ms, cpu_milli_ms, memory_mib_ms FROM usage_days"
    ):
        for what, amount in zip(("gpu", "cpu", "memory"), amounts, strict=True):
            total[(day, project, pool, person), what] += amount
    return +total


def size(server):
    return sum(path.stat().st_size for path in server.data.glob("prorata.db*") if not path.name.endswith("-shm"))


def metrics(server, token="admin"):
    lines = server.request("GET", "/metrics", token=token).body.decode().splitlines()
    return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in lines if not line.startswith("#")}


def sampled(server):
    with connect(server) as database:
        count = number(database, "SELECT count(DISTINCT scope_id) FROM samples WHERE scope = 'workload'")
    database.close()
    return count


def settled(server):
    found = metrics(server)
    return (
        found["prorata_retention_by_size"] == 0
        and found["prorata_database_free_bytes"] < 4 * MIB
        and found["prorata_database_bytes"] > 0
    )


@pytest.fixture
def filled(make_server):
    """fill(count, age_days, *arguments): a stopped server with one workload that runs and `count` that were deleted."""

    def fill(count, age_days, days=1.0):
        server = make_server("--quick-start")
        server.running = server.submit("runs", "team-a", 1)
        gone = server.submit(
            "gone",
            "team-b",
            1,
            spec={"compute": {"gpuDevicesRequest": 1, "cpuCoreRequest": 0.5, "cpuMemoryRequest": "100M"}},
        )
        for workload in (server.running, gone):
            server.wait_phase(workload, "Running")
        server.wait_for("a sample of each", lambda: sampled(server) == 2)
        server.delete(f"/api/v1/workloads/trainings/{gone}")
        server.wait_for(
            "the deletion",
            lambda: (
                server.get(f"/api/v1/workloads/{gone}").status == 404 or server.workload(gone)["phase"] == "Deleting"
            ),
        )
        last = server.submit("last", "team-b", 1)
        server.wait_phase(last, "Running")
        assert server.stop() == 0
        multiply(server, count, age_days, days)
        return server

    return fill


def restart(server, *arguments):
    server.arguments = ["--quick-start", *arguments]
    return server.start()


def check_kept(server):
    assert server.workload(server.running)["phase"] == "Running"
    with connect(server) as database:
        assert number(database, "SELECT count(*) FROM workloads WHERE deleted_ms = 0") == 2
        assert not database.execute("PRAGMA foreign_key_check").fetchall()
        assert (
            number(
                database,
                "SELECT count(*) FROM samples s WHERE scope = 'workload' AND NOT EXISTS (SELECT 1 FROM workloads "
                "WHERE id = s.scope_id)",
            )
            == 0
        )


@pytest.mark.parametrize("count, bound, most", [(1500, 6 * MIB, 8 * MIB)] + [(45000, 40 * MIB, 50_000_000)] * LONG)
def test_deleted_workloads_leave_no_more_than_the_bound(filled, count, bound, most):
    server = filled(count, age_days=2)
    with connect(server) as database:
        before = hours(database)
        into, values = columns(
            database, "sessions", id="NULL", uuid="hex(randomblob(16))", last_used_ms=f"last_used_ms - 10 * {DAY_MS}"
        )
        database.execute(f"INSERT INTO sessions ({into}) SELECT {values} FROM sessions LIMIT 1")
    database.close()
    assert size(server) > most and before
    restart(server, "--database-bytes", str(bound))
    answers = []

    def ask():
        while not stopping.is_set():
            answers.append(server.get("/api/v1/workloads").status)
            answers.append(server.post("/api/v1/service-accounts", {"name": f"account-{len(answers)}"}).status)

    stopping = threading.Event()
    asking = threading.Thread(target=ask)
    asking.start()
    try:
        # A fast machine is done before many are answered.
        server.wait_for("the bound", lambda: settled(server) and len(answers) > 10, 600 if LONG else 60)
    finally:
        stopping.set()
        asking.join()
    assert all(status < 300 for status in answers), answers
    found = metrics(server)
    assert found['prorata_retention_removed_total{kind="workloads",cause="size"}'] > 0
    assert found['prorata_retention_removed_total{kind="workloads",cause="age"}'] == 0
    assert found["prorata_database_bytes"] <= bound
    check_kept(server)
    server.wait_for("the log is short", lambda: size(server) <= most)
    events = server.get("/api/v1/events").json["events"]
    told = [event["reason"] for event in events if event["involvedObject"]["name"] == "database"]
    assert sorted(told) == ["BelowBound", "RemovedBySize"]
    assert [event["involvedObject"]["uid"] for event in events if event["involvedObject"]["name"] == "database"] == [
        server.cluster_id()
    ] * 2
    doctor = subprocess.run(
        [PRORATA, "doctor", "--backend", "simulated", "--database-bytes", str(bound), "--data", server.data],
        capture_output=True,
        text=True,
    )
    assert "size, not age, removed the oldest" in doctor.stdout, doctor
    server.stop()
    with connect(server) as database:
        after = hours(database)
        assert number(database, "SELECT count(*) FROM allocations") == count + 3, "35 days, whatever the bound says"
        assert number(database, "SELECT count(*) FROM sessions") == 1, "who uses his stays signed in"
    assert after == before | {key: value for key, value in after.items() if key not in before}


def told_hours(server, until_ms):
    """What `prorata hours` says of the days before, in the form of hours()."""
    day = time.strftime("%Y-%m-%d", time.gmtime(until_ms / 1000))
    done = subprocess.run(
        [PRORATA, "hours", "--json", "--to", day, "--data", server.data], capture_output=True, text=True, check=True
    )
    told = {}
    for row in json.loads(done.stdout):
        key = (
            calendar.timegm(time.strptime(row["day"], "%Y-%m-%d")) * 1000,
            row["projectId"],
            row["nodePoolId"],
            row["person"],
        )
        for what, name in (("gpu", "gpuMilliMs"), ("cpu", "cpuMilliMs"), ("memory", "memoryMibMs")):
            told[key, what] = row[name]
    return {key: value for key, value in told.items() if value}


def test_hours_stay_when_allocations_go(filled):
    server = filled(600, age_days=160, days=120)
    with connect(server) as database:
        now = number(database, "SELECT max(updated_ms) FROM workloads")
        before = {key: value for key, value in hours(database).items() if key[0][0] < now // DAY_MS * DAY_MS}
        old = number(
            database, f"SELECT count(*) FROM allocations WHERE ended_ms < {now} - 90 * {DAY_MS} AND ended_ms > 0"
        )
    database.close()
    assert before and told_hours(server, now) == before
    for kind in ("workloads", "allocations"):  # killed in the middle of each
        restart(server)
        server.wait_for(
            "some are gone",
            lambda: metrics(server)[f'prorata_retention_removed_total{{kind="{kind}",cause="age"}}'] > 0,
        )
        server.kill()
        assert told_hours(server, now) == before
    restart(server)
    server.wait_for("old allocations are gone", lambda: sum_is_done(server))
    check_kept(server)
    assert told_hours(server, now) == before
    server.stop()
    with connect(server) as database:
        assert number(database, "SELECT count(*) FROM usage_days") > 0
        assert 100 < number(database, "SELECT count(*) FROM allocations") <= 603 - old, "those of the last 90 days"
        assert number(database, "SELECT count(*) FROM workloads WHERE deleted_ms > 0") < 10, (
            "their workloads are long gone"
        )
        assert before.items() <= hours(database).items()
    assert told_hours(server, now) == before


def sum_is_done(server):
    with connect(server) as database:
        done = number(
            database,
            "SELECT NOT EXISTS (SELECT 1 FROM allocations WHERE ended_ms > 0 AND ended_ms < "
            f"unixepoch() * 1000 - 90 * {DAY_MS}) AND (SELECT count(*) FROM workloads WHERE deleted_ms > 0) < 10",
        )
    database.close()
    return done


def verify(server, *words):
    done = subprocess.run([PRORATA, "verify", *words, "--data", server.data], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def make_old(server):
    """The file as a release wrote it that could not shorten files, with free pages."""
    with connect(server) as database:
        database.execute("CREATE TABLE ballast(data BLOB) STRICT")
        database.executemany("INSERT INTO ballast VALUES (zeroblob(?))", [(MIB,)] * 20)
        database.execute("PRAGMA journal_mode=DELETE")
        database.execute("PRAGMA auto_vacuum=NONE")
        database.execute("VACUUM")
        database.execute("DROP TABLE ballast")
        assert number(database, "PRAGMA auto_vacuum") == 0
    database.close()
    assert size(server) > 20 * MIB


def shrinks(server):
    with connect(server) as database:
        return (
            number(database, "PRAGMA auto_vacuum") == 2
            and number(database, "PRAGMA integrity_check") == "ok"
            and size(server) < 4 * MIB
        )


def test_compact_gives_the_free_part_back(server):
    assert server.stop() == 0
    make_old(server)
    status, said = verify(server, "--compact")
    assert status == 0 and "KiB before" in said and shrinks(server), said
    server.start()
    status, said = verify(server, "--compact")
    assert status == 2 and f"held by another server, process {server.process.pid}" in said
    assert verify(server)[0] == 0


def test_a_file_of_an_older_release_is_rebuilt_by_a_start(server):
    submitted = server.submit("kept", "team-a", 0)
    assert server.stop() == 0
    make_old(server)
    server.start()
    assert server.workload(submitted)["name"] == "kept"
    assert server.stop() == 0 and shrinks(server)


@contextlib.contextmanager
def on_small_disk(server, folder, room):
    """A server on a copy of a stopped one's folder, on a disk of its own with so much room beside it."""
    disk = Server(folder / "disk", "--quick-start")
    disk.data.mkdir(parents=True)
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size(server) + room},mode=0700", "tmpfs", str(disk.data)], check=True
    )
    try:
        subprocess.run(["cp", "-a", f"{server.data}/.", disk.data], check=True)
        yield disk
        assert disk.stop() == 0
        with connect(disk) as database:
            assert number(database, "PRAGMA integrity_check") == "ok"
        database.close()
    finally:
        if disk.process and disk.process.poll() is None:
            disk.kill()
        subprocess.run(["umount", "-l", str(disk.data)], check=True)


NEEDS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small tmpfs needs root")


@NEEDS_ROOT
def test_without_room_nothing_is_rebuilt(server, folder):
    assert server.stop() == 0
    make_old(server)
    with connect(server) as database:  # in use, so that the room is not enough
        rows = [(f"ballast-{number}", MIB // 2) for number in range(18)]
        database.executemany("INSERT INTO meta VALUES (?, hex(zeroblob(?)))", rows)
    database.close()
    with on_small_disk(server, folder, 10 * MIB) as disk:
        status, said = verify(disk, "--compact")
        assert status == 1 and "make room for" in said
        disk.start()  # serves all the same
        assert disk.submit("a", "team-a", 0) and disk.stop() == 0
        with connect(disk) as database:
            assert number(database, "PRAGMA auto_vacuum") == 0
        database.close()


@NEEDS_ROOT
def test_a_disk_that_fills_up_meanwhile_does_no_harm(filled, folder):
    server = filled(1200, age_days=2)
    with connect(server) as database:
        before = hours(database)
    database.close()
    with on_small_disk(server, folder, 2 * MIB) as disk:  # less than the log of a removal takes
        restart(disk, "--database-bytes", str(4 * MIB), "--metrics-open")
        disk.wait_for("a refusal", lambda: metrics(disk, None)["prorata_database_failed_commits_total"] > 0)
        assert disk.request("GET", "/readyz", token=None).status == 503
        subprocess.run(["mount", "-o", "remount,size=200m", str(disk.data)], check=True)
        disk.wait_for("the bound", lambda: settled(disk), 60)
        disk.running = server.running
        check_kept(disk)
        with connect(disk) as database:
            found = hours(database)
        database.close()
        assert {key: found[key] for key in before} == before


def test_no_look_for_what_is_old_reads_a_table():
    """Every five seconds, and for each step: an index answers, in a file of any size."""
    with sqlite3.connect(":memory:") as database:
        for path in sorted((ROOT / "db/migrations").glob("*.sql")):
            database.executescript(path.read_text())
        source = (ROOT / "db/retention.c").read_text()
        statements = [
            "".join(re.findall(r'"([^"]*)"', text))
            for text in re.findall(r'(?:\[\] =|^    )((?:\s*\(?"[^"]*"\)?)+)[;,]', source, re.M)
        ]
        assert len([text for text in statements if re.match("SELECT|DELETE", text)]) > 15
        for text in statements:
            if not re.match("SELECT|DELETE", text):
                continue
            parameters = [1] * len(set(re.findall(r"\?\d", text)))
            plan = [row[3] for row in database.execute("EXPLAIN QUERY PLAN " + text, parameters)]
            assert plan and not [step for step in plan if step.startswith("SCAN") or "TEMP B-TREE" in step], (
                text,
                plan,
            )
