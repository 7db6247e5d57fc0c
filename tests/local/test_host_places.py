"""What a container is given of the machine: the very file or folder that its user opened, until the pod is over."""

import os
import pathlib
import shutil
import signal
import subprocess

import pytest
import servers
from pods import events_of, give, log_of, supervisors_of, wait_log
from servers import PRORATA
from test_images import USER, Runtime, after, image_submit

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
PLACES = pathlib.Path("/run/prorata-host-paths")
STAYS = "echo up; sleep 1000"


@pytest.fixture
def runtime(folder):
    return Runtime(folder)


def name_of(server):
    """As it is known on this machine."""
    about = server.data.resolve().stat()
    return f"prorata-{about.st_dev:x}-{about.st_ino:x}"


def left(server):
    """The mounts and folders of its pods' places."""
    mine = str(PLACES / name_of(server))
    mounts = [line.split()[4] for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines()]
    return [path for path in mounts if path.startswith(mine)] + [
        str(path) for path in PLACES.glob(f"{name_of(server)}.*")
    ]


def inode(path):
    about = path.stat()
    return [about.st_dev, about.st_ino]


def storage(*paths):
    return {"storage": {"hostPath": [{"path": str(path), "mountPath": f"/m{i}"} for i, path in enumerate(paths)]}}


class Team:
    """A folder of the pod's user: what is theirs and, behind a link, what they may enter; beside it a neighbour's home,
    in which one folder would be open to them."""

    def __init__(self, folder):
        folder.chmod(0o755)
        self.open, self.closed, self.own = folder / "open", folder / "closed", folder / "own"
        for path in (self.open, self.closed, self.own):
            (path / "data").mkdir(parents=True)
            (path / "data/whose").write_text(path.name)
        self.closed.chmod(0o700)
        self.link = self.own / "link"
        self.link.symlink_to(self.open)
        os.chown(self.own, USER, USER)


@pytest.fixture
def team(folder):
    return Team(folder)


@pytest.mark.parametrize("name", ["podman", "docker"])
@pytest.mark.parametrize("what", ["data", "data/whose"])
def test_a_link_that_is_put_there_after_the_look_leads_nowhere(start, runtime, team, name, what):
    (runtime.folder / "before").write_text(f"ln -sfn {team.closed} {team.link}")
    server = start(**runtime.install(name))
    reads = "cat $VOLUME_M0" if what.endswith("whose") else "cat $VOLUME_M0/whose"
    workload = image_submit(server, "job", reads, spec=storage(team.link / what))
    server.wait_phase(workload, "Completed", "Failed")
    assert server.workload(workload)["phase"] == "Completed", (log_of(server, workload), events_of(server, workload))
    assert os.readlink(team.link) == str(team.closed)
    assert [mount["inode"] for mount in runtime.mounts()] == [inode(team.open / what)]
    assert log_of(server, workload).strip() == "open"
    assert left(server) == []


def test_a_way_through_anothers_process_is_shut(start, runtime, team):
    """Who may look at all processes could go there."""
    other = subprocess.Popen(["sleep", "1000"], cwd=team.closed / "data")
    try:
        server = start(**runtime.install("podman"))
        workload = image_submit(server, "job", "true", spec=storage(f"/proc/{other.pid}/cwd"))
        server.wait_phase(workload, "Failed")
        assert any(f"/proc/{other.pid}/cwd: Permission denied" in event for event in events_of(server, workload))
        assert runtime.calls("run") == [] and left(server) == []
    finally:
        other.kill()
        other.wait()


def test_a_way_through_the_supervisors_own_process_is_shut(start, runtime):
    server = start(**runtime.install("podman"))
    workload = image_submit(server, "job", "true", spec=storage("/proc/self/cwd"))
    server.wait_phase(workload, "Completed")
    assert runtime.mounts()[0]["inode"] == inode(pathlib.Path("/")), "it leads to where the server was started"
    for fd in range(3, 10):
        workload = image_submit(server, f"job{fd}", "true", spec=storage(f"/proc/self/fd/{fd}"))
        server.wait_phase(workload, "Failed")
    assert len(runtime.mounts()) == 1 and left(server) == []


def test_the_words_of_paths(start, runtime, team):
    paths = [
        {"path": str(team.open / "data"), "mountPath": "/plain"},
        {"path": str(team.open / "data"), "mountPath": "/fixed", "readOnly": True},
        {"path": str(team.open / "data/whose"), "mountPath": "/file", "mountPropagation": "HostToContainer"},
        {"path": "/dev/null", "mountPath": '/odd,"name"'},
        {"path": str(team.own), "exclude": True},
        *[{"path": "/usr", "mountPath": f"/usr{i}"} for i in range(28)],
    ]
    server = start(**runtime.install("podman"))
    workload = image_submit(server, "job", "cat $VOLUME_FILE", spec={"storage": {"hostPath": paths}})
    server.wait_phase(workload, "Completed")
    words = after(runtime.container(), "--mount")
    mounts = runtime.mounts()
    assert len(words) == len(mounts) == 32
    for i, mount in enumerate(mounts):
        assert mount["place"].startswith(f"{PLACES}/{name_of(server)}.") and mount["place"].endswith(f"/paths/{i + 1}")
    assert [word.partition(",")[2].partition(",")[2] for word in words[:4]] == [
        "dst=/plain",
        "dst=/fixed,readonly",
        "dst=/file,bind-propagation=rslave",
        '"dst=/odd,""name"""',
    ]
    assert mounts[2]["inode"] == inode(team.open / "data/whose")
    assert mounts[3]["inode"] == inode(pathlib.Path("/dev/null"))
    assert [mount["inode"] for mount in mounts[4:]] == [inode(pathlib.Path("/usr"))] * 28
    assert log_of(server, workload).strip() == "open" and left(server) == []


@pytest.fixture
def shared(folder):
    """A folder that passes on what is mounted below it, and one mount there."""
    data = folder / "data"
    (data / "below").mkdir(parents=True)
    (data / "later").mkdir()
    folder.chmod(0o755)
    subprocess.run(["mount", "--bind", data, data], check=True)
    subprocess.run(["mount", "--make-shared", data], check=True)
    mount_on(data / "below")
    yield data
    subprocess.run(["umount", "--lazy", data], check=True)


def mount_on(path):
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=0755", "test", path], check=True)
    (path / "mark").write_text("a year of work")


def mounts_of(place):
    """What is mounted there and below."""
    lines = pathlib.Path("/proc/self/mountinfo").read_text().splitlines()
    return sorted(line.split()[4].removeprefix(place) for line in lines if line.split()[4].startswith(place))


def test_mounts_below_a_path_are_seen_and_stay(start, runtime, shared):
    server = start(**runtime.install("docker"))
    workload = image_submit(server, "job", f"cat $VOLUME_M0/below/mark; {STAYS}", spec=storage(shared))
    assert "a year of work" in wait_log(server, workload, "up")
    place = runtime.mounts()[0]["place"]
    mount_on(shared / "later")
    assert mounts_of(place) == ["", "/below", "/later"], "it does not follow the machine"
    subprocess.run(["umount", shared / "later"], check=True)
    assert mounts_of(place) == ["", "/below"]
    server.post(f"/api/v1/workloads/trainings/{workload}/suspend")
    server.wait_phase(workload, "Stopped")
    assert left(server) == []
    assert (shared / "below/mark").read_text() == "a year of work", "the machine's own mount went, too"


def test_all_of_the_machine_takes_no_places_along(start, runtime):
    server = start(**runtime.install("podman"))
    for count in (1, 2):
        workload = image_submit(server, f"job{count}", STAYS, spec=storage("/"))
        wait_log(server, workload, "up")
    for mount in runtime.mounts():
        assert not [path for path in mounts_of(mount["place"]) if "/paths/" in path]


def test_a_namespace_of_others_keeps_nothing(start, runtime, shared):
    server = start(**runtime.install("podman"))
    workload = image_submit(server, "job", STAYS, spec=storage(shared))
    wait_log(server, workload, "up")
    other = subprocess.Popen(
        ["unshare", "-m", "--propagation", "slave", "sh", "-c", "echo; exec sleep 1000"], stdout=-1
    )
    try:
        other.stdout.readline()
        mountinfo = pathlib.Path(f"/proc/{other.pid}/mountinfo")
        assert "/paths/1/below" in mountinfo.read_text()
        server.post(f"/api/v1/workloads/trainings/{workload}/suspend")
        server.wait_phase(workload, "Stopped")
        assert "/paths/1" not in mountinfo.read_text()
    finally:
        other.kill()
        other.wait()


@pytest.mark.parametrize("killed", ["supervisor", "server", "both"])
def test_after_a_kill_nothing_is_left_but_what_was_there(start, runtime, shared, killed):
    server = start(**runtime.install("podman"))
    workload = image_submit(server, "job", STAYS, spec=storage(shared, shared / "below/mark"))
    wait_log(server, workload, "up")
    (supervisor,) = supervisors_of(server).values()
    if killed != "supervisor":
        server.kill()
    if killed != "server":
        os.kill(supervisor, signal.SIGKILL)
    if killed != "supervisor":
        server.start()
    if killed == "server":
        server.wait_phase(workload, "Running")
        assert len(left(server)) > 3, "a pod that lives has lost its places"
        server.post(f"/api/v1/workloads/trainings/{workload}/suspend")
        server.wait_phase(workload, "Stopped")
    else:
        server.wait_phase(workload, "Failed")
    assert left(server) == []
    assert (shared / "below/mark").read_text() == "a year of work"


def test_who_was_killed_on_the_way_costs_the_machine_no_mount(start, shared):
    server = start()
    server.kill()
    pod = PLACES / f"{name_of(server)}.1f0e5c1e-0000-4000-8000-000000000001"
    pod.mkdir(parents=True)
    for step in (["-t", "tmpfs", "prorata", pod], ["--make-unbindable", pod]):
        subprocess.run(["mount", *step], check=True)
    (pod / "folder").mkdir()
    subprocess.run(["mount", "--rbind", shared, pod / "folder"], check=True)  # shares what goes from below it
    server.start()
    assert left(server) == []
    assert (shared / "below/mark").read_text() == "a year of work", "the machine's own mount went, too"


def test_places_of_another_server_stay(start, runtime, folder):
    first, second = start(**runtime.install("podman")), start()
    workload = image_submit(first, "job", STAYS, spec=storage("/usr"))
    wait_log(first, workload, "up")
    second.kill()
    second.start()
    assert len(left(first)) > 3


@pytest.fixture
def without_mounts(folder, monkeypatch):
    """Servers are root and may not mount."""
    program, setpriv = folder / "without-mounts", shutil.which("setpriv")
    program.write_text(f'#!/bin/sh\nexec {setpriv} --bounding-set -sys_admin --inh-caps -sys_admin {PRORATA} "$@"\n')
    program.chmod(0o755)
    if subprocess.run([program, "--version"], capture_output=True).returncode:
        pytest.skip("no setpriv")
    monkeypatch.setattr(servers, "PRORATA", str(program))


def test_where_nothing_can_be_mounted_a_path_fails_and_says_why(without_mounts, start, runtime, team):
    server = start(**runtime.install("podman"))
    workload = image_submit(server, "job", "true", spec=storage(team.open))
    server.wait_phase(workload, "Failed")
    why = "host paths in an image need mounts (CAP_SYS_ADMIN): Operation not permitted"
    assert any(why in event for event in events_of(server, workload)), events_of(server, workload)
    assert runtime.calls("run") == [] and left(server) == []
    server.wait_phase(image_submit(server, "other", "true"), "Completed")


def test_docker_is_given_no_mounts_that_its_daemon_does_not_see(mounted, start, runtime, team):
    try:
        pathlib.Path("/proc/1/ns/mnt").stat()
    except PermissionError:
        pytest.skip("the machine's first process cannot be looked at")
    mounted("true &&")
    (runtime.bin / "unshare").symlink_to("/usr/bin/unshare")
    server = start(**runtime.install("docker"))
    workload = image_submit(server, "job", "true", spec=storage(team.open))
    server.wait_phase(workload, "Failed")
    assert any("docker does not see what this server mounts" in event for event in events_of(server, workload))
    assert runtime.calls("run") == []


def test_a_file_of_a_config_map_cannot_be_replaced(start, runtime):
    server = start(**runtime.install("podman"))
    give(server, "config-maps", "site", **{"a.conf": "level 1"})
    workload = image_submit(
        server,
        "job",
        "cat $VOLUME_A_CONF; rm -f $VOLUME_A_CONF; ls $(dirname $VOLUME_A_CONF) || echo closed",
        spec={"storage": {"configMapVolume": [{"configMap": "site", "mountPath": "/a_conf", "subPath": "a.conf"}]}},
    )
    server.wait_phase(workload, "Completed")
    assert "level 1" in log_of(server, workload) and "closed" in log_of(server, workload)
    assert pathlib.Path(runtime.mounts()[0]["place"]).name == "a.conf"
