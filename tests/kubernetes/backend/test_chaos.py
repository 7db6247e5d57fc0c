"""Random faults, kills and hands of others: every workload ends well, and no GPU is ever given to two pods."""

import contextlib
import os
import random
import time

import pytest
from kube_workloads import gang, life, nodes_of

FAULTS = [
    {"status": {"code": 500, "reason": "InternalError", "message": "etcd"}},
    {"status": {"code": 429, "reason": "TooManyRequests", "message": "later", "retryAfter": 1}},
    {"status": {"code": 503, "reason": "ServiceUnavailable", "message": "webhook"}},
    {"status": {"code": 403, "reason": "Forbidden", "message": "exceeded quota"}},
    {"reset": True},
    {"dropAnswer": True},
    {"delayMs": 300},
]
TARGETS = [
    {"verb": "create", "resource": "pods", "subresource": ""},
    {"subresource": "binding"},
    {"verb": "delete", "resource": "pods"},
]
WATCHES = ["close", "reset", "midLine", "duplicate", "old"]


LONG = "PRORATA_LONG" in os.environ
ROUNDS = int(os.environ.get("CHAOS_ROUNDS", 300))
FIRST = int(os.environ.get("CHAOS_SEED", 1))
READY = {"True": "KubeletReady", "Unknown": "NodeStatusUnknown"}


def set_ready(kube, node, status):
    conditions = [{"type": "Ready", "status": status, "reason": READY[status]}]
    kube.patch_node(node, {"status": {"conditions": conditions}}, "/status")


class Round:
    """One server in one cluster, and what a seed does to both."""

    def __init__(self, make_server, kube, seed):
        self.kube, self.chance = kube, random.Random(seed)
        flags = ["--backend", "kubernetes", "--kubeconfig", kube.kubeconfig, "--quick-start", "--retry-delay", "0.1"]
        self.server = make_server(*flags)
        self.server.wait_for("nodes", lambda: len(nodes_of(self.server)) == 2)
        self.kinds, self.suspended = {}, set()

    def submits_one(self, step):
        spec = {"backoffLimit": 50, **life(ends_after="400ms", stop_delay="100ms")}
        workload = self.server.submit(f"one-{step}", "team-a", self.chance.randint(1, 4), spec=spec)
        self.kinds[workload] = "trainings"

    def submits_a_gang(self, step):
        workload = gang(self.server, f"gang-{step}", self.chance.randint(2, 4), ends_after="400ms")
        self.kinds[workload] = "distributed"

    def orders_a_fault(self, step):
        times = self.chance.randint(1, 3)
        self.kube.fault(self.chance.choice(TARGETS), times=times, **self.chance.choice(FAULTS))

    def disturbs_a_watch(self, step):
        what = {"resource": self.chance.choice(["pods", "nodes"]), "how": self.chance.choice(WATCHES)}
        self.kube.control("POST", "watches", what)

    def deletes_a_pod_behind_its_back(self, step):
        live = self.kube.live_pods()
        if live:
            meta = live[self.chance.choice(sorted(live))]["metadata"]
            with contextlib.suppress(OSError):  # a fault may meet this request too
                self.kube.ask("DELETE", f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}")

    def takes_a_label_off(self, step):
        pods = self.kube.live_pods()
        if pods:
            meta = pods[self.chance.choice(sorted(pods))]["metadata"]
            path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"
            kind = {"Content-Type": "application/merge-patch+json"}
            self.kube.ask("PATCH", path, {"metadata": {"labels": {"prorata.io/instance": None}}}, kind)

    def changes_a_node(self, step):
        node = self.chance.choice(("node-00000", "node-00001"))
        what = self.chance.randrange(3)
        if what < 2:
            set_ready(self.kube, node, ("True", "Unknown")[what])
        else:
            self.kube.patch_node(node, {"spec": {"unschedulable": self.chance.choice((True, None))}})

    def suspends_or_resumes(self, step):
        if not self.kinds:
            return
        workload = self.chance.choice(sorted(self.kinds))
        action = "resume" if workload in self.suspended else "suspend"
        answer = self.server.post(f"/api/v1/workloads/{self.kinds[workload]}/{workload}/{action}")
        assert answer.status in (202, 409), answer  # 409: it has ended
        if answer.status == 202:
            (self.suspended.discard if action == "resume" else self.suspended.add)(workload)

    def deletes_a_workload(self, step):
        if self.kinds:
            workload = self.chance.choice(sorted(self.kinds))
            assert self.server.delete(f"/api/v1/workloads/{self.kinds.pop(workload)}/{workload}").status == 202

    def kills_the_server(self, step):
        self.server.kill()
        self.server.start()

    def heals(self):
        self.kube.control("DELETE", "faults")
        for node in ("node-00000", "node-00001"):
            set_ready(self.kube, node, "True")
            self.kube.patch_node(node, {"spec": {"unschedulable": None}})
        for workload in sorted(self.suspended & set(self.kinds)):
            self.server.post(f"/api/v1/workloads/{self.kinds[workload]}/{workload}/resume")


STEPS = (
    [Round.submits_one] * 4 + [Round.submits_a_gang] * 2 + [Round.orders_a_fault] * 2 + [Round.kills_the_server] * 2
    + [Round.disturbs_a_watch, Round.deletes_a_pod_behind_its_back, Round.takes_a_label_off, Round.changes_a_node,
       Round.suspends_or_resumes, Round.deletes_a_workload]
)  # fmt: skip


@pytest.mark.skipif(not LONG, reason="in make test-long")
@pytest.mark.parametrize("seed", range(FIRST, FIRST + ROUNDS) if LONG else ())
def test_all_workloads_end_and_no_gpu_is_given_twice(make_server, kube, seed):
    played = Round(make_server, kube, seed)
    for step in range(30):
        played.chance.choice(STEPS)(played, step)
    played.heals()
    server = played.server
    for workload in played.kinds:
        # Who was refused a few times in a row waits for minutes before he is tried again.
        ended = server.wait_phase(workload, "Completed", "Failed", seconds=400)
        assert ended["phase"] == "Completed", (ended["name"], ended)
    refused = [r for r in (p["status"].get("reason", "") for p in kube.pods().values()) if r.startswith("OutOf")]
    assert not refused, "a node was given more than it has"
    rows = {w["id"] for w in server.get("/api/v1/workloads", limit=500).json["workloads"]}
    assert rows == set(played.kinds), "who was submitted and not deleted is there, and nobody else"
    until = time.monotonic() + 60
    while (left := kube.live_pods()) and time.monotonic() < until:
        time.sleep(0.1)
    assert not left, "these go on"
    whole = server.submit("whole", "team-a", 4, spec=life(ends_after="100ms"))
    server.wait_phase(whole, "Completed")
    assert server.stop() == 0
    log = server.log.read_text(errors="replace")
    assert not [line for line in log.splitlines() if "refused plan" in line or "Sanitizer" in line]
