"""`ssh`, and what goes through the entry of `ssh-config`: real clients, OpenSSH's server in the pod, no port."""

import os
import shutil
import subprocess

import pytest
from pods import events_of, processes_of, submit, supervisors_of, wait_log
from servers import PRORATA, Client
from shells import Terminal

pytestmark = pytest.mark.skipif(
    not all(map(shutil.which, ("ssh", "scp", "sftp", "rsync"))) or not os.path.exists("/usr/sbin/sshd"),
    reason="needs openssh-client, openssh-server, rsync",
)
SLEEPS = "echo up; while true; do sleep 0.05; done"


@pytest.fixture
def machine(start):
    return start()


@pytest.fixture
def job(machine, folder):
    """A workload that runs with a GPU, in a folder of its own below this one, "work"."""
    folder.chmod(0o755)
    (folder / "work").mkdir()
    (folder / "work").chmod(0o777)
    spec = {"workingDir": str(folder / "work"), "environmentVariables": [{"name": "GREETING", "value": "it's\na day"}]}
    workload = submit(machine, "job", SLEEPS, gpus=1, spec=spec)
    wait_log(machine, workload, "up")
    machine.wait_phase(workload, "Running")
    return workload


@pytest.fixture
def client(machine, job, folder):
    client = Client(machine, folder / "home").sign_in()
    client.run("project", "set", "team-a")
    (client.home / "config").write_text(client.run("ssh-config"))
    return client


def call(client, *words, status=0, data=b""):
    done = subprocess.run(
        words, input=data, capture_output=True, env={**os.environ, "HOME": str(client.home)}, timeout=120
    )
    assert done.returncode == status, done
    return done


def through(client, program, *words, **more):
    return call(client, program, "-F", str(client.home / "config"), *words, **more)


def test_a_command_has_the_pods_environment_folder_and_status(client, folder):
    script = 'echo "$GREETING" $CUDA_VISIBLE_DEVICES; pwd; cat; exit 7'
    done = call(client, PRORATA, "ssh", "job", "--", script, data=bytes(range(256)), status=7)
    assert done.stdout == f"it's\na day 0\n{folder}/work\n".encode() + bytes(range(256)), done
    assert done.stderr == b"", "nothing is asked, nothing is said"


def test_a_shell_has_a_terminal(client):
    shell = Terminal(client, "ssh", "job")
    shell.write("test -t 0 && echo a terminal $((40 + 2)); exit 5\r")
    shell.wait("a terminal 42")
    assert shell.status() == 5


def test_files_go_by_scp_sftp_and_rsync(client, folder):
    data = os.urandom(3_000_000)
    (folder / "here").write_bytes(data)
    through(client, "scp", str(folder / "here"), "job.prorata:by-scp")
    assert (folder / "work/by-scp").read_bytes() == data
    through(client, "sftp", "-b", "-", "job.prorata", data=f"get by-scp {folder}/back\n".encode())
    assert (folder / "back").read_bytes() == data
    call(client, "rsync", "-e", f"ssh -F {client.home}/config", str(folder / "here"), "job.prorata:by-rsync")
    assert (folder / "work/by-rsync").read_bytes() == data


def test_the_key_is_the_logins_and_nobody_elses_to_read(client):
    key = client.home / ".runai/ssh/key"
    first = key.read_text()
    assert key.stat().st_mode & 0o777 == 0o600 and key.parent.stat().st_mode & 0o777 == 0o700
    client.run("ssh-config")
    assert key.read_text() == first
    client.sign_in()
    assert through(client, "ssh", "job.prorata", "echo in").stdout == b"in\n"
    assert key.read_text() != first


def test_an_entry_is_audited_and_nothing_is_left(machine, job, client, folder):
    assert through(client, "ssh", "job.prorata", "ls -d /tmp/prorata-ssh-*").stdout
    assert [event for event in events_of(machine, job) if event.endswith("runs /bin/sh in a pod of job")]
    killed = ["exec", "job", "--", "/bin/sh", "-c", "mkdir /tmp/prorata-ssh-$$-killed"]
    call(client, PRORATA, *killed)
    look = "ls -d /tmp/prorata-ssh-* | wc -l"
    machine.wait_for("its own alone", lambda: through(client, "ssh", "job.prorata", look).stdout == b"1\n")


def test_it_ends_with_the_pod(machine, job, client):
    uuid = next(iter(supervisors_of(machine)))
    shell = Terminal(client, "ssh", "job")
    shell.write("echo in$((1 + 1))\r")
    shell.wait("in2")
    machine.post(f"/api/v1/workloads/trainings/{job}/suspend")
    assert shell.status() == 255
    machine.wait_phase(job, "Stopped")
    assert processes_of(uuid) == []


def test_another_project_is_named_and_an_unknown_workload_said(client):
    assert (
        b"no workload was found: none in project team-a"
        in through(client, "ssh", "none.prorata", "true", status=255).stderr
    )


def test_a_pod_without_the_server_says_what_to_install(machine, client, folder):
    spec = {"environmentVariables": [{"name": "PATH", "value": "/none"}]}
    bare = submit(machine, "bare", "/bin/sleep 1000", gpus=0, spec=spec)
    machine.wait_phase(bare, "Running")
    done = call(client, PRORATA, "ssh", "bare", "--", "true", status=255)
    assert b"is missing in this pod: install the package openssh-" in done.stderr
