"""The stand-in for the Kubernetes API server answers as the real one: every case against both."""

import json
import pathlib

import pytest
from case_runner import Api, Case
from fake_kube import FakeKube

CASES = [
    pytest.param(case, id=f"{path.stem}: {case['name']}")
    for path in sorted((pathlib.Path(__file__).parent / "cases").glob("*.json"))
    for case in json.loads(path.read_text())
]


@pytest.fixture(scope="module", params=["1.37.1", "1.26.15"])
def fake_api(request, tmp_path_factory):
    fake = FakeKube(tmp_path_factory.mktemp("fakekube"), "--version", request.param, "--no-kubelet")
    fake.settings(tooLargeMs=50)  # the real server waits for 3 s
    yield Api(fake.kubeconfig)
    fake.close()


def tells_versions_apart(case):
    return "from" in case or "until" in case or any("by" in step for step in case["steps"])


def run_case(api, case, number):
    minor = api.minor()
    if not case.get("from", 0) <= minor <= case.get("until", 99):
        return
    namespace = f"case-{number}"
    code, _, answer = api.ask("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
    assert code == 201, answer
    try:
        Case(api, minor, namespace).run(case["steps"])
    finally:
        api.ask("DELETE", f"/api/v1/namespaces/{namespace}/pods?gracePeriodSeconds=0")
        api.ask("DELETE", f"/api/v1/namespaces/{namespace}")
        api.ask("PUT", f"/api/v1/namespaces/{namespace}/finalize", {"metadata": {"name": namespace}, "spec": {}})


@pytest.mark.parametrize("case", CASES)
def test_stand_in(fake_api, case):
    if fake_api.minor() == 37 or tells_versions_apart(case):
        run_case(fake_api, case, CASES.index(next(c for c in CASES if c.values[0] is case)))
