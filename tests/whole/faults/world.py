"""A server with its disk and its clock, what clients asked of it with what was answered, and the faults of a server.
What runs its pods stands in local_world.py and kube_world.py."""

import collections
import http.client
import os
import random
import signal
import subprocess
import threading
import time

from rows import rows_of
from servers import Server, moved_clock

DISK = "160m"
KINDS = ("trainings", "trainings", "trainings", "workspaces", "distributed")
PATHS = {"Training": "trainings", "Workspace": "workspaces", "Distributed": "distributed"}


class World:
    """Of a subclass: BACKEND; FAULTS; SCRIPTS, what pods may be like; arguments() and environment() of the server;
    script(name), of a specification; see() and wrong() for checks.py; whole(), GPUs of workloads that fill all."""

    PARTS = True  # GPUs may be shared

    def __init__(self, folder, seed):
        self.folder, self.seed, self.random = folder, seed, random.Random(seed)
        self.disk = folder / "disk"
        self.disk.mkdir()
        self.has_disk = os.geteuid() == 0
        if self.has_disk:
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", str(self.disk)], check=True)
        os.chmod(folder, 0o755)  # pods are another user, and their clock is ours
        self.clock_file = folder / "clock"
        self.shift = 0
        self.write_clock()
        self.clock_environment = moved_clock(self.clock_file)
        flags = ["--quick-start", "--retry-delay", "0.2", "--staleness-grace", "2", "--journal-bytes", str(8 << 20)]
        arguments = ["--backend", self.BACKEND, *self.arguments(), *flags]
        self.server = Server(self.disk, *arguments, environment={**self.clock_environment, **self.environment()})
        self.server.log = folder / "server.log"
        self.lock = threading.Lock()
        self.known = {}  # id -> what was answered of it
        self.unsure = set()  # names that were asked for without an answer
        self.busy = set()
        self.number = 0
        self.counts = collections.Counter()
        self.bad_answers = []
        self.server.start()
        self.cluster = self.server.cluster_id()
        self.projects = [self.server.project_id(name) for name in ("team-a", "team-b")]

    def environment(self):
        return {}

    def close(self):
        if self.server.process.poll() is None:
            self.server.process.send_signal(signal.SIGCONT)
            self.server.stop()
        self.clear()
        if self.has_disk:
            subprocess.run(["umount", "-l", str(self.disk)], check=False)

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

    def specification(self, rng, kind, script):
        """And how many pods its gang has."""
        compute = {"gpuDevicesRequest": rng.choice((0, 1, 1, 1, 2)), "cpuCoreRequest": 0.01}
        spec = {"image": "x", "compute": compute, "terminationGracePeriodSeconds": 1, **self.script(script)}
        if kind != "workspaces":
            spec["backoffLimit"] = rng.choice((0, 1, 3))
        gang = 1
        if kind == "distributed":
            gang = spec["numWorkers"] = rng.choice((2, 2, 3))
            spec["distributedFramework"] = "PyTorch"
            compute["gpuDevicesRequest"] = 1
            if rng.random() < 0.4:
                gang = spec["minReplicas"] = 1
        elif self.PARTS and rng.random() < 0.3:
            compute.update(gpuDevicesRequest=1, gpuRequestType="portion", gpuPortionRequest=rng.choice((0.5, 0.3)))
        if kind == "trainings" and rng.random() < 0.15:
            spec.update(completions=3, parallelism=rng.choice((1, 2)))
        if rng.random() < 0.3:
            spec["priorityClass"] = rng.choice(("very-low", "medium"))
        return spec, gang

    def submit(self, rng):
        with self.lock:
            self.number += 1
            name = f"w{self.number}"
        script, kind = rng.choice(list(self.SCRIPTS)), rng.choice(KINDS)
        spec, gang = self.specification(rng, kind, script)
        with self.lock:
            self.unsure.add(name)
        answer = self.ask(
            "POST",
            f"/api/v1/workloads/{kind}",
            {"name": name, "projectId": rng.choice(self.projects), "clusterId": self.cluster, "spec": spec},
        )
        if answer is not None and answer.status == 202:
            known = {"name": name, "kind": kind, "wish": "Running", "gang": gang, "script": script}
            with self.lock:
                self.known[answer.json["workloadId"]] = known
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

    # Faults of the server, its disk and its clock.

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

    def meanwhile(self):
        """What may happen while the server is down."""

    def kill_server(self):
        self.server.kill()
        if self.random.random() < 0.4:
            self.meanwhile()
        time.sleep(self.random.uniform(0, 0.5))
        self.restart()

    def end_server(self):
        assert self.server.stop() == 0, self.server.tail()
        if self.random.random() < 0.4:
            self.meanwhile()
        self.restart()

    def halt_server(self):
        self.server.process.send_signal(signal.SIGSTOP)
        time.sleep(self.random.uniform(0.1, 1.2))
        self.server.process.send_signal(signal.SIGCONT)

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

    def write_clock(self):
        part = self.folder / "clock.part"
        part.write_text(f"{self.shift}\n")
        part.chmod(0o644)
        part.replace(self.clock_file)

    def shift_clock(self):
        self.shift = self.random.choice((-7200, -600, -30, 0, 30, 600, 7200))
        self.write_clock()

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

    def heal(self):
        """What runs the pods is well again; of a round it may be so in part."""

    def calm(self):
        """What an operator would put right. The clock may stay as it is for a while."""
        self.empty_disk()
        if self.random.random() < 0.7:
            self.heal()
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

    def empty(self):
        """Deletes all that is there: submissions without an answer may be, too."""
        self.tidy(0)
        there = rows_of(self, "SELECT uuid, type FROM workloads WHERE deleted_ms = 0 AND desired_phase != 'Deleted'")
        for row in there:
            answer = self.ask("DELETE", f"/api/v1/workloads/{PATHS[row['type']]}/{row['uuid']}")
            assert answer is not None and answer.status == 202, answer
