"""Workloads of the local backend and their processes. What runs is looked at in /proc, not believed."""

import datetime
import pathlib
import subprocess

from servers import PRORATA

GPUS = 4
LIBRARY = pathlib.Path(PRORATA).with_name("fake_nvml.so")
RUNS = "echo $CUDA_VISIBLE_DEVICES; echo up; while true; do sleep 0.05; done"


def processes_of(uuid):
    """The processes that carry a pod's uuid in their environment, and its supervisor, which has none; zombies left
    out."""
    found, supervisor = [], b"prorata-supervisor\0--uuid\0" + uuid.encode() + b"\0"
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                variables = (entry / "environ").read_bytes().split(b"\0")
                if f"PRORATA_POD={uuid}".encode() in variables or (entry / "cmdline").read_bytes().startswith(
                    supervisor
                ):
                    found.append(int(entry.name))
            except OSError:
                pass
    return found


def supervisors_of(server):
    """pod uuid -> its supervisor's process, of those that live."""
    found = {}
    for state in (server.data / "pods").glob("*/state"):
        try:
            lines = state.read_text().splitlines()
        except FileNotFoundError:  # the server has just cleared the pod's folder
            continue
        for pid in [int(line.split()[1]) for line in lines if line.startswith("supervisor ")]:
            try:
                if b"prorata-supervisor" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
                    found[state.parent.name] = pid
            except OSError:
                pass
    return found


def kind_of(workload):
    return {
        "Training": "trainings",
        "Workspace": "workspaces",
        "Distributed": "distributed",
        "Inference": "inferences",
    }[workload["type"]]


def submit(server, name, script, project="team-a", gpus=1, spec=None, **extra):
    return server.submit(
        name, project, gpus, spec={"command": "/bin/sh -c", "args": quoted(script), **(spec or {})}, **extra
    )


def quoted(script):
    return "'" + script.replace("'", "'\\''") + "'"


def log_of(server, workload, **query):
    path = "&".join(f"{key}={value}" for key, value in query.items())
    return server.request("GET", f"/api/v1/workloads/{workload}/logs?{path}").body.decode()


def log_lines(server):
    """All lines of all pods as the supervisors wrote them: TIME F text."""
    return [line for path in (server.data / "pods").glob("*/log/*") for line in path.read_text().splitlines()]


def wait_log(server, workload, text, seconds=60):
    return server.wait_for(
        f"{text!r} in the log", lambda: (lambda log: log if text in log else None)(log_of(server, workload)), seconds
    )


def pods_of(server, workload):
    return server.get(f"/api/v1/workloads/{workload}/pods").json["pods"]


def read_quietly(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""


def stop_command(server, *words):
    return subprocess.run(
        [PRORATA, "stop", "--data", str(server.data), *words], capture_output=True, text=True, timeout=60
    )


def events_of(server, workload):
    return [event["message"] for event in server.get(f"/api/v1/workloads/{workload}/events").json["events"]]


def run(server, script, phase="Completed", spec=None, **more):
    """The log of a script that has ended."""
    name = f"job{len(server.get('/api/v1/workloads').json['workloads'])}"
    workload = submit(server, name, script, gpus=0, spec={"backoffLimit": 0, **(spec or {})}, **more)
    server.wait_phase(workload, "Completed", "Failed")
    assert server.workload(workload)["phase"] == phase, (log_of(server, workload), events_of(server, workload))
    return log_of(server, workload), events_of(server, workload)


def give(server, folder, name, project="team-a", **keys):
    """A secret or a config map, as an administrator puts it there."""
    path = server.data / folder / project / name
    path.mkdir(parents=True)
    for key, value in keys.items():
        (path / key).write_text(value)


class Gpus:
    """The file that the library reads."""

    def __init__(self, path, count):
        self.path = path
        self.lines = [f"gpu GPU-{i} 81920" for i in range(count)]
        self.write()

    def write(self):
        part = self.path.with_suffix(".part")
        part.write_text("".join(line + "\n" for line in self.lines))
        part.replace(self.path)

    def set(self, index, words=""):
        self.lines[index] = f"gpu GPU-{index} 81920 {words}"
        self.write()


def has_cgroups(server):
    return any(line.split()[2].startswith("cgroup") for line in open(f"/proc/{server.process.pid}/mounts"))


# For a shell.
HOLDS_30_MB = r"x=$(head -c 30000000 /dev/zero | tr '\0' x); echo up; while :; do :; done"


def used(server, of, metric):
    """The latest value; 0: nothing has measured it."""
    now = datetime.datetime.now(datetime.UTC)
    begin, end = ((now + datetime.timedelta(seconds=s)).strftime("%Y-%m-%dT%H:%M:%S.%fZ") for s in (-1, 0))
    answer = server.get(f"/api/v1/{of}/metrics", metricType=metric, start=begin, end=end, numberOfSamples=1)
    return max((float(m["values"][-1]["value"]) for m in answer.json["measurements"] if m["values"]), default=0)
