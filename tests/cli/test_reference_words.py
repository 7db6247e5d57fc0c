"""Words of the vendor's reference for the present command line, as scripts write them."""

import json
import os
import re
import shutil
import subprocess

import pytest
from servers import Client
from test_client import statuses, wait_status

SUBMISSIONS = [
    ("a part of a GPU", ["training", "-g", "0.5"], "spec.compute.gpuPortionRequest", 0.5),
    ("a part in each worker", ["distributed", "-f", "TF", "-g", "0.1"], "spec.compute.gpuPortionRequest", 0.1),
    (
        "pods near to each other",
        ["training", "--preferred-pod-topology-key", "zone"],
        "spec.podAffinity",
        {"type": "Preferred", "key": "zone"},
    ),
    (
        "pods that must be",
        ["training", "--required-pod-topology-key", "rack", "--pod-running-timeout", "1m"],
        "spec.podAffinity",
        {"type": "Required", "key": "rack"},
    ),
    (
        "how a mount shows what is mounted below",
        ["workspace", "--host-path", "path=/a,mount=/b,mount-propagation=HostToContainer"],
        "spec.storage.hostPath",
        [{"path": "/a", "mountPath": "/b", "mountPropagation": "HostToContainer", "readOnly": True}],
    ),
    (
        "who may ask an inference",
        [
            "inference",
            "--serving-port",
            "container=8080,authorization-type=authorizedUsersOrGroups,authorized-users=a@x.org:b@x.org",
        ],
        "spec.servingPort",
        {"container": 8080, "authorizationType": "authorizedUsersOrGroups", "authorizedUsers": ["a@x.org", "b@x.org"]},
    ),
    (
        "times of an inference in seconds",
        ["inference", "--scale-to-zero-retention-seconds", "30", "--scale-down-delay-seconds", "10"],
        "spec.autoscaling",
        {"scaleToZeroRetentionSeconds": 30, "scaleDownDelaySeconds": 10},
    ),
    (
        "the master's cores",
        ["training pytorch", "-g", "1", "--master-cpu-core-request", "2", "--master-gpu-devices-request", "0"],
        "masterSpec.compute",
        {"gpuDevicesRequest": 0, "cpuCoreRequest": 2.0},
    ),
    (
        "a part of a GPU for the master",
        ["training pytorch", "-g", "2", "--master-gpu-portion-request", "0.5", "--master-gpu-devices-request", "1"],
        "masterSpec.compute",
        {"gpuDevicesRequest": 1, "gpuRequestType": "portion", "gpuPortionRequest": 0.5},
    ),
    (
        "the master's variables",
        ["training pytorch", "-e", "A=1", "-e", "B=2", "--master-environment-variable", "B=3"],
        "masterSpec.environmentVariables",
        [{"name": "A", "value": "1"}, {"name": "B", "value": "3"}],
    ),
    (
        "a registry's secret",
        ["workspace", "--image-pull-secret", "name=hub"],
        "spec.imagePullSecrets",
        [{"name": "hub"}],
    ),
    (
        "the master's resources",
        ["training mpi", "--extended-resource", "rdma/a=2", "--master-extended-resource", "rdma/b"],
        "masterSpec.compute.extendedResources",
        [{"resource": "rdma/b", "quantity": "1"}],
    ),
]


@pytest.fixture(scope="module")
def module_client(module_server, tmp_path_factory):
    return Client(module_server, tmp_path_factory.mktemp("client") / "home").sign_in()


@pytest.mark.parametrize("name, words, path, expected", SUBMISSIONS, ids=[row[0] for row in SUBMISSIONS])
def test_flags_of_a_submission(module_client, name, words, path, expected):
    kind, *flags = words
    found = json.loads(
        module_client.run(*kind.split(), "submit", "x", "-i", "img", "-p", "team-a", "--dry-run", "--json", *flags)
    )
    for key in path.split("."):
        found = found[key]
    assert found == expected


def test_a_variable_from_a_secret_in_the_first_generation(module_client):
    words = ("submit", "x", "-i", "img", "-p", "team-a", "-e", "KEY=SECRET:anna-env,WANDB_KEY", "-e", "PLAIN=SECRET:x")
    found = json.loads(module_client.run(*words, "--dry-run", "--json", program=module_client.runai))
    assert found["spec"]["environmentVariables"] == [
        {"name": "KEY", "secret": {"name": "anna-env", "key": "WANDB_KEY"}},
        {"name": "PLAIN", "value": "SECRET:x"},
    ]


def test_parts_of_a_description(client):
    words = (
        "--host-path",
        "path=/data,mount=/mnt",
        "--external-url",
        "container=8888,url=https://nb.example.org",
        "-e",
        "A=1",
    )
    client.run("workspace", "submit", "w1", "-i", "img", "-p", "team-a", *words, "--", "sleep")
    wait_status(client, w1="Running")

    def describe(*flags):
        return client.run("workspace", "describe", "w1", "-p", "team-a", *flags)

    whole = describe("--containers")
    assert re.search(r"^Networks\n.*\n.*\n +8888 +https://nb.example.org +public", whole, re.M)
    assert re.search(r"^Storage\n.*\n.*\n +hostPath +/data +/mnt", whole, re.M)
    assert re.search(r"^Containers\n.*\n.*\n +w1 +img +sleep +1", whole, re.M)
    less = describe("--networks=false", "--storage=false", "--pods", "false")
    assert not re.search(r"^(Networks|Storage|Containers|Pods)$", less, re.M) and "\nEvents\n" in less
    times = [re.findall(r"^ (20\S+Z)", describe("--sortEvents", order), re.M) for order in ("asc", "desc")]
    assert len(times[0]) > 1 and times[0] == sorted(times[0]) == times[1][::-1]
    assert "asc or desc, got up" in client.run("describe", "w1", "-p", "team-a", "--sortEvents", "up", status=1)


def test_more_than_a_part_of_a_gpu_is_whole(module_client):
    error = module_client.run("training", "submit", "x", "-i", "x", "-p", "team-a", "-g", "1.5", status=1)
    assert "--gpu-devices-request: whole devices, or a part below 1; got 1.5" in error


def test_a_workload_by_its_uuid(client):
    client.run("project", "set", "team-a")
    ids = {name: client.server.submit(name, "team-a", 0) for name in ("one", "two")}
    wait_status(client, one="Running", two="Running")
    shown = json.loads(client.run("training", "describe", "--uuid", ids["one"], "-o", "json"))
    assert ids["one"] in json.dumps(shown)
    assert "one was suspended" in client.run("workload", "suspend", "--uuid", ids["one"])
    wait_status(client, one="Stopped", two="Running")
    assert "no workload was found" in client.run("workspace", "suspend", "--uuid", ids["two"], status=1)
    assert "expected a UUID" in client.run("training", "suspend", "--uuid", "two", status=1)
    assert "in place of a name" in client.run("training", "suspend", "two", "--uuid", ids["two"], status=1)
    client.run("training", "delete", "--uuid", ids["two"], "-y")
    client.server.wait_for("it to go", lambda: "two" not in statuses(client))
    assert "no workload was found" in client.run("training", "describe", "--uuid", ids["two"], status=1)


def test_distributed_ones_by_framework(client):
    for kind, framework in (("pytorch", "PyTorch"), ("tensorflow", "TF")):
        client.run("training", kind, "submit", framework.lower(), "-i", "x", "-p", "team-a", "-g", "0")
    client.run("training", "submit", "plain", "-i", "x", "-p", "team-a")

    def names(*words):
        return client.run(*words, "-p", "team-a", "-o", "name").split()

    assert sorted(names("workload", "list")) == ["plain", "pytorch", "tf"]
    assert names("training", "pytorch", "list") == names("pytorch", "list") == ["pytorch"]
    assert names("training", "list", "--framework", "tensorflow") == ["tf"]
    assert names("training", "list") == ["plain"]
    assert "nothing to run a shell in" in client.run("pytorch", "exec", "pytorch", "-p", "team-a", "--", "ls", status=1)


def test_forms_of_a_list(client):
    client.run("training", "submit", "a1", "-i", "x", "-p", "team-a")
    listed = json.loads(client.run("project", "list", "-o", "json"))
    assert json.loads(client.run("project", "list", "--json", "--no-pagination")) == {"projects": listed}
    assert set(client.run("project", "list", "-o", "name").split()) == {project["name"] for project in listed}
    (workload,) = json.loads(client.run("workload", "list", "-p", "team-a", "--json", "--no-pagination"))["workloads"]
    assert workload["name"] == "a1"
    usual = client.run("workload", "list", "-p", "team-a").splitlines()[0].split()
    wide = client.run("workload", "list", "-p", "team-a", "-o", "wide").splitlines()[0].split()
    assert set(usual) < set(wide) and "Priority" in wide
    assert "table, wide, json, yaml or name, got xml" in client.run("project", "list", "-o", "xml", status=1)
    assert "table, json or yaml, got wide" in client.run("training", "describe", "a1", "-o", "wide", status=1)


def test_assets_have_name_and_type_on_the_row(client):
    spec = client.home / "nfs.yaml"
    spec.write_text("server: s\npath: /p\nmountPath: /m\n")
    client.run("datasource", "create", "home", "--type", "nfs", "-f", str(spec), "-p", "team-a")
    (row,) = [row for row in json.loads(client.run("datasource", "list", "--json")) if row["name"] == "home"]
    assert row["type"] == "nfs" and row["meta"]["name"] == "home"
    described = json.loads(client.run("datasource", "describe", "home", "-o", "json"))
    assert described["meta"]["name"] == "home"


def test_which_server_and_project(client):
    client.run("project", "set", "team-a")
    (cluster,) = json.loads(client.run("cluster", "list", "--json"))
    name = cluster["name"]
    found = json.loads(client.run("config", "describe", "--json"))
    assert found["control_plane"]["url"] == client.server.url
    assert found["cluster"]["uuid"] == client.server.cluster_id() and found["cluster"]["name"] == name
    assert found["cluster"]["project"] == {"name": "team-a", "id": client.server.project_id("team-a")}
    assert "Project: team-a" in client.run("config", "describe")
    assert f"cluster {name} configured" in client.run("config", "cluster", name)


def completed(client, *words):
    return client.run("complete", "--", *words).split()


def test_completion_offers_words_flags_and_names(client):
    assert {"training", "workspace", "workload"} <= set(completed(client, ""))
    assert completed(client, "train") == ["training"]
    assert completed(client, "training", "des") == ["describe"]
    assert completed(client, "training", "submit", "--gpu-p") == ["--gpu-portion-request", "--gpu-portion-limit"]
    assert (
        completed(client, "project", "set", "team-") == completed(client, "list", "-p", "team-") == ["team-a", "team-b"]
    )
    assert completed(client, "nonsense", "x") == []
    client.run("training", "submit", "alpha", "-i", "x", "-p", "team-a")
    client.run("workspace", "submit", "alps", "-i", "x", "-p", "team-a")
    assert completed(client, "training", "describe", "-p", "team-a", "al") == ["alpha"]
    assert sorted(completed(client, "describe", "al")) == ["alpha", "alps"]
    assert completed(client, "training", "submit", "al") == [], "a new name is nobody's yet"


def test_completion_is_quiet_without_a_server(client):
    client.server.stop()
    done = client.finish("complete", "--", "project", "set", "t")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.skipif(not shutil.which("bash"), reason="bash is asked")
def test_bash_completes_by_the_script(client):
    script = client.run("completion", "bash", program=client.runai)
    asked = script + '\nCOMP_WORDS=("$1" training des); COMP_CWORD=2; _prorata_words; printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(
        ["bash", "-c", asked, "bash", client.runai],
        env={**os.environ, "HOME": str(client.home)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "describe\n" and not done.stderr
    assert "bashcompinit" in client.run("completion", "zsh") and "commandline" in client.run("completion", "fish")
    assert "bash, zsh or fish, got tcsh" in client.run("completion", "tcsh", status=1)
