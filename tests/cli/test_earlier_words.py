"""What the earlier spellings tell and ask, beside the present ones."""

import json
import os
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


def top(client, *words, rows):
    """Rows as dictionaries, once there are so many and what they use is known."""

    def find():
        titles, *lines = client.run("top", *words).splitlines()
        names = re.split(r" {2,}", titles.strip())
        found = [dict(zip(names, re.split(r" {2,}", line.strip()), strict=True)) for line in lines]
        is_known = all("%" in row.get("GPU UTIL", "%") for row in found if row.get("GPU ALLOCATED") != "0")
        return found if len(found) == rows and is_known else None

    return client.server.wait_for(f"{rows} rows of top {words}", find)


def test_top_of_nodes_and_jobs(client):
    client.run("submit", "one", "-i", "x", "-p", "team-a", "-g", "1")
    client.run("submit", "two", "-i", "x", "-p", "team-a", "-g", "2", "--interactive")
    client.run("submit", "cpu", "-i", "x", "-p", "team-b", "-g", "0")
    wait_status(client, one="Running", two="Running", cpu="Running")
    jobs = top(client, "job", "-A", rows=3)
    assert [(job["NAME"], job["TYPE"], job["GPU ALLOCATED"]) for job in jobs] == [
        ("two", "Interactive", "2"),
        ("one", "Train", "1"),
        ("cpu", "Train", "0"),
    ]
    assert jobs[0]["NODE"].startswith("node-") and jobs[0]["PROJECT"] == "team-a" and jobs[2]["GPU UTIL"] == "-"
    assert [job["NAME"] for job in top(client, "jobs", "-p", "team-a", rows=2)] == ["two", "one"]
    nodes = top(client, "node", rows=2)
    assert {(node["STATUS"], node["GPU CAPACITY"], node["MEMORY CAPACITY"]) for node in nodes} == {
        ("Ready", "2", "256.0GiB")
    }
    assert "GPU MEMORY USAGE" not in nodes[0] and "GPU MEMORY USAGE" in top(client, "nodes", "-d", rows=2)[0]
    assert {node["name"] for node in json.loads(client.run("top", "node", "-o", "json"))} == {"node-0", "node-1"}


OLD_SPECS = [
    ("whole GPUs", ["-g", "2"], "compute", {"gpuDevicesRequest": 2}),
    (
        "half a GPU",
        ["-g", "0.5"],
        "compute",
        {"gpuDevicesRequest": 1, "gpuRequestType": "portion", "gpuPortionRequest": 0.5},
    ),
    ("runs", ["--completions", "12", "--parallelism", "3"], "completions", 12),
    ("a volume", ["-v", "/a:/b:ro"], "storage", {"hostPath": [{"path": "/a", "mountPath": "/b", "readOnly": True}]}),
    ("a command", ["--command", "sleep 1"], "command", "sleep 1"),
    ("a command after --", ["--command", "--", "sleep", "infinity"], "command", "sleep infinity"),
    (
        "words after -- are no flags",
        ["--service-type=nodeport", "--port", "30022:22", "--command", "--", "sshd", "-D"],
        "command",
        "sshd -D",
    ),
    (
        "a claim",
        ["--pvc", "scratch:/mnt", "--large-shm"],
        "storage",
        {"pvc": [{"path": "/mnt", "existingPvc": True, "readOnly": False, "claimName": "scratch"}]},
    ),
    (
        "a claim to read",
        ["--pvc", "scratch:/mnt:ro"],
        "storage",
        {"pvc": [{"path": "/mnt", "existingPvc": True, "readOnly": True, "claimName": "scratch"}]},
    ),
    (
        "a claim that is made",
        ["--pvc", "fast:10Gi:/mnt"],
        "storage",
        {
            "pvc": [
                {
                    "path": "/mnt",
                    "existingPvc": False,
                    "readOnly": False,
                    "claimInfo": {"size": "10Gi", "storageClass": "fast"},
                }
            ]
        },
    ),
    (
        "a claim by parts",
        ["--existing-pvc", "claimname=c,path=/c"],
        "storage",
        {"pvc": [{"existingPvc": True, "claimName": "c", "path": "/c"}]},
    ),
    (
        "a file server",
        ["--nfs", "server=nas,path=/x,mountpath=/m"],
        "storage",
        {"nfs": [{"server": "nas", "path": "/x", "mountPath": "/m", "readOnly": True}]},
    ),
    (
        "a repository",
        ["--git-sync", "source=https://g/r.git,branch=b,target=/g"],
        "storage",
        {"git": [{"repository": "https://g/r.git", "branch": "b", "path": "/g"}]},
    ),
    (
        "a user",
        ["--run-as-uid", "1000", "--run-as-gid", "7", "--host-ipc"],
        "security",
        {"runAsUid": 1000, "runAsGid": 7, "hostIpc": True},
    ),
    (
        "the caller as user",
        ["--run-as-user"],
        "security",
        {"uidGidSource": "custom", "runAsUid": os.getuid(), "runAsGid": os.getgid()},
    ),
    (
        "the network of the node",
        ["--host-network", "--allow-privilege-escalation", "true"],
        "security",
        {"hostNetwork": True, "allowPrivilegeEscalation": True},
    ),
]


@pytest.mark.parametrize("flags, field, wanted", [s[1:] for s in OLD_SPECS], ids=[s[0] for s in OLD_SPECS])
def test_old_flags_become_the_specification(client, flags, field, wanted):
    said = client.run("submit", "x", "-i", "image", "-p", "team-a", "--dry-run", *flags, program=client.runai)
    assert json.loads(said)["spec"][field] == wanted


def test_the_first_generation_takes_a_notebook_without_an_image(client):
    spec = json.loads(
        client.run("submit", "x", "--jupyter", "-g", "1", "-p", "team-a", "--dry-run", program=client.runai)
    )["spec"]
    assert spec["image"] == "jupyter/scipy-notebook" and spec["exposedUrls"][0]["container"] == 8888


@pytest.mark.parametrize("framework", ["pytorch", "mpi"])
def test_the_first_generation_submits_distributed_work(client, framework):
    words = ["submit-dist", framework, "--name", "x", "--workers", "2", "-i", "i", "-g", "1", "-p", "team-a"]
    said = json.loads(
        client.run(*words, "--dry-run", "--extended-resource", "rdma/rdma=1", "--", "a", program=client.runai)
    )
    assert said["name"] == "x" and said["spec"]["numWorkers"] == 2 and said["spec"]["args"] == "a"
    assert said["spec"]["distributedFramework"] == {"pytorch": "PyTorch", "mpi": "MPI"}[framework]


@pytest.mark.parametrize("claim", ["scratch", "scratch:mnt", ":/mnt", "a:b:c:/d", "a:/b:rx"])
def test_a_claim_that_is_none_is_refused(client, claim):
    said = client.run(
        "submit", "x", "-i", "i", "-p", "team-a", "--dry-run", "--pvc", claim, program=client.runai, status=1
    )
    assert f"--pvc: expected NAME:PATH[:ro] or CLASS:SIZE:PATH[:ro], got {claim}" in said
