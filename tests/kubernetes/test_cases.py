"""The stand-in for the Kubernetes API server answers as the real one: every case against both.

The real one is that of the kubeconfig in $CASES_KUBECONFIG; its user is an administrator."""

import json
import os
import pathlib

import pytest
from case_runner import Api, Case
from fake_kube import FakeKube

FILES = sorted((pathlib.Path(__file__).parent / "cases").glob("*.json"))
CASES = {f"{path.stem}: {case['name']}": case for path in FILES for case in json.loads(path.read_text())}
NEW, OLD = "1.37.1", "1.26.15"


def tells_versions_apart(case):
    return "until" in case or any("by" in step for step in case["steps"])


def is_for(case, version):
    return case.get("from", 0) <= int(version.split(".")[1]) <= case.get("until", 99)


FAKE = [
    pytest.param(version, name, id=f"{version} {name}")
    for version in (NEW, OLD)
    for name, case in CASES.items()
    if is_for(case, version) and (version == NEW or tells_versions_apart(case))
]


@pytest.fixture(scope="module")
def fakes(tmp_path_factory):
    """fakes(version): the API of a stand-in for that version."""
    made = {}

    def fake(version):
        if version not in made:
            made[version] = FakeKube(tmp_path_factory.mktemp("fakekube"), "--version", version, "--no-kubelet")
            made[version].settings(tooLargeMs=50)  # the real server waits for 3 s
        return Api(made[version].kubeconfig)

    yield fake
    for one in made.values():
        one.close()


def run_case(api, version, name):
    namespace = f"case-{list(CASES).index(name)}"
    code, _, answer = api.ask("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
    assert code == 201, answer
    try:
        Case(api, int(version.split(".")[1]), namespace).run(CASES[name]["steps"])
    finally:
        api.ask("DELETE", f"/api/v1/namespaces/{namespace}/pods?gracePeriodSeconds=0")
        api.ask("DELETE", f"/api/v1/namespaces/{namespace}")
        api.ask("PUT", f"/api/v1/namespaces/{namespace}/finalize", {"metadata": {"name": namespace}, "spec": {}})


@pytest.mark.parametrize("version, name", FAKE)
def test_stand_in(fakes, version, name):
    run_case(fakes(version), version, name)


if "CASES_KUBECONFIG" in os.environ:

    @pytest.fixture(scope="module")
    def real():
        api = Api(os.environ["CASES_KUBECONFIG"])
        return api, f"1.{api.minor()}"

    @pytest.mark.parametrize("name", CASES)
    def test_real_server(real, name):
        api, version = real
        if is_for(CASES[name], version):
            run_case(api, version, name)
