"""A machine of our own making for a server with the local backend: its GPUs are a text file, its disk a small file
system, its clock a file; and what clients asked for, with what was answered."""

import collections
import contextlib
import http.client
import os
import pathlib
import random
import signal
import subprocess
import threading
import time

from servers import PRORATA, Server

GPUS = 4
DISK = "160m"
BUILD = pathlib.Path(PRORATA).parent

# What a pod may be like. MARK stands in the environment of all of them.
SCRIPTS = {
    "goes at once": "sleep infinity & wait",
    "takes its time": 'trap "sleep 0.2; exit 0" TERM; sleep infinity & wait',
    "will not go": "trap : TERM; while true; do sleep 0.2; done",
    "has children that left it": '(setsid sleep 100000 &); (setsid sh -c "(setsid sleep 100001 &)" &); '
    "sleep infinity & "
    ""
    ""
    ""
    ""
    ""
    "wait",
    "talks": "while true; do echo 0123456789012345678901234567890123456789; sleep 0.02; done",
    "ends well": "sleep 0.3; exit 0",
    "ends at once": "exit 0",
    "fails": "sleep 0.3; exit 3",
    "fails at once": "exit 4",
}


class World:
    def __init__(self, folder, seed):
        self.folder, self.seed, self.random = folder, seed, random.Random(seed)
        self.mark = f"FAULTS_OF={os.getpid()}-{seed}"
        self.disk = folder / "disk"
        self.disk.mkdir()
        self.has_disk = os.geteuid() == 0
        if self.has_disk:
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", str(self.disk)], check=True)
        os.chmod(folder, 0o755)  # pods are another user, and their clock is ours
        self.clock_file = folder / "clock"
        self.gpu_file = folder / "gpus"
        self.broken = {}
        self.shift = 0
        self.write_gpus()
        self.write_clock()
        clock = {"LD_PRELOAD": str(BUILD / "shift_clock.so"), "PRORATA_SHIFT_CLOCK": str(self.clock_file)}
        sanitizer = {
            "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        }  # where it is built in
        self.pod_environment = {**clock, **sanitizer, **dict([self.mark.split("=")])}
        self.server = Server(
            self.disk,
            "--backend",
            "local",
            "--local-nvml",
            str(BUILD / "fake_nvml.so"),
            "--quick-start",
            "--retry-delay",
            "0.2",
            "--staleness-grace",
            "2",
            "--journal-bytes",
            str(8 << 20),
            environment={**clock, **sanitizer, "PRORATA_FAKE_NVML": str(self.gpu_file)},
        )
        self.server.log = folder / "server.log"
        self.lock = threading.Lock()
        self.known = {}  # id -> what was answered of it
        self.unsure = set()  # names that were asked for without an answer
        self.busy = set()
        self.number = 0
        self.counts = collections.Counter()
        self.bad_answers = []
        self.server.start()
        self.pools = self.server.get("/api/v1/node-pools").json["nodepools"]
        self.cluster = self.server.cluster_id()
        self.projects = [self.server.project_id(name) for name in ("team-a", "team-b")]

    def close(self):
        if self.server.process.poll() is None:
            self.server.process.send_signal(signal.SIGCONT)
            self.server.stop()
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
        if self.has_disk:
            subprocess.run(["umount", "-l", str(self.disk)], check=False)

    # The machine.

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
        part = self.folder / "gpus.part"
        part.write_text("".join(f"gpu GPU-{i} 81920 {self.broken.get(i, '')}\n" for i in range(GPUS)))
        part.replace(self.gpu_file)

    def write_clock(self):
        part = self.folder / "clock.part"
        part.write_text(f"{self.shift}\n")
        part.chmod(0o644)
        part.replace(self.clock_file)

    def marked(self):
        """Processes of pods (their supervisors too): pid -> environment, zombies left out."""
        found = {}
        for entry in os.scandir("/proc"):
            if entry.name.isdigit():
                try:
                    text = pathlib.Path(entry.path, "environ").read_bytes()
                except OSError:
                    continue
                if self.mark.encode() in text:
                    found[int(entry.name)] = dict(
                        line.split("=", 1) for line in text.decode(errors="replace").split("\0") if "=" in line
                    )
        return found

    @staticmethod
    def is_supervisor(pid):
        try:
            return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"prorata-supervisor\0")
        except OSError:
            return False

    # Clients.

    def ask(self, method, path, body=None):
        """The answer, or None where there was none."""
        try:
            answer = self.server.request(method, path, body, timeout=15)
            if answer.status == 401:  # a clock that jumped makes tokens old
                self.server.token = None
                answer = self.server.request(method, path, body, timeout=15)
        except (OSError, http.client.HTTPException, AssertionError):
            self.counts["unanswered"] += 1
            return None
        self.counts["answered"] += 1
        if answer.status >= 500 and answer.status != 503:
            self.bad_answers.append(f"{method} {path}: {answer}")
        return answer

    def submit(self, rng):
        with self.lock:
            self.number += 1
            name = f"w{self.number}"
        script = rng.choice(list(SCRIPTS))
        kind = rng.choice(("trainings", "trainings", "trainings", "workspaces", "distributed"))
        compute = {"gpuDevicesRequest": rng.choice((0, 1, 1, 1, 2)), "cpuCoreRequest": 0.01}
        spec = {
            "image": "x",
            "command": "/bin/sh -c",
            "args": f"'{SCRIPTS[script]}'",
            "compute": compute,
            "terminationGracePeriodSeconds": 1,
            "environmentVariables": [{"name": key, "value": value} for key, value in self.pod_environment.items()],
        }
        if kind != "workspaces":
            spec["backoffLimit"] = rng.choice((0, 1, 3))
        gang = 1
        if kind == "distributed":
            gang = spec["numWorkers"] = rng.choice((2, 2, 3))
            spec["distributedFramework"] = "PyTorch"
            compute["gpuDevicesRequest"] = 1
            if rng.random() < 0.4:
                gang = spec["minReplicas"] = 1
        elif rng.random() < 0.3:
            compute.update(gpuDevicesRequest=1, gpuRequestType="portion", gpuPortionRequest=rng.choice((0.5, 0.3)))
        if kind == "trainings" and rng.random() < 0.15:
            spec.update(completions=3, parallelism=rng.choice((1, 2)))
        if rng.random() < 0.3:
            spec["priorityClass"] = rng.choice(("very-low", "medium"))
        with self.lock:
            self.unsure.add(name)
        answer = self.ask(
            "POST",
            f"/api/v1/workloads/{kind}",
            {"name": name, "projectId": rng.choice(self.projects), "clusterId": self.cluster, "spec": spec},
        )
        if answer is not None and answer.status == 202:
            with self.lock:
                self.known[answer.json["workloadId"]] = {
                    "name": name,
                    "kind": kind,
                    "wish": "Running",
                    "gang": gang,
                    "script": script,
                }
            self.counts["submitted"] += 1
        elif answer is not None and answer.status != 503:
            self.bad_answers.append(f"submission refused: {answer}")

    def steer(self, rng):
        with self.lock:
            living = [i for i, w in self.known.items() if w["wish"] != "Deleted" and i not in self.busy]
            if not living:
                return
            workload = rng.choice(sorted(living))
            self.busy.add(workload)  # one client at a time: else nobody knows whose wish came last
        self.wish(workload, rng.choice(("delete", "delete", "suspend", "resume", "resume")))
        with self.lock:
            self.busy.discard(workload)

    def wish(self, workload, what):
        path = f"/api/v1/workloads/{self.known[workload]['kind']}/{workload}"
        wish = {"delete": "Deleted", "suspend": "Stopped", "resume": "Running"}[what]
        with self.lock:
            self.known[workload]["wish"] = (
                None if self.known[workload]["wish"] != wish else wish
            )  # it may come about or not
        answer = self.ask("DELETE", path) if what == "delete" else self.ask("POST", f"{path}/{what}")
        if answer is not None and answer.status == 202:
            with self.lock:
                self.known[workload]["wish"] = wish
            self.counts[what] += 1

    def clients(self, count, steps):
        """Threads that submit and steer, each with a seed of its own."""
        seeds = [self.random.randrange(1 << 30) for _ in range(count)]

        def work(seed):
            rng = random.Random(seed)
            for _ in range(steps):
                (self.submit if rng.random() < 0.55 else self.steer)(rng)
                time.sleep(rng.uniform(0, 0.25))

        threads = [threading.Thread(target=work, args=(seed,)) for seed in seeds]
        for thread in threads:
            thread.start()
        return threads

    # Faults.

    def restart(self):
        """Starts the server, which may refuse only while the disk is full."""
        begin = self.server.log.stat().st_size
        try:
            self.server.start(wait=False)
            self.server.wait_ready(begin, seconds=5 if self.is_full() else 60)
        except AssertionError:
            if not self.is_full():
                raise
            self.counts["refused to start on a full disk"] += 1
            if self.server.process.poll() is None:
                self.server.kill()
            self.empty_disk()
            self.server.start()
        self.counts["server starts"] += 1

    def kill_server(self):
        self.server.kill()
        if self.random.random() < 0.4:
            self.random.choice((self.kill_supervisors, self.kill_pods))()
        time.sleep(self.random.uniform(0, 0.5))
        self.restart()

    def end_server(self):
        assert self.server.stop() == 0, self.server.tail()
        if self.random.random() < 0.4:
            self.random.choice((self.kill_supervisors, self.kill_pods))()
        self.restart()

    def halt_server(self):
        self.server.process.send_signal(signal.SIGSTOP)
        time.sleep(self.random.uniform(0.1, 1.2))
        self.server.process.send_signal(signal.SIGCONT)

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

    def heal_gpus(self):
        self.broken = {}
        self.write_gpus()

    def fill_disk(self):
        if not self.has_disk:
            return
        with open(self.disk / "ballast", "ab", buffering=0) as file:
            for size in (1 << 20, 4096):
                try:
                    while True:
                        file.write(b"\0" * size)
                except OSError:
                    pass

    def is_full(self):
        return (self.disk / "ballast").exists()

    def empty_disk(self):
        (self.disk / "ballast").unlink(missing_ok=True)

    def shift_clock(self):
        self.shift = self.random.choice((-7200, -600, -30, 0, 30, 600, 7200))
        self.write_clock()

    FAULTS = (
        kill_server,
        kill_server,
        end_server,
        halt_server,
        kill_supervisors,
        kill_pods,
        break_gpu,
        fill_disk,
        shift_clock,
    )

    def some_faults(self):
        """Up to three, one after the other; their names."""
        done = []
        for _ in range(self.random.choice((1, 2, 2, 3))):
            time.sleep(self.random.uniform(0.02, 0.3))
            fault = self.random.choice(self.FAULTS)
            fault(self)
            done.append(fault.__name__)
            self.counts[fault.__name__] += 1
        return done

    def calm(self):
        """What an operator would put right. A broken GPU may stay so for a while, and the clock as it is."""
        self.empty_disk()
        if self.random.random() < 0.7:
            self.heal_gpus()
        if self.random.random() < 0.5:
            self.shift = 0
            self.write_clock()
        if self.server.process.poll() is not None:
            raise AssertionError(f"the server ended with {self.server.process.returncode}:\n{self.server.tail()}")
        self.server.wait_ready(seconds=60)

    def tidy(self, most):
        """Deletes until at most so many workloads are left."""
        with self.lock:
            living = [i for i, w in self.known.items() if w["wish"] != "Deleted"]
        self.random.shuffle(living)
        for workload in living[most:]:
            self.wish(workload, "delete")
