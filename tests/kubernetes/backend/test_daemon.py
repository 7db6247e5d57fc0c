"""What the program says of a cluster before and at its start."""

import json
import pathlib
import re
import subprocess

import pytest
from kube_workloads import nodes_of
from metric_names import check_metrics
from servers import PRORATA, Server


def doctor(kube, *flags):
    words = [PRORATA, "doctor", "--json", "--backend", "kubernetes", "--kubeconfig", kube.kubeconfig, *flags]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    found = [f for f in json.loads(done.stdout)["findings"] if f["check"] == "kubernetes"]
    return done.returncode, "\n".join(f"{f['level']} {f['message']}" for f in found)


def test_doctor_says_what_a_cluster_offers(kube):
    status, found = doctor(kube)
    assert status == 0, found
    assert re.search(rf"^good .* is Kubernetes {re.escape(kube.version())}$", found, re.M)
    assert "has all rights that it uses" in found
    assert "2 nodes, 2 of them with 8 GPUs" in found


def test_doctor_names_the_rights_that_are_missing(kube):
    deny = [
        {"verb": "create", "resource": "pods", "subresource": "binding"},
        {"verb": "get", "resource": "pods", "subresource": "log"},
    ]
    kube.deny(*deny)
    status, found = doctor(kube)
    assert status == 1
    assert "problem may not create pods/binding, to give pods their nodes" in found
    assert "note may not get pods/log, to show logs" in found


@pytest.mark.parametrize(
    ("version", "level", "advice"),
    [
        ("1.19.16", "problem", "1.20 or newer is needed"),
        ("1.20.15", "good", ""),
        ("1.38.0", "note", "this server was tried with 1.37 and older"),
    ],
)
def test_doctor_says_which_versions_were_tried(kube, version, level, advice):
    kube.settings(version=version)
    words = [PRORATA, "doctor", "--json", "--backend", "kubernetes", "--kubeconfig", kube.kubeconfig]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    (found,) = [f for f in json.loads(done.stdout)["findings"] if "is Kubernetes" in f["message"]]
    assert (found["level"], found.get("advice") or "") == (level, advice)


def test_doctor_names_a_cluster_without_gpus_or_a_storage_class(kube):
    for name in ("node-00000", "node-00001"):
        kube.patch_node(name, {"status": {"allocatable": {"nvidia.com/gpu": None}}}, "/status")
    found = doctor(kube)[1]
    assert "note 2 nodes, none of which offers nvidia.com/gpu" in found
    assert "note no storage class is the default one" in found


def test_doctor_notes_that_use_cannot_be_read(kube):
    deny = [{"verb": "list", "resource": "pods"}, {"verb": "list", "resource": "nodes"}]
    kube.deny(*deny)
    found = doctor(kube)[1]
    assert "note may not list pods, to know the CPU and memory that pods use" in found
    assert "note may not list nodes, to know the CPU and memory that nodes use" in found


def test_doctor_says_that_the_clocks_differ(kube):
    kube.settings(clockMs=3600_000)
    assert "clock and this machine's differ by 3" in doctor(kube)[1]


def test_doctor_says_that_a_cluster_does_not_answer(kube, folder):
    config = folder / "dead"
    config.write_text(pathlib.Path(kube.kubeconfig).read_text().replace(kube.address, "127.0.0.1:1"))
    status, found = doctor(kube, "--kubeconfig", str(config))
    assert status == 1
    assert "does not answer" in found


BEFORE = {"simulated": [], "local": ["--backend", "local", "--local-gpus", "4"]}


@pytest.mark.parametrize("before", BEFORE)
def test_a_folder_goes_over_to_kubernetes_once_nothing_runs(before, make_server, kube):
    """Organisation, people, rights, assets, settings and history go along; nodes are new."""
    server = make_server(*BEFORE[before], "--quick-start")
    work = server.submit("work", "team-a", spec={"command": "sleep 600"})
    server.wait_phase(work, "Running")
    assert server.post("/api/v1/users", {"email": "ann@lab.example"}).status == 201
    asset = {"meta": {"name": "three", "scope": "tenant"}, "spec": {"gpuDevicesRequest": 3}}
    assert server.post("/api/v1/asset/compute", asset).status < 300
    assert server.request("PUT", "/v1/k8s/setting", {"key": "overQuotaWeight", "value": False}).status < 300
    server.stop()
    server.arguments = ["--backend", "kubernetes", "--kubeconfig", kube.kubeconfig]
    assert f"belongs to the backend {before}" in refusal(server)
    assert f"1 workloads still run with {before}: work of team-a" in refusal(server, "--change-backend")
    server.arguments = BEFORE[before]
    server.start()
    server.post(f"/api/v1/workloads/trainings/{work}/suspend")
    server.wait_phase(work, "Stopped")
    kept = what_goes_along(server, work)
    server.stop()
    server.arguments = ["--backend", "kubernetes", "--kubeconfig", kube.kubeconfig, "--change-backend"]
    server.start()
    server.wait_for("its nodes", lambda: sorted(nodes_of(server)) == ["node-00000", "node-00001"])
    assert server.workload(work)["phase"] == "Stopped"
    after = what_goes_along(server, work)
    assert kept["history"] and [e for e in after.pop("history") if e in kept["history"]] == kept.pop("history")
    assert after == kept
    server.post(f"/api/v1/workloads/trainings/{work}/resume")
    server.wait_phase(work, "Running")
    assert len(kube.live_pods()) == 1


def what_goes_along(server, work):
    def names(path, key, name, **query):
        return sorted(name(entry) for entry in server.get(path, **query).json[key])

    return {
        "projects": names("/api/v1/org-unit/projects", "projects", lambda p: (p["name"], p["id"])),
        "users": sorted(user["username"] for user in server.get("/api/v1/users").json),
        "rules": names("/api/v1/authorization/access-rules", "accessRules", lambda rule: rule["id"]),
        "assets": names("/api/v1/asset/compute", "entries", lambda entry: entry["meta"]["name"]),
        "setting": server.get("/v1/k8s/setting").json,
        "history": [event["message"] for event in server.get(f"/api/v1/workloads/{work}/events").json["events"]],
    }


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
    check_metrics(page, "kubernetes")
    assert 'prorata_kubernetes_watch_up{of="nodes"} 1' in page
    assert 'prorata_kubernetes_objects{of="nodes"} 2' in page
    assert "prorata_kubernetes_acts 1" in page
    kube.fault({"path": "/api*"}, times=0, reset=True)
    kube.control("POST", "watches", {"resource": "nodes", "how": "reset"})
    server.wait_for("it is down", lambda: 'watch_up{of="nodes"} 0' in server.get("/metrics").body.decode())
