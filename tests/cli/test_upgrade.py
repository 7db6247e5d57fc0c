"""The command line from the server: its installer, and upgrade."""

import os
import pathlib
import shutil
import subprocess

from servers import PRORATA

PROGRAM = pathlib.Path(PRORATA).resolve()
PREFIX = "/api/v1/cli-exposer"


def installer(server, system="unix"):
    return server.request("GET", f"{PREFIX}/installer/{system}", token=None).body.decode()


def install(server, home, script):
    return subprocess.run(
        ["sh", "-s"],
        input=script,
        env={"HOME": str(home), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_installer_brings_the_servers_own_program(server, folder):
    home = folder / "person"
    home.mkdir()
    done = install(server, home, installer(server))
    assert done.returncode == 0, done
    own = home / ".local/bin/prorata"
    assert own.read_bytes() == PROGRAM.read_bytes() and os.access(own, os.X_OK)
    assert (home / ".local/bin/runai").resolve() == own.resolve()
    assert "is not in your PATH" in done.stdout and "Next: prorata login" in done.stdout
    described = subprocess.run(
        [home / ".local/bin/runai", "config", "generate"],
        env={"HOME": str(home)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert server.url in described.stdout
    assert not [name for name in os.listdir(own.parent) if name.startswith(".prorata-")]


def test_all_words_of_the_installer(server):
    assert installer(server, "linux") == installer(server, "mac") == installer(server)
    command = server.request("GET", f"{PREFIX}/installer/linux/commands", token=None).body.decode()
    assert command == f"curl -fsSL {server.url}{PREFIX}/installer/unix | sh\n"
    windows = server.request("GET", "/api/v1/cli/installer/windows/commands", token=None).body.decode()
    assert windows.startswith("# in a shell of the Windows Subsystem for Linux:") and command in windows
    assert server.request("GET", f"{PREFIX}/installer/plan9", token=None).status == 400
    other = server.request("GET", f"{PREFIX}/dist/darwin/arm64/runai", token=None)
    assert other.status == 404 and "has the command line for linux/" in other.json["message"]


def test_the_callers_address_cannot_write_the_script(server):
    for host in ("x';touch evil;'", "a b", "$(id)", "`id`", 'q"'):
        answer = server.request("GET", f"{PREFIX}/installer/unix", token=None, headers={"Host": host})
        assert answer.status == 400 and "touch" not in answer.body.decode(), answer
    named = server.request("GET", f"{PREFIX}/installer/unix", token=None, headers={"Host": "gpu.example.org:8443"})
    assert "url='http://gpu.example.org:8443'" in named.body.decode()


def test_a_program_that_does_not_run_here_is_not_kept(server, folder):
    home = folder / "person"
    home.mkdir()
    script = installer(server).replace("    curl -fsS -o", '    printf broken >"$file"; true -o')
    done = install(server, home, script)
    assert done.returncode == 1 and "It does not run here" in done.stderr, done
    assert os.listdir(home / ".local/bin") == []


def test_a_program_that_cannot_be_fetched_leaves_nothing(server, folder):
    home = folder / "person"
    home.mkdir()
    done = install(server, home, installer(server).replace("/dist/", "/nowhere/"))
    assert done.returncode == 1 and f"was not fetched into {home}/.local/bin" in done.stderr, done
    assert os.listdir(home / ".local/bin") == []


def test_upgrade_replaces_the_program(client, folder):
    own = folder / "bin" / "prorata"
    own.parent.mkdir()
    shutil.copy(PROGRAM, own)
    before = own.stat().st_ino
    assert "is the server's version already" in client.run("upgrade", program=str(own))
    assert own.stat().st_ino == before
    assert f"{own} is prorata " in client.run("upgrade", "--force", program=str(own))
    assert own.stat().st_ino != before and os.listdir(own.parent) == ["prorata"]
    assert own.read_bytes() == PROGRAM.read_bytes()
