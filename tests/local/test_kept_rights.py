"""What runs with the server's rights on behalf of a pod acts on nothing that the submission says: neither on its
variables, nor on its words, nor on a path that its user can change."""

import os
import pathlib
import shutil
import subprocess

import pytest
from pods import events_of, run
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
        "GIT_EXTERNAL_DIFF": str(witness.program("diff")),
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


def test_a_runtime_is_given_no_path_that_the_user_may_not_enter(start, folder):
    runtime = Runtime(folder)
    (folder / "closed").mkdir(mode=0o700)
    (folder / "closed/data").mkdir()
    server = start(**runtime.install("podman"))
    workload = image_submit(server, "job", "true", spec={"storage": {"hostPath": paths(32, folder / "closed/data")}})
    server.wait_phase(workload, "Failed")
    assert any("closed/data" in event and "Permission denied" in event for event in events_of(server, workload))
    assert runtime.calls("run") == []
