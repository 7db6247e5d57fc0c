"""The built-in kubelet, TLS, rights and the bulk mode."""

import gzip
import http.client
import json
import ssl
import subprocess
import time

import pytest
from fake_kube import TlsFront

GPU = "nvidia.com/gpu"


def make(fake, namespace, name, node="node-00000", gpus=0, spec=None, **annotations):
    container = {"name": "main", "image": "image:1"}
    if gpus:
        container["resources"] = {"limits": {GPU: str(gpus)}}
    pod = {
        "metadata": {
            "name": name,
            "annotations": {f"test.prorata.io/{k.replace('_', '-')}": v for k, v in annotations.items()},
        },
        "spec": {"containers": [container], "nodeName": node, **(spec or {})},
    }
    answer = fake.ask("POST", f"/api/v1/namespaces/{namespace}/pods", pod)
    assert answer.code == 201, answer
    return f"/api/v1/namespaces/{namespace}/pods/{name}"


def wait(fake, path, until, limit_s=60):
    end = time.monotonic() + limit_s
    while True:
        answer = fake.ask("GET", path)
        if until(answer):
            return answer
        assert time.monotonic() < end, answer
        time.sleep(0.01)


def wait_phase(fake, path, phase):
    return wait(fake, path, lambda answer: answer.code == 200 and answer.json["status"]["phase"] == phase).json


def test_a_pod_runs_and_ends_as_it_was_told(fake, namespace):
    """Its life may be over before anybody asks: a watch has seen all of it."""
    pods = f"/api/v1/namespaces/{namespace}/pods"
    begin = fake.ask("GET", pods).json["metadata"]["resourceVersion"]
    with fake.open("GET", f"{pods}?watch=1&resourceVersion={begin}&timeoutSeconds=60") as stream:
        path = make(fake, namespace, "a", ends_after="100ms", exit_code="3", log="one\ntwo\n")
        seen = {}
        while "Failed" not in seen:
            status = json.loads(stream.readline())["object"]["status"]
            seen.setdefault(status["phase"], status)
    assert list(seen) == ["Pending", "Running", "Failed"]
    assert seen["Running"]["containerStatuses"][0]["state"]["running"]["startedAt"]
    assert seen["Failed"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 3
    assert fake.ask("GET", path + "/log").body == "one\ntwo\n"
    assert fake.ask("GET", path + "/log?tailLines=1").body == "two\n"
    assert fake.ask("GET", path + "/log?limitBytes=2").body == "on"


def test_a_log_is_followed_to_the_end_of_its_pod(fake, namespace):
    path = make(fake, namespace, "a", log="one\ntwo\n")
    begin = wait_phase(fake, path, "Running")["status"]["startTime"]
    stamps = [line.split(" ")[0] for line in fake.ask("GET", path + "/log?timestamps=true").body.splitlines()]
    assert stamps[0][:19] == begin[:19]
    assert fake.ask("GET", path + f"/log?sinceTime={stamps[1]}").body == "two\n"
    with fake.open("GET", path + "/log?follow=true&tailLines=1") as log:
        assert log.readline() == b"two\n"
        more = {"metadata": {"annotations": {"test.prorata.io/log": "one\ntwo\nthree\n"}}}
        fake.ask("PATCH", path, more, {"Content-Type": "application/merge-patch+json"})
        assert log.readline() == b"three\n"
        fake.ask("DELETE", path)
        assert log.read() == b""


def test_a_node_refuses_what_it_cannot_hold(fake, namespace):
    first = make(fake, namespace, "a", node="node-00001", gpus=6)
    wait_phase(fake, first, "Running")
    second = wait_phase(fake, make(fake, namespace, "b", node="node-00001", gpus=3), "Failed")
    assert second["status"]["reason"] == f"OutOf{GPU}"
    wait_phase(fake, make(fake, namespace, "c", node="node-00001", gpus=2), "Running")
    asked = wait_phase(fake, make(fake, namespace, "d", reject="UnexpectedAdmissionError"), "Failed")
    assert asked["status"]["reason"] == "UnexpectedAdmissionError"


def test_a_resource_that_the_node_does_not_list_is_dropped(fake, namespace):
    node = {"metadata": {"name": namespace}, "status": {"capacity": {"cpu": "4", "memory": "8Gi", "pods": "10"}}}
    assert fake.ask("POST", "/api/v1/nodes", node).code == 201
    path = make(fake, namespace, "a", node=namespace, gpus=8)
    wait_phase(fake, path, "Running")
    ready = wait(fake, f"/api/v1/nodes/{namespace}", lambda a: a.json["status"].get("conditions")).json
    assert ready["status"]["conditions"][0]["type"] == "Ready"


@pytest.mark.parametrize(
    "version, phases", [("1.37.1", ["Running", "Running", "Failed", "Failed"]), ("1.26.15", ["Running"] * 3)]
)
def test_a_deleted_pod_ends_in_steps(fake, namespace, version, phases):
    fake.settings(version=version)
    path = make(fake, namespace, "a")
    begin = wait_phase(fake, path, "Running")["metadata"]["resourceVersion"]
    watch = f"/api/v1/namespaces/{namespace}/pods?watch=1&resourceVersion={begin}&timeoutSeconds=20"
    with fake.open("GET", watch) as stream:
        assert fake.ask("DELETE", path).json["metadata"]["deletionGracePeriodSeconds"] == 30
        seen = []
        while not seen or seen[-1]["type"] != "DELETED":
            seen.append(json.loads(stream.readline()))
    fake.settings(version="1.37.1")
    assert [
        event["object"]["status"]["phase"] for event in [{"object": {"status": {"phase": "Running"}}}, *seen]
    ] == phases
    assert seen[-1]["object"]["metadata"]["deletionGracePeriodSeconds"] == 0


def test_a_kubelet_tells_of_its_pods(fake, namespace):
    fake.settings(kubeletEvents=True)
    wait_phase(fake, make(fake, namespace, "a", reject="NodeAffinity"), "Failed")
    events = wait(fake, f"/api/v1/namespaces/{namespace}/events", lambda answer: answer.json["items"]).json["items"]
    fake.settings(kubeletEvents=None)
    assert [(e["reason"], e["type"], e["involvedObject"]["name"]) for e in events] == [("NodeAffinity", "Warning", "a")]


def test_a_stuck_pod_stays_until_it_is_forced(fake, namespace):
    path = make(fake, namespace, "a", stuck="true")
    wait_phase(fake, path, "Running")
    fake.ask("DELETE", path + "?gracePeriodSeconds=1")
    other = make(fake, namespace, "b")
    wait_phase(fake, other, "Running")
    fake.ask("DELETE", other)
    wait(fake, other, lambda answer: answer.code == 404)
    assert fake.ask("GET", path).json["status"]["phase"] == "Running"
    assert fake.ask("DELETE", path + "?gracePeriodSeconds=0").code == 200
    assert fake.ask("GET", path).code == 404


def test_a_foreign_finalizer_keeps_the_object_of_an_ended_pod(fake, namespace):
    path = make(fake, namespace, "a")
    wait_phase(fake, path, "Running")
    patch = {"metadata": {"finalizers": ["example.com/hold"]}}
    fake.ask("PATCH", path, patch, {"Content-Type": "application/merge-patch+json"})
    fake.ask("DELETE", path)
    wait(fake, path, lambda a: a.json["metadata"].get("deletionGracePeriodSeconds") == 0)
    assert fake.ask("GET", path).json["status"]["phase"] == "Failed"


def test_a_dead_node_does_nothing(fake, namespace):
    node = {
        "metadata": {"name": namespace, "labels": {"test.prorata.io/dead": "true"}},
        "status": {"capacity": {"cpu": "1"}},
    }
    fake.ask("POST", "/api/v1/nodes", node)
    dead = make(fake, namespace, "a", node=namespace)
    wait_phase(fake, make(fake, namespace, "b"), "Running")
    assert fake.ask("GET", dead).json["status"]["phase"] == "Pending"


def test_a_lost_uid_check(fake, namespace):
    fake.settings(bindingHonoursUid=False)
    path = make(fake, namespace, "a", node="")
    wrong = {"metadata": {"name": "a", "uid": "wrong"}, "target": {"kind": "Node", "name": "node-00000"}}
    assert fake.ask("POST", path + "/binding", wrong).code == 201
    fake.settings(bindingHonoursUid=None)


def test_rights_are_refused_and_told_in_advance(fake, namespace):
    deny = [{"verb": "create", "resource": "pods", "subresource": "binding"}]
    fake.settings(users={"fakekube": {"name": "admin"}, "weak": {"name": "prorata", "deny": deny}})
    weak = {"Authorization": "Bearer weak"}
    path = make(fake, namespace, "a", node="")
    refused = fake.ask("POST", path + "/binding", {"metadata": {"name": "a"}, "target": {"name": "n"}}, weak)
    assert (refused.code, refused.json["reason"]) == (403, "Forbidden")
    review = {"spec": {"resourceAttributes": deny[0]}}
    where = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    assert fake.ask("POST", where, review, weak).json["status"]["allowed"] is False
    assert fake.ask("POST", where, review).json["status"]["allowed"] is True
    assert fake.ask("GET", path, headers={"Authorization": "Bearer nobody"}).code == 401
    fake.settings(users=None)


def test_rules_allow_what_they_name_and_nothing_else(fake, namespace):
    rules = [
        {"apiGroups": [""], "resources": ["pods", "pods/status"], "verbs": ["get", "patch"]},
        {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["get"], "namespace": namespace},
    ]
    fake.settings(users={"fakekube": {"name": "admin"}, "some": {"name": "some", "rules": rules}})
    some = {"Authorization": "Bearer some"}
    path = make(fake, namespace, "a", node="")
    lease = "/apis/coordination.k8s.io/v1/namespaces/{}/leases/x"
    asked = {
        ("GET", path): 200,
        ("GET", path.rsplit("/", 1)[0]): 403,
        ("DELETE", path): 403,
        ("GET", path + "/log"): 403,
        ("GET", lease.format(namespace)): 404,
        ("GET", lease.format("default")): 403,
        ("GET", "/apis/metrics.k8s.io/v1beta1/namespaces/default/pods/a"): 403,
    }
    assert {what: fake.ask(*what, headers=some).code for what in asked} == asked
    assert len(fake.control("GET", "state")["refused"]) == list(asked.values()).count(403)
    review = {"spec": {"resourceAttributes": {"verb": "get", "resource": "pods", "group": "metrics.k8s.io"}}}
    where = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    assert fake.ask("POST", where, review, some).json["status"]["allowed"] is False
    fake.settings(users=None)


def test_large_lists_are_gzipped_where_the_client_takes_it(fake):
    fake.control("POST", "fill", {"nodes": 0, "gpus": 0, "pods": 300})
    plain = fake.ask("GET", "/api/v1/namespaces/others/pods").json
    with fake.open("GET", "/api/v1/namespaces/others/pods", headers={"Accept-Encoding": "gzip"}) as answer:
        assert answer.headers["Content-Encoding"] == "gzip"
        assert json.loads(gzip.decompress(answer.read())) == plain
    assert len(plain["items"]) == 300


def test_tls_in_front_of_it(fake, tmp_path):
    words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=fakekube"
    more = "-addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out cert.pem"
    subprocess.run(["openssl", *words.split(), *more.split()], cwd=tmp_path, check=True, capture_output=True)
    both = tmp_path / "both.pem"
    both.write_text((tmp_path / "cert.pem").read_text() + (tmp_path / "key.pem").read_text())
    front = TlsFront(fake.address, both)
    context = ssl.create_default_context(cafile=tmp_path / "cert.pem")
    connection = http.client.HTTPSConnection(front.address, timeout=10, context=context)
    connection.request("GET", "/version", headers={"Authorization": "Bearer fakekube"})
    assert json.loads(connection.getresponse().read())["gitVersion"] == "v1.37.1"
    connection.close()
    front.close()
