"""packaging/kubernetes on a real API server: what it makes is accepted, and its components change what they say."""

import json
import os
import pathlib
import subprocess

import pytest
import yaml
from servers import ROOT

FOLDER = ROOT / "packaging/kubernetes"
CLUSTER = pathlib.Path(os.environ.get("KUBE_CLUSTER", "/nonexistent"))

pytestmark = pytest.mark.skipif(not CLUSTER.exists(), reason="needs a real API server and kubectl")


def kubectl(*words, code=0, **more):
    command = [CLUSTER / "bin/kubectl", "--kubeconfig", CLUSTER / "kubeconfig", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, **more)
    assert done.returncode == code, done
    return done.stdout


def overlay(folder, *components, **more):
    """A site's own kustomization on top of ours, which it has as a copy beside it."""
    base = folder / "base"
    subprocess.run(["cp", "-r", FOLDER, base], check=True)
    version = json.loads(kubectl("version", "-o", "json"))["serverVersion"]["minor"]
    named = [*components, *(["before-1.29"] if int(version) < 29 else [])]
    text = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": ["base"],
        "components": [f"base/components/{name}" for name in named],
        **more,
    }
    (folder / "kustomization.yaml").write_text(yaml.safe_dump(text))
    return folder


def texts(**properties):
    return {"type": "object", "properties": properties}


@pytest.fixture
def service_monitors():
    """The kind that Prometheus's operator brings, with the fields that ours has."""
    text = {"type": "string"}
    endpoint = texts(port=text, path=text, interval=text)
    labels = {"type": "object", "additionalProperties": text}
    spec = texts(selector=texts(matchLabels=labels), endpoints={"type": "array", "items": endpoint})
    schema = {"openAPIV3Schema": texts(spec=spec)}
    names = {"kind": "ServiceMonitor", "listKind": "ServiceMonitorList", "plural": "servicemonitors"}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": "servicemonitors.monitoring.coreos.com",
            "annotations": {"api-approved.kubernetes.io": "unapproved, for a test"},
        },
        "spec": {
            "group": "monitoring.coreos.com",
            "names": {**names, "singular": "servicemonitor"},
            "scope": "Namespaced",
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
        },
    }
    kubectl("apply", "-f", "-", input=json.dumps(definition))
    kubectl("wait", "--for=condition=Established", "crd/servicemonitors.monitoring.coreos.com")
    yield
    kubectl("delete", "--wait=false", "crd/servicemonitors.monitoring.coreos.com")


def test_the_manifests_are_accepted(folder, service_monitors):
    site = overlay(folder, "ingress", "monitoring")
    said = kubectl("apply", "--dry-run=server", "--validate=strict", "-k", str(site))
    kinds = {line.split("/")[0].split(".")[0] for line in said.splitlines()}
    asked = {"deployment", "networkpolicy", "flowschema", "ingress", "clusterrole", "priorityclass", "servicemonitor"}
    assert asked <= kinds, said


def test_components_change_the_server(folder):
    site = overlay(
        folder,
        "ingress",
        "monitoring",
        images=[{"name": "prorata", "newName": "registry.example.com/prorata", "newTag": "1"}],
    )
    made = {item["kind"]: item for item in yaml.safe_load_all(kubectl("kustomize", str(site)))}
    container = made["Deployment"]["spec"]["template"]["spec"]["containers"][0]
    assert container["image"] == "registry.example.com/prorata:1"
    assert {e["name"] for e in container["env"]} == {
        "PRORATA_ADMIN_PASSWORD",
        "PRORATA_TRUSTED_PROXY",
        "PRORATA_METRICS_OPEN",
    }
    assert made["ServiceMonitor"]["spec"]["selector"]["matchLabels"] == made["Service"]["metadata"]["labels"]


def test_pods_of_the_server_meet_the_strictest_standard(folder):
    """The namespace enforces it: a pod of the template is admitted there, as no Deployment would say."""
    template = next(
        item["spec"]["template"]
        for item in yaml.safe_load_all(kubectl("kustomize", str(FOLDER)))
        if item["kind"] == "Deployment"
    )
    pod = {"apiVersion": "v1", "kind": "Pod", **template, "metadata": {"name": "one", "namespace": "prorata"}}
    kubectl("create", "--dry-run=server", "-f", "-", input=json.dumps(pod))
    pod["spec"]["containers"][0]["securityContext"]["allowPrivilegeEscalation"] = True
    kubectl("create", "--dry-run=server", "-f", "-", input=json.dumps(pod), code=1)
