"""What a person reads who asks how, or who wrote a word that is none."""

import json
import os
import re
import subprocess

import pytest
from servers import PRORATA, Client


@pytest.fixture(scope="module")
def client(module_server, tmp_path_factory):
    return Client(module_server, tmp_path_factory.mktemp("client") / "home").sign_in()


def said(*words, status=0):
    done = subprocess.run([PRORATA, *words], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == status, (words, done)
    return done.stderr if status else done.stdout


def test_the_program_alone_shows_what_one_needs_first():
    lines = said().splitlines()
    begin = lines.index("Begin here:")
    assert lines[begin + 1].split()[0] == "login" and lines[begin + 11] == "", "ten commands"
    assert said("--help") == said("help") == said()


def test_every_command_stands_in_a_topic():
    first = said("help")
    topics = first[first.index("All others, by topic:") : first.index("--help says more")]
    words = set(re.findall(r"[a-z-]+", topics))
    commands = re.findall(r"^  ([a-z][a-z-]*)", said("help", "commands"), re.M)
    assert len(commands) > 200
    assert {word for word in commands if word not in words} == {"ssh-proxy"}, "which only ssh calls"


def test_help_of_a_kind_lists_each_verb_once():
    listed = said("training", "--help")
    assert re.findall(r"^  training (\S+)  ", listed, re.M) == [
        "submit", "list", "describe", "explain", "logs", "suspend", "resume", "delete",
        "bash", "exec", "port-forward", "open", "attach",
    ]  # fmt: skip
    assert "where KIND is pytorch, mpi, tensorflow, xgboost, jax, standard." in listed
    assert said("help", "training") == listed
    assert "account otp enable" in said("account", "--help")


@pytest.mark.parametrize(
    "words, heading, without",
    [
        (["training", "submit"], "GPUs, cores and memory of a pod:", ["Serving:", "Workers and master:"]),
        (["inference", "submit"], "Serving:", ["Workers and master:"]),
        (["pytorch", "submit"], "Workers and master:", ["Serving:"]),
    ],
    ids=["training", "inference", "pytorch"],
)
def test_flags_stand_in_groups_with_examples(words, heading, without):
    shown = said(*words, "--help")
    assert f"\n{heading}\n" in shown and not any(other in shown for other in without)
    examples = shown[shown.index("Examples:") : shown.index("What runs:")].splitlines()[1:3]
    assert [line.split()[:3] for line in examples][0] == ["prorata", *words]
    assert len(examples) == 2


MISTAKES = [
    ("a letter too few", ["trainng", "submit"], 'did you mean "training submit"?'),
    ("two letters swapped", ["training", "sumbit", "x"], '"training sumbit"; did you mean "training submit"?'),
    ("each of three words", ["acount", "otp", "enabel"], 'did you mean "account otp enable"?'),
    ("a word that is near", ["lst"], 'did you mean "list"?'),
    ("nothing near", ["xyzzy"], 'unknown command "xyzzy"; prorata --help lists them'),
    ("a verb that a kind has not", ["department", "fly"], "prorata department --help lists them"),
    ("credentials of one's own", ["my-credential", "list"], "use prorata credential list"),
    ("an operator's kind", ["nim", "submit", "x"], "use prorata inference submit NAME"),
    ("a letter of a flag", ["training", "submit", "x", "--imag", "y"], "did you mean --image?"),
    ("another tool's flag", ["training", "submit", "x", "--gpus", "2"], "did you mean --gpu-devices-request?"),
    ("a flag of the other generation", ["submit", "x", "--gpu-portion-request", "0.5"], "did you mean --gpu?"),
    ("own credentials", ["training", "submit", "x", "--env-my-credentials", "y"], "did you mean --env-secret?"),
    ("a flag of workloads elsewhere", ["project", "list", "--status", "Running"], "unknown flag: --status"),
]  # fmt: skip


@pytest.mark.parametrize("words, told", [row[1:] for row in MISTAKES], ids=[row[0] for row in MISTAKES])
def test_a_mistake_is_told_what_was_meant(words, told):
    done = subprocess.run([PRORATA, *words], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode in (1, 2) and not done.stdout
    assert done.stderr.startswith("Error: ") and told in done.stderr.splitlines()[0], done


def test_a_list_as_the_api_answers(client):
    projects = client.server.get("/api/v1/org-unit/projects").json["projects"]
    raw = client.run("project", "list", "--raw")
    assert '"projects": [' in raw and raw.count('"effective"') == len(projects)
    assert client.run("workload-type", "list", "--raw").startswith('{\n  "types": [')
    names = client.run("project", "list", "-o", "name").split()
    assert client.run("project", "list", "-o", "name", "--next-token", "1").split() == names[1:]


def test_columns_may_be_kept(client):
    def titles():
        return client.run("node", "list").splitlines()[0].split()

    usual = titles()
    client.run("node", "list", "--columns", "Name,Status", "--set-default-columns")
    assert titles() == ["Name", "Status"] != usual
    assert client.run("nodepool", "list").splitlines()[0].split()[:2] == ["Name", "Label"], "of that command alone"
    client.run("node", "list", "--set-default-columns")
    assert titles() == usual


def test_types_and_claims_are_listed(client):
    assert re.search(
        r"^ SeldonDeployment +machinelearning\.seldon\.io +Deploy ", client.run("workload-type", "list"), re.M
    )
    spec = client.home / "pvc.yaml"
    spec.write_text("existingPvc: true\nclaimName: scratch\npath: /scratch\n")
    client.run("datasource", "create", "scratch", "--type", "pvc", "-f", str(spec), "-p", "team-a")
    assert [row["name"] for row in json.loads(client.run("pvc", "list", "--json"))] == ["scratch"]
    client.run("datasource", "delete", "scratch", "-y")


def test_a_configuration_for_another_machine(client):
    made = json.loads(client.run("config", "generate"))
    assert made["control_plane"] == {"url": client.server.url} and "accessToken" not in str(made)
    path = client.home / "elsewhere.json"
    client.run("config", "generate", "--file", str(path))
    assert json.loads(path.read_text()) == made
    assert "No such file" in client.run("config", "generate", "--file", "/nowhere/x", status=1)


def test_versions_of_both_sides(client):
    own, server = client.run("version", "--wide").splitlines()
    assert own == client.run("version").strip() and server.endswith(client.server.url)


def test_kubectl_is_told_to_ask_this_client(client, tmp_path):
    def kubeconfig(path):
        environment = {**os.environ, "HOME": str(client.home), "PATH": path}
        return subprocess.run(
            [PRORATA, "kubeconfig", "set"], env=environment, capture_output=True, text=True, timeout=60, check=True
        ).stdout

    assert "There is no kubectl here" in kubeconfig("/nowhere")
    fake = tmp_path / "kubectl"
    fake.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >{tmp_path}/told\n')
    fake.chmod(0o755)
    assert 'The user "prorata"' in kubeconfig(f"{tmp_path}:/usr/bin:/bin")
    told = (tmp_path / "told").read_text().split()
    assert told[:3] == ["config", "set-credentials", "prorata"] and told[-3:-1] == [
        "--exec-arg=auth",
        "--exec-arg=get-token",
    ]
    (command,) = [word.partition("=")[2] for word in told if word.startswith("--exec-command=")]
    assert '"token"' in client.run("auth", "get-token", program=command)
