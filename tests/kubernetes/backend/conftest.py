"""A server whose cluster is the stand-in for the Kubernetes API server."""

import pytest
from fake_kube import FakeKube
from kube_workloads import nodes_of


class Cluster(FakeKube):
    """What tests ask of the stand-in."""

    def pods(self):
        """Pods of ours by name."""
        items = self.ask("GET", "/api/v1/pods?labelSelector=prorata.io/instance").json["items"]
        return {item["metadata"]["name"]: item for item in items}

    def live_pods(self):
        return {name: pod for name, pod in self.pods().items() if pod["status"]["phase"] in ("Pending", "Running")}

    def node(self, name):
        return self.ask("GET", f"/api/v1/nodes/{name}").json

    def patch(self, path, body, under=""):
        answer = self.ask("PATCH", path + under, body, {"Content-Type": "application/merge-patch+json"})
        assert answer.code == 200, answer
        return answer.json

    def patch_node(self, name, body, under=""):
        return self.patch(f"/api/v1/nodes/{name}", body, under)

    def requests(self, method, part):
        """Requests so far of a method, whose path has this part."""
        return [r for r in self.control("GET", "requests") if r["method"] == method and part in r["path"]]


@pytest.fixture
def kube(folder):
    cluster = Cluster(folder, "--nodes", 2, "--gpus", 4)
    cluster.settings(startMs=10, stopMs=10, removeMs=10)
    yield cluster
    cluster.close()


@pytest.fixture
def server(kube, make_server):
    """Two nodes of 4 GPUs; team-a and team-b with a quota of 2 each."""
    server = make_server("--backend", "kubernetes", "--kubeconfig", kube.kubeconfig, "--quick-start")
    server.wait_for("nodes", lambda: len(nodes_of(server)) == 2)
    return server
