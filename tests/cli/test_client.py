"""The client commands: what they print, what they send, how they fail."""

import base64
import json
import re
import stat

import pytest


def statuses(client):
    lines = client.run("workload", "list", "-A", "--no-headers").splitlines()
    return {line.split()[0]: line.split()[2] for line in lines}


def wait_status(client, **wanted):
    client.server.wait_for(wanted, lambda: {n: s for n, s in statuses(client).items() if n in wanted} == wanted)


def test_files_are_what_other_clients_read(client):
    config = json.loads((client.home / ".runai/config.json").read_text())
    assert config["control_plane"]["url"] == client.server.url
    assert config["cluster"]["uuid"] == client.server.cluster_id()
    path = client.home / ".runai/authentication.json"
    token = base64.urlsafe_b64decode(json.loads(path.read_text())["accessToken"]).decode()
    assert token.count(".") == 2 and stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_token_is_for_other_programs(client):
    token = client.run("auth", "get-token", "-o", "plaintext").strip()
    assert client.server.request("GET", "/api/v1/workloads", token=token).status == 200
    plugin = json.loads(client.run("auth", "get-token"))
    assert plugin["kind"] == "ExecCredential" and plugin["status"] == {"token": token}
    assert "--output: plaintext or kubeconfig, got json" in client.run("auth", "get-token", "-o", "json", status=1)
    client.run("logout")
    assert "no login is saved" in client.run("auth", "get-token", status=1)


def test_over_quota_quick_start_by_the_present_words(client):
    client.run("training", "submit", "a1", "-i", "runai.jfrog.io/demo/quickstart", "-g", "1", "-p", "team-a")
    client.run("training", "submit", "a2", "-i", "runai.jfrog.io/demo/quickstart", "-g", "2", "-p", "team-a")
    client.run("training", "submit", "b1", "-i", "runai.jfrog.io/demo/quickstart", "-g", "1", "-p", "team-b")
    wait_status(client, a1="Running", a2="Running", b1="Running")
    client.server.wait_for(
        "team-a borrows one", lambda: re.search(r"team-a +2\.00 +3\.00 +150\.00%", client.run("project", "list"))
    )
    client.run("training", "submit", "b2", "-i", "runai.jfrog.io/demo/quickstart", "-g", "1", "-p", "team-b")
    wait_status(client, a1="Pending", a2="Running", b1="Running", b2="Running")
    shown = client.run("training", "describe", "a1", "-p", "team-a")
    assert "Preempted" in shown and "b2" in shown and "Why pending:" in shown
    client.run("training", "delete", "a2", "-p", "team-a", "-y")
    wait_status(client, a1="Running", b1="Running", b2="Running")


def test_over_quota_quick_start_by_the_old_words(client):
    for name, gpus, project in (("a1", "1", "team-a"), ("a2", "2", "team-a"), ("b1", "1", "team-b")):
        said = client.run(
            "submit", name, "-i", "runai.jfrog.io/demo/quickstart", "-g", gpus, "-p", project, program=client.runai
        )
        assert said.startswith(f"The job '{name}' has been submitted successfully\n")
    wait_status(client, a1="Running", a2="Running", b1="Running")
    client.run("submit", "b2", "-i", "runai.jfrog.io/demo/quickstart", "-g", "1", "-p", "team-b", program=client.runai)
    wait_status(client, a1="Pending", a2="Running", b1="Running", b2="Running")
    table = client.run("list", "-A", program=client.runai).splitlines()
    assert re.split(r"  +", table[0].strip()) == [
        "Workload",
        "Type",
        "Status",
        "Project",
        "Running/Req. Pods",
        "GPU Alloc.",
    ]
    assert set(table[1]) == {"─"} and ["a1", "Training", "Pending", "team-a", "0/1", "1.00"] in [
        line.split() for line in table
    ]
    table = client.run("list", "jobs", "-A", program=client.runai).splitlines()
    assert re.split(r"  +", table[0]) == [
        "NAME",
        "STATUS",
        "AGE",
        "NODE",
        "IMAGE",
        "TYPE",
        "PROJECT",
        "USER",
        "GPUs Allocated (Requested)",
        "PODs Running (Pending)",
        "SERVICE URL(S)",
    ]
    assert any(re.match(r"a1 +Pending .* Train +team-a .* 0 \(1\) +0 \(1\)", line) for line in table)
    assert client.run("delete", "a2", "-p", "team-a", program=client.runai) == "Job a2 deleted successfully\n"
    wait_status(client, a1="Running", b1="Running", b2="Running")


def running(client, project):
    lines = client.run("workload", "list", "-p", project, "--no-headers").splitlines()
    return sorted(line.split()[0] for line in lines if line.split()[2] == "Running")


def test_two_of_four_are_taken_back_at_once(client):
    for project in ("team-a", "team-b"):
        unit = client.server.get("/api/v1/org-unit/projects", filterBy=f"name=={project}").json["projects"][0]
        unit["resources"][0]["gpu"]["deserved"] = 1
        assert (
            client.server.request(
                "PATCH", f"/api/v1/org-unit/projects/{unit['id']}/resources", unit["resources"]
            ).status
            == 200
        )
    for number in range(1, 5):
        client.run("submit", f"a{number}", "-i", "x", "-g", "1", "-p", "team-a")
    client.server.wait_for("team-a fills the cluster", lambda: running(client, "team-a") == ["a1", "a2", "a3", "a4"])
    for number in range(1, 5):
        client.run("submit", f"b{number}", "-i", "x", "-g", "1", "-p", "team-b")
    client.server.wait_for(
        "two and two", lambda: len(running(client, "team-a")) == 2 and len(running(client, "team-b")) == 2
    )
    client.run("delete", running(client, "team-b")[0], "-p", "team-b")
    client.server.wait_for(
        "a waiting one of team-b follows",
        lambda: len(running(client, "team-a")) == 2 and len(running(client, "team-b")) == 2,
    )


def test_a_single_job_is_moved_to_make_room(client):
    for name, project in (("c1", "team-a"), ("c2", "team-a"), ("c3", "team-b")):
        client.run("training", "submit", name, "-i", "x", "-g", "1", "-p", project)
    wait_status(client, c1="Running", c2="Running", c3="Running")
    client.run("training", "delete", "c1", "-p", "team-a", "-y")
    client.server.wait_for("it is gone", lambda: "c1" not in statuses(client))
    client.run("training", "submit", "big", "-i", "x", "-g", "2", "-p", "team-b")
    wait_status(client, c2="Running", c3="Running", big="Running")
    moved = client.run("describe", "c2", "-p", "team-a") + client.run("describe", "c3", "-p", "team-b")
    assert "Consolidated" in moved


def exercise(client, training):
    wait_status(client, **{training: "Running"})
    client.run(
        "submit",
        "jupyter-workspace",
        "--project",
        "project-b",
        "--image",
        "jupyter/tensorflow-notebook",
        "--gpu",
        "4",
        "--interactive",
        "--port",
        "8888:8888",
    )
    wait_status(client, **{training: "Pending", "jupyter-workspace": "Running"})
    events = client.run("describe", training, "--project", "project-a", "--show-events")
    found = set(re.findall(r"Preempted|Scheduled|Started", events))
    assert found == {"Preempted", "Scheduled", "Started"}
    preempted = next(line for line in events.splitlines() if "Preempted" in line)
    assert "jupyter-workspace" in preempted and "project-b" in preempted
    client.run("delete", "jupyter-workspace", "--project", "project-b")
    wait_status(client, **{training: "Running"})


def test_preemption_exercise_with_its_own_commands(preemption):
    preemption.run(
        "submit",
        "large-training-job",
        "--project",
        "project-a",
        "--image",
        "pytorch/pytorch:latest",
        "--gpu",
        "8",
        "--command",
        "python -c 'import time; time.sleep(3600)'",
    )
    wait_status(preemption, **{"large-training-job": "Running"})
    resources = preemption.run("get", "resources", "--project", "project-a")
    assert re.search(r"default +4\.00 +unlimited +\S+ +8\.00", resources), resources
    assert re.search(r"^total +1 +1 +8 +8\.00 +0\.00$", preemption.run("cluster-info"), re.M)
    assert "Priority: low" in preemption.run("describe", "large-training-job", "--project", "project-a")
    exercise(preemption, "large-training-job")


def test_preemption_exercise_with_a_gang(preemption):
    preemption.run(
        "training", "pytorch", "submit", "gang", "-p", "project-a", "-i", "pytorch", "--workers", "7", "-g", "1"
    )
    exercise(preemption, "gang")


def test_the_default_project(client):
    assert "no project is named" in client.run("training", "list", status=1)
    assert client.run("project", "set", "team-a") == "project team-a configured successfully\n"
    client.run("training", "submit", "mine", "-i", "x")
    assert "mine" in client.run("training", "list")
    assert (
        client.run("config", "project", "team-b", program=client.runai)
        == "Project team-b has been set as default project\n"
    )
    assert "mine" not in client.run("training", "list")
    assert "team-b (default)" in client.run("list", "projects")
    assert "no project" in client.run("project", "set", "nobody", status=1)


SPECS = [
    ("gpus", ["-g", "2"], "compute", {"gpuDevicesRequest": 2}),
    (
        "a portion",
        ["--gpu-portion-request", "0.5"],
        "compute",
        {"gpuDevicesRequest": 1, "gpuRequestType": "portion", "gpuPortionRequest": 0.5},
    ),
    (
        "memory",
        ["--gpu-memory-request", "4G"],
        "compute",
        {"gpuDevicesRequest": 1, "gpuRequestType": "memory", "gpuMemoryRequest": "4G"},
    ),
    (
        "cpu",
        ["--cpu-core-request", "0.5", "--cpu-memory-request", "1Gi"],
        "compute",
        {"cpuCoreRequest": 0.5, "cpuMemoryRequest": "1Gi"},
    ),
    (
        "environment",
        ["-e", "A=1", "-e", "B=x=y"],
        "environmentVariables",
        [{"name": "A", "value": "1"}, {"name": "B", "value": "x=y"}],
    ),
    ("arguments", ["--", "python", "a b.py"], "args", "python 'a b.py'"),
    ("a command", ["--command", "--", "sleep", "1"], "command", "sleep 1"),
    ("a command with a quote", ["--command", "--", "sh", "-c", "echo 'x'"], "command", "sh -c 'echo '\\''x'\\'''"),
    ("a node type", ["--node-type", "a100"], "nodeType", "a100"),
    ("node pools", ["--node-pools", "a", "--node-pools", "b"], "nodePools", ["a", "b"]),
    ("node pools at once", ["--node-pools", "a,b", "--node-pools", "c"], "nodePools", ["a", "b", "c"]),
    ("a duration", ["--termination-grace-period", "2m"], "terminationGracePeriodSeconds", 120),
    ("preemptibility", ["--preemptibility", "non-preemptible"], "preemptibility", "non-preemptible"),
    (
        "a toleration",
        ["--toleration", "key=k,value=v,operator=Equal,effect=NoSchedule"],
        "tolerations",
        [{"key": "k", "value": "v", "operator": "Equal", "effect": "NoSchedule"}],
    ),
    (
        "a port",
        ["--port", "container=80,external=8080,service-type=NodePort"],
        "ports",
        [{"container": 80, "external": 8080, "serviceType": "NodePort"}],
    ),
    (
        "ports as older documents write them",
        ["--port", "8080:80", "--port", "81"],
        "ports",
        [
            {"container": 80, "external": 8080, "serviceType": "ClusterIP"},
            {"container": 81, "serviceType": "ClusterIP"},
        ],
    ),
    (
        "a URL for two people",
        ["--external-url", "container=8888,tool-type=jupyter-notebook,authusers=a@b,authusers=c@d"],
        "exposedUrls",
        [
            {
                "container": 8888,
                "toolType": "jupyter-notebook",
                "authorizationType": "authorizedUsers",
                "authorizedUsers": ["a@b", "c@d"],
            }
        ],
    ),
    (
        "volumes of every kind",
        [
            "--new-pvc",
            "claimname=c,storageclass=fast,size=10Gi,path=/n,accessmode-rwm,ephemeral",
            "--existing-pvc",
            "claimname=e,path=/e,ro",
            "--nfs",
            "server=nas,path=/x,mountpath=/m",
            "--host-path",
            "path=/h,mount=/k,readwrite",
            "--git-sync",
            "repository=https://g/r.git,branch=b,rev=v1,path=/g,secret=s",
            "--s3",
            "bucket=b,url=https://s3,path=/b,accesskey=k",
            "--configmap-map-volume",
            "name=m,path=/c,subpath=f,default-mode=0644",
            "--secret-volume",
            "name=s,path=/s",
            "--empty-dir-volume",
            "path=/t,size-limit=1Gi",
        ],
        "storage",
        {
            "pvc": [
                {"existingPvc": True, "claimName": "e", "path": "/e", "readOnly": True},
                {
                    "claimName": "c",
                    "path": "/n",
                    "ephemeral": True,
                    "claimInfo": {"size": "10Gi", "storageClass": "fast", "accessModes": {"readWriteMany": True}},
                },
            ],
            "nfs": [{"server": "nas", "path": "/x", "mountPath": "/m", "readOnly": True}],
            "hostPath": [{"path": "/h", "mountPath": "/k", "readOnly": False}],
            "git": [
                {"repository": "https://g/r.git", "branch": "b", "revision": "v1", "path": "/g", "passwordSecret": "s"}
            ],
            "s3": [{"bucket": "b", "url": "https://s3", "path": "/b", "accessKeySecret": "k"}],
            "configMapVolume": [{"configMap": "m", "mountPath": "/c", "subPath": "f", "defaultMode": "0644"}],
            "secretVolume": [{"secret": "s", "mountPath": "/s"}],
            "emptyDirVolume": [{"path": "/t", "sizeLimit": "1Gi"}],
        },
    ),
    (
        "variables from elsewhere",
        ["-e", "A=1", "--env-secret", "B=s,key=k", "--env-config-map", "C=m,key=k", "--env-pod-field-ref", "D=spec.x"],
        "environmentVariables",
        [
            {"name": "A", "value": "1"},
            {"name": "B", "secret": {"name": "s", "key": "k"}},
            {"name": "C", "configMap": {"name": "m", "key": "k"}},
            {"name": "D", "podFieldRef": {"path": "spec.x"}},
        ],
    ),
    (
        "security",
        ["--run-as-uid", "1000", "--run-as-gid", "7", "--supplemental-groups", "8,9", "--user-group-source", "custom"]
        + ["--run-as-non-root", "--read-only-root-filesystem", "--capability", "SYS_NICE,IPC_LOCK", "--host-ipc"],
        "security",
        {
            "runAsUid": 1000,
            "runAsGid": 7,
            "supplementalGroups": "8,9",
            "uidGidSource": "custom",
            "runAsNonRoot": True,
            "readOnlyRootFilesystem": True,
            "capabilities": ["SYS_NICE", "IPC_LOCK"],
            "hostIpc": True,
        },
    ),
]


@pytest.mark.parametrize(
    "flag, wanted",
    [
        (("--nfs", "server=s,mount=/x"), '--nfs: no part "mount"'),
        (("--toleration", "key=k,seconds=soon"), "--toleration: seconds: expected a whole number"),
        (("--env-secret", "A=s"), "--env-secret: expected NAME=SOURCE,key=KEY"),
        (("--port", "container=80,extrnal=8080"), '--port: no part "extrnal"'),
        (("--port", "container=http"), '--port: container: expected a number, got "http"'),
        (("--port", "8888:"), '--port: container: expected a number, got ""'),
    ],
)
def test_a_part_that_is_wrong_is_named(client, flag, wanted):
    said = client.run("training", "submit", "x", "-i", "i", "-p", "team-a", "--dry-run", *flag, status=1)
    assert wanted in said


@pytest.mark.parametrize("flags, field, wanted", [s[1:] for s in SPECS], ids=[s[0] for s in SPECS])
def test_flags_become_the_specification(client, flags, field, wanted):
    said = client.run("training", "submit", "x", "-i", "image", "-p", "team-a", "--dry-run", *flags)
    assert json.loads(said)["spec"][field] == wanted


def test_suspend_resume_and_logs(client):
    client.run("workspace", "submit", "w", "-i", "x", "-g", "1", "-p", "team-a")
    wait_status(client, w="Running")
    assert "loss" in client.server.wait_for(
        "a line of training",
        lambda: (lambda t: t if "loss" in t else None)(client.run("workspace", "logs", "w", "-p", "team-a")),
    )
    assert len(client.run("logs", "w", "-p", "team-a", "--tail", "1").splitlines()) == 1
    client.run("workspace", "suspend", "w", "-p", "team-a")
    wait_status(client, w="Stopped")
    client.run("workspace", "resume", "w", "-p", "team-a")
    wait_status(client, w="Running")


def test_a_pool_whose_topology_is_off_says_so(client):
    server = client.server
    made = server.post(
        "/api/v1/network-topologies", {"name": "hall", "clusterId": server.cluster_id(), "levels": ["rack"]}
    ).json
    (pool,) = server.get("/api/v1/node-pools", filterBy="name==default").json["nodepools"]
    said = "Topology hall is off in default: node-0 and node-1 lack labels of its levels"
    assert said not in client.run("nodepool", "list")
    server.request("PATCH", f"/api/v1/node-pools/{pool['id']}", {"networkTopologyId": made["id"]})
    assert said in client.run("nodepool", "list")


@pytest.mark.parametrize(
    "words",
    [
        ["project", "list"],
        ["node", "list"],
        ["nodepool", "list"],
        ["department", "list"],
        ["cluster", "list"],
        ["workload", "list", "-A"],
        ["list", "nodes"],
        ["list", "clusters"],
        ["get", "node-pools"],
    ],
    ids=" ".join,
)
def test_lists_as_json_and_yaml(client, words):
    assert isinstance(json.loads(client.run(*words, "--json")), list)
    assert client.run(*words, "--yaml").startswith(("- ", "[]"))
    assert client.run(*words)


def test_columns_and_no_headers(client):
    client.run("training", "submit", "a", "-i", "x", "-p", "team-a")
    said = client.run("workload", "list", "-A", "--columns", "Project,Workload", "--no-headers")
    assert said.split() == ["team-a", "a"]


BAD = [
    ("an unknown command", ["frobnicate"], 2, "frobnicate"),
    ("an unknown flag", ["workload", "list", "--frob"], 1, "--frob"),
    ("an unknown letter", ["workload", "list", "-z"], 1, "-z"),
    ("a flag without its value", ["training", "submit", "x", "-i"], 1, "image"),
    ("gpus that are no number", ["training", "submit", "x", "-i", "y", "-g", "many", "-p", "team-a"], 1, "many"),
    ("half a device", ["training", "submit", "x", "-i", "y", "-g", "1.5", "-p", "team-a"], 1, "1.5"),
    (
        "an environment without a value",
        ["training", "submit", "x", "-i", "y", "-e", "A", "-p", "team-a"],
        1,
        "NAME=VALUE",
    ),
    ("a name that is none", ["training", "submit", "Not_A_Name", "-i", "y", "-p", "team-a"], 1, "name"),
    ("no image", ["training", "submit", "x", "-p", "team-a"], 1, "image"),
    ("a project that is none", ["training", "submit", "x", "-i", "y", "-p", "nobody"], 1, "nobody"),
    ("a workload that is none", ["training", "describe", "nobody", "-p", "team-a"], 1, "no workload was found"),
    ("no name", ["training", "describe", "-p", "team-a"], 1, "NAME"),
    ("an address that is none", ["config", "set", "--cp-url", "ftp://x"], 1, "http"),
    ("deleting without a terminal", ["training", "delete", "x", "-p", "team-a"], 1, "no workload"),
]


@pytest.mark.parametrize("words, status, names", [b[1:] for b in BAD], ids=[b[0] for b in BAD])
def test_bad_input(client, words, status, names):
    assert names in client.run(*words, status=status)


def test_deleting_asks(client):
    client.run("training", "submit", "kept", "-i", "x", "-p", "team-a")
    assert "--yes" in client.run("training", "delete", "kept", "-p", "team-a", status=1)
    assert "kept" in statuses(client)


def test_signing_out_and_wrong_passwords(client):
    client.run("logout")
    assert "login user" in client.run("workload", "list", "-A", status=1)
    assert client.run("login", "user", "-u", "admin@prorata.local", "-p", "wrong", status=1).startswith("Error: ")


def test_a_server_that_is_not_there(client):
    client.run("config", "set", "--cp-url", "http://127.0.0.1:9")
    assert "127.0.0.1:9" in client.run("workload", "list", "-A", status=1)


def test_a_service_account_signs_in(client):
    answer = client.server.post("/api/v1/service-accounts", {"name": "robot"})
    assert answer.status == 201, answer
    made = answer.json
    client.run("login", "application", "--name", made["clientId"], "--secret", made["clientSecret"])
    assert "robot" in client.run("whoami")


def test_help_everywhere(client):
    assert "training submit" in client.run("--help", program=client.runai)
    for words in (["training", "submit"], ["submit"], ["workload", "list"], ["login", "user"], ["describe"]):
        assert client.run(*words, "--help").startswith("Usage: ")
