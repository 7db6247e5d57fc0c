"""The command line against a fresh server, with a home of its own."""
import os
import subprocess

import pytest

from conftest import ADMIN, PASSWORD, PRORATA


class Client:
    def __init__(self, server, home):
        self.server, self.home = server, home
        home.mkdir()
        runai = home / "runai"
        runai.symlink_to(os.path.realpath(PRORATA))
        self.runai = str(runai)

    def run(self, *words, program=None, status=0):
        done = subprocess.run([program or PRORATA, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              env={**os.environ, "HOME": str(self.home)}, timeout=60)
        assert done.returncode == status, done
        return done.stdout if status == 0 else done.stderr

    def sign_in(self):
        self.run("config", "set", "--cp-url", self.server.url)
        self.run("login", "user", "-u", ADMIN, "-p", PASSWORD)
        return self


@pytest.fixture
def client(server, folder):
    return Client(server, folder / "home").sign_in()


@pytest.fixture
def preemption(make_server, folder):
    return Client(make_server("--scenario", "preemption", command="demo"), folder / "home").sign_in()
