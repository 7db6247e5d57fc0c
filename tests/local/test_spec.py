"""Each field of a specification on a machine without containers: honoured, said by an event, or refused at once."""

import os
import socket

import pytest
from pods import events_of, give, log_of, run, submit

ROOT = os.geteuid() == 0


def refuse(server, spec, kind="trainings", **more):
    body = {
        "name": "job",
        "projectId": server.project_id("team-a"),
        "clusterId": server.cluster_id(),
        "spec": {"image": "i", "command": "true", "compute": {"gpuDevicesRequest": 0}, **spec},
        **more,
    }
    answer = server.post(f"/api/v1/workloads/{kind}", body)
    assert answer.status == 400, answer
    return answer.json["message"]


# Refused at once: no pod of this machine could ever have it.
@pytest.mark.parametrize(
    "spec, message",
    [
        (
            {"compute": {"extendedResources": [{"resource": "a.b/c", "quantity": "1"}]}},
            "spec.compute.extendedResources[0].resource: this machine has no a.b/c",
        ),
        ({"security": {"capabilities": ["NET_ADMIN"]}}, "spec.security.capabilities: pods have no capabilities"),
        ({"security": {"seccompProfileType": "Localhost"}}, "spec.security.seccompProfileType: this machine"),
        ({"security": {"runAsUid": 0, "uidGidSource": "custom"}}, "spec.security.runAsUid: pods never run as root"),
        (
            {"security": {"runAsUid": 4321, "uidGidSource": "custom"}},
            "spec.security.runAsUid: pods of project team-a run as",
        ),
        ({"security": {"runAsGid": 4321, "uidGidSource": "custom"}}, "is not in group 4321"),
        ({"security": {"supplementalGroups": "4321"}}, "is not in group 4321"),
        (
            {"storage": {"pvc": [{"path": "/data", "claimName": "c", "existingPvc": True}]}},
            "spec.storage.pvc[0].path: claims need Kubernetes",
        ),
        (
            {"storage": {"nfs": [{"path": "/p", "server": "s", "mountPath": "/data"}]}},
            "spec.storage.nfs[0].path: mount it on the machine",
        ),
        (
            {"storage": {"hostPath": [{"path": "/usr", "mountPath": f"/m{i}"} for i in range(33)]}},
            "spec.storage.hostPath: at most 32 on this machine, got 33",
        ),
        ({"storage": {"s3": [{"bucket": "b", "path": "/data"}]}}, "spec.storage.s3[0].bucket: mount it on the machine"),
        (
            {"storage": {"dataVolume": [{"id": "6d3b1f9e-0d3c-4d7c-8a8e-0d9c4c7f1a11", "mountPath": "/data"}]}},
            "spec.storage.dataVolume[0].id",
        ),
        (
            {"environmentVariables": [{"name": "A", "userCredential": {"name": "n", "key": "k"}}]},
            "spec.environmentVariables[0].userCredential",
        ),
        (
            {"environmentVariables": [{"name": "A", "podFieldRef": {"path": "status.phase"}}]},
            "spec.environmentVariables[0].podFieldRef: status.phase",
        ),
    ],
)
def test_refused(machine, spec, message):
    assert message in refuse(machine, spec)
    assert not machine.get("/api/v1/workloads").json["workloads"]


def test_a_masters_own_specification_is_looked_at_too(machine):
    message = refuse(
        machine,
        {"numWorkers": 1, "distributedFramework": "PyTorch"},
        kind="distributed",
        masterSpecSameAsWorker=False,
        masterSpec={
            "image": "i",
            "command": "true",
            "compute": {"gpuDevicesRequest": 0},
            "security": {"capabilities": ["CHOWN"]},
        },
    )
    assert message.startswith("masterSpec: spec.security.capabilities")


def test_what_if_says_the_same(machine):
    answer = machine.post(
        "/api/v1/scheduler/what-if",
        {
            "type": "Training",
            "workload": {
                "name": "job",
                "projectId": machine.project_id("team-a"),
                "clusterId": machine.cluster_id(),
                "spec": {"image": "i", "command": "true", "security": {"capabilities": ["CHOWN"]}},
            },
        },
    )
    assert answer.status == 400 and "pods have no capabilities" in answer.json["message"]


def test_an_excluded_item_asks_for_nothing(machine):
    run(
        machine,
        "true",
        spec={"storage": {"pvc": [{"path": "/data", "claimName": "c", "existingPvc": True, "exclude": True}]}},
    )


# Said by an event; the command runs.
@pytest.mark.parametrize(
    "spec, message",
    [
        ({"compute": {"cpuCoreLimit": 1}}, "spec.compute.cpuCoreLimit is not kept"),
        ({"compute": {"cpuMemoryLimit": "1G"}}, "spec.compute.cpuMemoryLimit bounds each process"),
        (
            {"probes": {"readiness": {"periodSeconds": 5, "handler": {"httpGet": {"path": "/", "port": 80}}}}},
            "spec.probes.readiness is not probed",
        ),
        ({"stdin": True}, "spec.stdin is not kept open"),
        ({"tty": True}, "spec.tty is not given"),
        (
            {"ports": [{"container": 23456, "external": 30001, "serviceType": "NodePort"}]},
            "spec.ports[0].external is not mapped",
        ),
        (
            {"ports": [{"container": 23456, "serviceType": "LoadBalancer"}]},
            "spec.ports[0].serviceType: LoadBalancer makes no service",
        ),
        ({"exposedUrls": [{"container": 23456, "url": "https://a.example"}]}, "spec.exposedUrls[0].url is shown"),
        (
            {"exposedUrls": [{"container": 23456, "authorizationType": "authenticatedUsers"}]},
            "spec.exposedUrls[0].authorizationType counts for addresses of --apps-listen alone: at the port itself",
        ),
        ({"security": {"allowPrivilegeEscalation": True}}, "spec.security.allowPrivilegeEscalation is never granted"),
        ({"security": {"readOnlyRootFilesystem": True}}, "spec.security.readOnlyRootFilesystem is not kept"),
        (
            {"security": {"seccompProfileType": "RuntimeDefault"}},
            "spec.security.seccompProfileType: RuntimeDefault is not set",
        ),
        ({"security": {"uidGidSource": "fromTheImage"}}, "spec.security.uidGidSource: fromTheImage is not kept"),
        ({"security": {"uidGidSource": "fromIdpToken"}}, "spec.security.uidGidSource: fromIdpToken is not kept"),
        (
            {"storage": {"emptyDirVolume": [{"path": "/scratch", "sizeLimit": "1G"}]}},
            "spec.storage.emptyDirVolume[0].sizeLimit is not kept",
        ),
        (
            {"storage": {"emptyDirVolume": [{"path": "/scratch", "medium": "Memory"}]}},
            "spec.storage.emptyDirVolume[0].medium: Memory is not kept",
        ),
        (
            {"storage": {"emptyDirVolume": [{"path": "/scratch"}]}},
            "/scratch is not mounted on this machine: $PRORATA_PATH_SCRATCH",
        ),
        (
            {"storage": {"hostPath": [{"path": "/usr", "mountPath": "/usr", "readOnly": True}]}},
            "spec.storage.hostPath[0].readOnly is not kept",
        ),
        (
            {"storage": {"hostPath": [{"path": "/usr", "mountPath": "/usr", "mountPropagation": "HostToContainer"}]}},
            "has no meaning without a container",
        ),
        (
            {"storage": {"hostPath": [{"path": "/usr", "mountPath": "/data"}]}},
            "/data is not mounted on this machine: $PRORATA_PATH_DATA",
        ),
    ],
)
def test_said(machine, spec, message):
    if "cpu" in message and f"{'cores' if 'Core' in message else 'memory'} by cgroup" in machine.log.read_text():
        pytest.skip("a cgroup bounds it here")
    _, events = run(machine, "true", spec=spec)
    assert any(message in event for event in events), events


@pytest.mark.parametrize(
    "spec, message",
    [
        ({"cleanPodPolicy": "None"}, "spec.cleanPodPolicy: None is not kept"),
        (
            {"distributedFramework": "MPI", "mpiLauncherCreationPolicy": "WaitForWorkersReady"},
            "spec.mpiLauncherCreationPolicy: WaitForWorkersReady is not kept",
        ),
        ({"sshAuthMountPath": "/root/.ssh"}, "spec.sshAuthMountPath is not used"),
    ],
)
def test_said_of_distributed_workloads(machine, spec, message):
    workload = machine.submit(
        "gang",
        "team-a",
        0,
        kind="distributed",
        masterSpecSameAsWorker=False,
        masterSpec={"image": "i", "command": "sleep 1", "compute": {"gpuDevicesRequest": 0}},
        spec={"command": "sleep 2", "numWorkers": 1, "distributedFramework": "PyTorch", **spec},
    )
    machine.wait_phase(workload, "Completed", "Failed")
    assert any(message in event for event in events_of(machine, workload)), events_of(machine, workload)


def test_said_of_shared_devices(machine):
    workload = machine.submit(
        "half",
        "team-a",
        0,
        spec={
            "command": "true",
            "compute": {
                "gpuDevicesRequest": 1,
                "gpuRequestType": "portion",
                "gpuPortionRequest": 0.5,
                "gpuPortionLimit": 0.75,
            },
        },
    )
    machine.wait_phase(workload, "Completed")
    assert any("spec.compute.gpuPortionLimit is not kept" in event for event in events_of(machine, workload))


def test_nothing_is_said_where_all_is_honoured(machine):
    _, events = run(machine, "true", spec={"security": {"runAsNonRoot": True, "hostNetwork": True, "hostIpc": True}})
    assert not any("spec." in event for event in events), events


# Honoured.


def test_variables_of_all_kinds(machine):
    give(machine, "secrets", "login", word="open sesame")
    give(machine, "config-maps", "settings", level="11\n")
    log, _ = run(
        machine,
        "env",
        spec={
            "labels": [{"name": "team", "value": "blue"}],
            "environmentVariables": [
                {"name": "PLAIN", "value": "a 'quoted' \"value\""},
                {"name": "JOINED", "value": "$(PLAIN)/$$(PLAIN)/$(NOT_THERE)"},
                {"name": "SECRET", "secret": {"name": "login", "key": "word"}},
                {"name": "MAP", "configMap": {"name": "settings", "key": "level"}},
                {"name": "POD", "podFieldRef": {"path": "metadata.name"}},
                {"name": "NODE", "podFieldRef": {"path": "spec.nodeName"}},
                {"name": "IP", "podFieldRef": {"path": "status.podIP"}},
                {"name": "LABEL", "podFieldRef": {"path": "metadata.labels['team']"}},
                {"name": "GONE", "value": "x", "exclude": True},
            ],
        },
    )
    lines = log.splitlines()
    for line in (
        "PLAIN=a 'quoted' \"value\"",
        "JOINED=a 'quoted' \"value\"/$(PLAIN)/$(NOT_THERE)",
        "SECRET=open sesame",
        "MAP=11",
        "POD=job0-0-0",
        f"NODE={os.uname().nodename}",
        "IP=127.0.0.1",
        "LABEL=blue",
    ):
        assert line in lines, line
    assert not any(line.startswith("GONE=") for line in lines)


@pytest.mark.parametrize(
    "variable, message",
    [
        ({"name": "A", "secret": {"name": "login", "key": "none"}}, "environmentVariables: A: secret login: key none"),
        (
            {"name": "A", "secret": {"name": "none", "key": "k"}},
            "environmentVariables: A: no secret none for project team-a",
        ),
        ({"name": "A", "secret": {"name": "login", "key": "../login/word"}}, "no key is named"),
        ({"name": "A", "configMap": {"name": "none", "key": "k"}}, "environmentVariables: A: no config map none"),
    ],
)
def test_a_secret_that_is_not_there_fails_the_pod(machine, variable, message):
    give(machine, "secrets", "login", word="open sesame")
    _, events = run(machine, "true", phase="Failed", spec={"environmentVariables": [variable]})
    assert any(message in event for event in events), events


def test_a_secret_of_another_project_is_not_there(machine):
    give(machine, "secrets", "login", project="team-b", word="open sesame")
    _, events = run(
        machine,
        "true",
        phase="Failed",
        spec={"environmentVariables": [{"name": "A", "secret": {"name": "login", "key": "word"}}]},
    )
    assert any("no secret login for project team-a" in event for event in events), events


def test_files_of_secrets_and_config_maps(machine):
    give(machine, "secrets", "login", word="open sesame", user="ali")
    give(machine, "config-maps", "settings", a="1", b="2")
    log, _ = run(
        machine,
        "cd $PRORATA_PATH_SECRETS_LOGIN && head -c 99 * && stat -c %a word && cat $PRORATA_PATH_ETC_B && ls "
        "$PRORATA_PATH_ETC_ALL",
        spec={
            "storage": {
                "secretVolume": [{"secret": "login", "mountPath": "/secrets/login"}],
                "configMapVolume": [
                    {"configMap": "settings", "mountPath": "/etc/b", "subPath": "b"},
                    {"configMap": "settings", "mountPath": "/etc/all", "defaultMode": "0600"},
                ],
            }
        },
    )
    assert "open sesame" in log and "ali" in log and log.endswith("400\n2a\nb\n")


def test_words_are_split_as_a_shell_does(machine):
    workload = machine.submit(
        "words",
        "team-a",
        0,
        spec={"command": "/usr/bin/printf '[%s]'", "args": "one 'two three' \"four $(POD_NAME)\" five\\ six '' $$"},
    )
    machine.wait_phase(workload, "Completed")
    assert log_of(machine, workload) == "[one][two three][four words-0-0][five six][][$$]"


def test_a_port_that_is_taken_is_told(machine):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        _, events = run(machine, "true", spec={"exposedUrls": [{"container": port}]})
    assert any(f"port {port} is already in use" in event for event in events), events


def test_a_user_that_is_the_pods_anyway(machine):
    uid = int(run(machine, "id -u")[0])
    log, _ = run(machine, "id -u", spec={"security": {"runAsUid": uid, "uidGidSource": "custom"}})
    assert log == f"{uid}\n"


@pytest.mark.parametrize(
    "grown, message",
    [
        (
            {
                "environmentVariables": [{"name": "A0", "value": "x" * 100}]
                + [{"name": f"A{i}", "value": f"$(A{i - 1})" * 8} for i in range(1, 12)]
            },
            "environmentVariables: A4: its $(NAME) make it longer than 128 KiB",
        ),
        (
            {"environmentVariables": [{"name": "A", "value": "x" * 2000}], "args": " ".join(["$(A)" * 64] * 9)},
            "args: the pod's texts with $(NAME) are longer than 1024 KiB in all",
        ),
    ],
)
def test_variables_that_multiply_each_other_fail_their_pod_alone(machine, grown, message):
    workload = submit(machine, "grown", "true", gpus=0, spec={"backoffLimit": 0, **grown})
    machine.wait_phase(workload, "Failed")
    assert any(message in said for said in events_of(machine, workload)), events_of(machine, workload)
    assert run(machine, "echo still here")[0] == "still here\n"
