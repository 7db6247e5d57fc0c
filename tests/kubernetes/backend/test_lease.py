"""Of two servers with copies of one database one acts; the other waits until the first gives the lease back."""

import shutil
import signal
import threading

from kube_workloads import life
from servers import Server


def lease_of(kube):
    items = kube.ask("GET", "/apis/coordination.k8s.io/v1/leases").json["items"]
    (lease,) = [item for item in items if item["metadata"]["name"].startswith("prorata-")]
    return lease["spec"]


def copy_of(server, folder, kube):
    other = Server(folder / "copy", "--backend", "kubernetes", "--kubeconfig", kube.kubeconfig)
    other.folder.mkdir()
    shutil.copytree(server.data, other.data, ignore=shutil.ignore_patterns("lock", "*.sock"))
    other.data.chmod(0o700)
    return other


def backend_problem(server):
    (part,) = [part for part in server.get("/api/v1/about").json["parts"] if part["name"] == "Backend"]
    assert (part["state"] == "ok") == (part["problem"] is None)
    return part["problem"]


def test_a_copy_of_the_database_does_nothing_while_the_first_lives(server, kube, folder):
    first = server.submit("first", "team-a")
    server.wait_phase(first, "Running")
    holder = lease_of(kube)["holderIdentity"]
    server.stop()
    assert lease_of(kube)["holderIdentity"] == ""
    other = copy_of(server, folder, kube)
    server.start()
    try:
        other.start()
        second = other.submit("second", "team-a", spec=life(ends_after="100ms"))
        third = server.submit("third", "team-a")
        server.wait_phase(third, "Running")
        assert lease_of(kube)["holderIdentity"] == holder
        assert not any("second" in name for name in kube.pods())
        other.wait_for("it says so", lambda: "another server holds it" in other.log.read_text())
        assert "does not hold the Lease" in backend_problem(other) and backend_problem(server) is None
        assert "does not hold the Lease" in other.request("GET", "/readyz", token=None).body.decode()
        server.stop()
        other.wait_phase(second, "Completed", seconds=60)
        assert lease_of(kube)["leaseTransitions"] >= 0
    finally:
        other.stop()


def test_a_server_that_was_stopped_for_long_sends_nothing_before_it_renews(server, kube):
    kube.fault({"resource": "leases", "verb": "update"}, times=0, skip=1, status={"code": 500, "reason": "Internal"})
    server.wait_for("it acts no more", lambda: "does not act" in server.log.read_text(), seconds=30)
    work = server.submit("work", "team-a")
    server.wait_phase(work, "Creating", "Initializing", "Pending")
    assert not kube.requests("POST", "/binding")
    assert not kube.pods()
    server.process.send_signal(signal.SIGSTOP)
    server.process.send_signal(signal.SIGCONT)
    kube.control("DELETE", "faults")
    server.wait_phase(work, "Running", seconds=60)


def test_a_server_that_slept_longer_than_its_lease_does_nothing_when_it_wakes(server, kube, folder):
    """Another one has taken over by then; what the sleeper is asked for as it wakes it plans, and does not do."""
    server.stop()
    other = copy_of(server, folder, kube)
    server.start()
    try:
        other.start()
        holder = lease_of(kube)["holderIdentity"]
        spec = {"image": "i", "compute": {"gpuDevicesRequest": 1}}
        about = {"projectId": server.project_id("team-a"), "clusterId": server.cluster_id(), "spec": spec}
        body = {"name": "late", **about}
        server.process.send_signal(signal.SIGSTOP)
        late, path = [], "/api/v1/workloads/trainings"
        asks = threading.Thread(target=lambda: late.append(server.request("POST", path, body, timeout=200)))
        asks.start()
        other.wait_phase(other.submit("taken-over", "team-a"), "Running", seconds=120)
        assert lease_of(kube)["holderIdentity"] not in ("", holder)
        server.process.send_signal(signal.SIGCONT)
        asks.join(60)
        work = late[0].json["workloadId"]
        server.wait_for("it is planned", lambda: server.workload(work)["phase"] != "Creating")
        server.wait_for("it says so", lambda: "does not hold the Lease" in (backend_problem(server) or ""))
        assert not any(name.startswith("late") for name in kube.pods())
        assert "prorata_kubernetes_acts 0" in server.get("/metrics").body.decode()
    finally:
        server.process.send_signal(signal.SIGCONT)
        other.stop()
