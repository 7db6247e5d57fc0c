"""Which device nodes a pod can open: nodes of NVIDIA's major without a driver behind them. Where the filter lets a
process through, the kernel finds no such device; else the operation is not permitted."""

import ctypes
import errno
import os
import pathlib
import shutil
import stat
import struct
import tempfile

import pytest
from pods import events_of, log_of, quoted, submit, wait_log
from servers import Client
from test_gpus import mig

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
GPUS, CONTROL = 195, {"nvidia-modeset": 254, "nvidiactl": 255}


@pytest.fixture
def machine(gpu_machine):
    return gpu_machine


def make_node(path, major, minor):
    os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(major, minor))
    path.chmod(0o666)


@pytest.fixture
def nodes():
    """Such nodes, in a folder that every user can enter: pods have a /tmp and /var/tmp of their own."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="prorata-nodes-", dir="/dev"))
    path.chmod(0o755)
    try:
        for minor in range(6):
            make_node(path / f"nvidia{minor}", GPUS, minor)
        for name, minor in CONTROL.items():
            make_node(path / name, GPUS, minor)
        yield path
    finally:
        shutil.rmtree(path)


@pytest.fixture(params=["cgroup v2", "cgroup v1"])
def held(machine, request):
    """A server that holds pods to their devices. Skips where the machine cannot, with the reason."""
    if request.param == "cgroup v1":
        request.getfixturevalue("without_cgroup_v2")

    def start(*more):
        server = machine(*more)
        line = next(line for line in server.log.read_text().splitlines() if "GPUs are " in line)
        if f"GPUs are held by {request.param}:" not in line:
            pytest.skip(line)
        return server

    return start


def opened(nodes):
    """A line of a shell that says for each node what came of opening it."""
    return f"cd {nodes}; for node in *; do (: < $node) 2>&1 | sed 's/.*: //; s/^/'$node'=/'; done; echo tried; "


RUNS = "while true; do sleep 0.05; done"


def tries(server, workload):
    lines = wait_log(server, workload, "tried").split("tried")[0].splitlines()
    found = dict(line.split("=") for line in lines)
    assert set(found.values()) <= {"No such device or address", "Operation not permitted"}, found
    return {name for name, what in found.items() if what.startswith("No such device")}


def test_a_pod_opens_its_own_gpus_and_no_others(held, nodes, gpus):
    gpus.set(1, "minor=5")  # numbers of nodes are the driver's
    server = held()
    first = submit(server, "one", opened(nodes) + RUNS)
    assert tries(server, first) == {"nvidia0", *CONTROL}
    two = submit(server, "two", opened(nodes) + RUNS, gpus=2)
    assert tries(server, two) == {"nvidia5", "nvidia2", *CONTROL}
    none = submit(server, "none", opened(nodes), gpus=0)
    assert tries(server, none) == set(CONTROL)


def test_a_shared_gpu_is_open_to_each_that_holds_a_part(held, nodes):
    server = held()
    half = {"compute": {"gpuDevicesRequest": 1, "gpuRequestType": "portion", "gpuPortionRequest": 0.5}}
    pods = [submit(server, f"half-{i}", opened(nodes) + RUNS, gpus=0, spec=half) for i in range(2)]
    assert [tries(server, workload) for workload in pods] == [{"nvidia0", *CONTROL}] * 2


def test_the_filter_outlives_the_server_and_holds_sessions(held, nodes, folder):
    server = held()
    workload = submit(server, "stays", f"while [ ! -e {nodes}/again ]; do sleep 0.05; done; {opened(nodes)} {RUNS}")
    server.wait_phase(workload, "Running")
    server.kill()
    (nodes / "again").touch()
    server.start()
    assert tries(server, workload) == {"nvidia0", *CONTROL}
    client = Client(server, folder / "home").sign_in()
    said = client.run("exec", "stays", "-p", "team-a", "--", "/bin/sh", "-c", opened(nodes))
    assert "nvidia0=No such device" in said and "nvidia1=Operation not permitted" in said, said


def test_a_pod_cannot_leave_the_filter(held, nodes):
    """It makes no node of its own, enters no other cgroup, and a user namespace of its own changes nothing."""
    server = held()
    ways = (
        f"mknod mine c {GPUS} 3; for tree in $(awk '$3 ~ /^cgroup/ {{ print $2 }}' /proc/mounts); do (echo $$ > "
        f"$tree/cgroup.procs) && echo left $tree; done; "
        f"unshare -r -m sh -c 'mknod mine c {GPUS} 3; mount -t cgroup2 none /mnt; echo $$ > /mnt/cgroup.procs && "
        f"echo left by namespace'; ls mine; "
    )
    workload = submit(server, "flees", ways + opened(nodes))
    assert tries_after(server, workload) == {"nvidia0", *CONTROL}
    said = log_of(server, workload)
    assert "left" not in said and "\nmine" not in said, said


def tries_after(server, workload):
    said = wait_log(server, workload, "tried")
    return {line.split("=")[0] for line in said.splitlines() if "=No such device" in line}


RANKS = """
import os
from mpi4py import MPI
def what(node):
    try:
        os.open(node, os.O_RDONLY)
    except OSError as error:
        return error.errno
nodes = os.environ["NODES"]
own = int(os.environ["CUDA_VISIBLE_DEVICES"].split("-")[1])
MPI.COMM_WORLD.barrier()
os.write(1, f"own={what(f'{nodes}/nvidia{own}')} other={what(f'{nodes}/nvidia3')}\\n".encode())
"""


def test_ranks_of_an_mpi_workload_open_the_gpus_of_its_workers(held, nodes):
    """They are processes of the launcher, which holds none."""
    server = held()
    workload = server.submit(
        "mpi",
        "team-a",
        1,
        kind="distributed",
        spec={
            "numWorkers": 2,
            "distributedFramework": "MPI",
            "environmentVariables": [{"name": "NODES", "value": str(nodes)}],
        },
        masterSpec={"command": "mpirun /usr/bin/python3 -c", "args": quoted(RANKS), "compute": {"cpuCoreRequest": 0.1}},
    )
    server.wait_phase(workload, "Completed", seconds=60)
    lines = [line for line in log_of(server, workload).splitlines() if line.startswith("own=")]
    assert lines == [f"own={errno.ENXIO} other={errno.EPERM}"] * 2, log_of(server, workload)


CAPS = 240  # a major that no module has here
MINORS = {
    "config": 1,
    "monitor": 2,
    "gpu0/gi1/access": 12,
    "gpu0/gi1/ci0/access": 13,
    "gpu1/gi1/access": 21,
    "gpu1/gi1/ci0/access": 22,
    "gpu1/gi2/access": 30,
    "gpu1/gi2/ci0/access": 31,
}


@pytest.fixture
def caps(folder, nodes, mounted):
    """The files that NVIDIA's modules make in /proc, and MIG's nodes."""
    majors = (
        pathlib.Path("/proc/devices")
        .read_text()
        .replace("Character devices:\n", f"Character devices:\n{CAPS} nvidia-caps\n")
    )
    (folder / "devices").write_text(majors)
    (folder / "mig-minors").write_text("".join(f"{name} {minor}\n" for name, minor in MINORS.items()))
    mounted(
        f"mount --bind {folder}/devices /proc/devices && mount -t tmpfs none /proc/driver && mkdir "
        f"/proc/driver/nvidia-caps && "
        f"cp {folder}/mig-minors /proc/driver/nvidia-caps &&"
    )
    for minor in MINORS.values():
        make_node(nodes / f"nvidia-cap{minor}", CAPS, minor)


def test_a_pod_opens_its_own_mig_instances(held, nodes, gpus, caps):
    gpus.lines = ["gpu GPU-0 81920 mig=3g.40gb", "gpu GPU-1 81920 mig=1g.10gb,1g.10gb"]
    gpus.write()
    server = held()
    large = submit(server, "large", opened(nodes) + RUNS, gpus=0, spec=mig("3g.40gb"))
    assert tries(server, large) == {"nvidia0", "nvidia-cap12", "nvidia-cap13", *CONTROL}
    small = submit(server, "small", opened(nodes) + RUNS, gpus=0, spec=mig("1g.10gb"))
    assert tries(server, small) == {"nvidia1", "nvidia-cap21", "nvidia-cap22", *CONTROL}
    other = submit(server, "other", opened(nodes) + RUNS, gpus=0, spec=mig("1g.10gb"))
    assert tries(server, other) == {"nvidia1", "nvidia-cap30", "nvidia-cap31", *CONTROL}
    none = submit(server, "none", opened(nodes), gpus=0)
    assert tries(server, none) == set(CONTROL)


def shut_below(cgroup):
    """A filter that allows no other below it, and all devices: r0 = 1, exit. It stays as long as the descriptor is
    open, and then the cgroup."""
    libc, numbers = ctypes.CDLL(None, use_errno=True), {"x86_64": 321, "aarch64": 280}
    program, licence = (
        ctypes.create_string_buffer(bytes.fromhex("b7000000010000009500000000000000")),
        ctypes.create_string_buffer(b"GPL"),
    )

    def call(command, layout, *values):
        attributes = ctypes.create_string_buffer(struct.pack(layout, *values), 128)
        result = libc.syscall(numbers[os.uname().machine], command, attributes, 128)
        assert result >= 0, os.strerror(ctypes.get_errno())
        return result

    loaded = call(5, "=IIQQ", 15, 2, ctypes.addressof(program), ctypes.addressof(licence))
    folder = os.open(cgroup, os.O_RDONLY)
    call(8, "=IIII", folder, loaded, 6, 0)
    os.close(loaded)
    os.close(folder)


@pytest.mark.parametrize("held", ["cgroup v2"], indirect=True)
def test_a_pod_that_cannot_be_held_does_not_start(held, nodes):
    server = held()
    place = next(
        line.split()[1]
        for line in pathlib.Path("/proc/mounts").read_text().splitlines()
        if line.split()[2] == "cgroup2"
    )
    (folder,) = pathlib.Path(place).glob("**/prorata-{0.st_dev:x}-{0.st_ino:x}".format((server.data).stat()))
    shut_below(folder)
    workload = submit(server, "loose", opened(nodes) + RUNS, spec={"backoffLimit": 0})
    server.wait_phase(workload, "Failed")
    assert any("its devices cannot be held: the device filter of" in message for message in events_of(server, workload))
    assert log_of(server, workload) == ""


def test_where_gpus_are_not_held_the_log_says_so(machine, gpus):
    for index in range(4):
        gpus.set(index, "lost")
    log = machine().log.read_text()
    assert (
        "GPUs are only asked for (CUDA_VISIBLE_DEVICES): a pod can open those of others: the driver does not tell"
        in log
    )
