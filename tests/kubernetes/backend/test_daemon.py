"""What the program says of a cluster before and at its start."""

import json
import pathlib
import subprocess

from kube_workloads import nodes_of
from servers import PRORATA, Server


def doctor(kube, *flags):
    words = [PRORATA, "doctor", "--json", "--backend", "kubernetes", "--kubeconfig", kube.kubeconfig, *flags]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    found = [f for f in json.loads(done.stdout)["findings"] if f["check"] == "kubernetes"]
    return done.returncode, "\n".join(f"{f['level']} {f['message']}" for f in found)


def test_doctor_says_what_a_cluster_offers(kube):
    status, found = doctor(kube)
    assert status == 0, found
    assert "good " in found and "is Kubernetes v1.37.1" in found
    assert "has all rights that it uses" in found
    assert "2 nodes, 2 of them with 8 GPUs" in found


def test_doctor_names_the_rights_that_are_missing(kube):
    deny = [
        {"verb": "create", "resource": "pods", "subresource": "binding"},
        {"verb": "get", "resource": "pods", "subresource": "log"},
    ]
    kube.settings(users={"fakekube": {"name": "prorata", "deny": deny}})
    status, found = doctor(kube)
    assert status == 1
    assert "problem may not create pods/binding, to give pods their nodes" in found
    assert "note may not get pods/log, to show logs" in found


def test_doctor_says_that_the_clocks_differ(kube):
    kube.settings(clockMs=3600_000)
    assert "clock and this machine's differ by 3" in doctor(kube)[1]


def test_doctor_says_that_a_cluster_does_not_answer(kube, folder):
    config = folder / "dead"
    config.write_text(pathlib.Path(kube.kubeconfig).read_text().replace(kube.address, "127.0.0.1:1"))
    status, found = doctor(kube, "--kubeconfig", str(config))
    assert status == 1
    assert "does not answer" in found


def test_a_folder_goes_over_to_kubernetes_once_nothing_runs(make_server, kube):
    server = make_server("--quick-start")
    work = server.submit("work", "team-a")
    server.wait_phase(work, "Running")
    server.stop()
    server.arguments = ["--backend", "kubernetes", "--kubeconfig", kube.kubeconfig]
    assert "belongs to the backend simulated" in refusal(server)
    assert "1 workloads still run with simulated: work of team-a" in refusal(server, "--change-backend")
    server.arguments = []
    server.start()
    server.post(f"/api/v1/workloads/trainings/{work}/suspend")
    server.wait_phase(work, "Stopped")
    server.stop()
    server.arguments = ["--backend", "kubernetes", "--kubeconfig", kube.kubeconfig, "--change-backend"]
    server.start()
    server.wait_for("its nodes", lambda: sorted(nodes_of(server)) == ["node-00000", "node-00001"])
    assert server.workload(work)["phase"] == "Stopped"
    server.post(f"/api/v1/workloads/trainings/{work}/resume")
    server.wait_phase(work, "Running")
    assert len(kube.live_pods()) == 1


def refusal(server, *flags):
    other = Server(server.folder, *server.arguments, *flags)
    other.data = server.data
    try:
        other.start()
    except AssertionError as error:
        return str(error)
    other.stop()
    return ""


def test_metrics_say_how_it_goes_with_the_cluster(server, kube):
    page = server.get("/metrics").body.decode()
    assert 'prorata_kubernetes_watch_up{of="nodes"} 1' in page
    assert 'prorata_kubernetes_objects{of="nodes"} 2' in page
    assert "prorata_kubernetes_acts 1" in page
    kube.fault({"path": "/api*"}, times=0, reset=True)
    kube.control("POST", "watches", {"resource": "nodes", "how": "reset"})
    server.wait_for("it is down", lambda: 'watch_up{of="nodes"} 0' in server.get("/metrics").body.decode())
