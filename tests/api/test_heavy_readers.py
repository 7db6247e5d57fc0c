"""One caller's heavy lists: they have a share of the readers and of the memory, and end after a while; others are not
held up."""

import contextlib
import json
import signal
import socket
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from test_access import make_caller

# Every row is looked at, eight times, and sorted.
HEAVY = "/api/v1/workloads?limit=50&sortBy=category&filterBy=" + ",".join(f"nodepool!@none-{i}" for i in range(8))


def with_rows(server, count, environment=None):
    """The folder of before: one completed workload so many times over, written where the server can't refuse it."""
    workload = server.submit("row", "team-a", gpus=1)
    server.wait_phase(workload, "Running")
    assert server.stop() == 0
    with sqlite3.connect(server.data / "prorata.db") as database:
        columns = [row[1] for row in database.execute("PRAGMA table_info(workloads)") if row[1] != "id"]
        (listing,) = database.execute("SELECT listing_json FROM workloads WHERE uuid = ?", (workload,)).fetchone()
        if environment:
            listing = listing.replace(
                '"environmentVariables":{}', '"environmentVariables":' + json.dumps(environment, separators=(",", ":"))
            )
        values = {column: column for column in columns}
        values |= {
            "uuid": "printf('00000000-0000-4000-8000-%012d', n)",
            "name": "'row-' || n",
            "phase": "'Completed'",
            "completed_ms": str(int(time.time() * 1000)),
        }
        values["listing_json"] = f"replace(?2, ?1, {values['uuid']})"
        database.execute(
            f"WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ?3)"
            f" INSERT INTO workloads ({', '.join(columns)}) SELECT {', '.join(values[c] for c in columns)}"
            f" FROM workloads, number WHERE uuid = ?1",
            (workload, listing, count),
        )
    server.port = None
    server.start()
    return workload


def test_heavy_lists_hold_up_nobody_else(server):
    with_rows(server, 30_000)
    _, greedy = make_caller(server, "greedy", ("Viewer", "tenant", 1))
    server.sign_in()
    assert server.request("GET", HEAVY, token=greedy).status == 200
    over = threading.Event()
    heavy = []  # the answers that were given

    def ask(_):
        while not over.is_set():
            answer = server.request("GET", HEAVY, token=greedy, timeout=120)
            assert answer.status in (200, 503) and (answer.status == 200 or answer.headers["Retry-After"]), answer
            if answer.status == 200:
                heavy.append(answer)
        return True

    with ThreadPoolExecutor(24) as pool:
        running = [pool.submit(ask, i) for i in range(24)]
        try:
            overtaken = []  # by how many heavy ones; in one queue with them, by all that came before
            for path in [*["/api/v1/session", "/api/v1/session", "/api/v1/workloads?limit=1"] * 5, None]:
                before = len(heavy)
                assert not path or server.request("GET", path).status == 200
                assert path or server.sign_in()
                overtaken.append(len(heavy) - before)
            assert not any(one.done() for one in running)
        finally:
            over.set()
        assert all(one.result() for one in running)
    assert max(overtaken) < 12, overtaken


def test_one_callers_waiting_requests_leave_threads_to_others(make_server):
    """Four are read at once; an eighth of the threads may wait for him, the rest of his requests is refused at once."""
    server = make_server("--quick-start", "--read-limit", "60", environment={"PRORATA_HTTP_THREADS": "32"})
    with_rows(server, 8_000)
    _, greedy = make_caller(server, "greedy", ("Viewer", "tenant", 1))
    request = f"GET {HEAVY} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {greedy}\r\nConnection: close\r\n\r\n".encode()
    with contextlib.ExitStack() as stack:
        asking = []
        server.process.send_signal(signal.SIGSTOP)  # until all have come
        try:
            for i in range(24):
                address = (f"127.0.0.{2 + i % 8}", 0)
                asking.append(socket.create_connection(("127.0.0.1", server.port), timeout=60, source_address=address))
                stack.enter_context(asking[-1]).sendall(request)
        finally:
            server.process.send_signal(signal.SIGCONT)
        statuses = [connection.recv(65536)[9:12] for connection in asking]
    assert set(statuses) == {b"200", b"503"} and 4 <= statuses.count(b"200") <= 16, statuses


def test_bodies_that_are_taken_in_are_bounded(server):
    """Four MiB of one caller's; whoever has none of them is let in."""
    _, greedy = make_caller(server, "greedy", ("L1 researcher", "tenant", 1))
    _, modest = make_caller(server, "modest", ("L1 researcher", "tenant", 1))

    def begin(stack, token, length):
        connection = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=60))
        connection.sendall(
            f"POST /api/v1/workloads/trainings HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
            f"Content-Type: application/json\r\n"
            f"Expect: 100-continue\r\nContent-Length: {length}\r\n\r\n".encode()
        )
        return connection.recv(65536)

    with contextlib.ExitStack() as stack:
        assert [begin(stack, greedy, 1 << 20)[9:12] for _ in range(4)] == [b"100"] * 4
        refused = begin(stack, greedy, 1000)
        assert refused[9:12] == b"503" and b"Retry-After:" in refused and b"4 MiB of yours" in refused
        assert begin(stack, modest, 1 << 20)[9:12] == b"100"


def test_who_is_not_known_sends_little(server):
    answer = server.request(
        "POST", "/api/v1/token", {"grantType": "password", "username": "x" * 20_000, "password": "x"}, token=None
    )
    assert answer.status == 413 and "without a token" in answer.json["message"], answer


def test_a_query_has_a_time_limit(make_server):
    server = make_server("--quick-start")
    with_rows(server, 20_000)
    assert server.stop() == 0
    server.arguments += ["--read-limit", "0.02"]
    server.start()
    answer = server.get(HEAVY)
    assert answer.status == 503 and "0.02 s" in answer.json["message"] and "read-limit" in answer.json["message"], (
        answer
    )
    assert answer.headers["Retry-After"]
    for path in ("/api/v1/workloads?limit=1", "/readyz"):  # a stall of 20 ms is over the limit too
        server.wait_for(path, lambda path=path: server.request("GET", path).status == 200)


def resident_mib(server, key="VmHWM"):
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith(key))


def test_large_rows_from_before_stay_out_of_memory(server):
    """150 workloads of 0.9 MB: forty clients that ask for all of them at once, and some that never read their
    answer."""
    with_rows(server, 150, {f"V{i}": "v" * 3500 for i in range(256)})
    _, greedy = make_caller(server, "greedy", ("Viewer", "tenant", 1))
    server.sign_in()
    page = server.get("/api/v1/workloads", limit=500)
    assert page.status == 200 and len(page.json["workloads"]) == 151 and len(page.body) < 2_000_000
    with ThreadPoolExecutor(40) as pool:
        running = [
            pool.submit(server.request, "GET", "/api/v1/workloads?limit=500", token=greedy, timeout=120)
            for _ in range(40)
        ]
        while not all(one.done() for one in running):
            assert server.get("/api/v1/workloads", limit=1).status == 200
        statuses = {one.result().status for one in running}
    assert 200 in statuses and statuses <= {200, 503}
    with open(f"/proc/{server.process.pid}/maps", encoding="utf-8") as maps:
        is_sanitized = "asan" in maps.read()
    assert is_sanitized or resident_mib(server) < 300


def test_a_page_that_grows_long_ends_early_and_goes_on(server):
    """What is free of bounds in a row is cut; what is not makes the page shorter."""
    with_rows(server, 100)
    assert server.stop() == 0
    with sqlite3.connect(server.data / "prorata.db") as database:
        database.execute("UPDATE workloads SET phase_message = ? WHERE phase = 'Completed'", ("m" * 500_000,))
    server.port = None
    server.start()
    seen, offset, pages = [], 0, 0
    while offset is not None:
        page = server.get("/api/v1/workloads", limit=500, offset=offset)
        assert page.status == 200 and len(page.body) < 10 << 20
        seen += [row["id"] for row in page.json["workloads"]]
        offset, pages = page.json.get("next"), pages + 1
    assert len(seen) == len(set(seen)) == 101 and pages == 6
