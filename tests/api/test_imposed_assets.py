"""Data sources that policies impose: what a submission has of them by default."""

import pytest
from test_policy_submissions import Rules, X


@pytest.fixture(scope="module")
def rules(module_server):
    return Rules(module_server)


def data_source(rules, name, kind="nfs", spec=None, **scope):
    meta = {"name": name, **(scope or {"scope": "tenant"})}
    spec = spec or {"server": "nfs.example", "path": f"/{name}", "mountPath": f"/mnt/{name}"}
    answer = rules.server.post(f"/api/v1/asset/datasource/{kind}", {"meta": meta, "spec": spec})
    assert answer.status == 202, answer
    return answer.json["meta"]["id"]


def mounts(spec, kind="nfs"):
    return sorted(item["mountPath"] for item in (spec.get("storage") or {}).get(kind) or [] if not item.get("exclude"))


def test_imposed_data_sources_are_mounted_by_default(rules):
    sets, shared = data_source(rules, "sets"), data_source(rules, "shared")
    rules.only({"imposedAssets": [sets]})
    rules.put({"imposedAssets": [shared, sets]}, "project")
    effective = rules.effective()
    assert effective["imposedAssets"] == [sets, shared]
    assert mounts({"storage": {"nfs": effective["defaults"]["storage"]["nfs"]["instances"]}}) == [
        "/mnt/sets",
        "/mnt/shared",
    ]
    assert mounts(rules.filled(X)) == ["/mnt/sets", "/mnt/shared"]
    own = {"server": "nfs.example", "path": "/own", "mountPath": "/mnt/own"}
    assert mounts(rules.filled({**X, "storage": {"nfs": [own]}})) == ["/mnt/own", "/mnt/sets", "/mnt/shared"]
    without = [{**instance, "exclude": True} for instance in effective["defaults"]["storage"]["nfs"]["instances"][:1]]
    assert mounts(rules.filled({**X, "storage": {"nfs": without}})) == ["/mnt/shared"]


def test_an_imposed_data_source_is_as_it_is_now_and_goes_with_itself(rules):
    id = data_source(rules, "moving")
    rules.only({"imposedAssets": [id]})
    path = f"/api/v1/asset/datasource/nfs/{id}"
    changed = {"meta": {"name": "moving"}, "spec": {"server": "nfs.example", "path": "/moving", "mountPath": "/new"}}
    assert rules.server.request("PUT", path, changed).status == 202
    assert mounts(rules.filled(X)) == ["/new"]
    assert rules.server.delete(path).status in (202, 204)
    assert mounts(rules.filled(X)) == []
    assert rules.get("tenant").json["policy"] == {"imposedAssets": [id]}


def test_workers_and_masters_have_imposed_data_sources_of_their_own(rules):
    of_worker, of_master = data_source(rules, "of-worker"), data_source(rules, "of-master")
    rules.only({"imposedAssets": {"worker": [of_worker], "master": [of_master]}}, "distributed")
    spec = {**X, "distributedFramework": "PyTorch", "numWorkers": 1}
    answer = rules.filled(spec, "distributed", masterSpec={"image": "x"})
    assert mounts(answer["spec"]) == ["/mnt/of-worker"] and mounts(answer["masterSpec"]) == ["/mnt/of-master"]


def test_what_a_policy_cannot_impose_is_refused(rules):
    rules.clear()
    of_project = data_source(rules, "of-project", scope="project", projectId=int(rules.project))
    compute = rules.server.post(
        "/api/v1/asset/compute", {"meta": {"name": "half", "scope": "tenant"}, "spec": {"cpuCoreRequest": 1}}
    )
    assert compute.status == 202
    good = data_source(rules, "good")
    for assets, message in (
        ([of_project], "policy.imposedAssets[0]: no data source of this id holds here"),
        ([compute.json["meta"]["id"]], "policy.imposedAssets[0]: no data source of this id holds here"),
        ([good, good], "policy.imposedAssets[1]: stands twice"),
        ({"worker": [good]}, "policy.imposedAssets: expected a list"),
    ):
        answer = rules.send("PUT", {"imposedAssets": assets})
        assert answer.status == 400 and message in answer.json["message"], answer
    assert rules.send("PUT", {"imposedAssets": [of_project]}, "project").status == 200
