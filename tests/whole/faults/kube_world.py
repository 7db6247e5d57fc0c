"""A Kubernetes cluster for a server: the stand-in of tests/fakekube, whose answers fail, whose watches are cut, and in
which others do what they like."""

import contextlib
import http.client
import time

from fake_kube import FakeKube
from rows import gangs_in_halves, pods_of, rows_of
from world import World

NODES = ("node-00000", "node-00001")
GPUS = 4  # of a node
SETTLED_S = 400  # who was refused a few times in a row waits for minutes before he is tried again
OURS = "labelSelector=prorata.io/instance"
TEST = "test.prorata.io"
READY = {"True": "KubeletReady", "Unknown": "NodeStatusUnknown"}

# What a pod may be like: annotations, as tests/fakekube/kubelet.h has them.
SCRIPTS = {
    "goes at once": {},
    "takes its time": {"stop-delay": "200ms"},
    "comes up late": {"start-after": "300ms"},
    "ends well": {"ends-after": "300ms"},
    "ends at once": {"ends-after": "10ms"},
    "fails": {"ends-after": "300ms", "exit-code": "3"},
    "fails at once": {"ends-after": "10ms", "exit-code": "4"},
}
ANSWERS = [
    {"status": {"code": 500, "reason": "InternalError", "message": "etcd"}},
    {"status": {"code": 429, "reason": "TooManyRequests", "message": "later", "retryAfter": 1}},
    {"status": {"code": 503, "reason": "ServiceUnavailable", "message": "webhook"}},
    {"status": {"code": 403, "reason": "Forbidden", "message": "exceeded quota"}},
    {"reset": True},
    {"dropAnswer": True},
    {"delayMs": 300},
]
CALLS = [
    {"verb": "create", "resource": "pods", "subresource": ""},
    {"verb": "create", "resource": "services"},
    {"subresource": "binding"},
    {"verb": "delete", "resource": "pods"},
]
MERGE = {"Content-Type": "application/merge-patch+json"}


class Cluster(World):
    BACKEND, SCRIPTS, SETTLED_S = "kubernetes", SCRIPTS, SETTLED_S
    PARTS = False

    def __init__(self, folder, seed):
        self.kube = FakeKube(folder, "--nodes", len(NODES), "--gpus", GPUS)
        self.kube.settings(startMs=10, stopMs=10, removeMs=10)
        super().__init__(folder, seed)
        self.server.wait_for("nodes", lambda: len(rows_of(self, "SELECT 1 FROM nodes")) == len(NODES))

    def arguments(self):
        return ["--kubeconfig", self.kube.kubeconfig]

    def script(self, name):
        named = [{"name": f"{TEST}/{key}", "value": value} for key, value in SCRIPTS[name].items()]
        return {"annotations": named} if named else {}

    def whole(self):
        return [({}, GPUS) for _ in NODES]

    def clear(self):
        self.kube.close()

    def items(self, path):
        """Asked for until it comes: a fault may meet this request too."""
        for _ in range(100):
            with contextlib.suppress(OSError, http.client.HTTPException, AttributeError):
                answer = self.kube.ask("GET", path)
                if answer.code == 200:
                    return answer.json["items"]
            time.sleep(0.05)
        raise AssertionError(f"the stand-in does not answer {path}")

    def live(self):
        """Pods of ours that hold something, by the ids of their rows."""
        return {
            pod["metadata"]["annotations"]["prorata.io/pod-id"]: pod
            for pod in self.items(f"/api/v1/pods?{OURS}")
            if pod["status"]["phase"] in ("Pending", "Running")
        }

    # Faults.

    def meanwhile(self):
        self.random.choice((self.delete_pod, self.take_label_off, self.change_node))()

    def fail_calls(self):
        times = self.random.randint(1, 3)
        self.kube.fault(self.random.choice(CALLS), times=times, **self.random.choice(ANSWERS))

    def disturb_watch(self):
        how = self.random.choice(("close", "reset", "midLine", "duplicate", "old", "error"))
        self.kube.control("POST", "watches", {"resource": self.random.choice(("pods", "nodes")), "how": how})

    def compact(self):
        """Versions and tokens of before are too old from now on."""
        self.kube.control("POST", "compact")
        self.kube.control("POST", "watches", {"resource": "pods", "how": "close"})

    def stop_answering(self):
        self.kube.fault({"path": "/api*"}, times=0, reset=True)
        self.kube.control("POST", "watches", {"resource": "pods", "how": "reset"})
        time.sleep(self.random.uniform(0.1, 2))
        self.kube.control("DELETE", "faults")

    def change_a_pod(self, method, body=None):
        with contextlib.suppress(OSError, http.client.HTTPException):
            pods = sorted(self.live().values(), key=lambda pod: pod["metadata"]["name"])
            if pods:
                meta = self.random.choice(pods)["metadata"]
                self.kube.ask(method, f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}", body, MERGE)

    def delete_pod(self):
        self.change_a_pod("DELETE")

    def take_label_off(self):
        self.change_a_pod("PATCH", {"metadata": {"labels": {"prorata.io/instance": None}}})

    def patch_node(self, node, body, under=""):
        with contextlib.suppress(OSError, http.client.HTTPException):
            self.kube.ask("PATCH", f"/api/v1/nodes/{node}{under}", body, MERGE)

    def set_ready(self, node, status):
        conditions = [{"type": "Ready", "status": status, "reason": READY[status]}]
        self.patch_node(node, {"status": {"conditions": conditions}}, "/status")

    def change_node(self):
        node, what = self.random.choice(NODES), self.random.randrange(3)
        if what < 2:
            self.set_ready(node, ("True", "Unknown")[what])
        else:
            self.patch_node(node, {"spec": {"unschedulable": self.random.choice((True, None))}})

    def heal(self):
        for node in NODES:
            self.set_ready(node, "True")
            self.patch_node(node, {"spec": {"unschedulable": None}})

    def calm(self):
        self.kube.control("DELETE", "faults")
        super().calm()

    FAULTS = (
        World.kill_server,
        World.kill_server,
        World.end_server,
        World.halt_server,
        World.fill_disk,
        World.shift_clock,
        fail_calls,
        fail_calls,
        fail_calls,
        disturb_watch,
        compact,
        stop_answering,
        delete_pod,
        take_label_off,
        change_node,
    )

    # What must hold.

    def see(self):
        """Nodes whose pods hold more GPUs than there are. Whether a node was given too much its kubelet says too."""
        held = dict.fromkeys(NODES, 0)
        for pod in self.live().values():
            limits = pod["spec"]["containers"][0].get("resources", {}).get("limits", {})
            if node := pod["spec"].get("nodeName"):
                held[node] += int(limits.get("nvidia.com/gpu", 0))
        return [f"{node} is to have {gpus} GPUs in use" for node, gpus in held.items() if gpus > GPUS]

    def wrong(self):
        """What must come true in a while: rows and objects agree, what was to go is gone."""
        rows, live = {pod["uuid"]: pod for pod in pods_of(self)}, self.live()
        found = []
        for uuid, row in rows.items():
            if row["status"] == "Running" and (uuid not in live or live[uuid]["status"]["phase"] != "Running"):
                found.append(f"{row['name']} is Running, and not so in the cluster")
        for uuid, pod in live.items():
            if uuid not in rows or "deletionTimestamp" in pod["metadata"]:
                found.append(f"{pod['metadata']['name']} is {pod['status']['phase']}, and no row has it")
        known = {row["uuid"] for row in rows_of(self, "SELECT uuid FROM workloads WHERE deleted_ms = 0")}
        found += [
            f"service {service['metadata']['name']} is left of a workload that is deleted"
            for service in self.items(f"/api/v1/services?{OURS}")
            if service["metadata"]["labels"]["prorata.io/workload"] not in known
        ]
        return found + gangs_in_halves(self, rows.values())

    def left(self):
        """Of pods that are gone, when all are."""
        return [pod["name"] for pod in pods_of(self)] + [pod["metadata"]["name"] for pod in self.live().values()]
