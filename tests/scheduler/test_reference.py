"""Random clusters on which the reference was run (reference/*.json): where its answer was better than ours was, it is
decided now; where ours stands, "why" says why and "reference" has what the reference does with the pods in which it
differs."""

import json
import pathlib

import pytest
from clusters import pods_of, simulate

CASES = sorted((pathlib.Path(__file__).parent / "reference").glob("*.json"))


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in CASES])
def test_decides(path):
    case = json.loads(path.read_text())
    before = {
        pod["name"]: (pod.get("status", "Pending"), pod.get("node"))
        for w in case["snapshot"]["workloads"]
        for pod in w["pods"]
    }
    want = before | {name: tuple(place) for name, place in case["pods"].items()}
    assert pods_of(simulate(case["snapshot"])["cycles"][0]) == want
    assert all(want[name] != tuple(place) for name, place in case.get("reference", {}).items())
