"""The user that pods run as: the one that the project or the submitter is mapped to, never root; and a server that is
not root."""

import contextlib
import grp
import os
import pathlib
import pwd
import sqlite3
import subprocess
import sys

import pytest
from pods import events_of, log_of, submit, supervisors_of
from servers import PRORATA, Server, program_for_others

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
NAMES = ("daemon", "bin", "games", "nobody")
IDS = {name: pwd.getpwnam(name).pw_uid for name in NAMES}


@pytest.fixture
def map_file(folder):
    path = folder / "users"

    def write(text, mode=0o600):
        path.write_text(text)
        path.chmod(mode)
        return path

    return write


def user_of(server, name, project="team-a", gpus=0, spec=None):
    workload = submit(
        server, name, "id -u; id -G", project=project, gpus=gpus, spec={"backoffLimit": 0, **(spec or {})}
    )
    server.wait_phase(workload, "Completed", "Failed")
    lines = log_of(server, workload).splitlines()
    return (int(lines[0]), {int(group) for group in lines[1].split()}) if lines else events_of(server, workload)


@needs_root
def test_projects_and_subjects_are_mapped(start, map_file):
    path = map_file("# our people\nproject team-a daemon # theirs\n\n")
    server = start("--local-user-map", str(path), "--local-user", "games")
    assert user_of(server, "mapped")[0] == IDS["daemon"]
    assert user_of(server, "other", project="team-b")[0] == IDS["games"]
    map_file("project team-a daemon\nsubject admin@prorata.local bin\n")
    assert user_of(server, "subject")[0] == IDS["bin"], "a subject wins, and the file is read again"


@needs_root
def test_processes_are_bounded(start, map_file):
    """By its cgroup, where that has the controller; else by the project's user."""
    server = start("--local-user-map", str(map_file("project team-b games\n")))
    script = (
        "bash -c 'ulimit -u'; cat $(awk '$3 == \"cgroup2\" { print $2 }' /proc/mounts | head -n 1)$(sed -n "
        "'s/^0:://p' /proc/self/cgroup)/pids.max 2>/dev/null || "
        "cat $(awk '$3 == \"cgroup\" && $4 ~ /pids/ { print $2 }' /proc/mounts)$(sed -n 's/^[0-9]*:pids://p' "
        "/proc/self/cgroup)/pids.max 2>/dev/null; true"
    )
    found = []
    for project in ("team-a", "team-b"):
        workload = submit(server, "job", script, project=project, gpus=0)
        server.wait_phase(workload, "Completed", "Failed")
        found.append(log_of(server, workload).splitlines())
    by_cgroup = found[0][1:] == ["4096"]
    assert by_cgroup == ("processes by cgroup v" in server.log.read_text()), found
    assert by_cgroup or (found[0][0] == "16384" and found[1][0] != "16384"), found


FIRST = 2000000000  # of the range that a new data folder has


@needs_root
def test_each_project_has_a_user_of_its_own(start):
    server = start()
    one, groups = user_of(server, "one")
    other, _ = user_of(server, "two", project="team-b")
    assert FIRST <= one < FIRST + 65536 and FIRST <= other < FIRST + 65536 and one != other
    assert one in groups and {group for group in groups if not 2000065536 <= group < 2000131072} == {one}, (
        "its own, and its pod's"
    )
    assert user_of(server, "again")[0] == one
    server.kill()
    server.start()
    assert user_of(server, "later")[0] == one, "and without the setting, too"


@needs_root
def test_another_project_reads_and_ends_nothing(start):
    server = start()
    workload = submit(
        server,
        "job",
        "echo secret > $PRORATA_PATH_OWN/file; echo $$ $PRORATA_PATH_OWN $HOME; sleep 1000",
        gpus=0,
        spec={
            "environmentVariables": [{"name": "PW", "value": "TOPSECRET"}],
            "storage": {"emptyDirVolume": [{"path": "/own"}]},
        },
    )
    pid, place, home = server.wait_for("its words", lambda: log_of(server, workload).split())
    attack = (
        f"cat /proc/{pid}/environ; kill -9 {pid}; cat {place}/file; ls {place} {home}; ls /proc/{pid}/fd "
        f"/proc/{pid}/cwd/; echo x > {home}/x; echo tried"
    )
    other = submit(server, "attack", attack, project="team-b", gpus=0)
    server.wait_phase(other, "Completed", "Failed")
    said = log_of(server, other)
    assert "tried" in said and "TOPSECRET" not in said and "secret" not in said and "file\n" not in said, said
    refusals = ("Permission denied", "not permitted", "No such file", "nonexistent")
    assert sum(said.count(refusal) for refusal in refusals) >= 6, said
    assert (
        server.workload(workload)["phase"] == "Running"
        and os.path.exists(f"/proc/{pid}")
        and not (pathlib.Path(home) / "x").exists()
    )
    own = submit(server, "own", f"tr '\\0' '\\n' < /proc/{pid}/environ", gpus=0)
    server.wait_phase(own, "Completed")
    assert "PW=TOPSECRET" in log_of(server, own), "the project's own pod can: the attack was one"


@needs_root
def test_a_user_is_never_given_to_a_second_project(start):
    server = start()
    parent = server.get("/api/v1/org-unit/projects", filterBy="name==team-a").json["projects"][0]["parentId"]
    seen = set()
    for name in ("fresh", "fresh", "fresher"):
        answer = server.post(
            "/api/v1/org-unit/projects",
            {"name": name, "clusterId": server.cluster_id(), "parentId": parent, "resources": []},
        )
        assert answer.status in (200, 201, 202), answer
        uid, _ = user_of(server, "job", project=name)
        assert uid not in seen
        seen.add(uid)
        workload = server.get("/api/v1/workloads").json["workloads"][0]["id"]
        server.delete(f"/api/v1/workloads/trainings/{workload}")
        server.wait_for("the workload gone", lambda: not server.get("/api/v1/workloads").json["workloads"])
        project = server.project_id(name)
        assert server.delete(f"/api/v1/org-unit/projects/{project}").status in (200, 202, 204)
        server.wait_for(
            "the project gone",
            lambda: not server.get("/api/v1/org-unit/projects", filterBy=f"name=={name}").json["projects"],
        )


def refused(folder, *flags, prefix=()):
    ended = subprocess.run(
        [
            *prefix,
            program_for_others() if prefix else PRORATA,
            "serve",
            "--data",
            folder / "data",
            "--listen",
            "127.0.0.1:0",
            "--backend",
            "local",
            "--local-gpus",
            "0",
            *flags,
        ],
        capture_output=True,
        text=True,
        timeout=60,
        env=dict(os.environ, PRORATA_ADMIN_PASSWORD="a password here"),
    )
    assert ended.returncode == 2, ended.stderr
    return ended.stderr


@needs_root
@pytest.mark.parametrize(
    "text, message",
    [
        ("2000000000", "START+COUNT"),
        ("5+5", "the system's own users"),
        ("61000+500", "systemd's dynamic users"),
        ("600000+65536", "systemd's containers"),
        ("65534+1", "nobody"),
        ("2147483000+1000", "none above"),
        ("2000000000+0", "at least one"),
        ("-5+10", "START+COUNT"),
    ],
)
def test_a_range_that_others_use_is_refused(folder, text, message):
    assert message in refused(folder, "--local-uid-range", text)


@needs_root
@pytest.mark.parametrize(
    "path, line, message",
    [
        ("/etc/passwd", "alice:x:2000000007:100::/home/alice:/bin/sh", "user alice (2000000007) of /etc/passwd"),
        ("/etc/group", "friends:x:2000000008:", "group friends (2000000008) of /etc/group"),
        ("/etc/subuid", "bob:1999990000:65536", "what /etc/subuid lends to bob"),
    ],
)
def test_a_range_of_people_is_refused_by_their_name(folder, path, line, message):
    if not os.path.exists(path) or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
        pytest.skip("no file, or no mount namespace")
    (folder / "file").write_text(pathlib.Path(path).read_text() + line + "\n")
    mounted = ["unshare", "-m", "sh", "-c", f'mount --bind {folder}/file {path} && exec "$@"', "sh"]
    assert message in refused(folder, prefix=mounted)


@needs_root
def test_a_range_is_refused_beside_one_user(folder):
    assert "--local-user has all projects run as one user" in refused(
        folder, "--local-uid-range", "2000000000+10", "--local-user", "games"
    )


@needs_root
def test_a_range_once_used_is_never_moved(make_server):
    server = make_server("--backend", "local", "--local-gpus", "0", "--local-uid-range", "1900000000+100")
    server.stop()
    assert "overlaps 1900000000+100" in refused(server.folder, "--local-uid-range", "1900000050+100")
    server.arguments[-1] = "1900000000+200"
    server.start()


@needs_root
def test_a_data_folder_from_before_keeps_its_user_and_says_so(start):
    server = start()
    server.stop()
    with sqlite3.connect(server.data / "prorata.db") as database:
        assert database.execute("DELETE FROM meta WHERE key = 'local_uid_ranges'").rowcount == 1
    for _ in range(2):
        server.log.write_text("")
        server.start()
        assert (
            "run as nobody: each can read the secrets and files of all others" in server.tail()
            and "--local-uid-range" in server.tail()
        )
        server.stop()
    server.start()
    assert user_of(server, "job")[0] == IDS["nobody"]
    server.stop()
    server.arguments += ["--local-uid-range", f"{FIRST}+65536"]
    server.start()
    assert user_of(server, "later")[0] >= FIRST


@needs_root
def test_doctor_names_projects_that_share_a_user(folder, map_file):
    path = map_file("project team-a daemon\nproject team-b bin\nproject team-c daemon\n")
    said = subprocess.run(
        [
            PRORATA,
            "doctor",
            "--data",
            folder / "data",
            "--backend",
            "local",
            "--local-gpus",
            "0",
            "--local-user-map",
            path,
        ],
        capture_output=True,
        text=True,
        timeout=60,
    ).stdout
    assert "lets projects share a user: team-a, team-c (daemon)" in said


@needs_root
def test_groups_that_own_devices_go_with_devices(start):
    server = start()
    wanted = {
        grp.getgrnam(name).gr_gid for name in ("video", "render") if any(g.gr_name == name for g in grp.getgrall())
    }
    assert wanted, "this machine has no such group"
    assert wanted <= user_of(server, "with", gpus=1)[1]
    assert not wanted & user_of(server, "without")[1]


@needs_root
def test_a_user_that_vanishes_fails_the_pod(start, map_file):
    path = map_file("project team-a daemon\n")
    server = start("--local-user-map", str(path))
    for text, message in (
        ("project team-a nobody-here\n", "no user nobody-here"),
        ("project team-a root\n", "root, and pods never are"),
        ("something else\n", "line 1: expected project NAME USER"),
    ):
        map_file(text)
        events = user_of(server, f"job{len(text)}")
        assert any(message in event for event in events), events


@needs_root
@pytest.mark.parametrize(
    "text, mode, message",
    [
        ("project team-a nobody-here\n", 0o600, "project team-a: no user nobody-here"),
        ("subject a@b root\n", 0o600, "root, and pods never are"),
        ("project team-a\n", 0o600, "line 1: expected project NAME USER or subject NAME USER"),
        ("a b c d\n", 0o600, "line 1"),
        ("team team-a daemon\n", 0o600, "line 1"),
        ("project team-a daemon\n", 0o666, "others than the server's user can write to it"),
    ],
)
def test_a_bad_map_is_refused_at_the_start(folder, map_file, text, mode, message):
    ended = subprocess.run(
        [
            PRORATA,
            "serve",
            "--data",
            folder / "data",
            "--listen",
            "127.0.0.1:0",
            "--backend",
            "local",
            "--local-gpus",
            "0",
            "--local-user-map",
            map_file(text, mode),
        ],
        capture_output=True,
        text=True,
        timeout=60,
        env=dict(os.environ, PRORATA_ADMIN_PASSWORD="a password here"),
    )
    assert ended.returncode == 2 and message in ended.stderr


@needs_root
def test_a_uid_of_another_is_refused_and_the_own_is_taken(start, map_file):
    server = start("--local-user-map", str(map_file("project team-a daemon\n")))
    assert (
        user_of(server, "own", spec={"security": {"runAsUid": IDS["daemon"], "uidGidSource": "custom"}})[0]
        == IDS["daemon"]
    )
    body = {
        "name": "other",
        "projectId": server.project_id("team-a"),
        "clusterId": server.cluster_id(),
        "spec": {"image": "i", "command": "true", "security": {"runAsUid": IDS["games"], "uidGidSource": "custom"}},
    }
    assert server.post("/api/v1/workloads/trainings", body).status == 400


class Unprivileged(Server):
    """The same server as user nobody."""

    def start(self, wait=True):
        self.folder.parent.chmod(0o755)
        os.chown(self.folder, 65534, 65534)
        popen = subprocess.Popen

        def as_nobody(words, **options):
            return popen([program_for_others(), *words[1:]], user=65534, group=65534, extra_groups=[], **options)

        subprocess.Popen = as_nobody
        try:
            super().start(wait=False)
        finally:
            subprocess.Popen = popen
        self.wait_ready()
        return self


@needs_root
def test_a_server_that_is_not_root(folder):
    (folder / "server").mkdir()
    server = Unprivileged(folder / "server", "--backend", "local", "--local-gpus", "2", "--quick-start").start()
    try:
        assert (
            "pods run as its own user" in server.tail()
            and "each can read and end all others" in server.tail()
            and "can read its data folder" in server.tail()
        )
        assert user_of(server, "job", gpus=1)[0] == 65534
        workload = submit(
            server,
            "volume",
            "cd $PRORATA_PATH_SCRATCH && pwd && sleep 1000",
            gpus=0,
            spec={"storage": {"emptyDirVolume": [{"path": "/scratch"}]}},
        )
        place = server.wait_for("the place", lambda: log_of(server, workload).strip())
        assert pathlib.Path(place).owner() == "nobody"
        server.kill()
        server.start()
        server.wait_phase(workload, "Running")
        server.post(f"/api/v1/workloads/trainings/{workload}/suspend")
        server.wait_phase(workload, "Stopped")
        assert not pathlib.Path(place).parent.exists() and not supervisors_of(server)
    finally:
        server.stop()


# What anybody may have left in /tmp, and what would run it: a module of the user, one of the working folder, a shell's
# start.
PLANTED = {
    ".local/lib/python{0}.{1}/site-packages/usercustomize.py": "print('PLANTED usercustomize')",
    "colorsys.py": "print('PLANTED colorsys')",
    ".bashrc": "echo PLANTED bashrc",
    ".profile": "echo PLANTED profile",
}


@pytest.fixture
def planted():
    """What a test before that was killed has left is the same text: it is planted anew, and goes with this test."""
    paths = {pathlib.Path("/tmp") / name.format(*sys.version_info): text for name, text in PLANTED.items()}
    foreign = [str(path) for path, text in paths.items() if path.exists() and path.read_text() != text]
    if foreign:
        pytest.skip(f"{', '.join(foreign)}: somebody else's")
    folders = []
    try:
        for path, text in paths.items():
            folders += [folder for folder in path.parents if not folder.exists() and folder not in folders]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        yield
    finally:
        for path in paths:
            path.unlink(missing_ok=True)
        for path in sorted(folders, reverse=True):
            with contextlib.suppress(OSError):
                path.rmdir()


HOME = (
    "pwd; echo $HOME; stat -c '%a %u' $HOME; id -u; /usr/bin/python3 -c 'import colorsys'; bash -i -c true; bash -l "
    "-c true; "
)


@needs_root
@pytest.mark.usefixtures("planted")
def test_a_pod_has_a_home_of_its_own(start):
    server = start()
    workload = submit(server, "job", HOME + "echo mine > kept; sleep 1000", gpus=0)
    text = server.wait_for(
        "the file", lambda: (lambda log: log if len(log.splitlines()) >= 4 else None)(log_of(server, workload))
    )
    folder, home, about, uid = text.splitlines()[:4]
    assert folder == home and about == f"700 {uid}" and not home.startswith("/tmp/")
    server.wait_for("the file", (pathlib.Path(home) / "kept").exists)
    assert "PLANTED" not in log_of(server, workload)
    other = submit(server, "other", "echo $HOME", gpus=0)
    server.wait_phase(other, "Completed")
    assert log_of(server, other).strip() != home
    server.post(f"/api/v1/workloads/trainings/{workload}/suspend")
    server.wait_phase(workload, "Stopped")
    server.kill()
    server.start()
    assert (pathlib.Path(home) / "kept").read_text() == "mine\n", "the next pod finds it"
    server.delete(f"/api/v1/workloads/trainings/{workload}")
    server.wait_for("its home gone", lambda: not pathlib.Path(home).exists())


@needs_root
def test_homes_that_no_workload_has_go_at_the_start(start):
    server = start()
    workload = submit(server, "job", "echo $HOME", gpus=0)
    server.wait_phase(workload, "Completed")
    home = pathlib.Path(log_of(server, workload).strip())
    stranger = home.with_name("11111111-2222-4333-8444-555555555555")
    (stranger / "deep").mkdir(parents=True)
    server.kill()
    server.start()
    server.wait_for("the stranger gone", lambda: not stranger.exists())
    assert home.is_dir()


@needs_root
def test_a_mapped_person_keeps_the_home(start, map_file):
    server = start("--local-user-map", str(map_file("project team-a games\n")))
    workload = submit(server, "job", "pwd; echo $HOME", gpus=0)
    server.wait_phase(workload, "Completed")
    assert log_of(server, workload).split() == [pwd.getpwnam("games").pw_dir] * 2
