"""Each field of a specification on a machine without containers: honoured, said by an event, or refused at once."""
import base64
import http.server
import os
import pathlib
import socket
import subprocess
import threading

import pytest

from conftest import PRORATA
from test_local import kind_of, log_of, quoted, submit, supervisors_of, wait_log

ROOT = os.geteuid() == 0


@pytest.fixture
def start(make_server):
    """start(*flags, **environment): a server with this machine as its cluster; all its pods are gone at the end."""
    made = []

    def make(*flags, **environment):
        made.append(make_server("--backend", "local", "--local-gpus", "4", "--quick-start", *flags, environment=environment))
        return made[-1]

    yield make
    for server in made:
        for workload in server.get("/api/v1/workloads").json["workloads"]:
            server.delete(f"/api/v1/workloads/{kind_of(workload)}/{workload['id']}")
        server.wait_for("all pods gone", lambda: not supervisors_of(server))


@pytest.fixture
def machine(start):
    return start()


def events_of(server, workload):
    return [event["message"] for event in server.get(f"/api/v1/workloads/{workload}/events").json["events"]]


def run(server, script, phase="Completed", spec=None, **more):
    """The log of a script that has ended."""
    name = f"job{len(server.get('/api/v1/workloads').json['workloads'])}"
    workload = submit(server, name, script, gpus=0, spec={"backoffLimit": 0, **(spec or {})}, **more)
    server.wait_phase(workload, "Completed", "Failed")
    assert server.workload(workload)["phase"] == phase, (log_of(server, workload), events_of(server, workload))
    return log_of(server, workload), events_of(server, workload)


def refuse(server, spec, kind="trainings", **more):
    body = {"name": "job", "projectId": server.project_id("team-a"), "clusterId": server.cluster_id(),
            "spec": {"image": "i", "command": "true", "compute": {"gpuDevicesRequest": 0}, **spec}, **more}
    answer = server.post(f"/api/v1/workloads/{kind}", body)
    assert answer.status == 400, answer
    return answer.json["message"]


def give(server, folder, name, project="team-a", **keys):
    """A secret or a config map, as an administrator puts it there."""
    path = server.data / folder / project / name
    path.mkdir(parents=True)
    for key, value in keys.items():
        (path / key).write_text(value)


# Refused at once: no pod of this machine could ever have it.
@pytest.mark.parametrize("spec, message", [
    ({"compute": {"extendedResources": [{"resource": "a.b/c", "quantity": "1"}]}}, "spec.compute.extendedResources[0].resource: this machine has no a.b/c"),
    ({"security": {"capabilities": ["NET_ADMIN"]}}, "spec.security.capabilities: pods have no capabilities"),
    ({"security": {"seccompProfileType": "Localhost"}}, "spec.security.seccompProfileType: this machine"),
    ({"security": {"runAsUid": 0, "uidGidSource": "custom"}}, "spec.security.runAsUid: pods never run as root"),
    ({"security": {"runAsUid": 4321, "uidGidSource": "custom"}}, "spec.security.runAsUid: pods of project team-a run as"),
    ({"security": {"runAsGid": 4321, "uidGidSource": "custom"}}, "is not in group 4321"),
    ({"security": {"supplementalGroups": "4321"}}, "is not in group 4321"),
    ({"storage": {"pvc": [{"path": "/data", "claimName": "c", "existingPvc": True}]}}, "spec.storage.pvc[0].path: claims need Kubernetes"),
    ({"storage": {"nfs": [{"path": "/p", "server": "s", "mountPath": "/data"}]}}, "spec.storage.nfs[0].path: mount it on the machine"),
    ({"storage": {"s3": [{"bucket": "b", "path": "/data"}]}}, "spec.storage.s3[0].bucket: mount it on the machine"),
    ({"storage": {"dataVolume": [{"id": "6d3b1f9e-0d3c-4d7c-8a8e-0d9c4c7f1a11", "mountPath": "/data"}]}}, "spec.storage.dataVolume[0].id"),
    ({"environmentVariables": [{"name": "A", "userCredential": {"name": "n", "key": "k"}}]}, "spec.environmentVariables[0].userCredential"),
    ({"environmentVariables": [{"name": "A", "podFieldRef": {"path": "status.phase"}}]}, "spec.environmentVariables[0].podFieldRef: status.phase"),
])
def test_refused(machine, spec, message):
    assert message in refuse(machine, spec)
    assert not machine.get("/api/v1/workloads").json["workloads"]


def test_a_masters_own_specification_is_looked_at_too(machine):
    message = refuse(machine, {"numWorkers": 1, "distributedFramework": "PyTorch"}, kind="distributed", masterSpecSameAsWorker=False,
                     masterSpec={"image": "i", "command": "true", "compute": {"gpuDevicesRequest": 0}, "security": {"capabilities": ["CHOWN"]}})
    assert message.startswith("masterSpec: spec.security.capabilities")


def test_what_if_says_the_same(machine):
    answer = machine.post("/api/v1/scheduler/what-if", {"type": "Training", "workload": {
        "name": "job", "projectId": machine.project_id("team-a"), "clusterId": machine.cluster_id(),
        "spec": {"image": "i", "command": "true", "security": {"capabilities": ["CHOWN"]}}}})
    assert answer.status == 400 and "pods have no capabilities" in answer.json["message"]


def test_an_excluded_item_asks_for_nothing(machine):
    run(machine, "true", spec={"storage": {"pvc": [{"path": "/data", "claimName": "c", "existingPvc": True, "exclude": True}]}})


# Said by an event; the command runs.
@pytest.mark.parametrize("spec, message", [
    ({"compute": {"cpuCoreLimit": 1}}, "spec.compute.cpuCoreLimit is not kept"),
    ({"compute": {"cpuMemoryLimit": "1G"}}, "spec.compute.cpuMemoryLimit bounds each process"),
    ({"probes": {"readiness": {"periodSeconds": 5, "handler": {"httpGet": {"path": "/", "port": 80}}}}}, "spec.probes.readiness is not probed"),
    ({"stdin": True}, "spec.stdin is not kept open"),
    ({"tty": True}, "spec.tty is not given"),
    ({"ports": [{"container": 23456, "external": 30001, "serviceType": "NodePort"}]}, "spec.ports[0].external is not mapped"),
    ({"ports": [{"container": 23456, "serviceType": "LoadBalancer"}]}, "spec.ports[0].serviceType: LoadBalancer makes no service"),
    ({"exposedUrls": [{"container": 23456, "url": "https://a.example"}]}, "spec.exposedUrls[0].url is shown"),
    ({"exposedUrls": [{"container": 23456, "authorizationType": "authenticatedUsers"}]}, "spec.exposedUrls[0].authorizationType is not checked"),
    ({"security": {"allowPrivilegeEscalation": True}}, "spec.security.allowPrivilegeEscalation is never granted"),
    ({"security": {"readOnlyRootFilesystem": True}}, "spec.security.readOnlyRootFilesystem is not kept"),
    ({"security": {"seccompProfileType": "RuntimeDefault"}}, "spec.security.seccompProfileType: RuntimeDefault is not set"),
    ({"security": {"uidGidSource": "fromTheImage"}}, "spec.security.uidGidSource: fromTheImage is not kept"),
    ({"security": {"uidGidSource": "fromIdpToken"}}, "spec.security.uidGidSource: fromIdpToken is not kept"),
    ({"storage": {"emptyDirVolume": [{"path": "/scratch", "sizeLimit": "1G"}]}}, "spec.storage.emptyDirVolume[0].sizeLimit is not kept"),
    ({"storage": {"emptyDirVolume": [{"path": "/scratch", "medium": "Memory"}]}}, "spec.storage.emptyDirVolume[0].medium: Memory is not kept"),
    ({"storage": {"emptyDirVolume": [{"path": "/scratch"}]}}, "/scratch is not mounted on this machine: $PRORATA_PATH_SCRATCH"),
    ({"storage": {"hostPath": [{"path": "/usr", "mountPath": "/usr", "readOnly": True}]}}, "spec.storage.hostPath[0].readOnly is not kept"),
    ({"storage": {"hostPath": [{"path": "/usr", "mountPath": "/usr", "mountPropagation": "HostToContainer"}]}}, "has no meaning without a container"),
    ({"storage": {"hostPath": [{"path": "/usr", "mountPath": "/data"}]}}, "/data is not mounted on this machine: $PRORATA_PATH_DATA"),
])
def test_said(machine, spec, message):
    if "cpu" in message and f"{'cores' if 'Core' in message else 'memory'} by cgroup" in machine.log.read_text():
        pytest.skip("a cgroup bounds it here")
    _, events = run(machine, "true", spec=spec)
    assert any(message in event for event in events), events


@pytest.mark.parametrize("spec, message", [
    ({"cleanPodPolicy": "None"}, "spec.cleanPodPolicy: None is not kept"),
    ({"distributedFramework": "MPI", "mpiLauncherCreationPolicy": "WaitForWorkersReady"}, "spec.mpiLauncherCreationPolicy: WaitForWorkersReady is not kept"),
    ({"sshAuthMountPath": "/root/.ssh"}, "spec.sshAuthMountPath is not used"),
])
def test_said_of_distributed_workloads(machine, spec, message):
    workload = machine.submit("gang", "team-a", 0, kind="distributed", masterSpecSameAsWorker=False,
                              masterSpec={"image": "i", "command": "sleep 1", "compute": {"gpuDevicesRequest": 0}},
                              spec={"command": "sleep 2", "numWorkers": 1, "distributedFramework": "PyTorch", **spec})
    machine.wait_phase(workload, "Completed", "Failed")
    assert any(message in event for event in events_of(machine, workload)), events_of(machine, workload)


def test_said_of_shared_devices(machine):
    workload = machine.submit("half", "team-a", 0, spec={"command": "true", "compute": {
        "gpuDevicesRequest": 1, "gpuRequestType": "portion", "gpuPortionRequest": 0.5, "gpuPortionLimit": 0.75}})
    machine.wait_phase(workload, "Completed")
    assert any("spec.compute.gpuPortionLimit is not kept" in event for event in events_of(machine, workload))


def test_nothing_is_said_where_all_is_honoured(machine):
    _, events = run(machine, "true", spec={"security": {"runAsNonRoot": True, "hostNetwork": True, "hostIpc": True}})
    assert not any("spec." in event for event in events), events


# Honoured.

def test_a_path_of_the_machine(machine, folder):
    folder.chmod(0o755)
    (folder / "data").mkdir()
    (folder / "data" / "a file").write_text("content\n")
    log, events = run(machine, "cat \"$PRORATA_PATH_DATA_SETS/a file\"; pwd", spec={
        "workingDir": "/data/sets", "storage": {"hostPath": [{"path": str(folder / "data"), "mountPath": "/data/sets"}]}})
    assert log == f"content\n{folder}/data\n"
    log, events = run(machine, "ls /usr >/dev/null && echo there", spec={"storage": {"hostPath": [{"path": "/usr"}]}})
    assert log == "there\n" and not any("not mounted" in event for event in events)


@pytest.mark.parametrize("mode, message", [(None, "No such file"), (0o700, "Permission denied")])
def test_a_path_that_cannot_be_entered_fails_the_pod(machine, folder, mode, message):
    if mode and not ROOT:
        pytest.skip("needs root")
    folder.chmod(0o755)
    if mode:
        (folder / "closed").mkdir(mode=mode)
    _, events = run(machine, "true", phase="Failed", spec={"storage": {"hostPath": [{"path": str(folder / "closed"), "mountPath": "/data"}]}})
    assert any("closed" in event and message in event for event in events), events


def test_an_empty_folder_is_the_pods_own_and_goes_with_it(machine):
    log, _ = run(machine, "cd $PRORATA_PATH_SCRATCH && ls -A && stat -c %a . && echo x > file && pwd",
                 spec={"storage": {"emptyDirVolume": [{"path": "/scratch"}]}})
    mode, place = log.splitlines()
    assert mode == "700" and not pathlib.Path(place).parent.exists()


def test_a_home(machine):
    log, _ = run(machine, "cd && touch file && ls && pwd", spec={"createHomeDir": True})
    assert log.startswith("file\n") and not pathlib.Path(log.splitlines()[1]).exists()


def test_nothing_of_a_volume_is_left_after_a_stop_and_a_restart(machine):
    workload = submit(machine, "stays", "echo $PRORATA_PATH_SCRATCH; mkdir -p $PRORATA_PATH_SCRATCH/a/b; ln -s / $PRORATA_PATH_SCRATCH/root; echo up; sleep 1000",
                      gpus=0, spec={"storage": {"emptyDirVolume": [{"path": "/scratch"}]}})
    place = pathlib.Path(wait_log(machine, workload, "up").splitlines()[0])
    machine.kill()
    assert place.is_dir()
    machine.start()
    machine.wait_phase(workload, "Running")
    assert (place / "a/b").is_dir()
    machine.post(f"/api/v1/workloads/trainings/{workload}/suspend")
    machine.wait_phase(workload, "Stopped")
    assert not place.parent.exists() and pathlib.Path("/usr").exists()


def test_volumes_of_pods_that_nobody_ended_are_removed_at_the_start(machine):
    workload = submit(machine, "stays", "echo $PRORATA_PATH_SCRATCH; echo up; sleep 1000", gpus=0,
                      spec={"backoffLimit": 0, "storage": {"emptyDirVolume": [{"path": "/scratch"}]}})
    place = pathlib.Path(wait_log(machine, workload, "up").splitlines()[0])
    machine.kill()
    for pid in supervisors_of(machine).values():
        os.kill(pid, 9)
    machine.start()
    machine.wait_phase(workload, "Failed")
    assert not place.parent.exists()


KEEPS_A_FILE = {"storage": {"emptyDirVolume": [{"path": "/scratch"}]}}
PRINTS_ITS_PLACE = "cd $PRORATA_PATH_SCRATCH && echo x > file && pwd && echo up && sleep 1000"


def place_of(server, workload):
    return pathlib.Path(wait_log(server, workload, "up").splitlines()[0])


def test_volumes_go_with_a_pod_whose_supervisor_was_killed(machine):
    workload = submit(machine, "a", PRINTS_ITS_PLACE, gpus=0, spec={"backoffLimit": 0, **KEEPS_A_FILE})
    place = place_of(machine, workload)
    os.kill(next(iter(supervisors_of(machine).values())), 9)
    machine.wait_phase(workload, "Failed")
    assert not place.parent.exists()


def test_nothing_else_below_the_scratch_folder_is_touched(start, tmp_path):
    nvme = tmp_path / "nvme"
    (nvme / "alice/results").mkdir(parents=True)
    (nvme / "1f0e5c1e-0000-4000-8000-000000000001").mkdir()
    (nvme / "alice/results/model.pt").write_text("a year of work")
    before = nvme.stat().st_mode
    for folder in (tmp_path, *tmp_path.parents[:-2]):
        folder.chmod(folder.stat().st_mode | 0o1)
    first = start("--local-scratch", str(nvme))
    place = place_of(first, submit(first, "a", PRINTS_ITS_PLACE, gpus=0, spec=KEEPS_A_FILE))
    second = start("--local-scratch", str(nvme))
    second.kill()
    second.start()
    first.kill()
    first.start()
    assert place.is_relative_to(nvme) and (place / "file").exists()
    assert (nvme / "alice/results/model.pt").read_text() == "a year of work" and nvme.stat().st_mode == before
    assert (nvme / "1f0e5c1e-0000-4000-8000-000000000001").is_dir()


def test_a_scratch_folder_that_others_use_is_refused_by_name(machine, tmp_path):
    workload = submit(machine, "a", PRINTS_ITS_PLACE, gpus=0, spec=KEEPS_A_FILE)
    scratch = place_of(machine, workload).parent.parent
    machine.kill()
    (scratch / "thesis.tex").write_text("x")
    refused = subprocess.run([PRORATA, "serve", "--data", str(machine.data), "--listen", "127.0.0.1:0", *machine.arguments],
                             capture_output=True, text=True, timeout=60)
    assert refused.returncode != 0 and f"{scratch}: holds thesis.tex, which is no pod's" in refused.stderr
    (scratch / "thesis.tex").unlink()
    machine.start()
    open_to_all = tmp_path / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    doctor = subprocess.run([PRORATA, "doctor", "--backend", "local", "--local-scratch", str(open_to_all)], capture_output=True, text=True, timeout=60)
    assert "others can write to it" in doctor.stdout and doctor.returncode == 1


def test_a_folder_of_any_depth_is_removed(machine):
    workload = submit(machine, "deep", "cd $PRORATA_PATH_SCRATCH && pwd; for i in $(seq 400); do mkdir d && cd d; done; touch end; echo up; sleep 1000",
                      gpus=0, spec={"backoffLimit": 0, **KEEPS_A_FILE})
    place = place_of(machine, workload)
    machine.kill()
    for pid in supervisors_of(machine).values():
        os.kill(pid, 9)
    machine.start()
    machine.wait_phase(workload, "Failed")
    assert not place.parent.exists()


def test_variables_of_all_kinds(machine):
    give(machine, "secrets", "login", word="open sesame")
    give(machine, "config-maps", "settings", level="11\n")
    log, _ = run(machine, "env", spec={"labels": [{"name": "team", "value": "blue"}], "environmentVariables": [
        {"name": "PLAIN", "value": "a 'quoted' \"value\""}, {"name": "JOINED", "value": "$(PLAIN)/$$(PLAIN)/$(NOT_THERE)"},
        {"name": "SECRET", "secret": {"name": "login", "key": "word"}}, {"name": "MAP", "configMap": {"name": "settings", "key": "level"}},
        {"name": "POD", "podFieldRef": {"path": "metadata.name"}}, {"name": "NODE", "podFieldRef": {"path": "spec.nodeName"}},
        {"name": "IP", "podFieldRef": {"path": "status.podIP"}}, {"name": "LABEL", "podFieldRef": {"path": "metadata.labels['team']"}},
        {"name": "GONE", "value": "x", "exclude": True}]})
    lines = log.splitlines()
    for line in ("PLAIN=a 'quoted' \"value\"", "JOINED=a 'quoted' \"value\"/$(PLAIN)/$(NOT_THERE)", "SECRET=open sesame", "MAP=11",
                 "POD=job0-0-0", f"NODE={os.uname().nodename}", "IP=127.0.0.1", "LABEL=blue"):
        assert line in lines, line
    assert not any(line.startswith("GONE=") for line in lines)


@pytest.mark.parametrize("variable, message", [
    ({"name": "A", "secret": {"name": "login", "key": "none"}}, "environmentVariables: A: secret login: key none"),
    ({"name": "A", "secret": {"name": "none", "key": "k"}}, "environmentVariables: A: no secret none for project team-a"),
    ({"name": "A", "secret": {"name": "login", "key": "../login/word"}}, "no key is named"),
    ({"name": "A", "configMap": {"name": "none", "key": "k"}}, "environmentVariables: A: no config map none"),
])
def test_a_secret_that_is_not_there_fails_the_pod(machine, variable, message):
    give(machine, "secrets", "login", word="open sesame")
    _, events = run(machine, "true", phase="Failed", spec={"environmentVariables": [variable]})
    assert any(message in event for event in events), events


def test_a_secret_of_another_project_is_not_there(machine):
    give(machine, "secrets", "login", project="team-b", word="open sesame")
    _, events = run(machine, "true", phase="Failed", spec={"environmentVariables": [{"name": "A", "secret": {"name": "login", "key": "word"}}]})
    assert any("no secret login for project team-a" in event for event in events), events


def test_files_of_secrets_and_config_maps(machine):
    give(machine, "secrets", "login", word="open sesame", user="ali")
    give(machine, "config-maps", "settings", a="1", b="2")
    log, _ = run(machine, "cd $PRORATA_PATH_SECRETS_LOGIN && head -c 99 * && stat -c %a word && cat $PRORATA_PATH_ETC_B && ls $PRORATA_PATH_ETC_ALL", spec={"storage": {
        "secretVolume": [{"secret": "login", "mountPath": "/secrets/login"}],
        "configMapVolume": [{"configMap": "settings", "mountPath": "/etc/b", "subPath": "b"}, {"configMap": "settings", "mountPath": "/etc/all", "defaultMode": "0600"}]}})
    assert "open sesame" in log and "ali" in log and log.endswith("400\n2a\nb\n")


def test_words_are_split_as_a_shell_does(machine):
    workload = machine.submit("words", "team-a", 0, spec={"command": "/usr/bin/printf '[%s]'", "args": "one 'two three' \"four $(POD_NAME)\" five\\ six '' $$"})
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


# git.

@pytest.fixture
def repository(folder):
    """A repository with branches main and other and a first commit, which anybody may read."""
    folder.chmod(0o755)
    path = folder / "repository"

    def git(*words):
        return subprocess.run(["git", "-C", str(path), "-c", "user.name=a", "-c", "user.email=a@b", *words], check=True, capture_output=True, text=True).stdout.strip()

    subprocess.run(["git", "init", "-q", "-b", "main", str(path)], check=True)
    commits = []
    for number, branch in enumerate(["main", "main", "other"]):
        if branch == "other":
            git("checkout", "-q", "-b", "other")
        (path / "file").write_text(f"{branch} {number}\n")
        git("add", "file")
        git("commit", "-q", "-m", str(number))
        commits.append(git("rev-parse", "HEAD"))
    git("checkout", "-q", "main")
    git("update-server-info")
    if ROOT:  # of team-a, the second project: git trusts no folder of another user
        subprocess.run(["chown", "-R", "2000000001", str(path)], check=True)
    return path, commits[0]


@pytest.mark.parametrize("more, content", [
    ({}, "main 1"), ({"branch": "other"}, "other 2"), ({"revision": "other"}, "other 2"), ({"revision": "FIRST"}, "main 0"),
])
def test_git(machine, repository, more, content):
    repository, first = repository
    more = {key: first if value == "FIRST" else value for key, value in more.items()}
    log, _ = run(machine, "cat file", spec={"workingDir": "/code", "storage": {"git": [{"repository": f"file://{repository}", "path": "/code", **more}]}})
    assert log == f"git clone file://{repository}\n{content}\n"


@pytest.mark.parametrize("more", [{"branch": "none"}, {"revision": "none"}, {"repository": "file:///no/such/repository"}])
def test_git_that_fails_says_why(machine, repository, more):
    repository, _ = repository
    log, events = run(machine, "echo never", phase="Failed", spec={"storage": {"git": [{"repository": f"file://{repository}", "path": "/code", **more}]}})
    assert any("the storage could not be prepared" in event for event in events), events
    assert "never" not in log and ("none" in log or "fatal" in log)


def test_a_stop_while_git_is_under_way(machine):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        workload = submit(machine, "waits", "echo never", gpus=0, spec={"storage": {"git": [
            {"repository": f"http://127.0.0.1:{silent.getsockname()[1]}/r", "path": "/code"}]}})
        silent.settimeout(30)
        silent.accept()
        machine.post(f"/api/v1/workloads/trainings/{workload}/suspend")
        machine.wait_phase(workload, "Stopped")
    assert not supervisors_of(machine)


def test_git_with_a_password(machine, repository):
    repository, _ = repository
    asked = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=str(repository / ".git"))

        def do_GET(self):
            asked.append(self.headers.get("Authorization"))
            if asked[-1] is None:
                self.send_response(401)
                self.send_header("WWW-Authenticate", "Basic realm=git")
                self.end_headers()
            else:
                super().do_GET()

        def log_message(self, *arguments):
            pass

    give(machine, "secrets", "git", username="ali", password="p@ss:word")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as web:
        threading.Thread(target=web.serve_forever, daemon=True).start()
        log, _ = run(machine, "cat file; ls -A ../1.credentials", spec={"workingDir": "/code", "storage": {"git": [
            {"repository": f"http://127.0.0.1:{web.server_port}/", "path": "/code", "passwordSecret": "git"}]}})
        web.shutdown()
    assert "Basic " + base64.b64encode(b"ali:p@ss:word").decode() in asked
    assert "main 1" in log and "text" not in log and "p@ss" not in log


@pytest.mark.parametrize("grown, message", [
    ({"environmentVariables": [{"name": "A0", "value": "x" * 100}] +
      [{"name": f"A{i}", "value": f"$(A{i - 1})" * 8} for i in range(1, 12)]},
     "environmentVariables: A4: its $(NAME) make it longer than 128 KiB"),
    ({"environmentVariables": [{"name": "A", "value": "x" * 2000}], "args": " ".join(["$(A)" * 64] * 9)},
     "args: the pod's texts with $(NAME) are longer than 1024 KiB in all"),
])
def test_variables_that_multiply_each_other_fail_their_pod_alone(machine, grown, message):
    workload = submit(machine, "grown", "true", gpus=0, spec={"backoffLimit": 0, **grown})
    machine.wait_phase(workload, "Failed")
    assert any(message in said for said in events_of(machine, workload)), events_of(machine, workload)
    assert run(machine, "echo still here")[0] == "still here\n"
