"""A server on a free port and a small HTTP client; the command line against it; the service manager's end.

The binary is $PRORATA (default build/prorata)."""

import atexit
import contextlib
import functools
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile
import time
import urllib.parse

from document import check_any_answer

ROOT = pathlib.Path(__file__).resolve().parent.parent


PRORATA = os.environ.get("PRORATA", str(ROOT / "build" / "prorata"))


ADMIN = "admin@prorata.local"


PASSWORD = "correct horse battery"


@functools.cache
def program_for_others():
    """The program where any user may start it: a checkout below /root is closed to others."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="prorata-program-"))
    atexit.register(shutil.rmtree, folder, True)
    folder.chmod(0o755)
    for name in ("prorata", "prorata-supervisor", "prorata-mpi-agent"):
        shutil.copy(pathlib.Path(PRORATA).with_name(name), folder)
    return str(folder / "prorata")


def environment_here():
    """A copy, for any thread: pytest names the present test there, and takes the name away, on its own."""
    while True:
        with contextlib.suppress(KeyError, RuntimeError):
            return dict(os.environ)


def quick_passwords():
    """The environment of a server that hashes passwords at little cost; empty where the library is not built."""
    path = pathlib.Path(PRORATA).with_name("quick_passwords.so")
    options = [os.environ.get("ASAN_OPTIONS"), "verify_asan_link_order=0"]
    return {"LD_PRELOAD": str(path), "ASAN_OPTIONS": ":".join(filter(None, options))} if path.exists() else {}


def check_sums(data):
    """Sums and words that are kept beside workloads say what rows say, whatever a test did to them."""
    path = data / "prorata.db"
    if not path.exists():
        return
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        keys = "cluster_id, department_id, project_id, type, category, phase, pool"
        try:
            kept = database.execute(
                f"SELECT {keys}, workload_count, gpu_allocated_milli FROM workload_sums ORDER BY {keys}"
            ).fetchall()
        except sqlite3.DatabaseError:  # an older schema, or a file that a test has damaged
            return
        rows = f"SELECT {keys}, count(*), sum(gpu_allocated_milli) FROM workloads WHERE deleted_ms = 0"
        assert kept == database.execute(f"{rows} GROUP BY {keys} ORDER BY {keys}").fetchall(), "sums of workloads"
        words = {
            "type": "type",
            "projectName": "project_name",
            "departmentName": "department_name",
            "phase": "phase",
            "category": "category",
            "distributedFramework": "framework",
            "priorityClassName": "priority_class",
        }
        for field, column in words.items():
            missing = f"SELECT DISTINCT {column} FROM workloads EXCEPT SELECT word FROM workload_words WHERE field = ?"
            assert not database.execute(missing, (field,)).fetchall(), f"words of {field}"
        pools = """coalesce(nullif(current_node_pools_json, '[]'),
                   json_extract('{' || listing_json || '}', '$.requestedNodePools'), '[]')"""
        wrong = f"SELECT name FROM workloads WHERE pools_json <> {pools} OR pool <> coalesce(pools_json ->> '$[0]', '')"
        assert not database.execute(wrong).fetchall(), "node pools that a list shows"


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"<{self.status} {self.body[:400]!r}>"


def moved_clock(path):
    """The environment of a server whose clock is as many seconds ahead as the file says."""
    return {
        "LD_PRELOAD": str(pathlib.Path(PRORATA).with_name("shift_clock.so")),
        "PRORATA_SHIFT_CLOCK": str(path),
        "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0",
    }


class Server:
    """A running `prorata serve`. Use start(), kill() and stop() to try restarts."""

    def __init__(self, folder, *arguments, environment=None, command="serve"):
        self.folder = pathlib.Path(folder)
        self.data = self.folder / "data"
        self.log = self.folder / "server.log"
        self.arguments = list(arguments)
        # Where pods are processes of this machine they inherit nothing of the tests.
        quick = {} if "local" in arguments else quick_passwords()
        self.environment = {**environment_here(), "PRORATA_ADMIN_PASSWORD": PASSWORD, **quick, **(environment or {})}
        self.command = command
        self.process = None
        self.port = None
        self.token = None

    def start(self, wait=True):
        """On the port that it had, after a restart: somebody's connection may have that for a while."""
        until = time.monotonic() + 60
        while True:
            begin = self.launch()
            if not wait:
                return self
            try:
                self.wait_ready(begin)
                return self
            except AssertionError:
                is_taken = self.port and b"the port is in use" in self.log.read_bytes()[begin:]
                if not is_taken or time.monotonic() > until:
                    raise
                time.sleep(0.1)

    def launch(self):
        """Starts the process; returns where its log begins."""
        with open(self.log, "ab") as log:
            begin = log.tell()
            self.process = subprocess.Popen(
                [
                    PRORATA,
                    self.command,
                    "--data",
                    str(self.data),
                    "--listen",
                    "127.0.0.1:%d" % (self.port or 0),
                    *self.arguments,
                ],
                stdout=log,
                stderr=log,
                env=self.environment,
                stdin=subprocess.DEVNULL,
            )
        return begin

    def wait_ready(self, begin=0, seconds=60):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if self.process.poll() is not None:
                raise AssertionError(f"server ended with {self.process.returncode}:\n{self.tail()}")
            if self.port is None:
                with open(self.log, "rb") as log:
                    log.seek(begin)
                    found = re.search(rb"http://127\.0\.0\.1:(\d+)", log.read())
                if found:
                    self.port = int(found.group(1))
            if self.port is not None:
                try:
                    if self.request("GET", "/readyz", token=None).status == 200:
                        return
                except OSError:
                    pass
            time.sleep(0.02)
        raise AssertionError(f"server is not ready:\n{self.tail()}")

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self, seconds=60):
        """SIGTERM; returns the exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(seconds)
        return self.process.returncode

    def tail(self, size=6000):
        """The end of the log, without the requests that said nothing is wrong."""
        lines = self.log.read_bytes().decode(errors="replace").splitlines(keepends=True)
        return "".join(line for line in lines if "info api: request" not in line)[-size:]

    def request(self, method, path, body=None, token="admin", headers=None, timeout=60):
        if token == "admin":
            token = self.token or self.sign_in()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        headers = dict(headers or {})
        if token:
            headers["Authorization"] = "Bearer " + token
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
            headers.setdefault("Content-Type", "application/json")
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            answer = Answer(answer.status, answer.headers, answer.read())
        finally:
            connection.close()
        check_any_answer(method, path, answer)
        return answer

    def sign_in(self, username=ADMIN, password=PASSWORD):
        answer = self.request(
            "POST", "/api/v1/token", {"grantType": "password", "username": username, "password": password}, token=None
        )
        assert answer.status == 200, answer
        token = answer.json["accessToken"]
        if username == ADMIN:
            self.token = token
        return token

    def get(self, path, **query):
        query.pop("_", None)
        if query:
            path += "?" + urllib.parse.urlencode(query)
        return self.request("GET", path)

    def post(self, path, body=None):
        return self.request("POST", path, body)

    def delete(self, path):
        return self.request("DELETE", path)

    # What nearly every test needs.
    def project_id(self, name):
        projects = self.get("/api/v1/org-unit/projects", filterBy=f"name=={name}").json["projects"]
        assert projects, f"no project {name}"
        return projects[0]["id"]

    def cluster_id(self):
        return self.get("/api/v1/clusters").json[0]["uuid"]

    def give_default(self, gpus):
        """Department and project `default` own so many GPUs of the first node pool; a new server gives them none."""
        for kind in ("departments", "projects"):
            unit = self.get(f"/api/v1/org-unit/{kind}", filterBy="name==default").json[kind][0]
            pool = {"nodePool": unit["resources"][0]["nodePool"], "gpu": {"deserved": gpus}}
            answer = self.request("PUT", f"/api/v1/org-unit/{kind}/{unit['id']}/resources", [pool])
            assert answer.status == 200, answer
        return self

    def explanation(self, workload_id):
        """Why it waits, as soon as that is known."""
        path = f"/api/v1/workloads/{workload_id}/explanation"
        return self.wait_for("an explanation", lambda: (lambda said: said.get("code") and said)(self.get(path).json))

    def submit(self, name, project, gpus=1, kind="trainings", spec=None, **extra):
        body = {
            "name": name,
            "projectId": self.project_id(project),
            "clusterId": self.cluster_id(),
            "spec": {"image": "gcr.io/run-ai-demo/quickstart", "compute": {"gpuDevicesRequest": gpus}, **(spec or {})},
            **extra,
        }
        answer = self.post(f"/api/v1/workloads/{kind}", body)
        assert answer.status == 202, answer
        return answer.json["workloadId"]

    def workload(self, workload_id):
        return self.get(f"/api/v1/workloads/{workload_id}").json

    def wait_for(self, what, condition, seconds=60):
        """Waits until condition() is true and returns its value. The bound is against hanging alone."""
        until = time.monotonic() + seconds
        while True:
            value = condition()
            if value:
                return value
            if self.process.poll() is not None:
                raise AssertionError(f"server ended with {self.process.returncode}:\n{self.tail()}")
            assert time.monotonic() < until, f"never: {what}\n{self.tail()}"
            time.sleep(0.02)

    def wait_phase(self, workload_id, *phases, seconds=60):
        return self.wait_for(
            f"{workload_id} in {phases}",
            lambda: (lambda w: w if w["phase"] in phases else None)(self.workload(workload_id)),
            seconds,
        )


class Manager:
    """The service manager's end of sd_notify(3); hear() has all lines so far."""

    def __init__(self, path):
        self.path = str(path)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path if path[0] != "@" else "\0" + path[1:])
        self.socket.setblocking(False)
        self.lines = []

    def hear(self):
        while True:
            try:
                self.lines += self.socket.recv(4096).decode().splitlines()
            except BlockingIOError:
                return self.lines


class Client:
    """The command line against a server, with a home of its own."""

    def __init__(self, server, home):
        self.server, self.home = server, home
        home.mkdir()
        runai = home / "runai"
        runai.symlink_to(os.path.realpath(PRORATA))
        self.runai = str(runai)

    def finish(self, *words, program=None, stderr=subprocess.PIPE):
        """The command as it ended, with both its outputs; as `runai` unless another program is named."""
        return subprocess.run(
            [program or self.runai, *words],
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            stdin=subprocess.DEVNULL,
            env={**environment_here(), "HOME": str(self.home)},
            timeout=60,
        )

    def run(self, *words, program=None, status=0):
        done = self.finish(*words, program=program or PRORATA)
        assert done.returncode == status, done
        return done.stdout if status in (0, 3) else done.stderr

    def sign_in(self):
        self.run("config", "set", "--cp-url", self.server.url)
        self.run("login", "user", "-u", ADMIN, "-p", PASSWORD)
        return self
