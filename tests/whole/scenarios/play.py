"""Plays a scenario against a server of one backend and takes down what the scheduler decided, step by step."""

import datetime
import json
import os
import pathlib
import signal
import subprocess
import time

import yaml
from fake_kube import FakeKube
from scenario import KINDS
from servers import PRORATA, Server

PATIENCE_S = 30
PAUSE_S = 0.03
QUIET_LOOKS = 3
STOPS_S = 0.2
FOLLOWED = ("submit", "suspend", "resume", "delete", "quota", "node")  # by a cycle, or else nothing comes of it
UNPLANNED_S = 2
FAKE_NVML = pathlib.Path(PRORATA).with_name("fake_nvml.so")
UNSETTLED = ("ContainerCreating", "Terminating")
MOVING = ("Binding", "Bound", "Releasing")
TIMES = ("now", "createdAt", "startedAt", "lastEvictionAt", "lastDisplacedAt", "staleSeconds", "maxRunSeconds")


def machine(folder, gpus=1):
    """This machine's node as the local backend has it."""
    server = Server(folder, "--backend", "local", "--local-gpus", str(gpus)).start()
    try:
        return server.get("/api/v1/scheduler/snapshot").json["nodes"][0]
    finally:
        server.stop()


def without_times(value):
    if isinstance(value, dict):
        return {k: without_times(v) for k, v in value.items() if k not in TIMES}
    return [without_times(v) for v in value] if isinstance(value, list) else value


def moving_in(snapshot):
    """Names of what starts, stops or is being deleted; before the first cycle the server itself."""
    if "workloads" not in snapshot:
        return ["the server"]
    return [p["name"] for w in snapshot["workloads"] for p in w["pods"] if p["status"] in MOVING] + [
        w["name"] for w in snapshot["workloads"] if w.get("deleting")
    ]


class Play:
    """A scenario on one backend. After run(): states (a snapshot for each expect), decided (a list for each expect)."""

    def __init__(self, scenario, backend, folder, this_machine):
        self.scenario, self.backend, self.folder, self.this_machine = scenario, backend, folder, this_machine
        self.ids, self.states, self.decided, self.ends, self.before, self.kube = {}, [], [], [], None, None
        arguments = [f"--{key}={value}" for key, value in scenario.server.items()]
        environment = {}
        if backend == "simulated":
            (folder / "cluster.yaml").write_text(yaml.safe_dump(self.cluster()))
            arguments += ["--cluster", str(folder / "cluster.yaml")]
        elif backend == "kubernetes":
            self.kube = FakeKube(folder)
            self.add_node()
            arguments += ["--backend", "kubernetes", "--kubeconfig", self.kube.kubeconfig]
        elif scenario.has_gpu_faults:
            self.gpus = [f"gpu GPU-{i} 81920" for i in range(scenario.gpus)]
            self.write_gpus()
            arguments += ["--backend", "local", "--local-nvml", str(FAKE_NVML)]
            environment["PRORATA_FAKE_NVML"] = str(folder / "gpus")
        else:
            arguments += ["--backend", "local", "--local-gpus", str(scenario.gpus)]
        self.server = Server(folder, *arguments, environment=environment)

    def cluster(self):
        if self.scenario.nodes:
            return {"nodePools": self.scenario.node_pools, "nodes": self.scenario.nodes}
        keys = ("name", "cpuCores", "memoryBytes", "maxPods", "gpuMemoryMib", "gpuType")
        node = {key: self.this_machine[key] for key in keys if key in self.this_machine}
        return {"nodes": [{**node, "gpus": self.scenario.gpus, "gpuMemoryMib": 81920, "gpuType": "Pretended-GPU"}]}

    def add_node(self):
        """This machine as a node of the cluster."""
        node = self.this_machine
        amounts = {"cpu": str(node["cpuCores"]), "memory": str(node["memoryBytes"]), "pods": str(node["maxPods"]),
                   "nvidia.com/gpu": str(self.scenario.gpus)}  # fmt: skip
        labels = {"nvidia.com/gpu.product": "Pretended-GPU", "nvidia.com/gpu.memory": "81920"}
        ready = {"type": "Ready", "status": "True", "reason": "KubeletReady"}
        status = {"capacity": amounts, "allocatable": amounts, "conditions": [ready]}
        body = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": node["name"], "labels": labels},
                "spec": {}, "status": status}  # fmt: skip
        assert self.kube.ask("POST", "/api/v1/nodes", body).code == 201

    def write_gpus(self):
        part = self.folder / "gpus.part"
        part.write_text("".join(line + "\n" for line in self.gpus))
        part.replace(self.folder / "gpus")

    def run(self):
        self.server.start()
        try:
            self.set_up()
            for number, (what, value, place) in enumerate(self.scenario.steps):
                self.before = self.cycle() if what in FOLLOWED else None
                try:
                    getattr(self, what)(value)
                except AssertionError as error:
                    raise AssertionError(
                        f"{place.file}: steps[{number}].{what} on the {self.backend} backend: {error}"
                    ) from None
            self.take_apart()
        finally:
            self.stop()
        return self

    def answered(self, answer):
        assert answer.status < 300, answer
        return answer.json if answer.body else None

    def resources(self, unit, pools):
        queues = []
        for name, pool_id in pools.items():
            queue = {
                **(
                    {key: unit[key] for key in unit if key not in ("name", "department", "pools", "rules")}
                    if name == "default"
                    else {}
                ),
                **(unit.get("pools") or {}).get(name, {}),
            }
            queues.append({"nodePool": {"id": pool_id, "name": name}, **self.queue(queue)})
        return queues

    @staticmethod
    def queue(queue):
        gpu = {"deserved": queue.get("gpus"), "limit": queue.get("limit"), "overQuotaWeight": queue.get("weight")}
        cpu = {"deserved": queue.get("cpus"), "limit": queue.get("cpuLimit")}
        entry = {
            "gpu": {k: v for k, v in gpu.items() if v is not None},
            "cpu": {k: v * 1000 for k, v in cpu.items() if v is not None},
        }
        return {k: v for k, v in {**entry, "rank": queue.get("rank")}.items() if v}

    def set_up(self):
        server = self.server
        if self.kube:
            server.wait_for("the node", lambda: server.get("/api/v1/scheduler/snapshot").json.get("nodes"))
        self.pools = {p["name"]: p["id"] for p in server.get("/api/v1/node-pools").json["nodepools"]}
        if self.scenario.pool:
            self.pool({"name": "default", **self.scenario.pool})
        server.give_default(self.scenario.gpus)  # projects that name no department are in it
        self.units = {}
        for kind, units in (("departments", self.scenario.departments), ("projects", self.scenario.projects)):
            for unit in units:
                body = {
                    "name": unit["name"],
                    "clusterId": server.cluster_id(),
                    "resources": self.resources(unit, self.pools),
                }
                if unit.get("rules"):
                    body["schedulingRules"] = unit["rules"]
                if unit.get("department"):
                    body["parentId"] = self.units[unit["department"]].rsplit("/", 1)[1]
                made = self.answered(server.post(f"/api/v1/org-unit/{kind}", body))
                self.units[unit["name"]] = f"/api/v1/org-unit/{kind}/{made['id']}"
        self.project_ids = {u["name"]: self.units[u["name"]].rsplit("/", 1)[1] for u in self.scenario.projects}
        self.settle()
        self.begin = self.now()

    @staticmethod
    def now():
        return time.time()

    # Steps.

    def life_of(self, life):
        # To stop takes a while in both worlds: so both see the cycles in which something is being released.
        life = {"stops": STOPS_S, **life}
        if self.backend == "simulated":
            names = {"runs": "sim-duration", "exit": "sim-exit-code", "stops": "sim-stop-duration"}

            def text(key):
                return str(life[key]) if key == "exit" else f"{int(life[key] * 1000)}ms"

            return {"annotations": [{"name": f"prorata.io/{names[key]}", "value": text(key)} for key in life]}
        if self.backend == "kubernetes":
            names = {"runs": "ends-after", "exit": "exit-code", "stops": "stop-delay"}
            values = {key: str(life[key]) if key == "exit" else f"{int(life[key] * 1000)}ms" for key in life}
            named = [{"name": f"test.prorata.io/{names[key]}", "value": values[key]} for key in life]
            return {"annotations": [*named, {"name": "test.prorata.io/stop-code", "value": "0"}]}
        script = (
            f'trap "sleep {life["stops"]}; exit 0" TERM; sleep {life.get("runs", "infinity")} & wait; exit '
            f"{life.get('exit', 0)}"
        )
        return {"command": "/bin/sh -c", "args": f"'{script}'"}

    def submit(self, value):
        kind = value.get("kind", "training")
        compute = {"gpuDevicesRequest": value.get("gpus", 1)}
        if "portion" in value:
            compute.update(gpuRequestType="portion", gpuPortionRequest=value["portion"])
        if "gpuMemory" in value:
            compute.update(gpuRequestType="memory", gpuMemoryRequest=value["gpuMemory"])
        spec = {"image": "scenario", "compute": compute, **self.life_of(value.get("life", {}))}
        if "priority" in value:
            spec["priorityClass"] = value["priority"]
        if "preemptible" in value:
            spec["preemptibility"] = "preemptible" if value["preemptible"] else "non-preemptible"
        given = value.get("spec", {})
        spec = {**spec, **given, "compute": {**compute, **given.get("compute", {})}}
        body = {
            "name": value["name"],
            "projectId": self.project_ids[value["project"]],
            "clusterId": self.server.cluster_id(),
            "spec": spec,
        }
        if "master" in value:
            master = {**spec, **self.life_of(value.get("masterLife", {}))} if "masterLife" in value else {}
            body.update(
                {"masterSpecSameAsWorker": True}
                if value["master"] == "same"
                else {
                    "masterSpec": {
                        key: master[key] for key in ("image", "command", "args", "annotations") if key in master
                    }
                    | value["master"]
                }
            )
        answer = self.answered(self.server.post(f"/api/v1/workloads/{KINDS[kind]}", body))
        self.ids[value["name"]] = (answer["workloadId"], KINDS[kind])
        self.settle()

    def act(self, name, action):
        workload, kind = self.ids[name]
        self.answered(self.server.post(f"/api/v1/workloads/{kind}/{workload}/{action}"))
        self.settle()

    def suspend(self, name):
        self.act(name, "suspend")

    def resume(self, name):
        self.act(name, "resume")

    def delete(self, name):
        workload, kind = self.ids.pop(name)
        self.answered(self.server.delete(f"/api/v1/workloads/{kind}/{workload}"))
        self.settle()

    def quota(self, value):
        entry = {
            "nodePool": {"id": self.pools[value.get("pool", "default")], "name": value.get("pool", "default")},
            **self.queue(value),
        }
        self.answered(self.server.request("PATCH", self.units[value["of"]] + "/resources", [entry]))
        self.settle()

    def pool(self, value):
        change = {k: v for k, v in value.items() if k != "name"}
        self.answered(
            self.server.request(
                "PATCH", f"/api/v1/node-pools/{self.pools[value['name']]}", {"schedulingConfiguration": change}
            )
        )

    def node(self, value):
        ((what, node),) = value.items()
        path = "/api/v1/simulation/nodes"
        if what == "add":
            self.answered(self.server.post(path, node))
        elif what == "remove":
            self.answered(self.server.delete(f"{path}/{node}"))
        else:
            self.answered(self.server.post(f"{path}/{node}/{what}"))
        self.settle()

    def gpu(self, value):
        for what, index in value.items():
            self.gpus[index] = f"gpu GPU-{index} 81920" + (" lost" if what == "fail" else "")
        self.write_gpus()

    def kill(self, pod):
        found = [p for p in self.pods() if p["name"] == pod]
        assert found, f"no pod {pod}"
        state = (self.server.data / "pods" / found[0]["id"] / "state").read_text()
        supervisor = next(line.split()[1] for line in state.splitlines() if line.startswith("supervisor "))
        os.kill(int(supervisor), signal.SIGKILL)

    def wait(self, seconds):
        time.sleep(seconds)

    # What is there.

    def workloads(self):
        return {w["name"]: w for w in self.server.get("/api/v1/workloads", limit=500).json["workloads"]}

    def pods(self):
        return self.server.get("/api/v1/workloads/pods", limit=500).json["pods"]

    def cycle(self):
        cycles = self.server.get("/api/v1/scheduler/decisions", limit=1).json["cycles"]
        return cycles[0]["cycle"] if cycles else 0

    def settle(self):
        """Until what was done has been planned, nothing is starting or stopping, and no cycle follows; the latest
        cycle."""
        begin = time.monotonic()
        until, last, quiet = begin + PATIENCE_S, None, 0
        while quiet < QUIET_LOOKS:
            snapshot = self.server.get("/api/v1/scheduler/snapshot").json  # there are also the pods of what has ended
            moving = [p["name"] for p in self.pods() if p["k8sPhase"] in UNSETTLED] + moving_in(snapshot)
            now = self.cycle()
            is_planned = self.before is None or now > self.before or time.monotonic() > begin + UNPLANNED_S
            quiet = quiet + 1 if is_planned and not moving and now == last else 0
            last = now
            assert time.monotonic() < until, (
                f"never quiet: {moving} still start or stop" if moving else "never quiet: cycle follows cycle"
            )
            time.sleep(PAUSE_S)
        return last

    def expect(self, value):
        until = time.monotonic() + PATIENCE_S
        while True:
            settled = self.settle()
            wrong = self.differences(value)
            state = self.server.get("/api/v1/scheduler/snapshot").json
            if not wrong and not moving_in(state) and self.cycle() == settled:  # nothing came up since it was looked at
                break
            assert time.monotonic() < until, "; ".join(wrong)
        self.states.append(without_times(state))
        self.ends.append(self.now())

    def differences(self, value):
        wrong = []
        workloads = self.workloads()
        pods = [p for p in self.pods() if p["k8sPhase"] == "Running"]

        def of(name):
            return [p for p in pods if p["workloadId"] == self.ids[name][0]]

        wanted = {name: phase for phase, names in value.items() if phase[0].isupper() for name in names}
        for name in sorted(set(wanted) | set(workloads)):
            phase = workloads[name]["phase"] if name in workloads else "gone"
            if phase != wanted.get(name, "gone"):
                wrong.append(f"{name} is {phase}, not {wanted.get(name, 'gone')}")
        if wrong:
            return wrong
        for name, count in value.get("pods", {}).items():
            if len(of(name)) != count:
                wrong.append(f"{name} runs {len(of(name))} pods, not {count}")
        for name, devices in value.get("devices", {}).items():
            found = sorted(i for p in of(name) for i in p["gpuIndices"])
            if found != sorted(devices):
                wrong.append(f"{name} is on devices {found}, not {sorted(devices)}")
        for name, nodes in value.get("nodes", {}).items():
            found = sorted({p["nodeName"] for p in of(name)})
            if found != sorted(nodes):
                wrong.append(f"{name} is on {found}, not {sorted(nodes)}")
        for name, text in value.get("why", {}).items():
            answer = self.server.get(f"/api/v1/workloads/{self.ids[name][0]}/explanation")
            sentence = answer.json.get("sentence") or "" if answer.status == 200 else ""
            if text not in sentence:
                wrong.append(f"{name} waits because {sentence!r}, without {text!r}")
        for name, texts in value.get("events", {}).items():
            events = self.server.get(f"/api/v1/workloads/{self.ids[name][0]}/events", limit=500).json["events"]
            lines = [f"{e['reason']}: {e['message']}" for e in events]
            wrong += [
                f"{name} has no event with {text!r} among {lines}"
                for text in texts
                if not any(text in line for line in lines)
            ]
        for name, gpus in value.get("used", {}).items():
            found = self.answered(self.server.get(self.units[name]))["status"]["quotaStatus"]["allocated"]["gpu"]
            if abs(found - gpus) > 1e-6:
                wrong.append(f"{name} uses {found} GPUs, not {gpus}")
        return wrong

    # The end.

    def take_apart(self):
        for workload, kind in self.ids.values():
            self.server.delete(f"/api/v1/workloads/{kind}/{workload}")
        self.server.wait_for("all workloads gone", lambda: not self.workloads())

    def stop(self):
        status = self.server.stop()
        if self.kube:
            self.kube.close()
        log = self.server.log.read_text(errors="replace")
        assert status == 0 and "Sanitizer" not in log and "runtime error" not in log, (
            f"the server ended with {status}:\n{self.server.tail()}"
        )
        assert "refused plan" not in log, self.server.tail()
        self.read_journal()

    def read_journal(self):
        command = [PRORATA, "replay", "--data", str(self.server.data)]
        listed = subprocess.run([*command, "--list", "--decisions"], capture_output=True, text=True)
        assert listed.returncode == 0, listed.stderr
        cycles = json.loads(listed.stdout)["cycles"]
        begin = getattr(self, "begin", 0)
        promised, last = {}, None
        for end in self.ends:
            decided = []
            for cycle in cycles:
                if begin <= datetime.datetime.fromisoformat(cycle["time"]).timestamp() < end:
                    decided += told(cycle["decisions"], promised)
                    last = cycle["cycle"] if cycle["decisions"] else last
            self.decided.append(decided)
            begin = end
        if last is not None:
            again = subprocess.run([*command, "--cycle", str(last)], capture_output=True, text=True)
            assert again.returncode == 0 and json.loads(again.stdout)["equal"], (
                f"cycle {last} does not replay: {again.stderr}"
            )


def told(decisions, promised):
    """Decisions as short lines. A promise that merely stands is none: how often it is repeated hangs on how many cycles
    pass until a process has ended."""
    lines = []
    for d in decisions:
        line = f"{d['action']} {d['verb']} {d['pod']}"
        if d["verb"] in ("bind", "pipeline"):
            line += f" on {d['node']} {d['gpuIndices']}"
        if "for" in d:
            line += f" for {d['for']}"
        if d["verb"] == "pipeline":
            place = (d["workload"], d["pod"], d["node"], tuple(d["gpuIndices"]))
            if promised.get(d["pod"]) == place:
                continue
            promised[d["pod"]] = place
        else:
            promised.pop(d["pod"], None)
        lines.append(line)
    return lines
