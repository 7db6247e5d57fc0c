"""Addresses of the API: each names a Service that is there, and a port of it that leads to the workload."""

import re

import pytest
from servers import Client


def serve(server, port=8000):
    workload_id = server.submit(
        "llm", "team-a", 1, "inferences", {"servingPort": {"container": port}, "ports": [{"container": 9100}]}
    )
    server.wait_phase(workload_id, "Running")
    return workload_id


def target_of(kube, url):
    """(whose pods it selects, which port of them)."""
    name, namespace, port = re.fullmatch(r"(?:http://)?([a-z0-9-]+)\.([a-z0-9-]+)\.svc:(\d+)", url).groups()
    answer = kube.ask("GET", f"/api/v1/namespaces/{namespace}/services/{name}")
    assert answer.code == 200, answer
    spec = answer.json["spec"]
    (target,) = [one["targetPort"] for one in spec["ports"] if one["port"] == int(port)]
    return spec["selector"]["prorata.io/workload"], target


def test_an_inference_answers_at_its_service(server, kube, folder):
    """Over a restart and an update; the next one of its name has the same."""
    first = serve(server)
    url = "http://llm.runai-team-a.svc:80"
    assert server.workload(first)["urls"] == [url]
    connections = server.workload(first)["externalConnections"]
    assert connections[0]["url"] == url
    assert target_of(kube, url) == (first, 8000)
    assert target_of(kube, connections[1]["url"]) == (first, 9100)
    said = Client(server, folder / "home").sign_in().run("describe", "llm", "-p", "team-a")
    assert f"SERVICE URL(S): {url},llm.runai-team-a.svc:9100\n" in said
    server.kill()
    server.start()
    path = f"/api/v1/workloads/inferences/{first}"
    assert server.request("PATCH", path, {"spec": {"image": "another"}}).status == 202
    server.wait_for("the new replica", lambda: [*kube.live_pods()] == ["llm-1-0"])
    assert server.workload(first)["urls"] == [url] and target_of(kube, url) == (first, 8000)
    server.delete(path)
    server.wait_for("the name is free", lambda: not server.get("/api/v1/workloads").json["workloads"])
    second = serve(server, port=9000)
    assert server.workload(second)["urls"] == [url]
    server.wait_for("its own Service", lambda: target_of(kube, url) == (second, 9000))
    server.delete(f"/api/v1/workloads/inferences/{second}")
    service = "/api/v1/namespaces/runai-team-a/services/llm"
    server.wait_for("the Service goes", lambda: kube.ask("GET", service).code == 404)


@pytest.mark.parametrize(
    "lists", [{"ports": [{"container": 9, "external": 8080}]}, {"exposedUrls": [{"container": 80}]}]
)
def test_an_inference_shares_its_port_with_nobody(server, lists):
    body = {"name": "llm", "projectId": server.project_id("team-a"), "clusterId": server.cluster_id(),
            "spec": {"image": "i", "compute": {"gpuDevicesRequest": 1}, **lists}}  # fmt: skip
    answer = server.post("/api/v1/workloads/inferences", body)
    assert answer.status == 400 and "the inference itself answers" in answer.json["message"], answer
    body["spec"] |= {"servingPort": {"container": 9 if "ports" in lists else 80}}
    assert server.post("/api/v1/workloads/inferences", body).status == 202


PORTS = [
    {"container": 22},
    {"container": 8889, "external": 8080},
    {"container": 8888, "external": 80},
    {"container": 23, "serviceType": "NodePort", "external": 30023},
    {"container": 24, "serviceType": "LoadBalancer", "external": 443},
]


@pytest.mark.parametrize("name", ["lab", "l" * 63])
@pytest.mark.parametrize("kind", ["workspaces", "distributed", "inferences"])
def test_ports_answer_at_their_services(server, kube, folder, name, kind):
    more = {"numWorkers": 1, "distributedFramework": "PyTorch"} if kind == "distributed" else {}
    ports = [one for one in PORTS if one.get("external") not in (80, 8080)] if kind == "inferences" else PORTS
    exposed = [{"container": 6006}, {"container": 6007, "url": "https://board.example.com"}]
    workload_id = server.submit(name, "team-a", 1, kind, {"ports": ports, "exposedUrls": exposed, **more})
    server.wait_phase(workload_id, "Running")
    connections = [
        one for one in server.workload(workload_id)["externalConnections"] if one["connectionType"] != "ServingPort"
    ]
    for one in connections:
        if one["containerPort"] != 6007:
            assert target_of(kube, one["url"]) == (workload_id, one["containerPort"]), one
    said = Client(server, folder / "home").sign_in().run("describe", name, "-p", "team-a")
    assert f"{','.join(one['url'] for one in connections)}\n" in said
