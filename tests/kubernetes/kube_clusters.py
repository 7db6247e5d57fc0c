"""The clusters that tests run on: the stand-in for the API server, or a real one with kwok's nodes."""

import json
import pathlib
import runpy
import time

import pytest
import yaml
from case_runner import Api
from fake_kube import Answer, FakeKube
from servers import ROOT

make_node = runpy.run_path(str(pathlib.Path(__file__).with_name("cluster")), run_name="cluster")["node"]
OURS = "labelSelector=prorata.io/instance"
NODES, GPUS = 2, 4
RIGHTS = ROOT / "packaging/kubernetes/rights.yaml"
SERVER = {"token": "server", "name": "system:serviceaccount:prorata:prorata"}


def rules():
    """Those of the shipped roles; a Role's name the namespace in which they count."""
    for item in yaml.safe_load_all(RIGHTS.read_text()):
        where = {"namespace": item["metadata"]["namespace"]} if item["kind"] == "Role" else {}
        yield from ({**rule, **where} for rule in item.get("rules", []))


class Views:
    """What tests ask of either."""

    def pods(self):
        """Pods of ours by name."""
        items = self.ask("GET", f"/api/v1/pods?{OURS}").json["items"]
        return {item["metadata"]["name"]: item for item in items}

    def live_pods(self):
        return {name: pod for name, pod in self.pods().items() if pod["status"]["phase"] in ("Pending", "Running")}

    def version(self):
        return self.ask("GET", "/version").json["gitVersion"]

    def node(self, name):
        return self.ask("GET", f"/api/v1/nodes/{name}").json

    def patch(self, path, body, under=""):
        answer = self.ask("PATCH", path + under, body, {"Content-Type": "application/merge-patch+json"})
        assert answer.code == 200, answer
        return answer.json

    def patch_node(self, name, body, under=""):
        return self.patch(f"/api/v1/nodes/{name}", body, under)


class Cluster(Views, FakeKube):
    """The stand-in: two nodes of four GPUs whose pods come and go at once. The server has the rights of
    packaging/kubernetes and no others, a test has all."""

    def __init__(self, folder):
        super().__init__(folder, "--nodes", NODES, "--gpus", GPUS)
        self.settings(startMs=10, stopMs=10, removeMs=10)
        assert self.ask("POST", "/api/v1/namespaces", {"metadata": {"name": "prorata"}}).code == 201
        config = pathlib.Path(self.kubeconfig)
        words = [("token: fakekube", f"token: {SERVER['token']}"), ("user: admin}", "user: admin, namespace: prorata}")]
        for old, new in words:
            assert old in config.read_text()
            config.write_text(config.read_text().replace(old, new))
        self.deny()

    def deny(self, *wishes):
        """The server has the shipped rights but for these."""
        mine = {"name": SERVER["name"], "rules": list(rules()), "deny": wishes}
        self.settings(users={"fakekube": {"name": "admin"}, SERVER["token"]: mine})

    def close(self):
        refused = self.control("GET", "state")["refused"]
        super().close()
        assert not refused, f"packaging/kubernetes/rights.yaml lacks {refused}"

    def needs_kubelet(self):
        """It has one."""

    def requests(self, method, part):
        """Requests so far of a method, whose path has this part."""
        return [r for r in self.control("GET", "requests") if r["method"] == method and part in r["path"]]


class RealCluster(Views):
    """The cluster of with_cluster.sh: two nodes of four GPUs. The server is the service account of
    packaging/kubernetes there, a test its administrator. A test that orders faults is none for it."""

    def __init__(self, folder):
        self.kubeconfig = str(pathlib.Path(folder) / "server.kubeconfig")
        self.api = Api(str(pathlib.Path(folder) / "kubeconfig"))
        self.clear()

    def __getattr__(self, name):
        pytest.skip(f"a real API server has no {name}")

    def needs_kubelet(self):
        pytest.skip("kwok's nodes have neither logs nor shells nor pages")

    def ask(self, method, path, body=None, headers=None):
        code, heads, answer = self.api.ask(method, path, body, headers)
        return Answer(code, heads, json.dumps(answer) if isinstance(answer, dict) else answer)

    def items(self, path):
        return self.ask("GET", path).json["items"]

    def clear(self):
        """Nothing of an earlier test is left, and nodes are as they were made."""
        for kind in ("pods", "services", "secrets", "configmaps", "persistentvolumeclaims"):
            for item in self.items(f"/api/v1/{kind}"):
                meta = item["metadata"]
                if kind != "pods" and not meta["namespace"].startswith("runai-"):
                    continue
                path = f"/api/v1/namespaces/{meta['namespace']}/{kind}/{meta['name']}"
                if meta.get("finalizers"):
                    self.patch(path, {"metadata": {"finalizers": None}})
                self.ask("DELETE", f"{path}?gracePeriodSeconds=0")
        for namespace in self.items("/api/v1/namespaces"):
            self.ask("DELETE", f"/api/v1/namespaces/{namespace['metadata']['name']}/events")
        for lease in self.items("/apis/coordination.k8s.io/v1/namespaces/prorata/leases"):
            self.ask("DELETE", f"/apis/coordination.k8s.io/v1/namespaces/prorata/leases/{lease['metadata']['name']}")
        for node in self.items("/api/v1/nodes"):
            self.ask("DELETE", f"/api/v1/nodes/{node['metadata']['name']}")
        for number in range(NODES):
            assert self.ask("POST", "/api/v1/nodes", make_node(number, GPUS)).code == 201
        until = time.monotonic() + 60
        while not all(self.is_ready(node) for node in self.items("/api/v1/nodes")):
            assert time.monotonic() < until, "a node stays unready"
            time.sleep(0.02)

    @staticmethod
    def is_ready(node):
        conditions = node["status"].get("conditions", [])
        return any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)

    def close(self):
        self.clear()
