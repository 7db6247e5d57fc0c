"""Random faults, kills and hands of others: every workload ends well, and no GPU is ever given to two pods."""

import contextlib
import os
import random
import time

import pytest
from kube_workloads import gang, life

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


def delete_some_pod(kube, chance):
    live = kube.live_pods()
    if live:
        pod = live[chance.choice(sorted(live))]
        with contextlib.suppress(OSError):  # a fault may meet this request too
            kube.ask("DELETE", f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}")


@pytest.mark.skipif("PRORATA_LONG" not in os.environ, reason="in make test-long")
@pytest.mark.parametrize("seed", range(1, 41))
def test_all_workloads_end_and_no_gpu_is_given_twice(make_server, kube, seed):
    chance = random.Random(seed)
    flags = ["--backend", "kubernetes", "--kubeconfig", kube.kubeconfig, "--quick-start", "--retry-delay", "0.1"]
    server = make_server(*flags)
    submitted = []
    for step in range(30):
        what = chance.randrange(8)
        if what < 3:
            spec = {"backoffLimit": 50, **life(ends_after="400ms", stop_delay="100ms")}
            submitted.append(server.submit(f"one-{step}", "team-a", chance.randint(1, 4), spec=spec))
        elif what == 3:
            submitted.append(gang(server, f"gang-{step}", chance.randint(2, 4), ends_after="400ms"))
        elif what == 4:
            kube.fault(chance.choice(TARGETS), times=chance.randint(1, 3), **chance.choice(FAULTS))
        elif what == 5:
            kube.control(
                "POST", "watches", {"resource": chance.choice(["pods", "nodes"]), "how": chance.choice(WATCHES)}
            )
        elif what == 6:
            delete_some_pod(kube, chance)
        else:
            server.kill()
            server.start()
    kube.control("DELETE", "faults")
    for workload in submitted:
        # Who was refused a few times in a row waits for minutes before he is tried again.
        ended = server.wait_phase(workload, "Completed", "Failed", seconds=400)
        assert ended["phase"] == "Completed", (ended["name"], ended)
    refused = [r for r in (p["status"].get("reason", "") for p in kube.pods().values()) if r.startswith("OutOf")]
    assert not refused, "a node was given more than it has"
    until = time.monotonic() + 60
    while (left := kube.live_pods()) and time.monotonic() < until:
        time.sleep(0.1)
    assert not left, "these go on"
