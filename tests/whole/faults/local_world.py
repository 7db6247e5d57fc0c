"""A machine of our own making for a server with the local backend: its GPUs are a text file, its pods processes."""

import contextlib
import json
import os
import pathlib
import signal
import time

from rows import gangs_in_halves, pods_of
from servers import PRORATA
from world import World

GPUS = 4
SETTLED_S = 60

# What a pod may be like. The mark stands in the environment of all of them.
SCRIPTS = {
    "goes at once": "sleep infinity & wait",
    "takes its time": 'trap "sleep 0.2; exit 0" TERM; sleep infinity & wait',
    "will not go": "trap : TERM; while true; do sleep 0.2; done",
    "has children that left it": '(setsid sleep 100000 &); (setsid sh -c "(setsid sleep 100001 &)" &); '
    "sleep infinity & wait",
    "talks": "while true; do echo 0123456789012345678901234567890123456789; sleep 0.02; done",
    "ends well": "sleep 0.3; exit 0",
    "ends at once": "exit 0",
    "fails": "sleep 0.3; exit 3",
    "fails at once": "exit 4",
}


def cmdline(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return "(gone)"


class Machine(World):
    BACKEND, SCRIPTS, SETTLED_S = "local", SCRIPTS, SETTLED_S

    def __init__(self, folder, seed):
        self.mark = f"FAULTS_OF={os.getpid()}-{seed}"
        self.gpu_file = folder / "gpus"
        self.broken = {}
        self.write_gpus()
        super().__init__(folder, seed)

    def arguments(self):
        return ["--local-nvml", str(pathlib.Path(PRORATA).with_name("fake_nvml.so"))]

    def environment(self):
        return {"PRORATA_FAKE_NVML": str(self.gpu_file)}

    def script(self, name):
        variables = {**self.clock_environment, **dict([self.mark.split("=")])}
        return {
            "command": "/bin/sh -c",
            "args": f"'{SCRIPTS[name]}'",
            "environmentVariables": [{"name": key, "value": value} for key, value in variables.items()],
        }

    def whole(self):
        return [({"command": "sleep infinity"}, GPUS)]

    def clear(self):
        for pid in self.marked():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        for group in self.cgroups():  # where a round has failed
            for _ in range(100):
                try:
                    group.rmdir()
                    break
                except OSError:
                    time.sleep(0.05)

    def cgroups(self):
        """Of pods; their parent is named after the data folder."""
        about = os.stat(self.server.data)
        name = f"prorata-{about.st_dev:x}-{about.st_ino:x}"
        return [
            entry
            for base in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified")
            for entry in pathlib.Path(base).glob(f"{name}/*-*-*-*-*")
        ]

    def write_gpus(self):
        part = self.gpu_file.with_suffix(".part")
        part.write_text("".join(f"gpu GPU-{i} 81920 {self.broken.get(i, '')}\n" for i in range(GPUS)))
        part.replace(self.gpu_file)

    def marked(self):
        """Processes of pods (their supervisors too): pid -> environment, zombies left out."""
        found = {}
        for entry in os.scandir("/proc"):
            if entry.name.isdigit():
                try:
                    text = pathlib.Path(entry.path, "environ").read_bytes()
                except OSError:
                    continue
                if pod := self.supervised_by(entry.path):
                    found[int(entry.name)] = {"PRORATA_POD": pod}
                if self.mark.encode() in text:
                    found[int(entry.name)] = dict(
                        line.split("=", 1) for line in text.decode(errors="replace").split("\0") if "=" in line
                    )
        return found

    def supervised_by(self, process):
        """The pod whose supervisor a process is, of this world's: it has no environment."""
        try:
            words = pathlib.Path(process, "cmdline").read_bytes().split(b"\0")
            is_ours = words[0] == b"prorata-supervisor" and os.readlink(f"{process}/fd/5").startswith(
                os.path.realpath(self.server.data / "pods")
            )
        except OSError:
            return None
        return words[2].decode() if is_ours else None

    @staticmethod
    def is_supervisor(pid):
        try:
            return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"prorata-supervisor\0")
        except OSError:
            return False

    # Faults.

    def meanwhile(self):
        self.random.choice((self.kill_supervisors, self.kill_pods))()

    def kill_some(self, are_supervisors, how):
        chosen = [pid for pid in self.marked() if self.is_supervisor(pid) == are_supervisors]
        for pid in self.random.sample(sorted(chosen), min(len(chosen), self.random.choice((1, 1, 2)))):
            with contextlib.suppress(OSError):
                os.kill(pid, how)

    def kill_supervisors(self):
        self.kill_some(True, signal.SIGKILL)

    def kill_pods(self):
        self.kill_some(False, self.random.choice((signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM)))

    def break_gpu(self):
        self.broken[self.random.randrange(GPUS)] = self.random.choice(("lost", "ecc=3"))
        self.write_gpus()

    def heal(self):
        self.broken = {}
        self.write_gpus()

    FAULTS = (
        World.kill_server,
        World.kill_server,
        World.end_server,
        World.halt_server,
        kill_supervisors,
        kill_pods,
        break_gpu,
        World.fill_disk,
        World.shift_clock,
    )

    # What must hold.

    def see(self):
        """Devices that processes of several pods have been told to use, together more than once. Who has ended
        meanwhile is left out."""

        def look():
            users = {}
            for environment in self.marked().values():
                for device in environment.get("CUDA_VISIBLE_DEVICES", "").split(","):
                    if device:
                        users.setdefault(device, {})[environment["PRORATA_POD"]] = float(
                            environment.get("RUNAI_GPU_PORTION", 1)
                        )
            return users

        first = look()
        if all(sum(pods.values()) <= 1.001 for pods in first.values()):
            return []
        second = look()
        return [
            f"{device} is used by {sorted(pods)}"
            for device, pods in second.items()
            if sum(portion for pod, portion in pods.items() if pod in first.get(device, ())) > 1.001
        ]

    def wrong(self):
        """What must come true in a while: rows and processes agree, what was to go is gone."""
        pods = {pod["uuid"]: pod for pod in pods_of(self)}
        processes = self.marked()
        supervisors = {}
        for pid, environment in processes.items():
            if self.is_supervisor(pid) and environment["PRORATA_POD"] not in supervisors:
                supervisors[environment["PRORATA_POD"]] = pid
        found = []
        for uuid, pod in pods.items():
            if pod["status"] == "Running" and uuid not in supervisors:
                found.append(f"{pod['name']} is Running without a supervisor")
            elif pod["status"] == "Running" and not any(
                environment["PRORATA_POD"] == uuid and pid != supervisors[uuid]
                for pid, environment in processes.items()
            ):
                found.append(f"{pod['name']} is Running without a process")
            if bad := self.broken.keys() & set(json.loads(pod["gpu_indices_json"])):
                found.append(f"{pod['name']} is on device {bad}, which has failed")
        found += [
            f"process {pid} is an orphan: {cmdline(pid)} of pod {environment['PRORATA_POD']}"
            for pid, environment in processes.items()
            if environment["PRORATA_POD"] not in pods
        ]
        return (
            found
            + gangs_in_halves(self, pods.values())
            + [f"a cgroup is left of pod {entry.name}" for entry in self.cgroups() if entry.name not in pods]
        )

    def left(self):
        """Of pods that are gone, when all are."""
        kept = [f.name for f in (self.server.data / "pods").iterdir() if (f / "state").exists()]
        return [cmdline(pid) for pid in self.marked()] + [pod["name"] for pod in pods_of(self)] + kept
