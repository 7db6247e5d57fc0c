"""Images by podman, docker and apptainer, played by tests/support/fake_runtime, and the machine without them."""

import json
import os
import pathlib
import shutil
import signal
import time

import pytest
from pods import HOLDS_30_MB, events_of, give, log_of, processes_of, submit, supervisors_of, used, wait_log
from servers import PRORATA, ROOT

AS_ROOT = os.geteuid() == 0
USER = 2000000001 if AS_ROOT else os.geteuid()  # of team-a, the second project
IMAGE = "registry.example/team/image:1"
LIBRARY = pathlib.Path(PRORATA).with_name("fake_nvml.so")


class Runtime:
    def __init__(self, folder):
        self.folder = folder / "runtime"
        self.folder.mkdir()
        self.bin = folder / "bin"
        self.bin.mkdir()
        folder.chmod(0o755)
        shutil.copy(ROOT / "tests/support/fake_runtime", self.bin / "fake_runtime")
        (self.bin / "fake_runtime.folder").write_text(str(self.folder))
        (self.folder / "images").write_text(IMAGE + "\n")
        self.folder.chmod(0o777)
        for name in ("python3", "sh", "env", "git", "rm"):
            (self.bin / name).symlink_to(f"/usr/bin/{name}" if name != "sh" else "/bin/sh")

    def install(self, *names):
        for name in names:
            (self.bin / name).symlink_to("fake_runtime")
        (self.folder / "log").touch()
        (self.folder / "log").chmod(0o666)
        return {"PATH": str(self.bin)}

    def calls(self, word=None):
        found = [json.loads(line) for line in (self.folder / "log").read_text().splitlines()]
        return [call for call in found if word is None or call["words"][0] == word]

    def mounts(self):
        """What lies where the volumes of containers are, as the runtime sees it."""
        return [json.loads(line) for line in (self.folder / "mounts").read_text().splitlines()]

    def container(self):
        """The options and values of the only run, and the words behind."""
        (call,) = self.calls("run")
        return call["words"][1:]


@pytest.fixture
def runtime(folder):
    return Runtime(folder)


def after(words, option):
    return [words[i + 1] for i, word in enumerate(words) if word == option]


def image_submit(server, name, script, spec=None, gpus=0, **more):
    return submit(server, name, script, gpus=gpus, spec={"image": IMAGE, "backoffLimit": 0, **(spec or {})}, **more)


def test_without_a_runtime_the_command_runs_on_the_machine(start, runtime):
    server = start(PATH=str(runtime.bin))
    workload = image_submit(server, "job", "echo ran")
    server.wait_phase(workload, "Completed")
    assert log_of(server, workload) == "ran\n"
    assert any("its image is not used: no container runtime answers" in event for event in events_of(server, workload))


def test_a_runtime_that_does_not_answer_is_not_used(start, runtime):
    (runtime.folder / "down").touch()
    server = start(**runtime.install("docker"))
    workload = image_submit(server, "job", "echo ran")
    server.wait_phase(workload, "Completed")
    assert runtime.calls("version") and not runtime.calls("run")
    assert any("no container runtime answers" in event for event in events_of(server, workload))


def test_ignore_asks_nobody(start, runtime):
    server = start("--local-images", "ignore", **runtime.install("podman"))
    workload = image_submit(server, "job", "echo ran")
    server.wait_phase(workload, "Completed")
    assert not runtime.calls()
    assert any("its image is not used" in event for event in events_of(server, workload))


@pytest.mark.parametrize(
    "policy, message",
    [
        ("auto", "no command, and its image is not used: no container runtime answers"),
        ("ignore", "no command, and its image is not used"),
        ("required", f"image {IMAGE}: no container runtime answers"),
    ],
)
def test_without_a_command_an_image_is_needed(start, runtime, policy, message):
    server = start("--local-images", policy, PATH=str(runtime.bin))
    workload = server.submit("job", "team-a", 0, spec={"image": IMAGE, "backoffLimit": 0})
    server.wait_phase(workload, "Failed")
    assert any(message in event for event in events_of(server, workload)), events_of(server, workload)


def test_required_fails_a_command_too(start, runtime):
    server = start("--local-images", "required", PATH=str(runtime.bin))
    workload = image_submit(server, "job", "echo never")
    server.wait_phase(workload, "Failed")
    assert any("no container runtime answers" in event for event in events_of(server, workload))


def test_another_policy_is_refused(folder):
    import subprocess

    ended = subprocess.run(
        [PRORATA, "serve", "--data", folder / "data", "--local-images", "perhaps"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ended.returncode == 2 and "--local-images: auto, required or ignore" in ended.stderr


def test_cpu_and_memory_of_a_container_are_measured(start, runtime):
    server = start(**runtime.install("podman"))
    workload = image_submit(server, "busy", HOLDS_30_MB)
    wait_log(server, workload, "up")
    of = f"workloads/{workload}"
    for _ in range(2):
        server.wait_for("its cores", lambda: 0.05 < used(server, of, "CPU_USAGE_CORES") < 4)
        server.wait_for("its memory", lambda: 30e6 < used(server, of, "CPU_MEMORY_USAGE_BYTES") < 300e6)
        server.kill()
        server.start()
    assert len(runtime.calls("inspect")) < 8, "asked once in each life of the server"


@pytest.mark.parametrize("name", ["podman", "docker"])
def test_an_image_runs_in_a_container(start, runtime, folder, name):
    (folder / "data").mkdir()
    server = start(**runtime.install(name))
    give(server, "secrets", "login", word="open sesame")
    workload = image_submit(
        server,
        "job",
        "echo $GREETING $KEY $RUNAI_PROJECT; id -u; ls -d $VOLUME_SCRATCH; exit 3",
        spec={
            "workingDir": "/code",
            "environmentVariables": [
                {"name": "GREETING", "value": "good day"},
                {"name": "KEY", "secret": {"name": "login", "key": "word"}},
            ],
            "compute": {
                "gpuDevicesRequest": 0,
                "cpuCoreRequest": 0.5,
                "cpuCoreLimit": 1.5,
                "cpuMemoryRequest": "100Mi",
                "cpuMemoryLimit": "512Mi",
                "largeShmRequest": True,
            },
            "security": {"readOnlyRootFilesystem": True, "seccompProfileType": "Unconfined"},
            "storage": {
                "hostPath": [
                    {
                        "path": str(folder / "data"),
                        "mountPath": "/data",
                        "readOnly": True,
                        "mountPropagation": "HostToContainer",
                    }
                ],
                "emptyDirVolume": [{"path": "/scratch"}, {"path": "/quick", "medium": "Memory", "sizeLimit": "1Gi"}],
            },
        },
    )
    server.wait_phase(workload, "Failed")
    lines = log_of(server, workload).splitlines()
    assert lines[:2] == ["good day open sesame team-a", str(USER)], lines
    assert any("exit code 3" in event for event in events_of(server, workload))
    assert any(f"in its image by {name}" in event for event in events_of(server, workload))
    words = runtime.container()
    behind = words[words.index(IMAGE) :]
    assert behind == [
        IMAGE,
        "-c",
        "echo $GREETING $KEY $RUNAI_PROJECT; id -u; ls -d $VOLUME_SCRATCH; exit 3",
    ] and after(words, "--entrypoint") == ["/bin/sh"]
    assert after(words, "--user")[0].split(":")[0] == str(USER)
    assert (
        after(words, "--workdir") == ["/code"]
        and after(words, "--network") == ["host"]
        and after(words, "--cap-drop") == ["ALL"]
        and after(words, "--pids-limit") == ["4096"]
    )
    assert (
        after(words, "--memory") == [f"{512 << 20}b"]
        and after(words, "--cpus") == ["1.5"]
        and after(words, "--cpu-shares") == ["514"]
    )
    assert (
        after(words, "--security-opt") == ["no-new-privileges", "seccomp=unconfined"]
        and "--read-only" in words
        and after(words, "--shm-size")
    )
    if AS_ROOT:
        assert [word.split(",", 2)[2] for word in after(words, "--mount")] == [
            "dst=/data,readonly,bind-propagation=rslave"
        ]
    else:
        assert f"{folder}/data:/data:ro,rslave" in after(words, "--volume")
    assert after(words, "--tmpfs") == ["/quick:rw,exec,mode=1777,size=1073741824"]
    assert "--gpus" not in words and "--device" not in words, "pretended devices are not given to a runtime"
    (call,) = runtime.calls("run")
    assert "open sesame" not in " ".join(words), "a secret is on the command line"
    assert "GREETING" not in call["environment"] and "KEY" not in call["environment"], (
        "the client has the user's variables"
    )
    assert not any("spec.storage" in event for event in events_of(server, workload)), "all of the storage is honoured"
    assert not (runtime.folder / "containers").exists() or not list((runtime.folder / "containers").iterdir())


def test_nothing_of_the_user_reaches_the_client(start, runtime):
    server = start(**runtime.install("docker"))
    workload = image_submit(
        server,
        "job",
        "true",
        spec={
            "environmentVariables": [
                {"name": "LD_PRELOAD", "value": "/tmp/evil.so"},
                {"name": "DOCKER_HOST", "value": "tcp://evil"},
            ]
        },
    )
    server.wait_phase(workload, "Completed")
    (call,) = runtime.calls("run")
    assert "LD_PRELOAD" not in call["environment"] and "DOCKER_HOST" not in call["environment"]


def test_variables_of_several_lines_are_not_for_containers(start, runtime):
    server = start(**runtime.install("docker"))
    workload = image_submit(server, "job", "true", spec={"environmentVariables": [{"name": "TWO", "value": "a\nb"}]})
    server.wait_phase(workload, "Failed")
    assert any("TWO: a container's variable has one line" in event for event in events_of(server, workload))


def test_the_images_own_command(start, runtime):
    server = start(**runtime.install("podman"))
    workload = server.submit("job", "team-a", 0, spec={"image": IMAGE})
    server.wait_phase(workload, "Completed")
    assert log_of(server, workload) == "the command of the image\n"


@pytest.mark.parametrize(
    "name, option, value",
    [
        ("podman", "--device", ["nvidia.com/gpu=GPU-0", "nvidia.com/gpu=GPU-1"]),
        ("docker", "--gpus", ['"device=GPU-0,GPU-1"']),
    ],
)
def test_devices(make_server, runtime, folder, name, option, value):
    (folder / "gpus").write_text("gpu GPU-0 81920\ngpu GPU-1 81920\n")
    server = make_server(
        "--backend",
        "local",
        "--local-nvml",
        str(LIBRARY),
        "--quick-start",
        environment={"PRORATA_FAKE_NVML": str(folder / "gpus"), **runtime.install(name)},
    )
    workload = image_submit(server, "job", "echo $CUDA_VISIBLE_DEVICES", gpus=2)
    server.wait_phase(workload, "Completed")
    assert after(runtime.container(), option) == value and log_of(server, workload) == "GPU-0,GPU-1\n"


def test_apptainer(make_server, runtime, folder):
    (folder / "gpus").write_text("gpu GPU-0 81920\n")
    (runtime.folder / "registry").write_text(IMAGE + "\n")
    server = make_server(
        "--backend",
        "local",
        "--local-nvml",
        str(LIBRARY),
        "--quick-start",
        "--local-images",
        "required",
        "--local-private-tmp",
        "off",  # the program that plays apptainer is there
        environment={"PRORATA_FAKE_NVML": str(folder / "gpus"), **runtime.install("apptainer")},
    )
    server.folder.chmod(0o755)
    workload = image_submit(
        server,
        "job",
        "echo $GREETING; id -u",
        gpus=1,
        spec={
            "workingDir": "/code",
            "environmentVariables": [{"name": "GREETING", "value": "good day"}],
            "storage": {"hostPath": [{"path": "/usr", "mountPath": "/data", "readOnly": True}]},
        },
    )
    server.wait_phase(workload, "Completed", "Failed")
    assert log_of(server, workload) == f"good day\n{USER}\n", (events_of(server, workload), server.tail())
    (call,) = runtime.calls("exec")
    words = call["words"]
    assert "--nv" in words and after(words, "--pwd") == ["/code"] and after(words, "--bind") == ["/usr:/data:ro"]
    assert call["user"] == USER, "it must not run with the server's rights"
    again = image_submit(server, "again", "echo ran", gpus=0)
    server.wait_phase(again, "Completed")
    assert len(runtime.calls("pull")) == 1


def test_images_of_long_ago_make_room(make_server, runtime, folder):
    (runtime.folder / "registry").write_text(IMAGE + "\n")
    server = make_server(
        "--backend",
        "local",
        "--local-gpus",
        "0",
        "--quick-start",
        "--local-images",
        "required",
        "--local-private-tmp",
        "off",
        "--local-image-total",
        "1Mi",
        environment=runtime.install("apptainer"),
    )
    server.folder.chmod(0o755)
    images = server.data / "images"
    images.mkdir(mode=0o711, exist_ok=True)
    for name, hours in (("oldest.sif", 9), ("older.sif", 8), ("recent.sif", 0), ("notes.txt", 9)):
        (images / name).write_bytes(bytes(600_000 if name.endswith("sif") else 1000))
        os.utime(images / name, (time.time() - 3600 * hours,) * 2)
    server.wait_phase(image_submit(server, "job", "echo ran", gpus=0), "Completed")
    left = {path.name for path in images.iterdir()}
    assert (
        "oldest.sif" not in left and "older.sif" not in left and left >= {"recent.sif", "notes.txt"} and len(left) == 3
    )


# Whether an image comes.


@pytest.mark.parametrize(
    "pull, there, remote, ran, pulls",
    [
        ("IfNotPresent", True, False, True, 0),
        ("IfNotPresent", False, True, True, 1),
        ("IfNotPresent", False, False, False, 1),
        ("Always", True, True, True, 1),
        ("Always", True, False, True, 1),
        ("Always", False, False, False, 1),
        ("Never", True, False, True, 0),
        ("Never", False, True, False, 0),
    ],
)
def test_pulling(start, runtime, pull, there, remote, ran, pulls):
    (runtime.folder / "images").write_text(IMAGE + "\n" if there else "")
    (runtime.folder / "registry").write_text(IMAGE + "\n" if remote else "")
    server = start(**runtime.install("docker"))
    workload = image_submit(server, "job", "echo ran", spec={"imagePullPolicy": pull})
    server.wait_phase(workload, "Completed")
    assert len(runtime.calls("pull")) == pulls and bool(runtime.calls("run")) == ran
    if not ran:
        why = "not found in the registry" if pulls else "never to be pulled"
        assert any("does not run in its image: " in event and why in event for event in events_of(server, workload)), (
            events_of(server, workload)
        )


def test_a_pull_that_takes_its_time_holds_up_nobody(start, runtime):
    (runtime.folder / "slow").touch()
    (runtime.folder / "images").write_text("other:1\n")
    server = start(**runtime.install("podman"))
    slow = image_submit(server, "slow", "echo never")
    server.wait_for("the pull", lambda: runtime.calls("pull"))
    quick = submit(server, "quick", "echo ran", gpus=0, spec={"image": "other:1"})
    server.wait_phase(quick, "Completed")
    server.post(f"/api/v1/workloads/trainings/{slow}/suspend")
    server.wait_phase(slow, "Stopped")
    assert server.stop(20) == 0, "the pull held the server up"
    server.start()


# No container outlives its pod.


def containers(runtime):
    path = runtime.folder / "containers"
    return list(path.iterdir()) if path.exists() else []


STUBBORN = "trap '' TERM; echo up; while true; do sleep 0.05; done"


@pytest.mark.parametrize("name", ["podman", "docker"])
def test_a_container_that_will_not_go_is_removed(start, runtime, name):
    server = start(**runtime.install(name))
    workload = image_submit(server, "job", STUBBORN, spec={"terminationGracePeriodSeconds": 1})
    wait_log(server, workload, "up")
    uuid = next(iter(supervisors_of(server)))
    server.wait_for(
        "its note", lambda: [path.name for path in containers(runtime)] == [f"prorata-{uuid}"]
    )  # written after the start
    server.post(f"/api/v1/workloads/trainings/{workload}/suspend")
    server.wait_phase(workload, "Stopped")
    assert not processes_of(uuid) and not containers(runtime)


def test_a_container_is_told_first(start, runtime):
    server = start(**runtime.install("docker"))
    workload = image_submit(server, "job", "trap 'echo saved; exit 0' TERM; echo up; while true; do sleep 0.05; done")
    wait_log(server, workload, "up")
    (log,) = (server.data / "pods").glob("*/log/*")
    server.post(f"/api/v1/workloads/trainings/{workload}/suspend")
    server.wait_phase(workload, "Stopped")
    assert "saved" in log.read_text()


@pytest.mark.parametrize("is_down", [False, True])
def test_a_container_whose_supervisor_was_killed_is_removed(start, runtime, is_down):
    server = start(**runtime.install("docker"))
    workload = image_submit(server, "job", STUBBORN)
    wait_log(server, workload, "up")
    uuid, supervisor = next(iter(supervisors_of(server).items()))
    server.wait_for("its note", lambda: containers(runtime))
    if is_down:
        server.kill()
    os.kill(supervisor, signal.SIGKILL)
    if is_down:
        server.start()
    server.wait_phase(workload, "Failed")
    assert not processes_of(uuid) and not containers(runtime)
    assert [call["words"][-1] for call in runtime.calls("rm")] == [f"prorata-{uuid}"]


def test_a_pre_stop_command_runs_inside(start, runtime):
    server = start(**runtime.install("podman"))
    workload = image_submit(
        server,
        "job",
        STUBBORN,
        spec={
            "terminationGracePeriodSeconds": 2,
            "annotations": [{"name": "prorata.io/pre-stop", "value": "echo 'save it'"}],
        },
    )
    wait_log(server, workload, "up")
    uuid = next(iter(supervisors_of(server)))
    server.post(f"/api/v1/workloads/trainings/{workload}/suspend")
    server.wait_phase(workload, "Stopped")
    (call,) = runtime.calls("exec")
    assert call["words"] == ["exec", f"prorata-{uuid}", "/bin/sh", "-c", "echo 'save it'"]


def test_a_server_takes_containers_up_again(start, runtime):
    server = start(**runtime.install("docker"))
    workload = image_submit(server, "job", "echo up; while true; do sleep 0.05; done")
    wait_log(server, workload, "up")
    server.kill()
    server.start()
    server.wait_phase(workload, "Running")
    assert len(runtime.calls("run")) == 1 and len(containers(runtime)) == 1


@pytest.mark.skipif(not AS_ROOT, reason="needs root")
@pytest.mark.parametrize("name", ["podman", "docker"])
def test_a_container_has_the_pods_group(start, runtime, name):
    """Its processes are no children of ours: by the group they are known."""
    server = start(**runtime.install(name))
    workload = image_submit(server, "job", "id -G")
    server.wait_phase(workload, "Completed")
    groups = {int(group) for group in log_of(server, workload).split()}
    assert len([group for group in groups if 2000065536 <= group < 2000131072]) == 1, groups
