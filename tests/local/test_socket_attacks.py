"""The machine's Unix socket under attack, at its starts and ends, and by the command line."""

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import sys
import uuid

import pytest
from machine_people import links_of
from servers import ADMIN, PASSWORD, Server, program_for_others

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("useradd"), reason="needs root, and useradd to make users"
)


def silent(door, user, count, text=b""):
    """Connections of the user that send this much and no more, held by a process of his until its input ends; it prints
    how many the server still holds by then."""
    entry = pwd.getpwnam(user)
    script = (
        "import socket, sys\nheld = []\nfor _ in range(int(sys.argv[2])):\n    s = socket.socket(socket.AF_UNIX)\n"
        "    s.settimeout(5)\n    try:\n        s.connect(sys.argv[1]); s.sendall(sys.argv[3].encode())\n"
        "    except OSError:\n        pass\n    held.append(s)\nprint('held', flush=True)\nsys.stdin.read()\nkept = 0\n"
        "for s in held:\n    s.setblocking(False)\n    try:\n        s.recv(1)\n    except BlockingIOError:\n"
        "        kept += 1\n    except OSError:\n        pass\nprint(kept)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(door.path), str(count), text.decode()],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        user=entry.pw_uid, group=entry.pw_gid, extra_groups=[],
    )  # fmt: skip
    assert process.stdout.readline() == "held\n"
    return process


@pytest.mark.parametrize("text", [b"", b"GET /api/v1/session HTTP/1.1\r\nHost: a\r\n"], ids=["nothing", "half a head"])
def test_six_hundred_who_do_not_go_on_keep_nobody_waiting(door, text):
    carol = door.people.user("carol", door.gpu)

    def answered_while_some_are_held(who):
        process = silent(door, who, 600, text)
        try:
            assert door.ask(carol).status == 200, "what one who sends nothing has"
            assert door.ask(door.alice).status == 200, "not even himself"
            assert door.server.get("/api/v1/clusters").status == 200
        finally:
            kept, _ = process.communicate("")
        return int(kept) > 0

    # The server gives the silent up after some seconds: a machine that stood still for so long tells nothing.
    for who in (door.alice, door.bob):
        assert any(answered_while_some_are_held(who) for _ in range(5))


def test_those_who_are_refused_keep_nobody_waiting(door):
    process = subprocess.Popen(
        [sys.executable, "-c", "import socket,sys\nheld=[]\nfor _ in range(600):\n    s=socket.socket(socket.AF_UNIX)\n"
         "    s.connect(sys.argv[1]); held.append(s)\nprint('held', flush=True)\nsys.stdin.read()", str(door.path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout.readline() == "held\n"
    assert door.ask(door.alice).status == 200 and door.ask().status == 403
    process.communicate("")


def held_sockets(server):
    links = links_of(server.process.pid)
    return sum(link.startswith("socket:") for link in links)


def test_who_dies_in_between_leaves_nothing(door):
    assert door.ask(door.alice).status == 200
    before = held_sockets(door.server)
    upload = b"POST /api/v1/workloads/trainings HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n{"
    for text in (upload, b"", b"GET "):
        process = silent(door, door.alice, 4, text)
        process.kill()
        process.communicate()
    door.server.wait_for("all closed", lambda: held_sockets(door.server) <= before)
    assert door.ask(door.alice).status == 200


def test_who_he_was_when_he_connected_counts(door):
    """Root that becomes a person after it has connected stays root, and is refused."""
    entry = pwd.getpwnam(door.alice)
    assert door.ask(then=entry.pw_uid).status == 403


def test_many_requests_on_a_connection(door):
    assert door.ask(door.alice, times=50).status == 200


def test_a_long_head_and_a_long_body_are_answered(door):
    assert door.ask(door.alice, headers={"X-Long": "x" * 20000}).status in (400, 413, 431)
    big = {"name": "x" * 100000, "spec": {}}
    assert door.ask(door.alice, "/api/v1/workloads/trainings", "POST", big).status == 400
    assert len(door.ask(door.alice, "/api/v1/swagger.json").body) > 500000


def test_who_sends_a_body_after_its_refusal_hears_the_answer(door):
    """The server answers by the head; what the client still sends breaks nothing."""
    script = (
        "import socket, sys\ns = socket.socket(socket.AF_UNIX)\ns.settimeout(10)\ns.connect(sys.argv[1])\n"
        "s.sendall(b'POST /api/v1/users HTTP/1.1\\r\\nHost: x\\r\\nContent-Type: application/json\\r\\n'\n"
        "    b'Content-Length: 40000\\r\\n\\r\\n')\n"
        "first = s.recv(12)\nfor _ in range(10): s.sendall(b' ' * 4000)\nprint((first + s.recv(100)).decode())"
    )
    entry = pwd.getpwnam(door.alice)
    groups = os.getgrouplist(door.alice, entry.pw_gid)
    done = subprocess.run(
        [sys.executable, "-c", script, str(door.path)],
        capture_output=True, text=True, timeout=60, user=entry.pw_uid, group=entry.pw_gid, extra_groups=groups,
    )  # fmt: skip
    assert done.returncode == 0 and done.stdout.startswith("HTTP/1.1 403 "), done


def test_ports_that_are_used_again_are_nobodys(door):
    """Requests lie at the relay's port, sent from all over the range and given up, while alice comes and goes."""
    port = door.relay_port()
    request = b"GET /api/v1/session HTTP/1.1\r\nHost: a\r\n\r\n" * 3
    reset = b"\x01\x00\x00\x00\x00\x00\x00\x00"
    sent = 0
    for _ in range(10):
        for _ in range(50):
            with socket.socket() as stranger, contextlib.suppress(OSError):
                stranger.connect(("127.0.0.1", port))
                stranger.sendall(request)
                stranger.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
                sent += 1
        assert door.ask(door.alice, times=3).status == 200
    log = door.server.log.read_text()
    asked = [line for line in log.splitlines() if "operation=get_session" in line]
    assert sent > 100 and asked and all("remote=unix:" in line for line in asked)


def test_another_server_does_not_take_the_socket(door, folder):
    other = Server(folder / "other", "--socket", str(door.path), "--socket-group", f"{door.gpu}=team-b:Viewer")
    (folder / "other").mkdir()
    other.start(wait=False)
    assert other.process.wait(30) != 0 and "another server has" in other.tail()
    assert door.ask(door.alice).status == 200


def test_a_killed_server_leaves_a_socket_that_the_next_one_takes(door):
    assert door.ask(door.alice).status == 200
    door.server.kill()
    assert door.path.exists()
    door.server.start()
    assert door.ask(door.alice).status == 200
    door.server.stop()
    assert not door.path.exists(), "and one that stops takes it away"
    door.server.start()


def refused_start(folder, path, *flags):
    server = Server(folder / uuid.uuid4().hex, "--socket", str(path), *flags)
    server.folder.mkdir()
    server.start(wait=False)
    assert server.process.wait(30) == 2, server.tail()
    return server.tail()


def test_a_place_that_others_can_change_is_refused(folder, place):
    rule = ("--socket-group", "users=team-a:L1 researcher")
    place.parent.chmod(0o777)
    assert "others than root can write" in refused_start(folder, place, *rule)
    place.parent.chmod(0o755)
    os.chown(place.parent, 1, 1)
    assert "others than root can write" in refused_start(folder, place, *rule)
    os.chown(place.parent, 0, 0)
    place.write_text("a file")
    assert "no socket" in refused_start(folder, place, *rule)
    assert "expected a path from the root" in refused_start(folder, "prorata.sock", *rule)


@pytest.mark.parametrize(
    "line", ["users", "users=team-a", "=team-a:Viewer", "users=:Viewer", "users=team-a:", "a=b:King"]
)
def test_a_rule_that_means_nothing_is_refused(folder, place, line):
    assert "socket-group:" in refused_start(folder, place, "--socket-group", line)


def test_without_pods_groups_there_is_no_socket(folder, place):
    local = ("--backend", "local", "--local-gpus", "1", "--local-gid-range", "none")
    said = refused_start(folder, place, "--socket-group", "users=team-a:Viewer", *local)
    assert "--local-gid-range" in said


def test_without_a_rule_there_is_no_socket(make_server, place):
    server = make_server("--quick-start", "--socket", str(place))
    assert not place.exists() and "by the socket" not in server.log.read_text()


class Terminal:
    """The client as a user of the machine, with a home of his own."""

    def __init__(self, door, user, folder):
        self.user, self.home = pwd.getpwnam(user), folder / user
        self.home.mkdir()
        os.chown(self.home, self.user.pw_uid, self.user.pw_gid)
        folder.chmod(0o755)
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "PRORATA_SOCKET": str(door.path)}

    def run(self, *words, status=0, **environment):
        done = subprocess.run(
            [program_for_others(), *words], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60,
            env={**self.environment, **environment}, cwd="/",
            user=self.user.pw_uid, group=self.user.pw_gid, extra_groups=[],
        )  # fmt: skip
        assert done.returncode == status, done
        return done.stdout + done.stderr


def test_submit_is_the_first_and_only_command(door, folder):
    alice = Terminal(door, door.alice, folder)
    alice.run("training", "submit", "first", "-p", "team-a", "-g", "1", "-i", "i")
    assert f"{door.alice}@localhost" in alice.run("whoami") and f"unix:{door.path}" in alice.run("whoami")
    assert "first" in alice.run("workload", "list", "-p", "team-a")
    bob = Terminal(door, door.bob, folder)
    said = bob.run("training", "submit", "second", "-p", "team-a", "-i", "i", status=1)
    assert "Tell the administrator" in said and door.bob in said


def test_a_login_wins_where_it_is_asked_for(door, folder):
    alice = Terminal(door, door.alice, folder)
    assert "sign in with" in alice.run("whoami", "--server", door.server.url, status=1)
    assert "sign in with" in alice.run("whoami", RUNAI_CP_URL=door.server.url, status=1)
    alice.run("config", "set", "--cp-url", door.server.url)
    assert f"{door.alice}@localhost" in alice.run("whoami"), "an address alone is no login"
    alice.run("login", "user", "-u", ADMIN, "-p", PASSWORD)
    assert ADMIN in alice.run("whoami") and door.server.url in alice.run("whoami")
    alice.run("logout")
    assert f"{door.alice}@localhost" in alice.run("whoami")


def test_a_strangers_socket_is_not_spoken_to(door, folder):
    alice = Terminal(door, door.alice, folder)
    path = folder / "stranger" / "prorata.sock"
    path.parent.mkdir(mode=0o777)
    path.parent.chmod(0o777)
    with socket.socket(socket.AF_UNIX) as stranger:
        stranger.bind(str(path))
        stranger.listen()
        assert "others than root" in alice.run("whoami", status=1, PRORATA_SOCKET=str(path))
        path.parent.chmod(0o755)
        os.chown(path, 1, 1)
        assert "others than root" in alice.run("whoami", status=1, PRORATA_SOCKET=str(path))
        stranger.setblocking(False)
        with pytest.raises(BlockingIOError):
            stranger.accept()
