"""`open`: the address of a workload's port, and a browser that is led there."""

import json
import os
import stat
import subprocess

import pytest
from browsers import Browser, free_port, serve
from servers import PRORATA, Client
from shells import Terminal


@pytest.fixture
def machine(start):
    return start("--apps-listen", "127.0.0.1:0")


def signed_in(server, folder):
    client = Client(server, folder / "home").sign_in()
    client.run("project", "set", "team-a")
    return client


@pytest.fixture
def port():
    return free_port()


@pytest.fixture
def client(machine, folder, port):
    serve(machine, "notebook", port)
    return signed_in(machine, folder)


@pytest.fixture
def display(folder, monkeypatch):
    """A desktop: what its xdg-open was called with, and what lay in the file, come to light in a folder."""
    programs = folder / "desktop"
    programs.mkdir()
    (programs / "xdg-open").write_text(
        f'#!/bin/sh\ncd {programs} && cp -p "$1" page && printf %s "$*" >part && mv part words\n'
    )
    (programs / "xdg-open").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("DISPLAY", ":0")
    return programs


def everything_ended(run):
    """Runs with a pipe that all its processes hold, and comes back when the last of them is gone."""
    mine, theirs = os.pipe()
    os.set_inheritable(theirs, True)
    done = run(theirs)
    os.close(theirs)
    assert os.read(mine, 1) == b""
    os.close(mine)
    return done


@pytest.mark.parametrize("words", [("open",), ("training", "open"), ("workload", "open")], ids=" ".join)
def test_the_address_lets_a_browser_in(machine, client, port, words):
    for more in ((), ("--port", str(port))):
        url = client.run(*words, "notebook", *more).strip()
        browser = Browser(machine)
        entered = browser.enter(url)
        answer = browser.request("GET", entered.headers["Location"])
        assert dict(json.loads(answer.text)["headers"])["x-forwarded-user"], answer.text


def test_what_the_server_refuses_is_said(client, port):
    assert "none of its exposed URLs has that port" in client.run("open", "notebook", "--port", "1", status=1)
    assert "no workload was found: other" in client.run("open", "other", status=1)
    for text in ("0", "65536", "x", "-1", "1x"):
        assert f'--port: expected a port, got "{text}"' in client.run("open", "notebook", f"--port={text}", status=1)


def test_a_terminal_with_a_display_opens_the_browser(machine, client, display):
    terminal = Terminal(client, "open", "notebook")
    code = terminal.wait(r"(http://\S+)\r\n")[1].partition("code=")[2]
    assert code and terminal.status() == 0
    machine.wait_for("the browser", (display / "words").exists)
    assert code not in (display / "words").read_text(), "others of the machine read what programs are called with"
    assert f"code={code}" in (display / "page").read_text()
    assert stat.S_IMODE((display / "page").stat().st_mode) == 0o600


@pytest.mark.parametrize("what", ["--print", "no terminal", "no display", "no xdg-open"])
def test_else_no_browser_opens(client, display, monkeypatch, what):
    if what == "no display":
        monkeypatch.delenv("DISPLAY")
        monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    if what == "no xdg-open":
        (display / "xdg-open").chmod(0o644)
        monkeypatch.setenv("PATH", str(display))
    words = ("open", "notebook", *(["--print"] if what == "--print" else []))

    def run(kept):
        if what == "no terminal":
            environment = {**os.environ, "HOME": str(client.home)}
            return subprocess.run(
                [PRORATA, *words], env=environment, pass_fds=[kept], check=True, timeout=60
            ).returncode
        terminal = Terminal(client, *words)
        terminal.wait(r"http://\S+\r\n")
        return terminal.status()

    assert everything_ended(run) == 0
    assert not (display / "page").exists() and not (client.home / ".runai/open.html").exists()


def test_without_the_listener_the_way_out_is_named(start, folder, port):
    server = start()
    serve(server, "notebook", port)
    client = signed_in(server, folder)
    said = client.run("open", "notebook", status=1)
    assert "no address for workloads' ports is set up" in said and "--apps-listen" in said
    assert f"port-forward notebook {port}\n" in said
    assert "port-forward notebook 77\n" in client.run("open", "notebook", "--port", "77", status=1)


def test_the_help_has_examples(client):
    assert client.run("workspace", "open", "--help").count("\n  prorata open notebook") == 2
