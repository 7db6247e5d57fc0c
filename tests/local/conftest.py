"""Servers whose cluster is this machine; all their pods are gone at the end."""

import pathlib
import shutil
import subprocess
import tempfile

import pytest
import servers
from machine_people import Door, People
from pods import GPUS, LIBRARY, Gpus, kind_of, supervisors_of
from servers import PRORATA


@pytest.fixture
def local(make_server):
    """A server with this machine as its cluster, and projects team-a and team-b with 2 of its 4 pretended GPUs each."""
    server = make_server("--backend", "local", "--local-gpus", str(GPUS), "--quick-start")
    yield server
    if server.process.poll() is not None:
        server.start()
    for workload in server.get("/api/v1/workloads").json["workloads"]:
        server.delete(f"/api/v1/workloads/{kind_of(workload)}/{workload['id']}")
    # A pod that has only just been started has not written its state yet: the workload's own end counts, too.
    server.wait_for(
        "all pods gone", lambda: not supervisors_of(server) and not server.get("/api/v1/workloads").json["workloads"]
    )


def end_pods(server):
    """Deletes all workloads, and waits until none of their pods is left."""
    for workload in server.get("/api/v1/workloads").json["workloads"]:
        server.delete(f"/api/v1/workloads/{kind_of(workload)}/{workload['id']}")
    server.wait_for("all pods gone", lambda: not supervisors_of(server))


@pytest.fixture(scope="module")
def start_machine(start_for_module):
    """start_machine(*flags): as start, one server for all tests of a file."""
    made = []

    def make(*flags):
        made.append(start_for_module("--backend", "local", "--local-gpus", str(GPUS), "--quick-start", *flags))
        return made[-1]

    yield make
    for server in made:
        end_pods(server)


@pytest.fixture
def start(make_server):
    """start(*flags, **environment): a server with this machine as its cluster; all its pods are gone at the end."""
    made = []

    def make(*flags, **environment):
        made.append(
            make_server("--backend", "local", "--local-gpus", "4", "--quick-start", *flags, environment=environment)
        )
        return made[-1]

    yield make
    for server in made:
        end_pods(server)


@pytest.fixture
def machine(start):
    return start()


@pytest.fixture
def gpus(folder):
    return Gpus(folder / "gpus", 4)


@pytest.fixture
def mounted(folder, monkeypatch):
    """mounted(COMMANDS): servers start in a mount namespace of their own, after these shell commands."""
    all_commands = []

    def mount(commands):
        all_commands.append(commands)
        program = folder / "mounted"
        program.write_text(
            f'#!/bin/sh\nexec unshare -m sh -c \'{" ".join(all_commands)} exec "$@"\' sh {PRORATA} "$@"\n'
        )
        program.chmod(0o755)
        if subprocess.run([program, "--version"], capture_output=True).returncode:
            pytest.skip("no mount namespace")
        monkeypatch.setattr(servers, "PRORATA", str(program))

    return mount


@pytest.fixture
def without_cgroup_v2(mounted):
    mounted("umount -l -a -t cgroup2 &&")


@pytest.fixture
def without_cgroups(mounted):
    mounted("umount -l -a -t cgroup,cgroup2 &&")


@pytest.fixture
def gpu_machine(make_server, gpus, folder):
    def make(*more):
        return make_server(
            "--backend",
            "local",
            "--local-nvml",
            str(LIBRARY),
            "--quick-start",
            *more,
            environment={
                "PRORATA_FAKE_NVML": str(gpus.path),
                "PRORATA_FAKE_NVML_PODS": str(folder / "server-0/data/pods"),
            },
        )

    made = []

    def start(*more):
        made.append(make(*more))
        return made[-1]

    yield start
    for server in made:
        end_pods(server)


@pytest.fixture
def people():
    made = People()
    yield made
    made.done()


@pytest.fixture
def place():
    """A path for a socket in a folder of root's that others can pass."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="prorata-socket-", dir="/run"))
    folder.chmod(0o755)
    yield folder / "prorata.sock"
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def door(make_server, people, place):
    return Door(make_server, people, place)
