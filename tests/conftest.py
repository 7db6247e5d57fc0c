"""Fixtures for the black-box tests: servers in folders of their own.

A server that crashes, or that a sanitizer stops, fails the test that used it with the end of its log."""

import atexit
import functools
import pathlib
import shutil
import subprocess
import tempfile

import pytest
from servers import ROOT, Client, Manager, Server, check_sums
from shells import Follower

# This machine as the cluster, with GPUs that are pretended.
ON_THIS_MACHINE = ("--backend", "local", "--local-gpus", "4")


@functools.cache
def quick_start(*cluster):
    """(data folder, the administrator's token) of a quick start that has begun, once a run of pytest. A copy starts in
    a third of the time: nothing is migrated, and no password hashed. cluster: () or ON_THIS_MACHINE."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="prorata-quick-start-"))
    atexit.register(shutil.rmtree, path, True)
    server = Server(path, *cluster, "--quick-start").start()
    token = server.sign_in()
    status = server.stop()
    assert status == 0, f"server ended with {status}:\n{server.tail()}"
    return server.data, token


# These make another cluster, or are about the first start.
OF_THEIR_OWN = {"--cluster", "--backend", "--data", "--config"}


def make_quick(path, *arguments, environment=None, command="serve"):
    """A server, not yet started; with a quick start's folder where that makes no difference to the test."""
    server = Server(path, *arguments, environment=environment, command=command)
    cluster = ON_THIS_MACHINE if arguments[:4] == ON_THIS_MACHINE else ()
    own = OF_THEIR_OWN & {*arguments[len(cluster) :]}
    if command == "serve" and "--quick-start" in arguments and not environment and not own:
        data, server.token = quick_start(*cluster)
        shutil.copytree(data, server.data, ignore=shutil.ignore_patterns("journal", "wake"))
    return server


@pytest.fixture
def folder():
    path = tempfile.mkdtemp(prefix="prorata-test-")
    yield pathlib.Path(path)
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def make_server(folder):
    """make_server(*arguments, environment=None, command="serve"): starts a server in a folder of its own; stopped, and
    looked at, at the end."""
    made = []

    def make(*arguments, **options):
        path = folder / f"server-{len(made)}"
        path.mkdir()
        server = make_quick(path, *arguments, **options)
        made.append(server)
        return server.start()

    yield make
    for server in made:
        status = server.stop()
        log = server.log.read_text(errors="replace")
        assert status in (0, -9), f"server ended with {status}:\n{server.tail()}"
        assert "Sanitizer" not in log and "runtime error" not in log, server.tail()
        check_sums(server.data)


@pytest.fixture
def server(make_server):
    """A server with the demo's simulated cluster: 2 nodes x 2 GPUs, department research, projects team-a and team-b
    with quota 2."""
    return make_server("--quick-start")


@pytest.fixture(scope="module")
def start_for_module():
    """start_for_module(*arguments): a server for all tests of a file; stopped, and looked at, after the last."""
    made = []

    def start(*arguments):
        made.append(make_quick(pathlib.Path(tempfile.mkdtemp(prefix="prorata-test-")), *arguments))
        return made[-1].start()

    yield start
    for server in made:
        status = server.stop()
        log = server.log.read_text(errors="replace")
        assert status == 0, f"server ended with {status}:\n{server.tail()}"
        assert "Sanitizer" not in log and "runtime error" not in log, server.tail()
        check_sums(server.data)
        shutil.rmtree(server.folder, ignore_errors=True)


@pytest.fixture(scope="module")
def module_server(start_for_module):
    """The same as server, one for all tests of a file: for tables of requests that leave nothing behind."""
    return start_for_module("--quick-start")


@pytest.fixture(scope="session")
def build_shim(tmp_path_factory):
    """build_shim(name): the library of tests/support/NAME.c, to be preloaded into a server."""

    def build(name):
        path = tmp_path_factory.getbasetemp() / f"{name.rpartition('/')[2]}.so"
        if not path.exists():
            subprocess.run(
                ["cc", "-shared", "-fPIC", "-D_GNU_SOURCE", "-o", path, ROOT / f"tests/support/{name}.c", "-ldl"],
                check=True,
            )
        return {"LD_PRELOAD": str(path), "ASAN_OPTIONS": "verify_asan_link_order=0"}

    return build


@pytest.fixture
def failing_disk(build_shim, folder):
    """(environment, order): what a server is started with, and the file that says how its disk fails."""
    order = folder / "order"
    return {**build_shim("failing_disk"), "FAILING_DISK": str(order)}, order


@pytest.fixture
def manager(folder, request):
    made = Manager(getattr(request, "param", str(folder / "notify")).replace("FOLDER", folder.name))
    yield made
    made.socket.close()


@pytest.fixture
def client(server, folder):
    return Client(server, folder / "home").sign_in()


@pytest.fixture
def follow(folder):
    """follow(server, *words): the command line, signed in, in team-a; ended with the test."""
    made = []

    def begin(server, *words):
        client = Client(server, folder / f"home-{len(made)}").sign_in()
        client.run("project", "set", "team-a")
        made.append(Follower(client, *words))
        return made[-1]

    yield begin
    for follower in made:
        follower.process.kill()
        follower.process.wait()


@pytest.fixture
def preemption(make_server, folder):
    return Client(make_server("--scenario", "preemption", command="demo"), folder / "home").sign_in()
