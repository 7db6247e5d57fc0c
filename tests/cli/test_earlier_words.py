"""What the earlier spellings tell and ask, beside the present ones."""

import re

import pytest
from shells import Terminal
from test_client import statuses, wait_status


@pytest.mark.parametrize("words", [["delete"], ["training", "delete"]])
def test_both_generations_ask_at_a_terminal(client, words):
    client.run("training", "submit", "kept", "-i", "x", "-p", "team-a")
    wait_status(client, kept="Running")
    for answer, says, status in (("n", "nothing was deleted", 1), ("y", "kept (was )?deleted successfully", 0)):
        terminal = Terminal(client, *words, "kept", "-p", "team-a")
        terminal.wait(r"Delete kept\? \[y/N\] ")
        terminal.write(answer + "\n")
        terminal.wait(says)
        assert terminal.status() == status
        assert (statuses(client).get("kept") == "Running") == (answer == "n")


def test_help_names_earlier_priorities_and_says_who_asks(client):
    for words in (["submit"], ["training", "submit"], ["workspace", "submit"]):
        (line,) = [line for line in client.run(*words, "--help").splitlines() if "--priority" in line]
        assert all(word in line for word in ("very-low", "train", "interactive", "build", "inference")), line
    old, new = "at a terminal it asks, unless --yes", "asks first, and needs --yes without a terminal"
    for words, says in ((["delete"], old), (["training", "delete"], new), (["environment", "delete"], new)):
        assert says in client.run(*words, "--help"), words


def test_who_submitted_by_the_command_line_and_where_its_ports_answer(client):
    client.run("submit", "ports", "-i", "x", "-p", "team-a", "--port", "8888:8888", "--port", "9:10")
    client.server.submit("plain", "team-a", 1)
    wait_status(client, ports="Running", plain="Running")
    sources = {w["name"]: w["source"] for w in client.server.get("/api/v1/workloads").json["workloads"]}
    assert sources == {"ports": "CLI", "plain": "Control-plane"}
    described = {name: client.run("describe", name, "-p", "team-a").splitlines() for name in sources}
    urls = [re.fullmatch(r"SERVICE URL\(S\): (.*)", line) for line in described["ports"]]
    (urls,) = [found[1] for found in urls if found]
    assert re.fullmatch(r"http://node-\d:8888,http://node-\d:10", urls)
    assert "CREATED BY CLI: true" in described["ports"] and "CREATED BY CLI: false" in described["plain"]
    assert "SERVICE URL(S): " in described["plain"]
    assert any(line.rstrip().endswith(urls) for line in client.run("list", "jobs", "-p", "team-a").splitlines())
