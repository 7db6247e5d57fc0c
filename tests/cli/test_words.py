"""Words of the documents: priorities, ways to sign in, names without a project, what a waiting workload will hold."""

import contextlib
import re

import pytest
from fake_kube import FakeKube
from servers import Client


def submit(client, name, project="team-a", gpus="1", *more, kind="training"):
    client.run(kind, "submit", name, "-i", "x", "-g", gpus, "-p", project, *more)


def rows(client, *more):
    return {
        line.split()[0]: line.split()
        for line in client.run("workload", "list", "-A", "--no-headers", *more).splitlines()
    }


def test_older_priorities_are_taken(client):
    for name, (is_preemptible, priority) in {
        "train": ("Yes", "low"),
        "interactive": ("Yes", "medium-high"),
        "build": ("No", "high"),
        "inference": ("No", "very-high"),
        "interactive-preemptible": ("Yes", "medium-high"),
    }.items():
        submit(client, name, "team-a", "0", "--priority", name)
        assert rows(client, "--columns", "Workload,Preemptible,Priority")[name][1:] == [is_preemptible, priority]
    old = client.run(
        "submit", "old", "-i", "x", "--interactive", "--priority", "interactive", "-p", "team-a", program=client.runai
    )
    assert "submitted" in old and "Priority: medium-high" in client.run("describe", "old")
    assert "got urgent" in client.run(
        "training", "submit", "new", "-i", "x", "--priority", "urgent", "-p", "team-a", status=1
    )


def test_gpus_of_what_waits_are_those_it_asks_for(client):
    submit(client, "waits", "team-a", "3")
    submit(client, "runs", "team-a", "2")
    submit(client, "ended", "team-b", "1")
    client.server.wait_for(
        "a run", lambda: rows(client)["runs"][2] == "Running" and rows(client)["ended"][2] == "Running"
    )
    client.run("training", "suspend", "ended", "-p", "team-b")
    client.server.wait_for("its end", lambda: rows(client)["ended"][2] == "Stopped")
    found = rows(client)
    assert (
        found["waits"][2:] == ["Pending", "team-a", "0/1", "3.00"]
        and found["runs"][5] == "2.00"
        and found["ended"][5] == "0.00"
    )


def test_login_help_shows_every_way(client):
    said = client.run("login", "--help")
    for way in ("login user", "login application", "login app", "--user", "--password"):
        assert way in said, said
    assert "sign in as a service account" in said


def test_describe_needs_no_project_where_the_name_is_unique(client):
    submit(client, "one")
    submit(client, "twin", "team-a", "0")
    submit(client, "twin", "team-b", "0")
    assert "Priority: low" in client.run("describe", "one", program=client.runai)
    assert client.run("explain", "one").startswith("one (")
    assert "several projects have a workload twin: team-" in client.run("describe", "twin", status=1)
    assert "no workload was found: three" in client.run("describe", "three", status=1)
    assert "no project is named" in client.run("delete", "one", program=client.runai, status=1)
    client.run("project", "set", "team-b")
    assert "no workload was found: one in project team-b" in client.run("describe", "one", status=1)


def check_quotas(client, total):
    for noun in ("project", "department"):
        quotas = {
            line.split()[0]: float(line.split()[1]) for line in client.run(noun, "list", "--no-headers").splitlines()
        }
        assert quotas.pop("default") == 0 and sum(quotas.values()) == total, noun


def test_the_quick_start_s_quotas_add_up_to_the_cluster(client):
    check_quotas(client, 4)


@pytest.fixture(params=["simulated", "local", "kubernetes"])
def plain(request, make_server, folder):
    """A new server on 4 GPUs that nobody was given."""
    words = {"simulated": [], "local": ["--local-gpus", "4"]}.get(request.param)
    with contextlib.ExitStack() as stack:
        if words is None:
            kube = stack.enter_context(contextlib.closing(FakeKube(folder, "--nodes", 1, "--gpus", 4)))
            words = ["--kubeconfig", kube.kubeconfig]
        yield make_server("--backend", request.param, *words)


def test_a_plain_server_gives_no_quota(plain, folder):
    """Whose training borrows, whose workspace waits and is told the way out; teams made later own what there is."""
    client = Client(plain, folder / "home").sign_in()
    check_quotas(client, 0)
    command = ("-p", "default", "-g", "1", "-i", "none", "--command", "--", "sleep", "600")
    client.run("training", "submit", "t", *command)
    client.run("workspace", "submit", "w", *command)
    client.server.wait_for("t", lambda: "Running" in client.run("describe", "t", "-p", "default"))
    client.server.wait_for("w", lambda: "Make it preemptible; or raise" in client.run("describe", "w", "-p", "default"))
    said = client.run("describe", "w", "-p", "default")
    assert "Non-preemptible work must fit the quota: project default deserves 0 GPUs in node pool default" in said
    client.run("department", "create", "research", "--gpu-quota", "4")
    for team in ("team-a", "team-b"):
        done = client.finish("project", "create", team, "--department", "research", "--gpu-quota", "2")
        assert done.returncode == 0 and done.stderr == "", done
    check_quotas(client, 4)


def test_the_demo_s_quotas_add_up_to_the_cluster(preemption):
    check_quotas(preemption, 8)


def test_a_request_by_gpu_memory_is_shown(client):
    client.run("training", "submit", "part", "-i", "any", "--gpu-memory-request", "10Gi", "-p", "team-a")
    shown = client.run("training", "describe", "part", "-p", "team-a")
    assert re.search(r"GPU Memory\s.*10Gi", shown), shown
    shown = client.run("describe", "job", "part", "-p", "team-a", program=client.runai)
    assert "GPU MEMORY: 10Gi\n" in shown and "TOTAL REQUESTED GPU MEMORY: 10Gi\n" in shown, shown


def test_an_amount_in_other_units_is_told_those_there_are(client):
    for amount in ("8GB", "8000MB", "8g"):
        refused = client.run(
            "training", "submit", "big", "-i", "any", "--cpu-memory-request", amount, "-p", "team-a", status=1
        )
        assert "an amount such as 8G or 8Gi (k, M, G, T, P" in refused and amount in refused, refused


def test_words_that_a_command_does_not_take_are_refused(client):
    """A mistyped flag or a filter without its flag would else pass for one that was heard."""
    commands = re.findall(r"^  ([a-z][a-z -]*?)  ", client.run("help", "commands", program=client.runai), re.M)
    assert len(commands) > 100, commands
    for command in commands:
        usage = re.search(r"^Usage: \S+ (.*)$", client.run(*command.split(), "--help", program=client.runai), re.M)
        if not usage or any(word.endswith("...") for word in usage[1].split()):
            continue  # a family of commands, or one that takes any number
        refused = client.run(*command.split(), "one", "two", "three", program=client.runai, status=1)
        assert re.search(r'expected no (more words|word), got "(one|two|three)"\nusage: ', refused), (command, refused)
    for words, got in (
        (("list", "-A", "b1"), "b1"),
        (("describe", "a1", "a2"), "a2"),
        (("training", "submit", "a1", "-i", "x", "-p", "team-a", "python", "x.py"), "python"),
        (("cluster", "rename", "a", "b", "c"), "c"),
    ):
        assert f'got "{got}"' in client.run(*words, status=1)
    assert not client.server.get("/api/v1/workloads").json["workloads"]
    for name in ("a1", "a2"):
        submit(client, name)
    client.run("training", "suspend", "a1", "a2", "-p", "team-a")
    client.server.wait_for("both", lambda: {row[2] for row in rows(client).values()} == {"Stopped"})
