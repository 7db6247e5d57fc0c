"""A site in a server, while its scheduler plans: p50 and p99 of what people do, and the server's processor time.

bench_site.py [NODES PROJECTS WORKLOADS [SECONDS]]: a simulated cluster of four node pools, overloaded,
filled through the API. Then one person signs in, submits, changes and reads for so long while another submits more."""

import collections
import http.client
import json
import os
import pathlib
import random
import shutil
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from servers import ADMIN, PASSWORD, Server  # noqa: E402

POOLS = [("h100", 0.4), ("a100", 0.3), ("l40s", 0.2), ("b200", 0.1)]
ANY = {"deserved": None, "limit": None, "overQuotaWeight": 1}
TICK_MS = 1000 / os.sysconf("SC_CLK_TCK")


def cluster_file(folder, nodes):
    lines = ["nodePools:"]
    lines += [f"- {{name: {pool}, labelKey: pool, labelValue: {pool}}}" for pool, _ in POOLS]
    lines += ["nodes:"]
    lines += [
        f"- {{name: {pool}-{i}, nodePool: {pool}, gpus: 8, cpuCores: 128, memoryBytes: 1099511627776}}"
        for pool, share in POOLS
        for i in range(int(nodes * share))
    ]
    path = folder / "cluster.yaml"
    path.write_text("\n".join(lines) + "\n")
    return path


class Caller:
    """One connection that is kept."""

    def __init__(self, server):
        self.server, self.connection = server, http.client.HTTPConnection("127.0.0.1", server.port, timeout=300)
        self.token = None

    def ask(self, method, path, body=None):
        headers = {"Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        self.connection.request(method, path, json.dumps(body) if body is not None else None, headers)
        answer = self.connection.getresponse()
        text = answer.read()
        assert answer.status < 300, (method, path, answer.status, text[:300])
        return json.loads(text) if text else None

    def sign_in(self):
        body = {"grantType": "password", "username": ADMIN, "password": PASSWORD}
        self.token = self.ask("POST", "/api/v1/token", body)["accessToken"]
        return self


def make_projects(caller, cluster, projects, nodes, chance):
    pools = {p["name"]: p["id"] for p in caller.ask("GET", "/api/v1/node-pools")["nodepools"]}
    ids = []
    for i in range(projects):
        resources = [
            {
                "nodePool": {"id": pools[name], "name": name},
                "gpu": {
                    "deserved": chance.randrange(4) * int(nodes * share) * 8 // (projects * 2),
                    "limit": None,
                    "overQuotaWeight": 1,
                },
                "cpu": ANY,
                "memory": {**ANY, "units": "MB"},
            }
            for name, share in POOLS
        ]
        body = {"name": f"p{i}", "clusterId": cluster, "resources": resources}
        ids.append(caller.ask("POST", "/api/v1/org-unit/projects", body)["id"])
    return ids


def workload(number, ids, cluster, chance):
    """(path, body): a training of 1 to 4 GPUs, a gang of 2 to 5 pods, or a workspace of a part of a GPU."""
    kind, pool = chance.randrange(20), chance.choices([p for p, _ in POOLS], [s for _, s in POOLS])[0]
    compute = {"gpuDevicesRequest": chance.choice([1, 1, 1, 2, 2, 4])}
    body = {"name": f"w{number}", "projectId": chance.choice(ids), "clusterId": cluster}
    spec = {"image": "ubuntu", "nodePools": [pool], "compute": compute}
    path = "trainings"
    if kind < 3:
        path, spec["numWorkers"] = "distributed", 1 + chance.randrange(4)
        spec["distributedFramework"] = "PyTorch"
        compute["gpuDevicesRequest"] = 4 if kind else 8
    elif kind < 6:
        path = "workspaces"
        compute.update(gpuDevicesRequest=1, gpuRequestType="portion", gpuPortionRequest=chance.choice([0.25, 0.5]))
    return f"/api/v1/workloads/{path}", {**body, "spec": spec}


def cpu_ms(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * TICK_MS


def resident_mib(pid):
    return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def metric(server, name):
    lines = server.request("GET", "/metrics").body.decode().splitlines()
    return float(next(line.split()[-1] for line in lines if line.startswith(f"{name} ")))


def measure(server, ids, cluster, chance, seconds):
    times, caller = collections.defaultdict(list), Caller(server).sign_in()
    person = Caller(server)
    mine, begun, number = [], time.monotonic(), 0

    def timed(what, *request):
        begin = time.monotonic()
        answer = caller.ask(*request)
        times[what].append((time.monotonic() - begin) * 1000)
        return answer

    while time.monotonic() - begun < seconds:
        number += 1
        begin = time.monotonic()
        person.sign_in()
        times["sign-in"].append((time.monotonic() - begin) * 1000)
        path, body = workload(f"-mine-{number}", ids, cluster, chance)
        made = timed("POST of a workload", "POST", path, body)
        mine.append(made["workloadId"])
        project = chance.choice(ids)
        timed("GET one project", "GET", f"/api/v1/org-unit/projects/{project}")
        change = [{"gpu": {"overQuotaWeight": 1 + number % 3}}]
        timed("PATCH of a project", "PATCH", f"/api/v1/org-unit/projects/{project}/resources", change)
        timed("GET 50 workloads", "GET", "/api/v1/workloads?limit=50")
        timed("GET the overview", "GET", "/api/v1/overview")
        timed("GET who waits", "GET", "/api/v1/scheduler/waiting")
        timed("GET 50 of a queue", "GET", "/api/v1/scheduler/queue?nodePool=h100&limit=50")
        asked = {"name": "asked", "projectId": project, "clusterId": cluster}
        spec = {"image": "ubuntu", "nodePools": ["h100"], "compute": {"gpuDevicesRequest": 1}}
        question = {"type": "Training", "fixes": False, "workload": {**asked, "spec": spec}}
        timed("what-if", "POST", "/api/v1/scheduler/what-if", question)
    return times


def load_beside(server, ids, cluster, over):
    chance, caller, number = random.Random(2), Caller(server).sign_in(), 0
    while not over.wait(0.1):
        number += 1
        caller.ask("POST", *workload(f"-beside-{number}", ids, cluster, chance))


def main():
    nodes, projects, workloads, seconds = (*map(int, sys.argv[1:]), *[2000, 500, 20000, 60][len(sys.argv) - 1 :])
    folder, chance = pathlib.Path(tempfile.mkdtemp(prefix="prorata-bench-")), random.Random(1)
    server = Server(
        folder, "--cluster", str(cluster_file(folder, nodes)), "--journal-bytes", "0", "--workloads-per-person", "0"
    )
    server.start()
    try:
        server.sign_in()
        pid, cluster, caller = server.process.pid, server.cluster_id(), Caller(server).sign_in()
        begin = time.monotonic()
        ids = make_projects(caller, cluster, projects, nodes, chance)
        for number in range(workloads):
            caller.ask("POST", *workload(number, ids, cluster, chance))
        print(f"# site: {nodes} nodes, {projects} projects, {workloads} workloads; load {os.getloadavg()[0]:.1f}")
        print(f"filled in {time.monotonic() - begin:.0f} s, {resident_mib(pid):.0f} MiB", flush=True)
        over, before, cycles = threading.Event(), cpu_ms(pid), metric(server, "prorata_scheduler_cycles_total")
        beside = threading.Thread(target=load_beside, args=(server, ids, cluster, over))
        beside.start()
        begin = time.monotonic()
        times = measure(server, ids, cluster, chance, seconds)
        wall = time.monotonic() - begin
        over.set()
        beside.join()
        for what, of in times.items():
            of.sort()
            print(f"{what:<22} {len(of):5}  p50 {of[len(of) // 2]:8.1f} ms  p99 {of[len(of) * 99 // 100]:8.1f} ms")
        done = metric(server, "prorata_scheduler_cycles_total") - cycles
        plan = metric(server, "prorata_scheduler_plan_seconds") * 1000
        share = (cpu_ms(pid) - before) / wall / 10
        print(f"{done:.0f} cycles, the last planned {plan:.0f} ms; the server took {share:.0f} % of a core")
        print(f"{resident_mib(pid):.0f} MiB; load {os.getloadavg()[0]:.1f}")
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
