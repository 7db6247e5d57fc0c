"""What runs with the server's rights on behalf of a pod acts on nothing that the submission says: neither on its
variables, nor on its words, nor on a path that its user can change."""

import os
import pathlib
import re
import shutil
import subprocess
import time

import pytest
import servers
from pods import events_of, run, submit, supervisors_of, wait_log
from servers import PRORATA
from test_images import Runtime, image_submit
from test_volumes import paths

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
LEAVES = (
    "env true; mkdir -p $PRORATA_PATH_SCRATCH/some/folder; echo left > $PRORATA_PATH_SCRATCH/some/file; "
    "ln -s / $PRORATA_PATH_SCRATCH/root"
)
VOLUME = {"emptyDirVolume": [{"path": "/scratch"}]}
LIBRARY = """
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
__attribute__((constructor)) static void tell(void)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/library-%u", FOLDER, (unsigned)geteuid());
    close(open(path, O_WRONLY | O_CREAT, 0666));
}
"""


class Witness:
    """A folder in which whatever is made to run leaves its name and user, and the ways to make it run."""

    def __init__(self, folder):
        folder.chmod(0o755)
        self.folder = folder / "witness"
        self.bin = folder / "evil"
        for path in (self.folder, self.bin):
            path.mkdir()
        self.folder.chmod(0o777)
        for name in ("rm", "sh", "rmdir", "git", "ssh", "env", "podman", "docker"):
            self.program(name)

    def program(self, name):
        path = self.bin / name
        tells = f"echo > {self.folder}/{name}-$(/usr/bin/id -u)"
        path.write_text(f'#!/bin/sh\n{tells}\n[ -x /usr/bin/{name} ] && exec /usr/bin/{name} "$@"\nexit 0\n')
        path.chmod(0o755)
        return path

    def library(self):
        source, library = self.bin / "tell.c", self.bin / "tell.so"
        source.write_text(f'#define FOLDER "{self.folder}"\n{LIBRARY}')
        compiler = shutil.which("cc")
        if not compiler:
            pytest.skip("no compiler")
        subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
        return library

    def seen(self):
        """name-user of what ran."""
        return sorted(path.name for path in self.folder.iterdir())

    def by_root(self):
        return [name for name in self.seen() if name.endswith("-0")]


@pytest.fixture
def witness(folder):
    return Witness(folder)


WAYS = {
    "PATH": lambda witness: {"PATH": f"{witness.bin}:/usr/bin:/bin"},
    "LD_PRELOAD": lambda witness: {"LD_PRELOAD": str(witness.library())},
    "LD_AUDIT": lambda witness: {"LD_AUDIT": str(witness.library())},
    "shells": lambda witness: {"BASH_ENV": str(witness.program("bash_env")), "ENV": str(witness.program("env_file"))},
    "git": lambda witness: {
        "GIT_SSH_COMMAND": str(witness.program("ssh_command")),
        "GIT_EXEC_PATH": str(witness.bin),
    },
    "python": lambda witness: {"PYTHONSTARTUP": str(witness.program("startup")), "PYTHONPATH": str(witness.bin)},
    "the C library": lambda witness: {
        "GLIBC_TUNABLES": "glibc.malloc.check=3:glibc.malloc.perturb=255",
        "MALLOC_PERTURB_": "255",
        "GCONV_PATH": str(witness.bin),
        "LOCPATH": str(witness.bin),
    },
}


@pytest.mark.parametrize("tmp", ["on", "off"])
@pytest.mark.parametrize("way", WAYS)
def test_no_variable_of_a_pod_makes_root_run_something(start, witness, way, tmp):
    server = start("--local-private-tmp", tmp)
    variables = [{"name": name, "value": value} for name, value in WAYS[way](witness).items()]
    leaves = f"{LEAVES}; echo left > /tmp/left" if tmp == "on" else LEAVES
    says, _ = run(
        server,
        f"echo place=$PRORATA_PATH_SCRATCH; {leaves}",
        spec={"environmentVariables": variables, "storage": VOLUME},
    )
    place = pathlib.Path(next(line for line in says.splitlines() if line.startswith("place=")).removeprefix("place="))
    assert not place.parent.exists(), "what it left is still there"
    assert witness.by_root() == []
    if tmp == "off" and way in ("PATH", "LD_PRELOAD"):  # else the folder is not the pod's to see
        assert witness.seen(), "the pod's own processes have its variables"


def test_what_git_is_told_to_run_has_the_rights_of_the_pods_user(start, witness):
    server = start("--local-private-tmp", "off")
    variables = [{"name": "GIT_SSH_COMMAND", "value": str(witness.program("ssh_command"))}]
    git = [{"repository": "ssh://nowhere.invalid/none", "path": "/code"}]
    run(server, "true", phase="Failed", spec={"environmentVariables": variables, "storage": {"git": git}})
    assert witness.seen() == ["ssh_command-2000000001"]


def test_a_runtime_is_given_no_path_that_the_user_may_not_enter(start, folder):
    runtime = Runtime(folder)
    (folder / "closed").mkdir(mode=0o700)
    (folder / "closed/data").mkdir()
    server = start(**runtime.install("podman"))
    workload = image_submit(server, "job", "true", spec={"storage": {"hostPath": paths(32, folder / "closed/data")}})
    server.wait_phase(workload, "Failed")
    assert any("closed/data" in event and "Permission denied" in event for event in events_of(server, workload))
    assert runtime.calls("run") == []


# Who runs what.

MARK = "keptmark"
SUBMISSION = {
    "labels": [{"name": f"{MARK}-label", "value": MARK}],
    "annotations": [{"name": "prorata.io/pre-stop", "value": f"echo {MARK} stops"}, {"name": MARK, "value": MARK}],
    "environmentVariables": [{"name": name, "value": f"/{MARK}"} for name in ("GREETING", "BASH_ENV", "PYTHONSTARTUP")],
    "terminationGracePeriodSeconds": 5,
}
STAYS = f"echo {MARK} up; trap 'exit 0' TERM; sleep 1000 & wait"


def submission(folder):
    """What a person may write, with the mark in all of it."""
    folder.chmod(0o755)
    data, repository = folder / f"{MARK}-data", folder / f"{MARK}-repository"
    data.mkdir()
    subprocess.run(["git", "init", "-q", "--bare", str(repository)], check=True)
    subprocess.run(["chown", "-R", "2000000001", str(repository)], check=True)  # of team-a, the second project
    storage = {
        "hostPath": [{"path": str(data), "mountPath": f"/{MARK}/data"}],
        "git": [{"repository": f"file://{repository}", "path": f"/{MARK}/code"}],
        "emptyDirVolume": [{"path": f"/{MARK}/scratch"}],
    }
    return {**SUBMISSION, "workingDir": f"/{MARK}/data", "storage": storage}


def live_and_end(server, workload):
    """Runs it and stops it."""
    wait_log(server, workload, f"{MARK} up")
    uuid = next(iter(supervisors_of(server)))
    server.post(f"/api/v1/workloads/trainings/{workload}/suspend")
    server.wait_phase(workload, "Stopped")
    server.wait_for("its end", lambda: not supervisors_of(server))
    return uuid


def test_a_supervisor_shows_nothing_of_a_submission(start, folder):
    server = start()
    workload = submit(server, f"a-{MARK}", STAYS, gpus=0, spec=submission(folder))
    wait_log(server, workload, f"{MARK} up")
    (supervisor,) = supervisors_of(server).values()
    process = pathlib.Path(f"/proc/{supervisor}")
    assert (process / "environ").read_bytes() == b""
    assert MARK.encode() not in (process / "cmdline").read_bytes()
    files = [os.readlink(path) for path in (process / "fd").iterdir()]
    assert not any(MARK in path or "handover" in path for path in files), files


EXEC = re.compile(r'^(\d+) +execve\("((?:[^"\\]|\\.)*)", \[(.*?)\], \[(.*?)\](?:\)| <unf)')
CHANGES_USER = re.compile(r"^(\d+) +set(?:|re|res)uid\(([1-9]\d*)")
FORK = re.compile(r"^(\d+) +(?:<\.\.\. )?(?:clone3?|v?fork)\b.* = (\d+)$")


class Trace:
    """All programs that a server and what it starts have started, by strace: (words, variables) of those that keep
    root's rights."""

    def __init__(self, path):
        self.path = path

    def kept(self, but_what_starts=None):
        """Waits for the tracer's end, which writes last. `but_what_starts`: the name of a program that stands for
        another, whose own children are left out."""
        end = time.monotonic() + 60
        while subprocess.run(["pgrep", "-f", f"^[^ ]*strace .*{self.path}"], capture_output=True).returncode == 0:
            assert time.monotonic() < end, "strace goes on"
        text = self.path.read_text(errors="replace")
        assert f'"echo {MARK} stops"' in text, "what the user runs was not seen either"
        lines = text.splitlines()
        parents = {child: parent for parent, child in (found.groups() for found in map(FORK.match, lines) if found)}
        left_out, found = set(), []
        for line in lines:
            if changed := CHANGES_USER.match(line):
                left_out.add(changed.group(1))
            started = EXEC.match(line)
            if started and not self.is_below(started.group(1), parents, left_out):
                found.append((f"{started.group(2)} {started.group(3)}", started.group(4)))
                if pathlib.Path(started.group(2)).name == but_what_starts:
                    left_out.add(started.group(1))
        return found

    @staticmethod
    def is_below(process, parents, others):
        while process and process not in others:
            process = parents.get(process)
        return process is not None


@pytest.fixture
def traced(folder, monkeypatch):
    """Servers start under strace."""
    strace = shutil.which("strace")
    path, program = folder / "trace", folder / "traced"
    calls = "execve,clone,clone3,fork,vfork,setuid,setreuid,setresuid"
    program.write_text(
        f'#!/bin/sh\nexec {strace} -D -f -q -v -s 100000 -o {path} -e trace={calls} -e signal=none {PRORATA} "$@"\n'
    )
    program.chmod(0o755)
    if not strace or subprocess.run([program, "--version"], capture_output=True).returncode:
        pytest.skip("no strace")
    path.unlink()
    monkeypatch.setattr(servers, "PRORATA", str(program))
    return Trace(path)


def show(kept):
    for words, variables in kept:
        print(f"{words[:300]}\n    {variables[:300]}")


def test_no_program_with_rights_has_anything_of_a_submission(traced, start, folder):
    server = start()
    workload = submit(server, f"a-{MARK}", STAYS, gpus=0, spec=submission(folder))
    uuid = live_and_end(server, workload)
    server.stop()
    kept = traced.kept()
    server.start()
    show(kept)
    assert [words for words, _ in kept if uuid in words], "its supervisor was not seen"
    assert [both for both in kept if MARK in "".join(both)] == []
    assert [variables for words, variables in kept if uuid in words] == [""]
    assert {pathlib.Path(words.split()[0]).name for words, _ in kept if uuid in words} == {"prorata-supervisor"}


@pytest.mark.parametrize("name", ["podman", "docker"])
def test_the_client_of_a_runtime_has_words_of_a_submission_alone(traced, start, folder, name):
    runtime = Runtime(folder)
    server = start(**runtime.install(name))
    spec = submission(folder)
    workload = image_submit(server, f"a-{MARK}", STAYS, spec=spec)
    live_and_end(server, workload)
    server.stop()
    kept = traced.kept(but_what_starts=name)
    server.start()
    show(kept)
    clients = [(words, variables) for words, variables in kept if f"/{name} " in words]
    assert [variables for _, variables in kept if MARK in variables] == []
    assert {words.split('"')[3] for words, _ in clients} >= {"run", "exec", "rm"}
    assert [words for words, _ in kept if MARK in words and f"/{name} " not in words] == []
    assert runtime.calls("run")[0]["environment"].keys() <= {"PATH", "HOME", "TMPDIR", "PRORATA_POD", "LC_CTYPE"}
