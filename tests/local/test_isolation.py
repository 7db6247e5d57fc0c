"""What a pod has to itself where the server is root: shared memory, which its workload's pods share, and /tmp. What is
looked at is the host's own /dev/shm, /proc/sysvipc and table of mounts."""

import os
import pathlib
import pwd
import signal
import subprocess

import pytest
from pods import log_of, pods_of, processes_of, run, submit, supervisors_of, wait_log
from servers import Client

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
NAME, KEY = f"prorata-isolation-{os.getpid()}", 0x70720000 + os.getpid() % 65536
SEGMENT = (
    "/usr/bin/python3 -c 'import ctypes; c = ctypes.CDLL(None, use_errno=True); "
    f'i = c.shmget({KEY}, 4096, 0o1600); print("segment", i); assert i >= 0\''
)
MAKE = f"echo mine > /dev/shm/{NAME}; echo mine > /tmp/{NAME}; echo mine > /var/tmp/{NAME}; {SEGMENT}; echo made"
LOOK = f"ls /dev/shm/{NAME} /tmp/{NAME} /var/tmp/{NAME}; cat /proc/sysvipc/shm; echo looked"


def mounts():
    """What the host's table has where pods have mounts of their own; other tests beside may mount elsewhere."""
    places = ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue")
    rows = (line.split(" ", 2)[2] for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines())
    return sorted(row for row in rows if row.split()[2] in places or row.split()[2].startswith("/var/tmp/prorata-"))


def on_host():
    return [path for path in (f"/dev/shm/{NAME}", f"/tmp/{NAME}", f"/var/tmp/{NAME}") if os.path.exists(path)] + [
        line for line in pathlib.Path("/proc/sysvipc/shm").read_text().splitlines() if line.split()[0] == str(KEY)
    ]


def distributed(server, name, scripts, **extra):
    """A workload of several pods, each with the script of its rank."""
    cases = " ".join(f"{rank}) {script};;" for rank, script in enumerate(scripts))
    return submit(
        server,
        name,
        f"case $RANK in {cases} esac",
        kind="distributed",
        gpus=0,
        spec={"distributedFramework": "PyTorch", "numWorkers": len(scripts), "backoffLimit": 0},
        **extra,
    )


@pytest.fixture(autouse=True)
def host_is_as_before():
    before = mounts()
    assert on_host() == []
    yield
    assert mounts() == before
    assert on_host() == []


def test_what_a_pod_leaves_ends_with_it(start):
    server = start()
    workload = submit(server, "makes", f"{MAKE}; {LOOK}; exec sleep 1000", gpus=0)
    said = wait_log(server, workload, "looked")
    assert "No such file" not in said and str(KEY) in said and "segment" in said, said
    assert on_host() == []
    (folder,) = (path for path in pathlib.Path("/var/tmp").glob(f"prorata-*/{next(iter(supervisors_of(server)))}"))
    assert (folder / "tmp" / NAME).read_text() == (folder / "var-tmp" / NAME).read_text() == "mine\n"
    assert folder.joinpath("tmp").stat().st_mode & 0o777 == 0o700
    server.post(f"/api/v1/workloads/trainings/{workload}/suspend")
    server.wait_for("its folder gone", lambda: not folder.exists())


def test_another_pod_sees_nothing_of_it(start):
    server = start()
    workload = submit(server, "makes", f"{MAKE}; exec sleep 1000", gpus=0)
    wait_log(server, workload, "made")
    said, _ = run(server, LOOK)
    assert said.count("No such file") == 3 and str(KEY) not in said, said


def test_pods_of_a_workload_share_memory_and_not_tmp(start):
    """NCCL takes processes with another /dev/shm for another machine's."""
    server = start()
    device = "stat -c device=%d /dev/shm; exec sleep 1000"
    wait = (
        f"while [ ! -e /dev/shm/{NAME} ]; do sleep 0.02; done; until grep -q {KEY} /proc/sysvipc/shm; do sleep 0.02; "
        f"done"
    )
    workload = distributed(
        server, "gang", [f"{MAKE}; {device}", f"{wait}; {LOOK}; {device}", f"{wait}; {LOOK}; {device}"]
    )

    def logs():
        return [log_of(server, workload, pod=pod["name"]) for pod in pods_of(server, workload)]

    said = server.wait_for(
        "all looked",
        lambda: (lambda logs: logs if len(logs) == 3 and all("device=" in log for log in logs) else None)(logs()),
    )
    assert len({line for log in said for line in log.splitlines() if line.startswith("device=")}) == 1, said
    assert sorted(log.count("No such file") for log in said) == [0, 2, 2], said


def test_a_shell_in_the_pod_sees_what_the_pod_sees(start, folder):
    server = start()
    workload = submit(server, "makes", f"{MAKE}; exec sleep 1000", gpus=0)
    wait_log(server, workload, "made")
    client = Client(server, folder / "home").sign_in()
    said = client.run("exec", "makes", "-p", "team-a", "--", "sh", "-c", LOOK)
    assert f"/tmp/{NAME}" in said and f"/dev/shm/{NAME}" in said and str(KEY) in said, said


@pytest.mark.parametrize("what", ["supervisor", "server"])
def test_what_is_killed_leaves_no_mounts(start, what):
    server = start()
    workload = submit(server, "makes", f"{MAKE}; exec sleep 1000", gpus=0, spec={"backoffLimit": 0})
    wait_log(server, workload, "made")
    uuid, supervisor = next(iter(supervisors_of(server).items()))
    if what == "server":
        server.kill()
        assert processes_of(uuid)
        server.start()
        server.post(f"/api/v1/workloads/trainings/{workload}/suspend")
        server.wait_phase(workload, "Stopped")
    else:
        os.kill(supervisor, signal.SIGKILL)
        server.wait_phase(workload, "Failed")
    server.wait_for("its folder gone", lambda: not list(pathlib.Path("/var/tmp").glob(f"prorata-*/{uuid}")))


def test_what_the_specification_names_stays_the_hosts(start, folder):
    server = start()
    folder.chmod(0o755)
    (folder / "data").mkdir()
    (folder / "data" / "file").write_text("the host's\n")
    (folder / "work").mkdir()
    (folder / "work" / "here").write_text("")
    (folder / "hidden").mkdir()
    said, _ = run(
        server,
        f"cat {folder}/data/file; pwd; ls; ls {folder}; ls -A /tmp",
        spec={
            "workingDir": f"{folder}/work",
            "storage": {"hostPath": [{"path": f"{folder}/data", "mountPath": "/data"}]},
        },
    )
    assert said.split() == ["the", "host's", f"{folder}/work", "here", "data", "work", folder.name], said


def test_a_link_leads_nowhere_that_the_user_cannot_go(start, folder):
    """Root looks up what is bound back: with the rights of the pod's user."""
    server = start()
    folder.chmod(0o755)
    (folder / "closed").mkdir(mode=0o700)
    (folder / "closed" / "open").mkdir(mode=0o755)
    (folder / "closed" / "open" / "secret").write_text("TOPSECRET")
    (folder / "link").symlink_to(folder / "closed" / "open")
    _, events = run(
        server,
        f"cat {folder}/link/secret {folder}/closed/open/secret",
        phase="Failed",
        spec={"storage": {"hostPath": [{"path": f"{folder}/link", "mountPath": "/data"}]}},
    )
    assert any(str(folder / "link") in event for event in events), events


def test_a_mapped_person_has_the_machines_home_and_a_tmp_of_the_pods(start, folder):
    (folder / "users").write_text("project team-a games\n")
    (folder / "users").chmod(0o600)
    server = start("--local-user-map", str(folder / "users"))
    said, _ = run(server, f"{MAKE}; echo home=$HOME; stat -c 'owner=%u' /tmp; id -u")
    assert f"home={pwd.getpwnam('games').pw_dir}" in said and f"owner={pwd.getpwnam('games').pw_uid}" in said, said


def test_tmp_can_stay_the_machines(start):
    server = start("--local-private-tmp", "off")
    workload = submit(server, "makes", f"{MAKE}; exec sleep 1000", gpus=0)
    wait_log(server, workload, "made")
    assert on_host() == [f"/tmp/{NAME}", f"/var/tmp/{NAME}"]
    for path in on_host():
        os.unlink(path)


def test_shared_memory_is_bounded(start):
    server = start("--local-memory-default", "256Mi")
    said, _ = run(server, "df -B1 --output=size /dev/shm | tail -n 1; mountpoint -q /dev/shm && echo own")
    assert said.split() == [str(256 << 20), "own"]


def test_the_machines_shared_memory_where_it_is_asked_for(start):
    server = start()
    said, _ = run(server, "stat -c %d /dev/shm; readlink /proc/self/ns/ipc", spec={"security": {"hostIpc": True}})
    assert said.split() == [str(os.stat("/dev/shm").st_dev), os.readlink("/proc/self/ns/ipc")]


LIVES = SEGMENT[:-1] + "; import time; time.sleep(1000)'"
UNTIL = f"until grep -q {KEY} /proc/sysvipc/shm; do sleep 0.02; done"


@pytest.mark.parametrize(
    "script",
    [f"exec {SEGMENT}", f"{LIVES} & {UNTIL}", f"(setsid env -i {LIVES} &); {UNTIL}"],
    ids=["the command", "a child", "a child that fled"],
)
def test_segments_of_the_machines_memory_end_with_who_made_them(start, script):
    """Never by the user alone: another's of the same user stays."""
    server = start()
    other = KEY + 0x1000000
    subprocess.run(
        ["sh", "-c", SEGMENT.replace(str(KEY), str(other))],
        check=True,
        user=2000000001,
        group=2000000001,
        extra_groups=[],
    )
    try:
        run(server, script, spec={"security": {"hostIpc": True}})
        keys = [line.split()[0] for line in pathlib.Path("/proc/sysvipc/shm").read_text().splitlines()]
        assert str(KEY) not in keys and str(other) in keys
    finally:
        subprocess.run(["ipcrm", "-M", str(other)], check=True)
