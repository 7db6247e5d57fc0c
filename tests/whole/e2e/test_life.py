"""The process: starting, a second server, bad settings, stopping."""

import fcntl
import os
import re
import signal
import socket
import stat
import subprocess
import time
import urllib.error
import urllib.request

import pytest
from servers import PRORATA, Server


def run(*arguments, environment=None, timeout=20):
    return subprocess.run(
        [PRORATA, *arguments],
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**os.environ, **(environment or {})},
        stdin=subprocess.DEVNULL,
    )


BAD = [
    ("an unknown option", ["--frobnicate"], "--frobnicate"),
    ("no value", ["--data"], "--data"),
    ("a word that is no option", ["hello"], "hello"),
    ("a speed that is no number", ["--speed", "fast"], "--speed"),
    ("a speed of nothing", ["--speed", "0"], "--speed"),
    ("too many threads", ["--http-threads", "100000"], "--http-threads"),
    ("half a thread", ["--http-threads", "8.5"], "--http-threads"),
    ("an unknown backend", ["--backend", "cloud"], "--backend"),
    ("a kubeconfig that is not there", ["--backend", "kubernetes", "--kubeconfig", "/nonexistent"], "/nonexistent"),
    ("a log level that is none", ["--log-level", "loud"], "--log-level"),
    ("a log form that is none", ["--log-format", "xml"], "--log-format"),
    ("an address without a port", ["--listen", "127.0.0.1"], "127.0.0.1"),
    ("a port out of range", ["--listen", "127.0.0.1:99999"], "99999"),
    ("IPv6", ["--listen", "[::1]:0"], "::1"),
    ("a configuration file that is not there", ["--config", "/nonexistent.yaml"], "/nonexistent.yaml"),
    ("a cluster file that is not there", ["--cluster", "/nonexistent.yaml"], "/nonexistent.yaml"),
    ("a folder that cannot be made", ["--data", "/proc/prorata"], "/proc/prorata"),
    ("a file in the folder's place", ["--data", "/etc/passwd"], "/etc/passwd"),
]


@pytest.mark.parametrize("arguments, names", [b[1:] for b in BAD], ids=[b[0] for b in BAD])
def test_bad_settings_are_one_line_and_exit_2(folder, arguments, names):
    data = [] if "--data" in arguments else ["--data", str(folder / "data")]
    done = run("serve", "--listen", "127.0.0.1:0", *data, *arguments)
    assert done.returncode == 2, done
    assert done.stdout == "" and len(done.stderr.strip().splitlines()) == 1, done
    assert names in done.stderr


BAD_FILES = [
    ("an unknown key", "spede: 3\n", "spede"),
    ("a bad value", "\nspeed: fast\n", "speed: not a number"),
    ("nested settings", "listen:\n  a: b\n", "listen"),
    ("not YAML", "a: [b\n", ":"),
    ("an alias", "data: &a x\nlisten: *a\n", "alias"),
    ("a bare list", "- a\n", "mapping"),
]


@pytest.mark.parametrize("text, names", [b[1:] for b in BAD_FILES], ids=[b[0] for b in BAD_FILES])
def test_bad_configuration_files_name_the_line(folder, text, names):
    path = folder / "prorata.yaml"
    path.write_text(text)
    done = run("serve", "--data", str(folder / "data"), "--config", str(path))
    assert done.returncode == 2 and str(path) in done.stderr and names in done.stderr, done


def test_flag_over_environment_over_file(make_server, folder):
    path = folder / "prorata.yaml"
    path.write_text("log-format: json\nlog-level: debug\n")
    server = make_server("--config", str(path), "--log-level", "info", environment={"PRORATA_LOG_LEVEL": "error"})
    server.sign_in()  # each request is a line
    log = server.log.read_text()
    assert '"level":"info"' in log and '"level":"debug"' not in log


def test_the_folder_is_private_and_one_server_holds_it(make_server):
    server = make_server()
    assert stat.S_IMODE(os.stat(server.data).st_mode) == 0o700
    for path in server.data.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path
    done = run("serve", "--data", str(server.data), "--listen", "127.0.0.1:0")
    assert done.returncode == 2 and str(server.process.pid) in done.stderr, done


def test_a_second_server_stays_out_without_the_lock_file_too(make_server):
    server = make_server()
    (server.data / "lock").unlink()
    done = run("serve", "--data", str(server.data), "--listen", "127.0.0.1:0")
    assert done.returncode == 2 and "held by another server" in done.stderr, done


@pytest.mark.parametrize("left", [[], ["prorata.db-wal"]], ids=["nothing of it", "its log alone"])
def test_a_folder_without_its_database_is_no_new_folder(make_server, folder, left):
    server = make_server("--quick-start")
    server.submit("kept", "team-a")
    server.kill()
    aside = folder / "aside"
    aside.mkdir()
    for name in ("prorata.db", "prorata.db-wal", "prorata.db-shm"):
        if name not in left and (server.data / name).exists():
            (server.data / name).rename(aside / name)
    before = sorted(path.name for path in server.data.rglob("*"))
    done = run("serve", "--data", str(server.data), "--listen", "127.0.0.1:0")
    assert (
        done.returncode == 2
        and f"{server.data}: holds {', '.join([*left, 'keys', 'journal'])} and no prorata.db" in done.stderr
    ), done
    assert "no prorata.db" in run("doctor", "--data", str(server.data), "--listen", "127.0.0.1:0").stdout
    assert sorted(path.name for path in server.data.rglob("*")) == before
    for path in aside.iterdir():
        path.rename(server.data / path.name)
    server.start()
    assert [workload["name"] for workload in server.get("/api/v1/workloads").json["workloads"]] == ["kept"]


def test_a_port_in_use_is_named(folder):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = run("serve", "--data", str(folder / "data"), "--listen", f"127.0.0.1:{port}")
    assert done.returncode == 2 and str(port) in done.stderr, done


def test_who_reads_the_log_holds_up_nobody(folder):
    unread, end = os.pipe()
    fcntl.fcntl(unread, fcntl.F_SETPIPE_SZ, 4096)
    process = subprocess.Popen(
        [PRORATA, "serve", "--data", str(folder / "data"), "--listen", "127.0.0.1:0"], stderr=end, stdout=end
    )
    os.close(end)
    try:
        text = b""
        while not (found := re.search(rb"http://127\.0\.0\.1:(\d+)\s", text)):  # what comes after is not read
            more = os.read(unread, 256)
            assert more, text
            text += more
        port = int(found[1])
        deadline = time.monotonic() + 60
        answered = 0
        while answered < 300:  # a line each, more than the pipe takes
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/favicon.svg", timeout=10):
                    answered += 1
            except (urllib.error.URLError, ConnectionError):
                assert time.monotonic() < deadline and process.poll() is None, answered
                time.sleep(0.05)
        process.terminate()
        assert process.wait(timeout=60) == 0
    finally:
        process.kill()
        os.close(unread)


def test_sigterm_drains_within_five_seconds(make_server):
    server = make_server("--quick-start")
    workload = server.submit("kept", "team-a")
    server.wait_phase(workload, "Running")
    stream = socket.create_connection(("127.0.0.1", server.port))
    stream.sendall(
        f"GET /api/v1/events/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {server.token}\r\n\r\n".encode()
    )
    assert stream.recv(4096).startswith(b"HTTP/1.1 200")
    begin = time.monotonic()
    assert server.stop(60) == 0, "the stream has no end of its own"
    if os.environ.get("PRORATA_LONG"):  # a busy machine may stand still for as long
        assert time.monotonic() - begin < 5
    stream.close()
    server.start()
    assert server.workload(workload)["phase"] == "Running", "a simulated pod runs on"


def test_sigint_stops_too(make_server):
    server = make_server()
    server.process.send_signal(signal.SIGINT)
    assert server.process.wait(60) == 0


def test_the_random_password_is_shown_once(folder):
    server = Server(folder)
    del server.environment["PRORATA_ADMIN_PASSWORD"]
    server.start()
    try:
        found = re.search(r"admin@prorata\.local\s+(\S+)", server.log.read_text())
        assert found, server.tail()
        assert server.sign_in(password=found.group(1))
        server.stop()
        server.log.write_text("")
        server.start()
        assert found.group(1) not in server.log.read_text()
    finally:
        server.stop()


def test_demo_leaves_nothing_behind(folder):
    environment = {**os.environ, "TMPDIR": str(folder)}
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(
            [PRORATA, "demo", "--listen", "127.0.0.1:0"], stdout=log, stderr=log, env=environment
        )
    until = time.monotonic() + 60
    while b"http://127.0.0.1:" not in (folder / "log").read_bytes():
        assert time.monotonic() < until and process.poll() is None, (folder / "log").read_text()
        time.sleep(0.02)
    assert any(p.is_dir() for p in folder.iterdir())
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0
    assert [p.name for p in folder.iterdir()] == ["log"]


@pytest.mark.parametrize(
    "arguments", [["--help"], ["serve", "--help"], ["demo", "--help"], ["simulate", "--help"], ["version"]]
)
def test_help_is_there(arguments):
    done = run(*arguments)
    assert done.returncode == 0 and done.stdout and not done.stderr, done


def test_health_ready_and_metrics(make_server):
    server = make_server("--quick-start")
    assert server.request("GET", "/healthz", token=None).status == 200
    assert server.request("GET", "/metrics", token=None).status == 401
    server.wait_phase(server.submit("m", "team-a"), "Running")
    metrics = server.get("/metrics")
    assert metrics.status == 200
    checked = subprocess.run(["promtool", "check", "metrics"], input=metrics.body, capture_output=True)
    complaints = checked.stderr.decode().splitlines()  # names and labels that Run:ai documents are not in its style
    assert checked.returncode in (0, 3) and all(line.startswith("runai_") for line in complaints), complaints
    for name in (
        b"prorata_http_requests_total",
        b"prorata_queue",
        b"prorata_database_commits_total",
        b"prorata_pending_workloads",
    ):
        assert name in metrics.body, name


def test_metrics_open(make_server):
    assert make_server("--metrics-open").request("GET", "/metrics", token=None).status == 200


def test_a_cluster_file_shapes_the_cluster(make_server, folder):
    path = folder / "cluster.yaml"
    path.write_text(
        "nodePools:\n- name: default\n- name: h100\nnodes:\n"
        "- {name: small, nodePool: default, gpus: 1, cpuCores: 8, memoryBytes: 34359738368}\n"
        "- {name: big, nodePool: h100, gpus: 8, count: 3, cpuCores: 64, memoryBytes: 549755813888, gpuType: H100, "
        "gpuMemoryMib: 81920}\n"
    )
    server = make_server("--cluster", str(path))
    nodes = server.get("/api/v1/nodes").json["nodes"]
    assert len(nodes) == 4 and sum(n["nodePool"] == "h100" for n in nodes) == 3, nodes
    path.write_text(path.read_text() + "- {name: late, nodePool: default, gpus: 2}\n")
    server.stop()
    server.start()
    assert len(server.get("/api/v1/nodes").json["nodes"]) == 5
