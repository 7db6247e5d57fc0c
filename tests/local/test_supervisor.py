"""The supervisor alone, without a server: what a command has started is over when it is."""

import errno
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest
from handover import HANDOVER_FD, handover, sealed
from servers import PRORATA

SUPERVISOR = pathlib.Path(PRORATA).with_name("prorata-supervisor")
CGROUPS = next(
    (
        line.split()[1]
        for line in pathlib.Path("/proc/self/mounts").read_text().splitlines()
        if line.split()[2] == "cgroup2"
    ),
    None,
)
UUID = "11111111-2222-4333-8444-555555555555"
# Each process holds its slot's lock, which is free at once when it dies, and whoever finds a lock free fills the slot
# again: only a death makes a fork. They give up by themselves, for a test that fails must leave the machine alone.
STORM = """
import fcntl, mmap, os, signal, sys, time
folder, slots, forks, end = sys.argv[1], 40, 200, time.monotonic() + 120
births = memoryview(mmap.mmap(-1, slots))  # each written by the holder of its slot alone
signal.signal(signal.SIGTERM, signal.SIG_IGN)
def is_free(file):
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except BlockingIOError:
        return False
def open_slot(slot):
    return os.open(f"{folder}/{slot}", os.O_CREAT | os.O_RDWR)
def live(mine, lock):
    files = {slot: open_slot(slot) for slot in range(slots) if slot != mine}
    births[mine] += 1
    while time.monotonic() < end and sum(births) < slots + forks:
        for slot, file in files.items():
            if is_free(file):
                if os.fork() == 0:  # the lock goes over to the child
                    os.setsid()
                    for other in (lock, *files.values()):
                        if other != file:
                            os.close(other)
                    return slot, file
                os.close(file)
                files[slot] = open_slot(slot)
        time.sleep(0.002)
    print("gave up", flush=True)
    os._exit(0)
if os.fork() == 0:
    mine = 0, open_slot(0)
    is_free(mine[1])
    while True:
        mine = live(*mine)
while min(births) == 0:
    time.sleep(0.001)
print("up", flush=True)
"""


@pytest.fixture
def supervise(tmp_path):
    """supervise(words, *options): a supervisor of this command; its folder's `state` and log are read by the test."""
    home, folder = tmp_path, tmp_path / UUID
    folder.mkdir()
    started = []

    def start(words, *options, prefix=(), handed=None):
        fd = handover(words, {"PATH": os.environ["PATH"]}) if handed is None else handed
        command = f'exec "$@" {HANDOVER_FD}<&{fd} 3>>{folder}/state 4<{folder} 5<{home}'
        words = ["bash", "-c", command, "bash", *prefix, str(SUPERVISOR), "--uuid", UUID, *options]
        started.append(subprocess.Popen(words, pass_fds=[fd]))
        os.close(fd)
        return started[-1], folder

    yield start
    for process in started:
        process.kill()
        process.wait()


@pytest.fixture
def cgroup():
    folder = pathlib.Path(CGROUPS or "/nonexistent") / f"prorata-test-{os.getpid()}"
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("no cgroup v2 can be made here")
    yield folder
    folder.rmdir()


def carriers(mark):
    """Processes that carry a word in their environment."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark.encode() in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            pass
    return found


def log_of(folder):
    return "".join(path.read_text() for path in sorted((folder / "log").glob("*"))) if (folder / "log").exists() else ""


def wait_for(what, ready, seconds=60):
    end = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < end, what
        time.sleep(0.01)


@pytest.mark.parametrize("how", ["by its cgroup", "by stopping them first"])
def test_what_forks_faster_than_it_is_killed_ends_too(supervise, request, how, folder):
    options = ["--cgroup", str(request.getfixturevalue("cgroup"))] if how == "by its cgroup" else []
    mark = f"STORM={os.getpid()}{len(options)}"
    process, pod = supervise(["env", mark, sys.executable, "-c", STORM, str(folder)], *options)
    wait_for("the storm", lambda: " up\n" in log_of(pod))
    process.wait(timeout=60)
    assert "gave up" not in log_of(pod)
    assert "ended" in (pod / "state").read_text() and carriers(mark) == []


# As a program that the C library has told nothing of may leave them behind: by the system call, all that can be
# ignored.
IGNORES_ALL = """
import ctypes, os, sys
ignore = (ctypes.c_ulong * 8)(1)
for number in range(1, 65):
    ctypes.CDLL(None).syscall(13 if os.uname().machine == "x86_64" else 134, number, ignore, None, 8)
os.execv(sys.argv[1], sys.argv[1:])
"""


def test_a_command_starts_with_no_signal_ignored(supervise):
    process, folder = supervise(["cat", "/proc/self/status"], prefix=[sys.executable, "-c", IGNORES_ALL])
    process.wait(timeout=60)
    ignored = next(line for line in log_of(folder).splitlines() if "SigIgn:" in line)
    assert int(ignored.split()[-1], 16) == 0


@pytest.fixture
def hanging(tmp_path):
    """A folder in which the command's start waits for ever: nobody reads the pipe that stands for its cgroup."""
    folder = tmp_path / "hanging"
    folder.mkdir()
    os.mkfifo(folder / "cgroup.procs")
    return str(folder)


def test_a_start_that_hangs_is_stopped_within_its_grace(supervise, hanging):
    process, folder = supervise(["true"], "--cgroup", hanging, "--grace", "300")
    wait_for("the start", lambda: (folder / "state").exists() and "supervisor" in (folder / "state").read_text())
    process.terminate()
    process.wait(timeout=60)
    assert "ended" in (folder / "state").read_text()


def test_a_start_that_hangs_says_what_it_waits_for_before_it_is_given_up(supervise, hanging):
    process, folder = supervise(["true"], "--cgroup", hanging, "--tell", "100", "--grace", "100")
    wait_for("the word", lambda: (folder / "state").exists() and "waits" in (folder / "state").read_text())
    assert (folder / "state").read_text().splitlines()[-1].split()[2:] == ["cgroup"]
    process.terminate()
    process.wait(timeout=60)


def test_a_start_that_hangs_has_a_limit_and_says_what_it_waited_for(supervise, hanging):
    process, folder = supervise(["true"], "--cgroup", hanging, "--start", "300")
    process.wait(timeout=60)
    assert (folder / "state").read_text().splitlines()[-1].split()[2:] == [str(errno.ETIMEDOUT), "cgroup"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may have namespaces made")
def test_an_order_to_stop_before_the_command_runs_is_not_forgotten(supervise):
    other = pathlib.Path(f"/proc/{os.getpid()}/stat").read_text().rpartition(")")[2].split()[19]
    # It waits for another pod's memory: this test's process never has any.
    process, folder = supervise(
        ["sleep", "60"], "--shm", "1048576", "--join", f"{os.getpid()}:{other}", "--grace", "20000"
    )
    state = folder / "state"
    wait_for("the start", lambda: state.exists() and "supervisor" in state.read_text())
    process.terminate()
    process.wait(timeout=60)
    assert state.read_text().splitlines()[-1].split()[2:4] == ["-1", str(int(signal.SIGTERM))]


@pytest.mark.parametrize(
    "handed",
    [
        lambda: sealed(b"prorata 1\0cecho\0cran\0f/\0.\0", seals=0),
        lambda: sealed(b"prorata 1\0cecho\0cran\0f/\0"),
        lambda: sealed(b"prorata 2\0cecho\0cran\0f/\0.\0"),
        lambda: os.open("/dev/null", os.O_RDONLY),
        lambda: handover(["echo", "ran"], n=["/"] * 33),
    ],
    ids=["can be changed", "is torn", "of another version", "no memfd", "too many paths"],
)
def test_what_is_not_handed_over_whole_starts_nothing(supervise, handed):
    process, folder = supervise([], handed=handed())
    process.wait(timeout=15)
    assert (folder / "state").read_text().splitlines()[-1].startswith("refused ") and log_of(folder) == ""


def test_an_option_of_another_version_starts_nothing_and_says_so(supervise):
    """A server that was replaced on the disk and not yet started again starts supervisors of the new version."""
    process, folder = supervise(["echo", "ran"], "--before", "true")
    process.wait(timeout=15)
    assert "restart the server" in (folder / "state").read_text() and log_of(folder) == ""


def test_a_command_has_the_variables_that_were_handed_over_and_no_others(supervise):
    process, folder = supervise([], handed=handover(["env"], {"ONE": "1", "PATH": "/usr/bin:/bin"}))
    process.wait(timeout=15)
    said = [line.split(" ", 2)[2] for line in log_of(folder).splitlines()]
    assert said == ["ONE=1", "PATH=/usr/bin:/bin"]
