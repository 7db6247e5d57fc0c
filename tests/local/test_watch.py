"""`--watch` of submits: the reason that it waits while it does, then that it runs; the status says which."""

import pytest
from servers import Client
from shells import Terminal

SLEEPS = ["-g", "4", "-p", "team-a", "--command", "--", "sleep", "1000"]


@pytest.fixture
def machine(start):
    return start()


@pytest.fixture
def client(machine, folder):
    return Client(machine, folder / "home").sign_in()


def fill(machine, client):
    """All GPUs are taken."""
    client.run("training", "submit", "first", "-i", "none", *SLEEPS)
    (first,) = machine.get("/api/v1/workloads").json["workloads"]
    machine.wait_phase(first["id"], "Running")
    return first["id"]


def named(machine, name):
    return [w["id"] for w in machine.get("/api/v1/workloads").json["workloads"] if w["name"] == name]


def test_what_runs_is_told_with_what_to_do_next(client):
    told = client.run("training", "submit", "one", "--watch", "-i", "none", *SLEEPS).splitlines()
    assert told[-2:] == ["Running", "Its output: prorata workload logs one -p team-a --follow"]
    assert "A shell in it: prorata bash two -p team-a" in client.run(
        "workspace",
        "submit",
        "two",
        "--watch",
        "-i",
        "none",
        "-g",
        "0",
        "-p",
        "team-a",
        "--command",
        "--",
        "sleep",
        "9",
    )


def test_what_waits_says_why_until_it_runs(machine, client, follow):
    first = fill(machine, client)
    watching = follow(machine, "training", "submit", "second", "--watch", "-i", "none", *SLEEPS)
    machine.wait_for("the reason", lambda: "second: Pending: " in watching.errors.read_text())
    machine.delete(f"/api/v1/workloads/trainings/{first}")
    status, lines, errors = watching.end()
    assert status == 0 and "Running" in lines, errors
    assert all(line.startswith("second: ") for line in errors.splitlines()), "plain lines, without a terminal"
    assert len(set(errors.splitlines())) == len(errors.splitlines()), "a line only where something changed"


def test_what_is_stopped_while_it_waits_ends_with_a_status(machine, client, follow):
    fill(machine, client)
    watching = follow(machine, "training", "submit", "second", "--watch", "-i", "none", *SLEEPS)
    (second,) = machine.wait_for("its submission", lambda: named(machine, "second"))
    machine.post(f"/api/v1/workloads/trainings/{second}/suspend")
    status, lines, errors = watching.end()
    assert status == 1 and "Error: second was stopped" in errors and "Running" not in lines


def test_what_fails_before_it_runs_ends_with_a_status(client):
    words = ["--backoff-limit", "0", "--env-secret", "X=none,key=k", "-i", "none", *SLEEPS]
    assert "Error: one failed" in client.run("training", "submit", "one", "--watch", *words, status=1)


def test_a_terminal_has_one_line_that_is_drawn_again(machine, client):
    first = fill(machine, client)
    screen = Terminal(client, "training", "submit", "second", "--watch", "-i", "none", *SLEEPS)
    screen.resize(24, 40)
    screen.wait("\r\x1b\\[Ksecond: Pending: ")
    machine.delete(f"/api/v1/workloads/trainings/{first}")
    screen.wait("\r\x1b\\[KRunning")
    assert screen.status() == 0
