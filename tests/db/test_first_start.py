"""A first start that fails, or is killed, leaves nothing: the next one makes all, and shows the password."""

import re
import shutil
import sqlite3
import subprocess

import pytest
import servers
from servers import PRORATA, Server

SERVED, PASSWORD_WAS_SHOWN = "served", "the password was shown"


@pytest.fixture
def server(folder):
    made = Server(folder, "--quick-start")
    del made.environment["PRORATA_ADMIN_PASSWORD"]
    yield made
    if made.process:
        made.stop()


def shown(server, begin=0):
    """The passwords that were shown from there on."""
    return re.findall(r"^sign in as admin@prorata.local (\S+)$", server.log.read_text()[begin:], re.MULTILINE)


def check_signed_in(server, password):
    assert server.sign_in(password=password)


def start(server):
    """Until it has said all that a start says, which comes after it is ready; where that begins in the log."""
    begin = len(server.log.read_text())
    server.start()
    server.wait_for("the last words", lambda: "Try next" in server.log.read_text()[begin:])
    return begin


def check_whole(server):
    """The good start shows the password, the teams are there; the one after it changes neither."""
    begin = start(server)
    (password,) = shown(server, begin)
    check_signed_in(server, password)
    projects = {project["name"]: project["id"] for project in server.get("/api/v1/org-unit/projects").json["projects"]}
    assert {"team-a", "team-b"} <= set(projects)
    server.stop()
    begin = start(server)
    assert not shown(server, begin)
    check_signed_in(server, password)
    again = server.get("/api/v1/org-unit/projects").json["projects"]
    assert projects == {project["name"]: project["id"] for project in again}
    server.stop()
    done = subprocess.run([PRORATA, "verify", "--data", server.data], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done


def fail(server, says):
    server.start(wait=False)
    assert server.process.wait(60) == 2 and says in server.tail()


def test_after_a_start_without_its_supervisor(server, folder, monkeypatch):
    alone = folder / "alone"
    alone.mkdir()
    shutil.copy(PRORATA, alone / "prorata")
    server.arguments += ["--backend", "local", "--local-gpus", "2"]
    with monkeypatch.context() as changed:
        changed.setattr(servers, "PRORATA", str(alone / "prorata"))
        for _ in range(2):
            fail(server, "prorata-supervisor is neither")
    check_whole(server)


def test_after_a_start_with_a_wrong_cluster(server, folder):
    (folder / "cluster.yaml").write_text("nodes: 5\n")
    server.arguments += ["--cluster", str(folder / "cluster.yaml")]
    fail(server, "cluster.yaml")
    (folder / "cluster.yaml").write_text("nodes:\n- {name: n, gpus: 4, cpuCores: 8, memoryBytes: 8Gi}\n")
    check_whole(server)


def test_after_a_start_with_another_backend(server, folder):
    kept = list(server.arguments)
    server.arguments += ["--backend", "local", "--local-gpus", "2", "--local-uid-range", "nonsense"]
    fail(server, "local-uid-range")
    server.arguments = kept
    check_whole(server)


def test_after_a_start_that_could_show_nothing(server):
    words = [PRORATA, "serve", "--data", server.data, "--listen", "127.0.0.1:0", "--quick-start"]
    with open("/dev/full", "wb") as full, open(server.log, "wb") as log:
        server.process = subprocess.Popen(words, stdout=full, stderr=log, env=server.environment)
    server.wait_for("the warning", lambda: "the administrator's password may not be known" in server.tail())
    server.kill()
    check_whole(server)


def test_a_password_of_the_environment_is_set_by_the_next_start_too(server, folder):
    (folder / "cluster.yaml").write_text("nodes: 5\n")
    server.arguments += ["--cluster", str(folder / "cluster.yaml")]
    fail(server, "cluster.yaml")
    server.arguments = ["--quick-start"]
    server.environment["PRORATA_ADMIN_PASSWORD"] = servers.PASSWORD
    server.start()
    assert not shown(server)
    check_signed_in(server, servers.PASSWORD)


def test_what_somebody_has_signed_in_to_stays(server):
    """An earlier release goes on with a folder whose first start was not done, and leaves the mark there."""
    server.environment["PRORATA_ADMIN_PASSWORD"] = servers.PASSWORD
    server.start()
    server.submit("kept", "team-a", 0)
    assert server.stop() == 0
    with sqlite3.connect(server.data / "prorata.db") as database:
        changed = database.execute("UPDATE meta SET value = 'begun' WHERE key = 'first_start' AND value = 'done'")
        assert changed.rowcount == 1
    server.start()
    assert [workload["name"] for workload in server.get("/api/v1/workloads").json["workloads"]] == ["kept"]


def state_of(server):
    """What a kill left: the names in the folder, and the rows that a start goes by."""
    names = {str(path.relative_to(server.data)) for path in server.data.rglob("*")} if server.data.exists() else set()
    names = frozenset(re.sub(r"[0-9a-f]{8,}|\d+", "N", name) for name in names - {"prorata.db-shm"})
    copy = server.folder / "looked-at"
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir()
    for path in server.data.glob("prorata.db*"):
        shutil.copy(path, copy)
    rows = []
    with sqlite3.connect(copy / "prorata.db") as database:
        if database.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
            rows = database.execute(
                "SELECT key, value FROM meta WHERE key NOT IN ('revision', 'simulation_clock', 'tenant_uuid')"
            ).fetchall()
            counts = "SELECT count(*) FROM clusters UNION ALL SELECT count(*) FROM users UNION ALL "
            counts += "SELECT count(*) FROM nodes UNION ALL SELECT count(*) FROM projects"
            rows += database.execute(counts).fetchall()
    database.close()
    return names, *rows, *([PASSWORD_WAS_SHOWN] if shown(server) else [])


class Kills:
    """Starts of a new folder that end by SIGKILL before a step on the disk."""

    def __init__(self, server, shim):
        self.server, self.plain, self.shim = server, dict(server.environment), dict(shim)
        self.shim["LD_PRELOAD"] = " ".join(filter(None, [shim["LD_PRELOAD"], self.plain.get("LD_PRELOAD")]))
        self.states = {}  # step -> what was left; SERVED where it came to serve
        self.folders = {}  # what was left -> a copy of the folder

    def start(self, step):
        """True: it was killed."""
        self.server.port = None
        self.server.environment = {**self.plain, **self.shim, "DIES_AT": str(step)}
        self.server.start(wait=False)
        try:
            self.server.wait_ready()
        except AssertionError:
            assert self.server.process.returncode == -9, self.server.tail()
            return True
        finally:
            self.server.environment = self.plain
            self.server.kill()
            self.server.port = None
        return False

    def kill_at(self, step):
        shutil.rmtree(self.server.data, ignore_errors=True)
        self.server.log.write_text("")
        if not self.start(step):
            self.states[step] = SERVED
            return False
        state = self.states[step] = state_of(self.server)
        if state not in self.folders:
            self.folders[state] = shutil.copytree(self.server.data, self.server.folder / f"at-{step}")
        return True

    def look_between(self, low, high):
        middle = (low + high) // 2
        if middle > low and self.states[low] != self.states[high]:
            self.kill_at(middle)
            self.look_between(low, middle)
            self.look_between(middle, high)

    def put_back(self, state):
        shutil.rmtree(self.server.data, ignore_errors=True)
        shutil.copytree(self.folders[state], self.server.data)


def test_a_first_start_that_is_killed_at_any_step_is_made_up_for(server, build_shim):
    """Between two steps that leave different things it looks at the one in the middle, and so on."""
    kills = Kills(server, build_shim("dies_at_step/dies_at_step"))
    step = 1
    while kills.kill_at(step):
        step *= 2
    for power in range(step.bit_length() - 1):
        kills.look_between(1 << power, 2 << power)
    for state in kills.folders:
        if ("first_start", "done") in state:
            assert PASSWORD_WAS_SHOWN in state
        else:
            kills.put_back(state)
            check_whole(server)
    # Again and again, from the last of them on.
    kills.put_back([state for state in kills.folders if ("first_start", "begun") in state][-1])
    for power in range(step.bit_length() - 1):
        assert kills.start(1 << power)
    check_whole(server)
