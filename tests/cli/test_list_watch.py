"""Lists that go on: `--watch`."""

import os
import re
import subprocess

import pytest
from servers import PRORATA
from shells import Terminal


@pytest.fixture
def watch(client, folder):
    """watch(*words): starts the command; what it has printed so far is said()."""
    started = []

    def start(*words):
        path = folder / f"said-{len(started)}"
        with open(path, "w") as out:
            started.append(
                subprocess.Popen([PRORATA, *words, "--watch"], stdout=out, env={**os.environ, "HOME": str(client.home)})
            )
        return path.read_text

    yield start
    for child in started:
        child.kill()
        child.wait(timeout=60)


def asked(server):
    """How often the list of workloads was asked for."""
    page = server.request("GET", "/metrics").body.decode()
    return sum(
        float(count) for count in re.findall(r'^prorata_http_requests_total\{.*get_workloads".* (\S+)$', page, re.M)
    )


def test_it_is_printed_again_when_something_changes(client, watch):
    server = client.server
    server.wait_phase(server.submit("a", "team-a"), "Running")
    said, old = watch("list", "-A"), watch("list", "jobs", "-A")
    for text in (said, old):
        server.wait_for("the first", lambda text=text: re.search(r"^ ?a +(Training +)?Running ", text(), re.M))
    server.wait_phase(server.submit("b", "team-b"), "Running")
    for text in (said, old):
        server.wait_for("the second", lambda text=text: re.search(r"^ ?b +(Training +)?Running ", text(), re.M))
    tables = said().split("\n\n")
    assert len(tables) >= 2 and all(table.split()[0] == "Workload" for table in tables), tables


def test_ages_alone_are_no_change(client, watch):
    server = client.server
    server.wait_phase(server.submit("a", "team-a"), "Running")
    said = watch("list", "jobs", "-A")
    server.wait_for("the table", lambda: "team-a" in said())
    first, before = said(), asked(server)
    assert re.search(r" \d+s ", first), first
    server.wait_for("three more looks", lambda: asked(server) >= before + 3)
    assert said() == first


def test_json_is_printed_again_too(client, watch):
    said = watch("list", "-A", "--json")
    client.server.wait_for("the first", lambda: said() == "[]\n")
    client.server.submit("a", "team-a")
    client.server.wait_for("the second", lambda: said().startswith("[]\n\n[\n") and '"name": "a"' in said())


def test_at_a_terminal_it_is_drawn_in_its_place(client):
    client.server.submit("a", "team-a")
    terminal = Terminal(client, "list", "-A", "-w")
    terminal.wait(r"\x1b\[H\x1b\[2J Workload")
    terminal.wait(r"\x1b\[H\x1b\[2J Workload")
    terminal.write("\x03")
    assert terminal.status() != 0


def test_it_ends_where_the_command_fails(client):
    assert "no project was found with the name nope" in client.run("list", "--watch", "-p", "nope", status=1)
